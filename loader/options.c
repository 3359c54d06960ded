/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/options.h"

#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ipc/log.h"
#include "ipc/time.h"
#include "policy/policy.h"

static const char usage[] =
	"usage: keyhole record [OPTIONS] [-- CMD ARGS]\n"
	"Profile with stacks and write them to a file. Ctrl-C stops and writes.\n\n"
	"  -a, --all                the whole machine (default)\n"
	"  -p, --pid PID            a process, its threads and later children (repeatable)\n"
	"      --cgroup PATH        the processes of a cgroup v2 directory\n"
	"  -- CMD ARGS              run CMD as the invoking user, profile it until it exits\n"
	"  -F, --frequency HZ       samples per second and CPU, 1-10000 (99)\n"
	"  -d, --duration SECONDS   stop after so long, may be fractional\n"
	"  -o, --output FILE        write here (keyhole-DATE-TIME.pb.gz), - for stdout\n"
	"  -f, --format FORMAT      folded or pprof, else from the suffix of FILE\n"
	"      --force              replace FILE when it exists\n"
	"      --by-thread          keep threads apart\n"
	"      --require LAYERS     do not start without: namespaces,pid,root,landlock\n"
	"  -v, --verbose            say more\n"
	"  -h, --help               this text\n\n"
	"exit status: 0 done, 1 failed while recording, 2 usage, 3 missing rights,\n"
	"  4 no samples; with CMD that of CMD, 128 + N when signal N ended it\n";

/* C, Q, R and T stand for those that have no short form. */
static const struct option longs[] = {
	{"all", no_argument, NULL, 'a'},
	{"pid", required_argument, NULL, 'p'},
	{"cgroup", required_argument, NULL, 'C'},
	{"frequency", required_argument, NULL, 'F'},
	{"duration", required_argument, NULL, 'd'},
	{"output", required_argument, NULL, 'o'},
	{"format", required_argument, NULL, 'f'},
	{"force", no_argument, NULL, 'R'},
	{"require", required_argument, NULL, 'Q'},
	{"by-thread", no_argument, NULL, 'T'},
	{"verbose", no_argument, NULL, 'v'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

/* A decimal number without sign, blank or anything behind it. */
static bool number(const char *text, unsigned int min, unsigned int max, unsigned int *ret_number)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || value < min || value > max)
		return false;
	*ret_number = (unsigned int)value;
	return true;
}

/* What takes an option's argument returns NULL, or why that is refused. */

static const char *add_pid(struct options *options, const char *arg)
{
	unsigned int pid;

	if (!number(arg, 1, 1u << 22, &pid))
		return "not a process id";
	if (options->pid_count == OPTIONS_PIDS_MAX)
		return "more than 64 processes; take -a or --cgroup";
	options->pids[options->pid_count++] = (pid_t)pid;
	return NULL;
}

static const char *set_duration(struct options *options, const char *arg)
{
	char *end;
	double seconds = strtod(arg, &end);

	if (end == arg || *end || !isfinite(seconds) || seconds < 0.001 || seconds > 1e8)
		return "not a number of seconds";
	options->duration = (uint64_t)(seconds * (double)NS_PER_SECOND);
	return NULL;
}

static const char *set_format(struct options *options, const char *arg)
{
	if (!strcmp(arg, "folded"))
		options->format = FORMAT_FOLDED;
	else if (!strcmp(arg, "pprof"))
		options->format = FORMAT_PPROF;
	else
		return "not a format; folded and pprof are known";
	return NULL;
}

static const char *apply(struct options *options, int option, const char *arg)
{
	switch (option) {
	case 'p':
		return add_pid(options, arg);
	case 'Q':
		return policy_layers_parse(arg, &options->require)
			       ? "a layer that is not known; namespaces, pid, root and landlock "
				 "can be missing"
			       : NULL;
	case 'C':
		if (options->cgroup)
			return "only one cgroup can be given";
		options->cgroup = arg;
		return NULL;
	case 'F':
		return number(arg, 1, OPTIONS_FREQUENCY_MAX, &options->frequency)
			       ? NULL
			       : "not a frequency of 1 to 10000 Hz";
	case 'd':
		return set_duration(options, arg);
	case 'f':
		return set_format(options, arg);
	case 'o':
		options->output = arg;
		return NULL;
	case ':':
		return "needs an argument";
	case '?':
		return "unknown option";
	}
	options->all |= option == 'a';
	options->force |= option == 'R';
	options->by_thread |= option == 'T';
	options->verbose |= option == 'v';
	options->help |= option == 'h';
	return NULL;
}

static const char *finish_target(struct options *options, int argc, char **argv)
{
	bool dashes = !strcmp(argv[optind - 1], "--");

	if (optind < argc && !dashes)
		return "unexpected; a command goes after --";
	if (optind == argc && dashes)
		return "no command follows";
	options->command = dashes ? argv + optind : NULL;
	if (options->all + !!options->pid_count + !!options->cgroup + dashes > 1)
		return "only one of -a, -p, --cgroup and -- CMD can be given";
	return NULL;
}

static const char *finish_output(struct options *options)
{
	static char name[48];
	time_t now = time(NULL);

	if (!options->output) {
		strftime(name, sizeof(name),
			 options->format == FORMAT_FOLDED ? "keyhole-%Y%m%d-%H%M%S.folded"
							  : "keyhole-%Y%m%d-%H%M%S.pb.gz",
			 localtime(&now));
		options->output = name;
	}
	if (!*options->output)
		return "the file has no name";
	if (!options->format && !fnmatch("?*.folded", options->output, 0))
		options->format = FORMAT_FOLDED;
	if (!options->format && !fnmatch("?*.pb.gz", options->output, 0))
		options->format = FORMAT_PPROF;
	return options->format ? NULL : "suffix not known: .folded or .pb.gz; or give -f";
}

static int refuse(const char *object, const char *reason)
{
	if (reason)
		log_error("record: %s: %s (see: keyhole record --help)", object, reason);
	return reason ? -EINVAL : 0;
}

int options_parse(int argc, char **argv, struct options *ret_options)
{
	int r = 0, option;

	*ret_options = (struct options){.frequency = 99};
	optind = 0; /* glibc: start anew */
	opterr = 0;
	/* The first character: stop at CMD. The second: the messages are ours. */
	while (!r && (option = getopt_long(argc, argv, "+:ap:F:d:o:f:vh", longs, NULL)) != -1)
		r = refuse(optarg ? optarg : argv[optind - 1], apply(ret_options, option, optarg));
	if (r || ret_options->help)
		return r;
	r = refuse(optind < argc ? argv[optind] : "options",
		   finish_target(ret_options, argc, argv));
	return r ? r : refuse(ret_options->output, finish_output(ret_options));
}

int options_usage(FILE *stream)
{
	return fputs(usage, stream) < 0;
}
