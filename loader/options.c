/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ipc/log.h"
#include "ipc/time.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
	const char *suffix, *name;
	enum profile_format format;
} formats[] = {
	{".folded", "folded", FORMAT_FOLDED},
	{".pb.gz", "pprof", FORMAT_PPROF},
	{".txt", "folded", FORMAT_FOLDED},
	{".pprof", "pprof", FORMAT_PPROF},
};

/* A setter returns NULL, or why the argument is refused. */

static unsigned long number(const char *text, unsigned long max)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	return *text < '0' || *text > '9' || *end || value > max ? 0 : value;
}

static const char *set_target(struct options *options, enum options_target target)
{
	if (options->target != TARGET_DEFAULT && options->target != target)
		return "only one of -a, -p, --cgroup and -- CMD can be given";
	options->target = target;
	return NULL;
}

static const char *set_pid(struct options *options, const char *arg)
{
	unsigned long pid = number(arg, 1u << 22);

	if (!pid)
		return "not a process id";
	if (options->pid_count == OPTIONS_PIDS_MAX)
		return "more than 64 processes; take -a or --cgroup";
	options->pids[options->pid_count++] = (pid_t)pid;
	return set_target(options, TARGET_PIDS);
}

static const char *set_cgroup(struct options *options, const char *arg)
{
	if (options->cgroup)
		return "only one cgroup can be given";
	options->cgroup = arg;
	return set_target(options, TARGET_CGROUP);
}

static const char *set_frequency(struct options *options, const char *arg)
{
	options->frequency = (unsigned int)number(arg, OPTIONS_FREQUENCY_MAX);
	return options->frequency ? NULL : "not a frequency of 1 to 10000 Hz";
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

static const char *set_output(struct options *options, const char *arg)
{
	options->output = arg;
	return *arg ? NULL : "the file has no name";
}

static const char *set_format(struct options *options, const char *arg)
{
	for (size_t i = 0; i < COUNT(formats); i++)
		if (!strcmp(arg, formats[i].name))
			options->format = formats[i].format;
	return options->format ? NULL : "not a format; folded and pprof are known";
}

/* S: with a setter for its argument, F: a flag. (field, long name, letter or 0, ..., help) */
#define RECORD_OPTIONS(S, F)                                                                   \
	F(all, "all", 'a', "the whole machine (default)")                                      \
	S(pid, "pid", 'p', "PID", "a process, its threads and later children (repeatable)")    \
	S(cgroup, "cgroup", 0, "PATH", "the processes of a cgroup v2 directory")               \
	S(frequency, "frequency", 'F', "HZ", "samples per second and CPU, 1-10000 (99)")       \
	S(duration, "duration", 'd', "SECONDS", "stop after so long, may be fractional")       \
	S(output, "output", 'o', "FILE", "write here (keyhole-DATE-TIME.pb.gz), - for stdout") \
	S(format, "format", 'f', "FORMAT", "folded or pprof, else from the suffix of FILE")    \
	F(force, "force", 0, "replace FILE when it exists")                                    \
	F(by_thread, "by-thread", 0, "keep threads apart")                                     \
	F(verbose, "verbose", 'v', "say more")                                                 \
	F(quiet, "quiet", 'q', "say nothing but warnings and errors")                          \
	F(help, "help", 'h', "this text")

static const struct row {
	const char *name;
	int letter;
	const char *argument, *help;
	const char *(*set)(struct options *options, const char *arg);
	size_t flag; /* offset of a bool, where there is no setter */
} rows[] = {
#define SETTER(field, name, letter, argument, help) {name, letter, argument, help, set_##field, 0},
#define FLAG(field, name, letter, help) \
	{name, letter, NULL, help, NULL, offsetof(struct options, field)},
	RECORD_OPTIONS(SETTER, FLAG)};

static const char *apply(struct options *options, const struct row *row, const char *arg)
{
	if (row->set)
		return row->set(options, arg);
	*(bool *)((char *)options + row->flag) = true;
	return NULL;
}

static const char *finish_target(int argc, char **argv, struct options *options)
{
	bool dashes = !strcmp(argv[optind - 1], "--");

	if (options->all && set_target(options, TARGET_ALL))
		return set_target(options, TARGET_ALL);
	if (optind == argc)
		return dashes ? "no command follows" : NULL;
	if (!dashes)
		return "unexpected; a command goes after --";
	options->command = argv + optind;
	return set_target(options, TARGET_COMMAND);
}

static const char *finish_output(struct options *options)
{
	const char *output = options->output;
	size_t length = output ? strlen(output) : 0;
	time_t now = time(NULL);
	struct tm local;

	for (size_t i = 0; i < COUNT(formats) && !options->format; i++) {
		size_t suffix = strlen(formats[i].suffix);

		if (length > suffix && !strcmp(output + length - suffix, formats[i].suffix))
			options->format = formats[i].format;
	}
	if (output)
		return options->format ? NULL
				       : "suffix not known: .folded .txt .pb.gz .pprof; or give -f";
	options->format = options->format ? options->format : FORMAT_PPROF;
	strftime(options->default_output, sizeof(options->default_output),
		 options->format == FORMAT_PPROF ? "keyhole-%Y%m%d-%H%M%S.pb.gz"
						 : "keyhole-%Y%m%d-%H%M%S.folded",
		 localtime_r(&now, &local));
	options->output = options->default_output;
	return NULL;
}

static int refuse(const char *object, const char *reason)
{
	if (reason)
		log_error("record: %s: %s (see: keyhole record --help)", object, reason);
	return reason ? -EINVAL : 0;
}

int options_parse(int argc, char **argv, struct options *ret_options)
{
	struct option longs[COUNT(rows) + 1] = {0};
	char shorts[2 * COUNT(rows) + 3] = "+:"; /* stop at CMD; the messages are ours */
	size_t used = 2;
	int r, index, value;

	*ret_options = (struct options){.frequency = 99};
	for (size_t i = 0; i < COUNT(rows); i++) {
		longs[i] = (struct option){rows[i].name, rows[i].argument != NULL, NULL,
					   rows[i].letter ? rows[i].letter : 256 + (int)i};
		if (rows[i].letter)
			shorts[used++] = (char)rows[i].letter;
		if (rows[i].letter && rows[i].argument)
			shorts[used++] = ':';
	}
	optind = 0; /* glibc: start anew */
	opterr = 0;
	while ((value = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		for (index = 0; longs[index].name && longs[index].val != value;)
			index++;
		if (!longs[index].name)
			return refuse(argv[optind - 1],
				      value == ':' ? "needs an argument" : "unknown option");
		r = refuse(optarg ? optarg : rows[index].name,
			   apply(ret_options, &rows[index], optarg));
		if (r)
			return r;
	}
	if (ret_options->help)
		return 0;
	r = refuse(optind < argc ? argv[optind] : "options",
		   finish_target(argc, argv, ret_options));
	return r ? r : refuse(ret_options->output, finish_output(ret_options));
}

void options_usage(FILE *stream)
{
	fputs("usage: keyhole record [OPTIONS] [-- CMD ARGS]\n"
	      "Profile with stacks and write them to a file. Ctrl-C stops and writes.\n\n",
	      stream);
	for (size_t i = 0; i < COUNT(rows); i++)
		fprintf(stream, "  %c%c%c --%-9s %-8s %s\n", rows[i].letter ? '-' : ' ',
			rows[i].letter ? rows[i].letter : ' ', rows[i].letter ? ',' : ' ',
			rows[i].name, rows[i].argument ? rows[i].argument : "", rows[i].help);
	fputs("  -- CMD ARGS              run CMD as the invoking user, profile it until it exits\n"
	      "\nexit status: 0 done, 1 failed while recording, 2 usage, 3 missing rights,\n"
	      "  4 no samples; with CMD that of CMD, 128 + N when signal N ended it\n",
	      stream);
}

const char *options_format_name(enum profile_format format)
{
	return format == FORMAT_FOLDED ? "folded" : "pprof";
}
