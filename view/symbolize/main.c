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
#include <unistd.h>

#include "ipc/log.h"
#include "ipc/messages.h"
#include "policy/policy.h"
#include "view/result.h"
#include "view/symbolize/folders.h"
#include "view/symbolize/model.h"
#include "view/symbolize/object.h"
#include "object/dwarf/child.h"

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
	struct result result;
};

static const char usage_text[] =
	"usage: keyhole symbolize [OPTIONS] FILE\n\n"
	"Adds names, lines and inlined functions to a profile of `keyhole record` (pprof).\n\n"
	"  -d, --debug-dir DIRS  look for DIR/.build-id/xx/yyyy.debug (" DEFAULT_FOLDER ");\n"
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

static void check_folder(const char *path)
{
	struct stat status;

	if (stat(path, &status) || !S_ISDIR(status.st_mode))
		log_warning("symbolize: debug-dir: %s: %s; name another", path,
			    strerror(errno ? errno : ENOTDIR));
}

/* As `record` has it: a list separated by colons. */
static int add_folders(struct folders *folders, char *list)
{
	for (char *path; (path = strsep(&list, ":"));) {
		if (!*path)
			continue;
		if (folders->count == FOLDERS_MAX)
			return usage("--debug-dir", "more than 8 folders");
		errno = 0;
		check_folder(path);
		folders->paths[folders->count++] = path;
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
		return add_folders(&options->folders, optarg);
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
	if (!options->folders.count)
		options->folders.paths[options->folders.count++] = DEFAULT_FOLDER;
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
	r = r ? failed("the process that reads the profile", -r) : EXIT_DONE;
	status = result_await("symbolize", child, 0);
	return r ? r : status;
}

int main(int argc, char **argv)
{
	static struct run run;
	int r;

	if (argc > 0 && !strcmp(argv[0], CHILD_NAME))
		return object_main(argc, argv);
	log_init("keyhole", LOG_LEVEL_WARNING);
	r = read_options(argc, argv, &run.options);
	log_init("keyhole", run.options.verbose ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING);
	if (r)
		return r;
	if (run.options.help)
		return fputs(usage_text, stdout) < 0;
	r = open_input(&run);
	r = r ? r : open_output(&run);
	if (r)
		return r;
	r = start(&run);
	return result_close(&run.result, r == EXIT_DONE) ? EXIT_FAILED : r;
}
