/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keyhole-symbolize: adds names, lines and inlined functions to a recorded profile. Profiles and
 * debug files may come from anywhere. Therefore only processes that can do nothing but compute read
 * them: one has the profile (model.h), and keyhole-debug-reader reads one object. The first process
 * opens files and gives the output its name, but reads no byte of a file.
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

#include "ipc/channel.h"
#include "ipc/log.h"
#include "object/debug/service.h"
#include "policy/policy.h"
#include "view/result.h"
#include "view/symbolize/model.h"
#include "view/symbolize/options.h"

struct run {
	struct options options;
	struct model_files files;
	struct model_peer peer;
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

#define DEFAULT_MAX (RESULT_PATH_MAX + 32) /* a longer path is refused, not cut */

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

static int open_peer(struct model_peer *peer)
{
	peer->addresses = memfd_create("keyhole-addresses", MFD_CLOEXEC);
	peer->answer = memfd_create("keyhole-lines", MFD_CLOEXEC);
	if (peer->addresses < 0 || peer->answer < 0)
		return failed("keyhole-symbolize", errno);
	return EXIT_DONE;
}

static __attribute__((noreturn)) void become_model(struct run *run, int socket)
{
	struct model_peer *peer = &run->peer;
	int fds[] = {run->files.input, run->files.output, socket, peer->addresses, peer->answer};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	result_disown();
	policy_keep_descriptors(fds, sizeof(fds) / sizeof(fds[0]));
	channel_init(&peer->channel, socket, PARTY_VIEWER, PARTY_DEBUG);
	peer->channel.phase = PHASE_RUN;
	_exit(model_run(&run->files, peer));
}

/* Answers questions until the process that has the profile is gone. */
static int answer_model(struct run *run, int socket, int program)
{
	struct debug_service service;
	struct channel model;
	int r;

	channel_init(&model, socket, PARTY_DEBUG, PARTY_VIEWER);
	model.phase = PHASE_RUN;
	debug_service_init(&service, READER_PROFILE, &run->options.folders, program);
	r = debug_service_run(&service, &model);
	channel_release(&model);
	if (r != -EPIPE)
		return failed("the process that reads the profile", -r);
	return EXIT_DONE;
}

static int start(struct run *run, int program)
{
	int pair[2], r, status;
	pid_t child;

	if (channel_pair(pair))
		return failed("keyhole-symbolize", errno);
	signal(SIGCHLD, SIG_DFL);
	child = fork();
	if (child < 0)
		return failed("keyhole-symbolize", errno);
	if (child == 0)
		become_model(run, pair[1]);
	close(pair[1]);
	close(run->files.input);
	if (run->files.output > STDERR_FILENO)
		close(run->files.output);
	r = answer_model(run, pair[0], program);
	status = result_await("symbolize", child, 0);
	if (r)
		return r;
	return status;
}

static int run_with(struct run *run)
{
	int program = reader_open_program(), r;

	if (program < 0) {
		log_error("symbolize: " READER_PROGRAM ": %s; install all programs together",
			  strerror(-program));
		return EXIT_FAILED;
	}
	run->options.folders.links = DEBUG_LINKS_ANYWHERE;
	r = open_peer(&run->peer);
	if (r)
		return r;
	return start(run, program);
}

int main(int argc, char **argv)
{
	static struct run run;
	int r;

	signal(SIGPIPE, SIG_DFL); /* systemd ignores it: `| head` is no error even so */
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
	r = run_with(&run);
	if (result_close(&run.result, r == EXIT_DONE))
		return EXIT_FAILED;
	return r;
}
