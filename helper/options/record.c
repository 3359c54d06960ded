/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/options/record.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/event_rows.h"
#include "base/formats.h"
#include "helper/options/events.h"
#include "helper/options/setters.h"
#include "ipc/log.h"
#include "ipc/time.h"

#define STAT_FREQUENCY 10u /* Hz: so often a thread that never leaves its CPU is charged */
#define WHY_DURATION   (5 * NS_PER_SECOND)

/* ---- what all options say together ----------------------------------------------------------- */

static bool is_excluded(const struct message_options *options, uint32_t pid)
{
	for (unsigned int i = 0; i < options->excluded_count; i++)
		if (options->excluded_pids[i] == pid)
			return true;
	return false;
}

static bool excludes_all(const struct message_options *options)
{
	for (unsigned int i = 0; i < options->pid_count; i++)
		if (!is_excluded(options, options->pids[i]))
			return false;
	return options->pid_count > 0;
}

static const char *finish_target(struct line *line, int argc)
{
	struct message_options *options = line->options;
	bool dashes = !strcmp(line->argv[optind - 1], "--");
	int targets = 0;

	if (optind < argc && !dashes)
		return "unexpected; a command goes after --";
	if (optind == argc && dashes)
		return "no command follows";
	if (dashes)
		options->command = (uint32_t)optind + 1;
	targets += line->all;
	targets += options->pid_count > 0;
	targets += options->cgroup.index > 0;
	targets += dashes;
	if (targets > 1)
		return "only one of -a, -p, --cgroup and -- CMD can be given";
	if (excludes_all(options))
		return "--exclude-pid leaves nothing of -p; leave one of them out";
	return NULL;
}

/* Names the output after the time, for a line that names none. */
static void name_output(struct line *line)
{
	struct message_options *options = line->options;
	time_t now = time(NULL);
	size_t used;

	if (!options->format)
		options->format = FORMAT_pprof;
	used = strftime(options->name, sizeof(options->name), "keyhole-%Y%m%d-%H%M%S",
			localtime(&now));
	snprintf(options->name + used, sizeof(options->name) - used, "%s",
		 formats_suffix((enum profile_format)options->format));
	line->output = options->name;
}

/*
 * Returns whether -o and -f were given, and profiles of the format can follow one another. Only
 * keyhole-output can tell whether the output is a FIFO.
 */
static bool is_stream(const struct line *line)
{
	const uint32_t format = line->options->format;

	return line->output && (format == FORMAT_pprof || format == FORMAT_folded);
}

static const char *finish_output(struct line *line)
{
	static char text[640];
	struct message_options *options = line->options;

	if (options->every && !is_stream(line))
		return "a profile --every so often needs: -o - or a FIFO, and -f pprof or folded";
	if (!line->output)
		name_output(line);
	if (!*line->output)
		return "the file has no name";
	if (!options->format)
		options->format = formats_by_suffix(line->output);
	if (options->format)
		return NULL;
	if (!strcmp(line->output, "-"))
		return "standard output has no suffix; give -f FORMAT";
	snprintf(text, sizeof(text), "suffix not known; take %s, or give -f FORMAT",
		 formats_suffixes(" or "));
	return text;
}

static const char *finish_level(struct message_options *options)
{
	const bool quiet = options->flags & OPTIONS_QUIET;
	const bool verbose = options->flags & OPTIONS_VERBOSE;

	if (quiet && verbose)
		return "only one of -q and -v can be given";
	options->level = LOG_LEVEL_WARNING;
	if (quiet)
		options->level = LOG_LEVEL_ERROR;
	if (verbose)
		options->level = LOG_LEVEL_DEBUG;
	return NULL;
}

/* Stacks off the CPU are of switches, which no other event may make samples of. */
static const char *finish_off_cpu(const struct message_options *options)
{
	if (!(options->flags & OPTIONS_OFF_CPU))
		return NULL;
	if (event_counted(options->sampling.event, options->sampling.period))
		return "is counted: time off the CPU goes with an event of CPU time alone";
	return NULL;
}

/* Checks what can only be checked when every option is known. */
static int finish(struct line *line)
{
	struct message_options *options = line->options;
	const char *verb = line->argv[0], *event = "-F";
	int r;

	r = option_refuse(verb, "options", finish_level(options));
	if (r)
		return r;
	if (options->pid_count || options->command)
		options->flags |= OPTIONS_SOME;
	if (options->cgroup.index)
		options->flags |= OPTIONS_CGROUP;
	if (line->event)
		event = line->event;
	r = option_refuse(verb, event, events_finish(&options->sampling));
	if (r)
		return r;
	r = option_refuse(verb, event, finish_off_cpu(options));
	if (r)
		return r;
	return option_refuse(verb, "--no-kernel --no-user", filters_finish(&line->filters));
}

int record_finish(struct line *line, int argc)
{
	const char *object = "options";
	int r;

	if (optind < argc)
		object = line->argv[optind];
	r = option_refuse(line->argv[0], object, finish_target(line, argc));
	if (r)
		return r;
	return finish(line);
}

/* ---- verbs ----------------------------------------------------------------------------------- */

static int read_options(struct line *line, const struct option_reader *form, int argc, char **argv)
{
	struct option_reader reader = *form;

	reader.verb = argv[0];
	reader.rows = setters_rows;
	reader.count = setters_count;
	reader.target = line;
	line->argv = argv;
	filters_init(&line->filters, line->options);
	return option_read(&reader, argc, argv);
}

int record_read(int argc, char **argv, struct message_options *ret_options)
{
	static const struct option_reader form = {.verbs = RECORD, .order = OPTION_STOP};
	struct line line = {.options = ret_options};
	const char *output = "output";

	if (read_options(&line, &form, argc, argv))
		return EXIT_USAGE;
	if (line.help)
		return EXIT_DONE;
	if (record_finish(&line, argc))
		return EXIT_USAGE;
	if (line.output)
		output = line.output;
	if (option_refuse(argv[0], output, finish_output(&line)))
		return EXIT_USAGE;
	return OPTIONS_RECORD;
}

/* Records one process, of which the worker makes no profile. */
int record_read_why(int argc, char **argv, struct message_options *ret_options)
{
	static const struct option_reader form = {
		.verbs = WHY, .order = OPTION_IN_ORDER, .operand = setters_add_pid};
	struct line line = {.options = ret_options};
	const char *reason = NULL;

	if (read_options(&line, &form, argc, argv))
		return EXIT_USAGE;
	if (line.help)
		return EXIT_DONE;
	if (!ret_options->duration)
		ret_options->duration = WHY_DURATION;
	ret_options->format = FORMAT_folded; /* any: no profile is made */
	ret_options->flags |= OPTIONS_WHY;
	snprintf(ret_options->name, sizeof(ret_options->name), "-");
	if (ret_options->pid_count != 1 || optind != argc)
		reason = "one process, as in: keyhole why 1234";
	if (option_refuse(argv[0], "PID", reason))
		return EXIT_USAGE;
	if (finish(&line))
		return EXIT_USAGE;
	return OPTIONS_RECORD;
}

/* Returns why the options do not go together, or NULL. */
static const char *finish_stat(struct line *line)
{
	struct message_options *options = line->options;
	const uint32_t forms = OPTIONS_STAT_JSON | OPTIONS_STAT_CSV;

	if ((options->flags & forms) == forms)
		return "only one of --json and --csv can be given";
	if (options->flags & OPTIONS_BY_CGROUP && options->flags & OPTIONS_BY_THREAD)
		return "only one of --by-cgroup and --by-thread can be given";
	if (!line->output)
		snprintf(options->name, sizeof(options->name), "-");
	else if (!*line->output)
		return "the file has no name";
	return NULL;
}

/* Counts by events of the scheduler; the clock's event charges threads that go on running. */
int record_read_stat(int argc, char **argv, struct message_options *ret_options)
{
	static const struct option_reader form = {.verbs = STAT, .order = OPTION_STOP};
	struct line line = {.options = ret_options};

	if (read_options(&line, &form, argc, argv))
		return EXIT_USAGE;
	if (line.help)
		return EXIT_DONE;
	ret_options->format = FORMAT_folded; /* any: no profile is made */
	ret_options->flags |= OPTIONS_STAT;
	ret_options->sampling.frequency = STAT_FREQUENCY;
	if (events_parse("cpu-clock", &ret_options->sampling))
		return EXIT_USAGE;
	if (record_finish(&line, argc))
		return EXIT_USAGE;
	if (option_refuse(argv[0], "options", finish_stat(&line)))
		return EXIT_USAGE;
	return OPTIONS_RECORD;
}
