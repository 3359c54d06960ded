/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/options/command_line.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "helper/options/formats.h"
#include "helper/options/nearest.h"
#include "ipc/log.h"
#include "ipc/time.h"
#include "policy/policy.h"

#define EVERY_MAX     ((1u << (CONFIG_NAMES - OPTIONS_EVERY)) - 1) /* seconds */
#define HELP_COLUMNS  80
#define VERB_COLUMN   25
#define OPTION_COLUMN 27

struct line {
	struct message_options *options;
	const char *output;
	bool all, help;
};

/* ---- help ---------------------------------------------------------------------------------- */

static const char usage_target[] =
	"Profile with stacks and write them to a file. Ctrl-C stops and writes.\n\n"
	"  -a, --all                the whole machine (default)\n"
	"  -p, --pid PID            a process, its threads, later children (repeatable)\n"
	"      --cgroup PATH        the processes of a cgroup v2 directory\n"
	"  -- CMD ARGS              profile CMD, run as the invoking user, until it exits\n"
	"  -F, --frequency HZ       samples per second and CPU, 1-10000 (99)\n"
	"  -d, --duration SECONDS   stop after so long, may be fractional\n"
	"      --every SECONDS      a profile every 1-255 s; with -o -, pprof or folded\n";
static const char usage_rest[] =
	"      --force              replace FILE when it exists\n"
	"      --by-thread          keep threads apart\n"
	"      --debug-dir DIR[:DIR] where debug files are (/usr/lib/debug)\n"
	"      --policy FILE        who is never sampled (/etc/keyhole/policy.conf)\n"
	"      --audit FILE         append what was done to FILE (ours, mode 0600; .json)\n"
	"      --require LAYERS     do not start without: namespaces,pid,root,landlock\n"
	"  -q, --quiet              say nothing but errors\n"
	"  -v, --verbose            say more\n"
	"  -h, --help               this text\n\n"
	"examples:\n"
	"  sudo keyhole record -d 10                    the whole machine, for 10 s\n"
	"  sudo keyhole record -p 1234 -o app.folded    one process, until Ctrl-C\n"
	"  sudo keyhole record -o make.pb.gz -- make    a command, run as the user\n"
	"  sudo keyhole record -d 5 -f folded -o - | flamegraph.pl >cpu.svg\n\n"
	"exit status: 0 done, 1 failed while recording, 2 usage, 3 missing rights,\n"
	"  4 no samples; with CMD that of CMD, 128 + N when signal N ended it\n";

static const char usage_check_config[] =
	"usage: keyhole check-config [FILE]\n"
	"What the policy file (/etc/keyhole/policy.conf) says, or what is wrong with it:\n"
	"its rules in their canonical order, then the SHA-256 of those lines.\n\n"
	"  -h, --help               this text\n\n"
	"examples:\n"
	"  sudo keyhole check-config\n"
	"  sudo keyhole check-config new.conf\n\n"
	"exit status: 0 the rules hold, 1 failed, 2 the file is wrong, or usage\n";

/* Text from that column on, continued below itself where it would be wider than a terminal. */
static void print_entry(FILE *out, const char *label, int start, const char *text)
{
	int column = fprintf(out, "%-*s", start - 1, label);

	while (*text) {
		const int word = (int)strcspn(text, " ");

		if (column + 1 + word > HELP_COLUMNS)
			column = fprintf(out, "\n%*s", start - 1, "") - 1;
		column += fprintf(out, " %.*s", word, text);
		text += word + (text[word] == ' ');
	}
	fputc('\n', out);
}

static void print_usage(FILE *out)
{
	char formats[640];

	fputs("usage: keyhole record [OPTIONS] [-- CMD ARGS]\n", out);
#define V(verb, program, help) print_entry(out, "       keyhole " #verb, VERB_COLUMN, help);
#include "ipc/verbs.def"
#undef V
	print_entry(out, "       keyhole check-config", VERB_COLUMN,
		    "[FILE]: what the policy file says, or what is wrong with it");
	fputc('\n', out);
	fputs(usage_target, out);
	fprintf(out, "  -o, --output FILE        write here (keyhole-DATE-TIME%s), - for stdout\n",
		formats_suffix(FORMAT_pprof));
	snprintf(formats, sizeof(formats), "%s; else by the suffix of FILE", formats_names(" or "));
	print_entry(out, "  -f, --format FORMAT", OPTION_COLUMN, formats);
	fputs(usage_rest, out);
}

/* ---- options ------------------------------------------------------------------------------- */

/* A, C, D, E, P, Q, R and T stand for those that have no short form. */
static const struct option longs[] = {
	{"all", no_argument, NULL, 'a'},
	{"pid", required_argument, NULL, 'p'},
	{"cgroup", required_argument, NULL, 'C'},
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
	{"by-thread", no_argument, NULL, 'T'},
	{"quiet", no_argument, NULL, 'q'},
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

static const char *add_pid(struct message_options *options, const char *arg)
{
	if (options->pid_count == OPTIONS_PIDS_MAX)
		return "more than 64 processes; take -a or --cgroup";
	return number(arg, 1, OPTIONS_PID_MAX, &options->pids[options->pid_count++])
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
	unsigned int seconds;

	if (!number(arg, 1, EVERY_MAX, &seconds))
		return "not a number of seconds, 1 to 255";
	options->flags &= ~(EVERY_MAX << OPTIONS_EVERY);
	options->flags |= seconds << OPTIONS_EVERY;
	return NULL;
}

static const char *set_format(struct message_options *options, const char *arg)
{
	static char text[640];

	options->format = formats_by_name(arg);
	snprintf(text, sizeof(text), "not a format; %s are known", formats_names(" and "));
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
	for (const char *name = list; name; name = *name ? name + 1 : NULL) {
		size_t length = strcspn(name, ",");
		uint32_t bits = layer_bits(name, length);

		if (!bits)
			return "a layer that is not known; namespaces, pid, root and landlock can "
			       "be missing";
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
static const char *unknown(char **argv)
{
	const char *names[sizeof(longs) / sizeof(*longs)] = {NULL}, *found;
	static char text[128];

	if (optopt && !strncmp(argv[optind - 1], "--", 2) && strchr(argv[optind - 1], '='))
		return "takes no argument";
	for (size_t i = 0; longs[i].name; i++)
		names[i] = longs[i].name;
	found = optopt ? NULL : nearest(argv[optind - 1] + 2, names);
	snprintf(text, sizeof(text), "unknown option; did you mean --%s?", found ? found : "");
	return found ? text : "unknown option";
}

static const char *apply(struct line *line, char **argv, int option, const char *arg)
{
	struct message_options *options = line->options;

	switch (option) {
	case 'p':
		return add_pid(options, arg);
	case 'Q':
		return add_layers(options, arg);
	case 'C':
		if (options->cgroup.index)
			return "only one cgroup can be given";
		options->cgroup = place(argv, arg);
		return NULL;
	case 'F':
		return number(arg, 1, OPTIONS_FREQUENCY_MAX, &options->frequency)
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
		return unknown(argv);
	}
	options->flags |= option == 'R' ? OPTIONS_FORCE : 0;
	options->flags |= option == 'T' ? OPTIONS_BY_THREAD : 0;
	options->flags |= option == 'q' ? OPTIONS_QUIET : 0;
	options->flags |= option == 'v' ? OPTIONS_VERBOSE : 0;
	line->all |= option == 'a';
	line->help |= option == 'h';
	return NULL;
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
	return NULL;
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
	if (options->flags >> OPTIONS_EVERY &&
	    (strcmp(line->output, "-") ||
	     (options->format != FORMAT_pprof && options->format != FORMAT_folded)))
		return "a profile --every so often needs: -o - and -f pprof or folded";
	if (!options->format)
		options->format = formats_by_suffix(line->output);
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
static int refuse(const char *object, const char *reason)
{
	if (reason)
		log_error("record: %s: %s%s", object, reason,
			  strchr(reason, ';') ? "" : "; see: keyhole record --help");
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

/* argv[0] is "record". OPTIONS_RECORD, EXIT_USAGE after one line, or EXIT_DONE: help is wanted. */
static int read_record(int argc, char **argv, struct message_options *ret_options)
{
	struct line line = {.options = ret_options};
	int r = 0, option;

	ret_options->frequency = 99;
	optind = 0; /* glibc: start anew */
	opterr = 0;
	/* The first character: stop at CMD. The second: the messages are ours. */
	while (!r && (option = getopt_long(argc, argv, "+:ap:F:d:o:f:qvh", longs, NULL)) != -1)
		r = refuse(given(argv, option), apply(&line, argv, option, optarg));
	if (r || line.help)
		return r;
	r = refuse(optind < argc ? argv[optind] : "options", finish_target(&line, argc, argv));
	r = r ? r : refuse("options", finish_level(ret_options));
	r = r ? r : refuse(line.output ? line.output : "output", finish_output(&line));
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
	static const char *const verbs[] = {"record", "check-config", "help",
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
	fputs(usage_check_config, out);
	return EXIT_DONE;
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
			print_usage(out);
	} else if (!strcmp(verb, "help") || !strcmp(verb, "--help") || !strcmp(verb, "-h")) {
		print_usage(out);
	} else {
		status = refuse_verb(verb);
	}
	ret_options->status = status == EXIT_DONE ? flush(out, verb) : status;
}
