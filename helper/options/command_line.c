/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/options/command_line.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "helper/options/events.h"
#include "helper/options/filters.h"
#include "helper/options/formats.h"
#include "helper/options/help.h"
#include "helper/options/nearest.h"
#include "ipc/log.h"
#include "ipc/time.h"
#include "policy/policy.h"
#include "base/decimal.h"

struct line {
	struct message_options *options;
	const struct option *longs; /* the verb's, no more than of `record` */
	const char *output, *event;
	bool all, help;
	struct filters filters;
};

/* ---- options ------------------------------------------------------------------------------- */

/* Capital letters and digits but F stand for those that have no short form. */
static const struct option longs[] = {
	{"all", no_argument, NULL, 'a'},
	{"pid", required_argument, NULL, 'p'},
	{"cgroup", required_argument, NULL, 'C'},
	{"event", required_argument, NULL, 'e'},
	{"comm", required_argument, NULL, 'M'},
	{"uid", required_argument, NULL, 'U'},
	{"exclude-pid", required_argument, NULL, 'X'},
	{"exclude-cgroup", required_argument, NULL, 'Y'},
	{"kernel", no_argument, NULL, '1'},
	{"no-kernel", no_argument, NULL, '2'},
	{"user", no_argument, NULL, '3'},
	{"no-user", no_argument, NULL, '4'},
	{"frequency", required_argument, NULL, 'F'},
	{"duration", required_argument, NULL, 'd'},
	{"every", required_argument, NULL, 'E'},
	{"output", required_argument, NULL, 'o'},
	{"format", required_argument, NULL, 'f'},
	{"force", no_argument, NULL, 'R'},
	{"require", required_argument, NULL, 'Q'},
	{"audit", required_argument, NULL, 'A'},
	{"debug-dir", required_argument, NULL, 'D'},
	{"policy", required_argument, NULL, 'P'},
	{"inline", no_argument, NULL, 'I'},
	{"no-inline", no_argument, NULL, 'N'},
	{"by-thread", no_argument, NULL, 'T'},
	{"quiet", no_argument, NULL, 'q'},
	{"verbose", no_argument, NULL, 'v'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

#define WHY_DURATION (5 * NS_PER_SECOND)
static const struct option why_longs[] = {
	{"frequency", required_argument, NULL, 'F'},
	{"duration", required_argument, NULL, 'd'},
	{"require", required_argument, NULL, 'Q'},
	{"audit", required_argument, NULL, 'A'},
	{"debug-dir", required_argument, NULL, 'D'},
	{"policy", required_argument, NULL, 'P'},
	{"verbose", no_argument, NULL, 'v'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

/* What takes an option's argument returns NULL, or why that is refused. */

static const char *add_pid(struct message_options *options, const char *arg)
{
	if (options->pid_count + options->excluded_count == OPTIONS_PIDS_MAX)
		return "more than 64 processes; take -a or --cgroup";
	return decimal_read32(arg, 1, OPTIONS_PID_MAX, &options->pids[options->pid_count++])
		       ? NULL
		       : "not a process id";
}

static const char *set_duration(struct message_options *options, const char *arg)
{
	const double most = (double)OPTIONS_DURATION_MAX / (double)NS_PER_SECOND;
	char *end;
	double seconds = strtod(arg, &end);

	if (end == arg || *end || !isfinite(seconds) || seconds < 0.001 || seconds > most)
		return "not a number of seconds";
	options->duration = (uint64_t)(seconds * (double)NS_PER_SECOND);
	return NULL;
}

static const char *set_every(struct message_options *options, const char *arg)
{
	if (!decimal_read32(arg, 1, OPTIONS_EVERY_MAX, &options->every))
		return "not a number of seconds, 1 to 255";
	return NULL;
}

static const char *set_format(struct message_options *options, const char *arg)
{
	static char text[640];

	options->format = formats_by_name(arg);
	snprintf(text, sizeof(text), "not a format; take %s", formats_names(" or "));
	return options->format ? NULL : text;
}

/* A layer's, or of several: what a process can have of its own by a user namespace alone. */
static uint32_t layer_bits(const char *name, size_t length)
{
	static const struct {
		const char *name;
		uint32_t bits;
	} names[] = {
#define L(name, help) {#name, LAYER_BIT(name)},
#include "policy/layers.def"
#undef L
		{"userns", LAYER_BIT(namespaces) | LAYER_BIT(pid) | LAYER_BIT(root)},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strlen(names[i].name) == length && !strncmp(names[i].name, name, length))
			return names[i].bits;
	return 0;
}

/* "landlock,pid" */
static const char *add_layers(struct message_options *options, const char *list)
{
	static char text[256];

	for (const char *name = list; name; name = *name ? name + 1 : NULL) {
		size_t length = strcspn(name, ",");
		uint32_t bits = layer_bits(name, length);

		snprintf(text, sizeof(text),
			 "%.*s%snot a layer; take of namespaces, pid, root, "
			 "landlock and userns",
			 strlen(list) > length ? (int)length : 0, name,
			 strlen(list) > length ? ": " : "");
		if (!bits)
			return text;
		options->require |= bits;
		name += length;
	}
	return NULL;
}

/* It is in the argument that getopt() took last, counted without the program's name. */
static struct message_text place(char **argv, const char *arg)
{
	return (struct message_text){(uint32_t)optind, (uint32_t)(arg - argv[optind - 1])};
}

/* Behind what getopt() does not know: a letter, a word or one that has "=..." and may not. */
static const char *unknown(const struct option *those, char **argv)
{
	const char *names[sizeof(longs) / sizeof(*longs)] = {NULL}, *found;
	static char text[128];

	if (optopt && !strncmp(argv[optind - 1], "--", 2) && strchr(argv[optind - 1], '='))
		return "takes no argument";
	for (size_t i = 0; those[i].name; i++)
		names[i] = those[i].name;
	found = optopt ? NULL : nearest(argv[optind - 1] + 2, names);
	snprintf(text, sizeof(text), "unknown option; did you mean --%s?", found ? found : "");
	return found ? text : "unknown option";
}

static const char *apply(struct line *line, char **argv, int option, const char *arg)
{
	struct message_options *options = line->options;

	switch (option) {
	case 'p':
	case '\1': /* what is no option, in order */
		return add_pid(options, arg);
	case 'Q':
		return add_layers(options, arg);
	case 'M':
		options->comm = place(argv, arg);
		options->flags |= OPTIONS_COMM;
		return filters_check_comm(arg);
	case 'U':
		return filters_add_uids(&line->filters, arg);
	case 'X':
		return filters_add_excluded_pids(&line->filters, arg);
	case 'Y':
		return filters_add_excluded_cgroups(&line->filters, arg);
	case 'C':
		if (options->cgroup.index)
			return "only one cgroup can be given";
		options->cgroup = place(argv, arg);
		return NULL;
	case 'e':
		if (line->event)
			return "only one event can be given";
		line->event = arg;
		return events_parse(arg, &options->sampling);
	case 'F':
		return decimal_read32(arg, 1, OPTIONS_FREQUENCY_MAX, &options->sampling.frequency)
			       ? NULL
			       : "not a frequency of 1 to 10000 Hz";
	case 'd':
		return set_duration(options, arg);
	case 'E':
		return set_every(options, arg);
	case 'f':
		return set_format(options, arg);
	case 'A':
		options->audit = place(argv, arg);
		return NULL;
	case 'D':
		options->debug_dirs = place(argv, arg);
		return NULL;
	case 'P':
		options->policy = place(argv, arg);
		return NULL;
	case 'o':
		options->output = place(argv, arg);
		line->output = arg;
		return NULL;
	case ':':
		return "needs an argument";
	case '?':
		return unknown(line->longs, argv);
	}
	options->flags |= option == 'R' ? OPTIONS_FORCE : 0;
	options->flags |= option == 'T' ? OPTIONS_BY_THREAD : 0;
	options->flags |= option == 'q' ? OPTIONS_QUIET : 0;
	options->flags |= option == 'N' ? OPTIONS_NO_INLINE : 0;
	options->flags &= option == 'I' ? ~OPTIONS_NO_INLINE : ~0u;
	options->flags |= option == 'v' ? OPTIONS_VERBOSE : 0;
	if (option == '1' || option == '2')
		filters_hide(&line->filters, FILTER_NO_KERNEL, option == '2');
	if (option == '3' || option == '4')
		filters_hide(&line->filters, FILTER_NO_USER, option == '4');
	line->all |= option == 'a';
	line->help |= option == 'h';
	return NULL;
}

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
	return options->pid_count;
}

static const char *finish_target(struct line *line, int argc, char **argv)
{
	struct message_options *options = line->options;
	bool dashes = !strcmp(argv[optind - 1], "--");

	if (optind < argc && !dashes)
		return "unexpected; a command goes after --";
	if (optind == argc && dashes)
		return "no command follows";
	options->command = dashes ? (uint32_t)optind + 1 : 0;
	if (line->all + !!options->pid_count + !!options->cgroup.index + dashes > 1)
		return "only one of -a, -p, --cgroup and -- CMD can be given";
	return excludes_all(options) ? "--exclude-pid leaves nothing of -p; leave one of them out"
				     : NULL;
}

static const char *finish_output(struct line *line)
{
	static char text[640];
	struct message_options *options = line->options;
	time_t now = time(NULL);
	size_t used;

	if (!line->output) {
		options->format = options->format ?: FORMAT_pprof;
		used = strftime(options->name, sizeof(options->name), "keyhole-%Y%m%d-%H%M%S",
				localtime(&now));
		snprintf(options->name + used, sizeof(options->name) - used, "%s",
			 formats_suffix((enum profile_format)options->format));
		line->output = options->name;
	}
	if (!*line->output)
		return "the file has no name";
	/* others cannot follow one another in a file */
	if (options->every && (strcmp(line->output, "-") || (options->format != FORMAT_pprof &&
							     options->format != FORMAT_folded)))
		return "a profile --every so often needs: -o - and -f pprof or folded";
	if (!options->format)
		options->format = formats_by_suffix(line->output);
	if (!options->format && !strcmp(line->output, "-"))
		return "standard output has no suffix; give -f FORMAT";
	snprintf(text, sizeof(text), "suffix not known; take %s, or give -f FORMAT",
		 formats_suffixes(" or "));
	return options->format ? NULL : text;
}

static const char *finish_level(struct message_options *options)
{
	const bool quiet = options->flags & OPTIONS_QUIET,
		   verbose = options->flags & OPTIONS_VERBOSE;

	options->level = quiet ? LOG_LEVEL_ERROR : verbose ? LOG_LEVEL_DEBUG : LOG_LEVEL_WARNING;
	return quiet && verbose ? "only one of -q and -v can be given" : NULL;
}

/* A reason that does not say what to do is followed by who does. */
static int refuse(const char *verb, const char *object, const char *reason)
{
	if (reason && strchr(reason, ';'))
		log_error("%s: %s: %s", verb, object, reason);
	else if (reason)
		log_error("%s: %s: %s; see: keyhole %s --help", verb, object, reason, verb);
	return reason ? EXIT_USAGE : 0;
}

/* The option that was read last. Letters that stand together are not counted by optind. */
static const char *given(char **argv, int option)
{
	static char letter[] = "-?";

	if (optarg)
		return optarg;
	if (option != '?' || !optopt || !strncmp(argv[optind - 1], "--", 2))
		return argv[optind - 1];
	letter[1] = (char)optopt;
	return letter;
}

/* argv[0] is the verb. 0, EXIT_USAGE after one line; line->help: it is wanted. */
static int read_options(struct line *line, int argc, char **argv, const char *shorts)
{
	int r = 0, option;

	filters_init(&line->filters, line->options);
	optind = 0; /* glibc: start anew */
	opterr = 0;
	while (!r && (option = getopt_long(argc, argv, shorts, line->longs, NULL)) != -1)
		r = refuse(argv[0], given(argv, option), apply(line, argv, option, optarg));
	return r;
}

/* What is known only when all are read. */
static int finish_options(struct line *line, const char *verb)
{
	struct message_options *options = line->options;
	int r = refuse(verb, "options", finish_level(options));

	if (options->pid_count || options->command)
		options->flags |= OPTIONS_SOME;
	r = r ? r
	      : refuse(verb, line->event ? line->event : "-F", events_finish(&options->sampling));
	return r ? r : refuse(verb, "--no-kernel --no-user", filters_finish(&line->filters));
}

/* OPTIONS_RECORD, EXIT_USAGE after one line, or EXIT_DONE: help is wanted. */
static int read_record(int argc, char **argv, struct message_options *ret_options)
{
	struct line line = {.options = ret_options, .longs = longs};
	/* The first character: stop at CMD. The second: the messages are ours. */
	int r = read_options(&line, argc, argv, "+:ap:e:F:d:o:f:qvh");

	if (r || line.help)
		return r;
	r = refuse(argv[0], optind < argc ? argv[optind] : "options",
		   finish_target(&line, argc, argv));
	r = r ? r : finish_options(&line, argv[0]);
	r = r ? r : refuse(argv[0], line.output ? line.output : "output", finish_output(&line));
	return r ? r : OPTIONS_RECORD;
}

/* As above: a recording of one process, of which the worker makes no profile. */
static int read_why(int argc, char **argv, struct message_options *ret_options)
{
	struct line line = {.options = ret_options, .longs = why_longs};
	/* The first character: nothing changes its place, which is told. */
	int r = read_options(&line, argc, argv, "-:F:d:vh");

	if (r || line.help)
		return r;
	ret_options->duration = ret_options->duration ?: WHY_DURATION;
	ret_options->format = FORMAT_folded; /* any */
	ret_options->flags |= OPTIONS_WHY;
	snprintf(ret_options->name, sizeof(ret_options->name), "-");
	r = refuse(argv[0], "PID",
		   ret_options->pid_count == 1 && optind == argc
			   ? NULL
			   : "one process, as in: keyhole why 1234");
	r = r ? r : finish_options(&line, argv[0]);
	return r ? r : OPTIONS_RECORD;
}

static int flush(FILE *out, const char *verb)
{
	if (fflush(out) == 0)
		return EXIT_DONE;
	log_error("%s: standard output: %s", verb, strerror(errno));
	return EXIT_FAILED;
}

static int refuse_verb(const char *verb)
{
	static const char *const verbs[] = {"record", "why", "check-config", "help",
#define V(verb, program, help) #verb,
#include "ipc/verbs.def"
#undef V
					    NULL};
	const char *found = nearest(verb, verbs);

	if (found)
		log_error("%s: not a command; did you mean %s? run: keyhole help", verb, found);
	else
		log_error("%s: not a command; run: keyhole help", *verb ? verb : "(nothing)");
	return EXIT_USAGE;
}

/* Comes here where it is not just a file that is named: that would be read. */
static int read_check_config(char **args, FILE *out)
{
	if (!args[0] || (strcmp(args[0], "--help") && strcmp(args[0], "-h"))) {
		log_error("check-config: %s: unknown option; see: keyhole check-config --help",
			  args[0] ? args[0] : "");
		return EXIT_USAGE;
	}
	help_print_check_config(out);
	return EXIT_DONE;
}

/* `keyhole help VERB`. Programs of their own have their own help. */
static int help(const char *verb, FILE *out)
{
	static const struct {
		const char *verb;
		void (*print)(FILE *out);
	} ours[] = {
		{"", help_print},
		{"help", help_print},
		{"record", help_print},
		{"why", help_print_why},
		{"check-config", help_print_check_config},
	};
	static const char *const programs[] = {
#define V(verb, program, help) #verb,
#include "ipc/verbs.def"
#undef V
	};

	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++) {
		if (strcmp(ours[i].verb, verb) != 0)
			continue;
		ours[i].print(out);
		return EXIT_DONE;
	}
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		if (strcmp(programs[i], verb) != 0)
			continue;
		fprintf(out, "see: keyhole %s --help\n", verb);
		return EXIT_DONE;
	}
	return refuse_verb(verb);
}

void command_line_read(int argc, char **argv, FILE *out, struct message_options *ret_options)
{
	const char *verb = argc > 1 ? argv[1] : "";
	int status = EXIT_DONE;

	memset(ret_options, 0, sizeof(*ret_options));
	if (!strcmp(verb, "--version")) {
		fputs("keyhole " KEYHOLE_VERSION "\n", out);
	} else if (!strcmp(verb, "check-config")) {
		status = read_check_config(argv + 2, out);
	} else if (!strcmp(verb, "record")) {
		status = read_record(argc - 1, argv + 1, ret_options);
		if (status == EXIT_DONE)
			help_print(out);
	} else if (!strcmp(verb, "why")) {
		status = read_why(argc - 1, argv + 1, ret_options);
		if (status == EXIT_DONE)
			help_print_why(out);
	} else if (!strcmp(verb, "help") || !strcmp(verb, "--help") || !strcmp(verb, "-h")) {
		status = help(argc > 2 ? argv[2] : "", out);
	} else {
		status = refuse_verb(verb);
	}
	ret_options->status = status == EXIT_DONE ? flush(out, verb) : status;
}
