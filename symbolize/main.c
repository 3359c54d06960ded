/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keyhole-symbolize: adds names, lines and inlined functions to a recorded profile. Profiles and
 * debug files may come from anywhere, so each is read by a process that can do nothing but compute
 * (confine.h): one that has the profile, and one for each object (debug.h). This one opens files
 * and gives the output its name; it reads nothing of what is in them.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ipc/log.h"
#include "ipc/messages.h"
#include "symbolize/folders.h"
#include "symbolize/model.h"

#define DEFAULT_FOLDER "/usr/lib/debug"
#define SUFFIX	       ".pb.gz"

struct options {
	struct folders folders;
	const char *input, *output;
	bool force, verbose, help;
};

struct run {
	struct options options;
	struct model_files files;
	struct exchange exchange;
	char output[4096];
	char temporary[4104]; /* beside it; "": there is none */
};

static const char usage_text[] =
	"usage: keyhole symbolize [OPTIONS] FILE\n\n"
	"Adds names, lines and inlined functions to a profile of `keyhole record` (pprof).\n\n"
	"  -d, --debug-dir DIR   look for DIR/.build-id/xx/yyyy.debug (" DEFAULT_FOLDER ");\n"
	"                        up to 8 times. Then the objects' own paths are tried\n"
	"  -o, --output FILE     write here (FILE.symbolized" SUFFIX "), - for stdout\n"
	"      --force           replace the output when it exists\n"
	"  -v, --verbose         say why objects have no lines\n"
	"  -h, --help            this text\n";

static int usage(const char *object, const char *reason)
{
	log_error("symbolize: %s: %s", object, reason);
	return EXIT_USAGE;
}

static int failed(const char *object, int error)
{
	log_error("symbolize: %s: %s", object, strerror(error));
	return EXIT_FAILED;
}

static int add_folder(struct folders *folders, const char *path)
{
	if (folders->count == FOLDERS_MAX)
		return usage("--debug-dir", "more than 8");
	folders->paths[folders->count++] = path;
	return EXIT_DONE;
}

static int take_option(struct options *options, int option)
{
	switch (option) {
	case 'd':
		return add_folder(&options->folders, optarg);
	case 'o':
		options->output = optarg;
		break;
	case 'R':
		options->force = true;
		break;
	case 'v':
		options->verbose = true;
		break;
	case 'h':
		options->help = true;
		break;
	default:
		return EXIT_USAGE; /* getopt said why */
	}
	return EXIT_DONE;
}

static int read_options(int argc, char **argv, struct options *options)
{
	static const struct option longs[] = {
		{"debug-dir", required_argument, NULL, 'd'},
		{"output", required_argument, NULL, 'o'},
		{"force", no_argument, NULL, 'R'},
		{"verbose", no_argument, NULL, 'v'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option, r = EXIT_DONE;

	while (r == EXIT_DONE && (option = getopt_long(argc, argv, "d:o:vh", longs, NULL)) != -1)
		r = take_option(options, option);
	if (r || options->help)
		return r;
	if (optind != argc - 1)
		return usage("FILE", "name one; run: keyhole symbolize --help");
	options->input = argv[optind];
	return options->folders.count ? EXIT_DONE : add_folder(&options->folders, DEFAULT_FOLDER);
}

/* ---- files ---- */

static int open_input(struct run *run)
{
	const char *path = run->options.input;
	struct stat status;

	run->files.name = path;
	run->files.input = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (run->files.input < 0)
		return usage(path, strerror(errno));
	if (!fstat(run->files.input, &status) && S_ISDIR(status.st_mode))
		return usage(path, strerror(EISDIR));
	return EXIT_DONE;
}

static void name_default(struct run *run)
{
	const char *input = run->options.input;
	size_t length = strlen(input), suffix = strlen(SUFFIX);

	if (length > suffix && !strcmp(input + length - suffix, SUFFIX))
		length -= suffix;
	snprintf(run->output, sizeof(run->output), "%.*s.symbolized" SUFFIX, (int)length, input);
}

static int open_output(struct run *run)
{
	struct stat status;

	if (run->options.output && !strcmp(run->options.output, "-")) {
		run->files.output = STDOUT_FILENO;
		return EXIT_DONE;
	}
	if (run->options.output)
		snprintf(run->output, sizeof(run->output), "%s", run->options.output);
	else
		name_default(run);
	if (!lstat(run->output, &status)) {
		if (!S_ISREG(status.st_mode))
			return usage(run->output, "there is something that is not a file");
		if (!run->options.force)
			return usage(run->output, "exists; to replace it add: --force");
	}
	snprintf(run->temporary, sizeof(run->temporary), "%s.XXXXXX", run->output);
	run->files.output = mkostemp(run->temporary, O_CLOEXEC); /* 0600 */
	if (run->files.output >= 0)
		return EXIT_DONE;
	run->temporary[0] = '\0';
	return usage(run->output, strerror(errno));
}

static int name_output(const struct run *run, int r)
{
	const unsigned int flags = run->options.force ? 0 : RENAME_NOREPLACE;

	if (!run->temporary[0])
		return r;
	if (r == EXIT_DONE && renameat2(AT_FDCWD, run->temporary, AT_FDCWD, run->output, flags)) {
		/* file systems that know no flags know links */
		if (errno != EINVAL || link(run->temporary, run->output))
			r = failed(run->output, errno);
	}
	if (unlink(run->temporary) && errno != ENOENT)
		log_warning("symbolize: %s: %s", run->temporary, strerror(errno));
	return r;
}

/* ---- processes ---- */

static int await(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return failed("keyhole-symbolize", errno);
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	log_error("symbolize: the process that reads the profile: %s", strsignal(WTERMSIG(status)));
	return EXIT_FAILED;
}

/* This one outlives a Ctrl-C, which ends the others, to take its output away. */
static int start(struct run *run)
{
	struct exchange *exchange = &run->exchange, theirs;
	int pair[2], r;
	pid_t child;

	exchange->addresses = memfd_create("keyhole-addresses", MFD_CLOEXEC);
	exchange->answer = memfd_create("keyhole-lines", MFD_CLOEXEC);
	if (exchange->addresses < 0 || exchange->answer < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return failed("keyhole-symbolize", errno);
	theirs = *exchange;
	exchange->socket = pair[0];
	theirs.socket = pair[1];
	child = fork();
	if (child < 0)
		return failed("keyhole-symbolize", errno);
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(pair[0]);
		_exit(model_run(&run->files, &theirs));
	}
	close(pair[1]);
	close(run->files.input);
	if (run->files.output > STDERR_FILENO)
		close(run->files.output);
	signal(SIGINT, SIG_IGN);
	r = folders_serve(&run->options.folders, exchange);
	close(pair[0]);
	r = r ? failed("the process that reads the profile", -r) : EXIT_DONE;
	return r ? (await(child), r) : await(child);
}

int main(int argc, char **argv)
{
	static struct run run;
	int r = read_options(argc, argv, &run.options);

	log_init("keyhole", run.options.verbose ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING);
	if (r)
		return r;
	if (run.options.help)
		return fputs(usage_text, stdout) < 0;
	r = open_input(&run);
	r = r ? r : open_output(&run);
	return r ? r : name_output(&run, start(&run));
}
