/* SPDX-License-Identifier: Apache-2.0 */
#include "view/report/options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/log.h"
#include "base/decimal.h"
#include "profile/format/format.h"

#define LINES	    20
#define MIN_PERCENT 1.0
#define FORMATS_MAX 32u /* ids of formats are below it */

static const char usage[] =
	"usage: keyhole report [OPTIONS] FILE\n"
	"       keyhole report --diff OLD NEW [-o FILE.html]\n"
	"Shows or converts a recorded profile (pprof). FILE - is standard input.\n\n"
	"  (nothing)              the functions with most time of their own\n"
	"      --by WHAT          function, object, process, thread, reason, cgroup\n"
	"      --sort WHAT        self (default) or total\n"
	"      --callers REGEX    who calls the functions that match, for how long\n"
	"      --callees REGEX    what they call\n"
	"      --tree             calls from the root on, above --min\n"
	"      --min PERCENT      of --tree: least share that is shown (1)\n"
	"      --diff             how shares have changed from OLD to NEW; with -o as a\n"
	"                         flame graph (html or svg), coloured by the change\n"
	"      --per WHAT         of --diff: total (shares, default) or time (CPUs used)\n"
	"  -n, --lines N          so many lines (20), 0 for all\n"
	"      --json             for programs\n\n"
	"which samples:\n"
	"      --comm REGEX       of processes with such a name\n"
	"      --pid N            of this process\n"
	"      --object REGEX     taken in such a file, library or kernel module\n"
	"      --kernel           taken in the kernel\n"
	"      --no-kernel        taken outside of it\n"
	"      --sample-type NAME of a profile with several types of values\n\n"
	"conversion:\n"
	"  -o, --output FILE      write the samples to FILE, - for stdout\n"
	"  -f, --format FORMAT    else from the suffix of FILE\n"
	"      --by-thread        keep threads apart\n"
	"      --force            replace FILE when it exists\n"
	"  -h, --help             this text\n\n"
	"examples:\n"
	"  keyhole report all.pb.gz\n"
	"  keyhole report --callers '^malloc$' --comm '^nginx$' all.pb.gz\n"
	"  keyhole report --diff --sort total before.pb.gz after.pb.gz\n"
	"  keyhole report --diff before.pb.gz after.pb.gz -o change.html\n"
	"  keyhole report all.pb.gz -o all.folded\n\n"
	"environment: NO_COLOR with any value or TERM=dumb: no colours; COLUMNS: how wide\n"
	"  (without it the terminal, else 80)\n"
	"exit status: 0 done, 1 failed, 2 usage\n";

enum { /* those that have no short form */
	OPTION_BY = 256,
	OPTION_SORT,
	OPTION_CALLERS,
	OPTION_CALLEES,
	OPTION_TREE,
	OPTION_MIN,
	OPTION_DIFF,
	OPTION_PER,
	OPTION_JSON,
	OPTION_COMM,
	OPTION_PID,
	OPTION_OBJECT,
	OPTION_KERNEL,
	OPTION_NO_KERNEL,
	OPTION_SAMPLE_TYPE,
	OPTION_BY_THREAD,
	OPTION_FORCE
};

static const struct option longs[] = {
	{"by", required_argument, NULL, OPTION_BY},
	{"sort", required_argument, NULL, OPTION_SORT},
	{"callers", required_argument, NULL, OPTION_CALLERS},
	{"callees", required_argument, NULL, OPTION_CALLEES},
	{"tree", no_argument, NULL, OPTION_TREE},
	{"min", required_argument, NULL, OPTION_MIN},
	{"diff", no_argument, NULL, OPTION_DIFF},
	{"per", required_argument, NULL, OPTION_PER},
	{"lines", required_argument, NULL, 'n'},
	{"json", no_argument, NULL, OPTION_JSON},
	{"comm", required_argument, NULL, OPTION_COMM},
	{"pid", required_argument, NULL, OPTION_PID},
	{"object", required_argument, NULL, OPTION_OBJECT},
	{"kernel", no_argument, NULL, OPTION_KERNEL},
	{"no-kernel", no_argument, NULL, OPTION_NO_KERNEL},
	{"sample-type", required_argument, NULL, OPTION_SAMPLE_TYPE},
	{"output", required_argument, NULL, 'o'},
	{"format", required_argument, NULL, 'f'},
	{"by-thread", no_argument, NULL, OPTION_BY_THREAD},
	{"force", no_argument, NULL, OPTION_FORCE},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static const char *const by_names[BY_COUNT] = {"function", "object", "process",
					       "thread",   "reason", "cgroup"};

const char *report_options_by_name(enum by by)
{
	return by_names[by];
}

/* What takes an option's argument returns NULL, or why that is refused. */

static const char *set_by(struct options *options, const char *arg)
{
	for (unsigned int by = 0; by < BY_COUNT; by++) {
		if (!strcmp(arg, by_names[by])) {
			options->by = (enum by)by;
			return NULL;
		}
	}
	return "not function, object, process, thread, reason or cgroup";
}

/* One of two words; the second one sets *flag. */
static const char *set_word(bool *flag, const char *arg, const char *first, const char *second,
			    const char *refusal)
{
	*flag = !strcmp(arg, second);
	return *flag || !strcmp(arg, first) ? NULL : refusal;
}

static const char *set_min(struct options *options, const char *arg)
{
	char *end;

	options->has_min = true;
	options->min = strtod(arg, &end);
	return end == arg || *end || !(options->min >= 0 && options->min <= 100)
		       ? "not a share of 0 to 100 percent"
		       : NULL;
}

static const char *set_where(struct options *options, enum where where)
{
	if (options->where != WHERE_ANY && options->where != where)
		return "--kernel and --no-kernel leave nothing";
	options->where = where;
	return NULL;
}

/* As `record` has them: "otlp-json" is otlp_json. */
static const char *set_format(struct options *options, const char *arg)
{
	options->format = NULL;
	for (uint32_t id = 0; id < FORMATS_MAX; id++) {
		const struct format *format = format_find(id);
		char name[32] = "";

		if (format)
			snprintf(name, sizeof(name), "%s", format->name);
		for (char *c = name; *c; c++)
			*c = *c == '_' ? '-' : *c;
		if (*arg && !strcmp(name, arg))
			options->format = format;
	}
	return options->format ? NULL : "not a format that is known";
}

static const char *set_lines(struct options *options, const char *arg)
{
	if (!decimal_read32(arg, 0, INT_MAX, &options->lines))
		return "not a number of lines";
	options->lines = options->lines ? options->lines : UINT_MAX;
	return NULL;
}

static const char *set_pid(struct options *options, const char *arg)
{
	return decimal_read32(arg, 1, INT_MAX, &options->pid) ? NULL : "not a process id";
}

static const char *apply_flag(struct options *options, int option)
{
	options->tree |= option == OPTION_TREE;
	options->diff |= option == OPTION_DIFF;
	options->json |= option == OPTION_JSON;
	options->by_thread |= option == OPTION_BY_THREAD;
	options->force |= option == OPTION_FORCE;
	options->help |= option == 'h';
	if (option == OPTION_KERNEL || option == OPTION_NO_KERNEL)
		return set_where(options, option == OPTION_KERNEL ? WHERE_KERNEL : WHERE_USER);
	return option == ':' ? "needs an argument" : option == '?' ? "unknown option" : NULL;
}

static const char *apply(struct options *options, int option, const char *arg)
{
	switch (option) {
	case OPTION_BY:
		return set_by(options, arg);
	case OPTION_SORT:
		return set_word(&options->by_total, arg, "self", "total", "not self or total");
	case OPTION_PER:
		return set_word(&options->by_time, arg, "total", "time", "not total or time");
	case OPTION_MIN:
		return set_min(options, arg);
	case OPTION_PID:
		return set_pid(options, arg);
	case OPTION_CALLERS:
		options->callers = arg;
		return NULL;
	case OPTION_CALLEES:
		options->callees = arg;
		return NULL;
	case OPTION_COMM:
		options->comm = arg;
		return NULL;
	case OPTION_OBJECT:
		options->object = arg;
		return NULL;
	case OPTION_SAMPLE_TYPE:
		options->sample_type = arg;
		return NULL;
	case 'n':
		return set_lines(options, arg);
	case 'f':
		return set_format(options, arg);
	case 'o':
		options->output = arg;
		return NULL;
	default:
		return apply_flag(options, option);
	}
}

static bool ends_in(const char *text, const char *suffix)
{
	size_t length = strlen(text), tail = strlen(suffix);

	return length > tail && !strcmp(text + length - tail, suffix);
}

/* The longest one that fits; ".pb" is a plain name for pprof. */
static const char *find_format(struct options *options)
{
	static const struct {
		const char *suffix;
		uint32_t id;
	} suffixes[] = {
#define F(number, name, suffix) {suffix, number},
#include "ipc/formats.def"
#undef F
	};
	size_t longest = 0;

	if (options->format)
		return NULL;
	if (ends_in(options->output, ".pb"))
		return set_format(options, "pprof");
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		size_t length = strlen(suffixes[i].suffix);

		if (length > longest && ends_in(options->output, suffixes[i].suffix)) {
			longest = length;
			options->format = format_find(suffixes[i].id);
		}
	}
	return options->format ? NULL : "suffix not known; give -f";
}

static const char *check_views(const struct options *options)
{
	const bool callers = options->callers || options->callees;

	if ((options->output || options->diff) + callers + options->tree > 1)
		return "only one of -o, --callers or --callees, --tree and --diff can be given";
	if (options->output && options->by_time)
		return "--per is for the table alone";
	if (options->diff && options->by_thread)
		return "--diff knows no threads: they have other ids each time";
	if (options->by != BY_FUNCTION && (options->output || callers || options->tree))
		return "--by is for the table alone";
	if (options->output && options->json)
		return "-o and --json cannot be given together";
	if (options->format && !options->output)
		return "-f needs -o";
	if (options->has_min && !options->tree)
		return "--min needs --tree";
	return options->by_time && !options->diff ? "--per needs --diff" : NULL;
}

static const char *take_files(struct options *options, int argc, char **argv)
{
	const int wanted = options->diff ? 2 : 1, given = argc - optind;

	if (given != wanted)
		return options->diff ? "--diff needs two files, OLD and NEW"
		       : given	     ? "one file can be shown; two with --diff"
				     : "no file is named";
	for (int i = 0; i < given; i++)
		options->files[options->file_count++] = argv[optind + i];
	if (options->diff && !strcmp(options->files[0], "-") && !strcmp(options->files[1], "-"))
		return "standard input cannot be both";
	return NULL;
}

static int refuse(const char *object, const char *reason)
{
	if (reason)
		log_error("report: %s: %s%s", object, reason,
			  strchr(reason, ';') ? "" : "; see: keyhole report --help");
	return reason ? -EINVAL : 0;
}

/* The option that was read last. Letters that stand together are not counted by optind. */
static const char *given(char **argv)
{
	static char letter[] = "-?";

	if (optarg)
		return optarg;
	if (!optopt || !strncmp(argv[optind - 1], "--", 2))
		return argv[optind - 1];
	letter[1] = (char)optopt;
	return letter;
}

int report_options_parse(int argc, char **argv, struct options *ret_options)
{
	int r = 0, option;

	*ret_options = (struct options){.lines = LINES, .min = MIN_PERCENT};
	optind = 0; /* glibc: start anew */
	opterr = 0;
	while (!r && (option = getopt_long(argc, argv, ":n:o:f:h", longs, NULL)) != -1)
		r = refuse(given(argv), apply(ret_options, option, optarg));
	if (r || ret_options->help)
		return r;
	r = refuse("options", check_views(ret_options));
	r = r ? r : refuse("files", take_files(ret_options, argc, argv));
	if (r || !ret_options->output)
		return r;
	r = refuse(ret_options->output, find_format(ret_options));
	if (!r && ret_options->diff && !ret_options->format->shows_base)
		r = refuse(ret_options->format->name, "shows no difference; html and svg do");
	return r;
}

void report_options_usage(FILE *stream)
{
	fputs(usage, stream);
}
