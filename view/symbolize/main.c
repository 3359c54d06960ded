/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keyhole-symbolize: adds names, lines and inlined functions to a recorded profile. Profiles and
 * debug files may come from anywhere, so processes that can do nothing but compute read them: one
 * has the profile (model.h), and keyhole-debug-reader reads one object. The first process opens
 * files and gives the output its name; it reads no byte of them.
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
#include <sys/stat.h>
#include <unistd.h>

#include "ipc/channel.h"
#include "ipc/log.h"
#include "object/debug/folders.h"
#include "object/debug/service.h"
#include "view/confine.h"
#include "view/result.h"
#include "view/symbolize/model.h"

#define SUFFIX ".pb.gz"

struct options {
	struct debug_folders folders;
	size_t folders_given; /* some may not exist */
	const char *input, *output;
	bool force, verbose, help;
};

struct run {
	struct options options;
	struct model_files files;
	struct model_peer peer;
	struct result result;
};

static const char usage_text[] =
	"usage: keyhole symbolize [OPTIONS] FILE\n\n"
	"Adds names, lines and inlined functions to a profile of `keyhole record` (pprof).\n\n"
	"  -d, --debug-dir DIRS  look for DIR/.build-id/xx/yyyy.debug (" DEBUG_FOLDERS_DEFAULT
	");\n"
	"                        up to 8, with colons or given again. Then the objects'\n"
	"                        own paths are tried\n"
	"  -o, --output FILE     write here (FILE.symbolized" SUFFIX "), - for stdout\n"
	"      --force           replace the output when it exists\n"
	"  -v, --verbose         say why objects have no lines\n"
	"  -h, --help            this text\n\n"
	"examples:\n"
	"  keyhole symbolize all" SUFFIX "\n"
	"  keyhole symbolize -d server/usr/lib/debug -o named" SUFFIX " all" SUFFIX "\n\n"
	"exit status: 0 done, 1 failed, 2 usage\n";

/* A reason that does not say what to do is followed by who does. */
static int usage(const char *object, const char *reason)
{
	log_error("symbolize: %s: %s%s", object, reason,
		  strchr(reason, ';') ? "" : "; see: keyhole symbolize --help");
	return EXIT_USAGE;
}

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

/* As `record` has it: a list separated by colons. */
static int add_folders(struct options *options, char *list)
{
	for (char *path; (path = strsep(&list, ":"));) {
		int r;

		if (!*path)
			continue;
		if (options->folders_given == DEBUG_FOLDERS_MAX)
			return usage("--debug-dir", "more than 8 folders");
		options->folders_given++;
		r = debug_folders_add(&options->folders, path);
		if (r < 0)
			log_warning("symbolize: debug-dir: %s: %s; name another", path,
				    strerror(-r));
	}
	return EXIT_DONE;
}

/* The option that was read last. Letters that stand together are not counted by optind. */
static const char *given(char **argv)
{
	static char letter[] = "-?";

	if (!optopt || !strncmp(argv[optind - 1], "--", 2))
		return argv[optind - 1];
	letter[1] = (char)optopt;
	return letter;
}

static int take_option(struct options *options, int option, char **argv)
{
	switch (option) {
	case 'd':
		return add_folders(options, optarg);
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
	case ':':
		return usage(given(argv), "needs an argument");
	default:
		return usage(given(argv), "unknown option");
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

	opterr = 0;
	while (r == EXIT_DONE && (option = getopt_long(argc, argv, ":d:o:vh", longs, NULL)) != -1)
		r = take_option(options, option, argv);
	if (r || options->help)
		return r;
	if (optind != argc - 1)
		return usage("FILE", "not one is named");
	options->input = argv[optind];
	if (!options->folders_given)
		debug_folders_add(&options->folders, DEBUG_FOLDERS_DEFAULT);
	return EXIT_DONE;
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
	size_t length = strlen(input), suffix = strlen(SUFFIX);

	if (length > suffix && !strcmp(input + length - suffix, SUFFIX))
		length -= suffix;
	snprintf(ret_path, DEFAULT_MAX, "%.*s.symbolized" SUFFIX, (int)length, input);
}

/* What is written is pprof, whatever it is called. */
static bool is_of_another_format(const char *path)
{
	static const struct {
		enum profile_format format;
		const char *suffix;
	} suffixes[] = {
#define F(number, name, suffix) {FORMAT_##name, suffix},
#include "ipc/formats.def"
#undef F
	};

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		const size_t length = strlen(path), tail = strlen(suffixes[i].suffix);

		if (suffixes[i].format != FORMAT_pprof && length > tail &&
		    !strcmp(path + length - tail, suffixes[i].suffix))
			return true;
	}
	return false;
}

static int open_output(struct run *run)
{
	const struct options *options = &run->options;
	char path[DEFAULT_MAX];

	if (options->output && is_of_another_format(options->output))
		return usage(options->output, "is written as pprof; name it " SUFFIX
					      " and convert that: keyhole report FILE -o ...");
	name_default(options->input, path);
	if (result_open(&run->result, "symbolize", options->output ? options->output : path,
			options->force))
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
	confine_files(fds, sizeof(fds) / sizeof(fds[0]));
	channel_init(&peer->channel, socket, PARTY_VIEWER, PARTY_DEBUG);
	peer->channel.phase = PHASE_RUN;
	_exit(model_run(&run->files, peer));
}

/* Answers until the process that has the profile is gone. */
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

	log_init("keyhole", LOG_LEVEL_WARNING);
	r = read_options(argc, argv, &run.options);
	log_init("keyhole", run.options.verbose ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING);
	if (r)
		return r;
	if (run.options.help)
		return fputs(usage_text, stdout) < 0;
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
