/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keyhole-symbolize: adds names, lines and inlined functions to a recorded profile. Profiles and
 * debug files may come from anywhere, so each is read by a process that can do nothing but compute
 * (policy/roles.h): one that has the profile, and one for each object (debug.h). This one opens
 * files and gives the output its name; it reads nothing of what is in them. For `keyhole record` it
 * is one of the second kind alone (object.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ipc/log.h"
#include "policy/policy.h"
#include "view/result.h"
#include "view/symbolize/folders.h"
#include "view/symbolize/model.h"
#include "view/symbolize/object.h"
#include "view/symbolize/options.h"
#include "object/dwarf/child.h"

struct run {
	struct options options;
	struct model_files files;
	struct exchange exchange;
	struct result result;
};

static int name_another(const char *file, int error)
{
	log_error("symbolize: %s: %s; name another", file, strerror(error));
	return EXIT_USAGE;
}

static int failed(const char *object, int error)
{
	log_error("symbolize: %s: %s", object, strerror(error));
	return EXIT_FAILED;
}

/* ---- files ---- */

static int open_input(struct run *run)
{
	const char *path = run->options.input;
	struct stat status;

	run->files.name = path;
	run->files.input = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (run->files.input < 0)
		return name_another(path, errno);
	if (!fstat(run->files.input, &status) && S_ISDIR(status.st_mode))
		return name_another(path, EISDIR);
	return EXIT_DONE;
}

#define DEFAULT_MAX (RESULT_PATH_MAX + 32) /* one that is too long is refused, not cut */

static void name_default(const char *input, char ret_path[DEFAULT_MAX])
{
	size_t length = strlen(input), suffix = strlen(OPTIONS_SUFFIX);

	if (length > suffix && !strcmp(input + length - suffix, OPTIONS_SUFFIX))
		length -= suffix;
	snprintf(ret_path, DEFAULT_MAX, "%.*s.symbolized" OPTIONS_SUFFIX, (int)length, input);
}

static int open_output(struct run *run)
{
	const struct options *options = &run->options;
	const char *path = options->output;
	char named[DEFAULT_MAX];

	if (!path) {
		name_default(options->input, named);
		path = named;
	}
	if (result_open(&run->result, "symbolize", path, options->force))
		return EXIT_USAGE;
	run->files.output = run->result.fd;
	return EXIT_DONE;
}

/* ---- processes ---- */

static int start(struct run *run)
{
	struct exchange *exchange = &run->exchange, theirs;
	int pair[2], r, status;
	pid_t child;

	exchange->addresses = memfd_create("keyhole-addresses", MFD_CLOEXEC);
	exchange->answer = memfd_create("keyhole-lines", MFD_CLOEXEC);
	if (exchange->addresses < 0 || exchange->answer < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return failed("keyhole-symbolize", errno);
	theirs = *exchange;
	exchange->socket = pair[0];
	theirs.socket = pair[1];
	signal(SIGCHLD, SIG_DFL);
	child = fork();
	if (child < 0)
		return failed("keyhole-symbolize", errno);
	if (child == 0) {
		int fds[] = {run->files.input, run->files.output, theirs.socket, theirs.addresses,
			     theirs.answer};

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		result_disown();
		policy_keep_descriptors(fds, sizeof(fds) / sizeof(fds[0]));
		_exit(model_run(&run->files, &theirs));
	}
	close(pair[1]);
	close(run->files.input);
	if (run->files.output > STDERR_FILENO)
		close(run->files.output);
	r = folders_serve(&run->options.folders, exchange);
	close(pair[0]);
	status = result_await("symbolize", child, 0);
	if (r)
		return failed("the process that reads the profile", -r);
	return status;
}

int main(int argc, char **argv)
{
	static struct run run;
	int r;

	if (argc > 0 && !strcmp(argv[0], CHILD_NAME))
		return object_main(argc, argv);
	log_init("keyhole", LOG_LEVEL_WARNING);
	if (symbolize_options_parse(argc, argv, &run.options))
		return EXIT_USAGE;
	if (run.options.verbose)
		log_init("keyhole", LOG_LEVEL_INFO);
	if (run.options.help) {
		symbolize_options_usage(stdout);
		return fflush(stdout) != 0;
	}
	r = open_input(&run);
	if (r)
		return r;
	r = open_output(&run);
	if (r)
		return r;
	r = start(&run);
	if (result_close(&run.result, r == EXIT_DONE))
		return EXIT_FAILED;
	return r;
}
