/* SPDX-License-Identifier: Apache-2.0 */
#include "view/report/options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "base/formats.h"
#include "base/option.h"
#include "profile/format/format.h"

#define REPORT	    1 /* the only verb of option_row.verbs */
#define LINES	    20
#define MIN_PERCENT 1.0
#define HELP_COLUMN 24

static const char usage_begin[] =
	"usage: keyhole report [OPTIONS] FILE\n"
	"       keyhole report --diff OLD NEW [-o FILE.html]\n"
	"Shows or converts a recorded profile (pprof). FILE - is standard input.\n\n";
static const char usage_end[] =
	"\nexamples:\n"
	"  keyhole report all.pb.gz\n"
	"  keyhole report --callers '^malloc$' --comm '^nginx$' all.pb.gz\n"
	"  keyhole report --diff --sort total before.pb.gz after.pb.gz\n"
	"  keyhole report --diff before.pb.gz after.pb.gz -o change.html\n"
	"  keyhole report all.pb.gz -o all.folded\n\n"
	"environment: NO_COLOR with any value or TERM=dumb: no colours; COLUMNS: how wide\n"
	"  (without it the terminal, else 80)\n"
	"exit status: 0 done, 1 failed or a pattern matches nothing, 2 usage\n";

static const struct {
	const char *name, *ids;
} by_rows[BY_COUNT] = {
#define B(id, name, ids) [BY_##id] = {name, ids},
#include "view/by.def"
#undef B
};

const char *report_options_by_name(enum by by)
{
	return by_rows[by].name;
}

const char *report_options_by_ids(enum by by)
{
	return by_rows[by].ids;
}

/* ---- setters --------------------------------------------------------------------------------- */

/* Returns "not function, object, ... or cgroup". */
static const char *by_refusal(void)
{
	static char text[128];
	size_t used = (size_t)snprintf(text, sizeof(text), "not %s", by_rows[0].name);

	for (size_t by = 1; by < BY_COUNT && used < sizeof(text); by++) {
		const char *before = by + 1 < BY_COUNT ? ", " : " or ";

		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", before,
					 by_rows[by].name);
	}
	return text;
}

static const char *set_by(void *target, const char *argument, size_t value)
{
	struct options *options = target;

	(void)value;
	for (unsigned int by = 0; by < BY_COUNT; by++) {
		if (!strcmp(argument, by_rows[by].name)) {
			options->by = (enum by)by;
			return NULL;
		}
	}
	return by_refusal();
}

static const char *set_sort(void *target, const char *argument, size_t value)
{
	struct options *options = target;

	(void)value;
	options->has_sort = true;
	options->by_total = !strcmp(argument, "total");
	if (!options->by_total && strcmp(argument, "self") != 0)
		return "not self or total";
	return NULL;
}

static const char *set_per(void *target, const char *argument, size_t value)
{
	struct options *options = target;

	(void)value;
	options->by_time = !strcmp(argument, "time");
	if (!options->by_time && strcmp(argument, "total") != 0)
		return "not total or time";
	return NULL;
}

static const char *set_min(void *target, const char *argument, size_t value)
{
	struct options *options = target;
	char *end;

	(void)value;
	options->has_min = true;
	options->min = strtod(argument, &end);
	if (end == argument || *end || !(options->min >= 0 && options->min <= 100))
		return "not a share of 0 to 100 percent";
	return NULL;
}

/* Value: enum where. */
static const char *set_where(void *target, const char *argument, size_t value)
{
	struct options *options = target;
	const enum where where = (enum where)value;

	(void)argument;
	if (options->where != WHERE_ANY && options->where != where)
		return "--kernel and --no-kernel leave nothing";
	options->where = where;
	return NULL;
}

static const char *set_format(void *target, const char *argument, size_t value)
{
	struct options *options = target;

	(void)value;
	options->format = formats_by_name(argument);
	if (options->format == FORMAT_NONE)
		return "not a format that is known";
	return NULL;
}

static const char *set_lines(void *target, const char *argument, size_t value)
{
	struct options *options = target;

	(void)value;
	options->has_lines = true;
	if (!decimal_read32(argument, 0, INT_MAX, &options->lines))
		return "not a number of lines";
	if (options->lines == 0)
		options->lines = UINT_MAX;
	return NULL;
}

static const char *set_pid(void *target, const char *argument, size_t value)
{
	struct options *options = target;

	(void)value;
	if (!decimal_read32(argument, 1, INT_MAX, &options->pid))
		return "not a process id";
	return NULL;
}

static const struct option_row rows[] = {
#define OPTION(name, letter, argument, verbs, set, value, completion, help, manual) \
	{name, letter, argument, verbs, help, set, value},
#define TEXT(verbs, help, manual) {NULL, '\0', NULL, verbs, help, NULL, 0},
#include "view/report/options.def"
#undef OPTION
#undef TEXT
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* ---- what all options say together ----------------------------------------------------------- */

/* Finds the format that the suffix names; ".pb" is another one for pprof. */
static const char *find_format(struct options *options)
{
	const size_t length = strlen(options->output);
	enum profile_format id = formats_by_suffix(options->output);

	if (options->format != FORMAT_NONE)
		return NULL;
	if (length > 3 && !strcmp(options->output + length - 3, ".pb"))
		id = FORMAT_pprof;
	options->format = id;
	if (id == FORMAT_NONE)
		return "suffix not known; give -f";
	return NULL;
}

/* Refuses options that the chosen view or conversion would ignore. */
static const char *check_ignored(const struct options *options)
{
	const bool callers = options->callers || options->callees;

	if (options->has_sort && (options->output || callers || options->tree))
		return "--sort is for the table alone";
	if (options->has_lines && (options->output || options->tree))
		return "-n is for the table and --callers or --callees alone";
	if (options->has_min && !options->tree)
		return "--min needs --tree";
	if (options->by_time && !options->diff)
		return "--per needs --diff";
	if (options->format && !options->output)
		return "-f needs -o";
	if (options->by_thread && !options->output)
		return "--by-thread needs -o";
	if (options->force && !options->output)
		return "--force needs -o";
	return NULL;
}

static const char *check_views(const struct options *options)
{
	const bool callers = options->callers || options->callees;
	const bool converts = options->output || options->diff;

	if (converts + callers + options->tree > 1)
		return "only one of -o, --callers or --callees, --tree and --diff can be given";
	if (options->output && options->by_time)
		return "--per is for the table alone";
	if (options->diff && options->by_thread)
		return "--diff knows no threads: they have other ids each time";
	if (options->by != BY_FUNCTION && (options->output || callers || options->tree))
		return "--by is for the table alone";
	if (options->output && options->json)
		return "-o and --json cannot be given together";
	return check_ignored(options);
}

static const char *take_one_file(struct options *options, int count, char **files)
{
	if (count == 0)
		return "no file is named";
	if (count > 1)
		return "one file can be shown; two with --diff";
	options->files[options->file_count++] = files[0];
	return NULL;
}

static const char *take_files(struct options *options, int count, char **files)
{
	if (!options->diff)
		return take_one_file(options, count, files);
	if (count != 2)
		return "--diff needs two files, OLD and NEW";
	for (int i = 0; i < count; i++)
		options->files[options->file_count++] = files[i];
	if (!strcmp(files[0], "-") && !strcmp(files[1], "-"))
		return "standard input cannot be both";
	return NULL;
}

static int check_output(struct options *options)
{
	int r = option_refuse("report", options->output, find_format(options));

	if (r < 0)
		return r;
	if (options->diff && !format_find(options->format)->shows_base)
		return option_refuse("report", formats_name(options->format),
				     "shows no difference; html and svg do");
	return 0;
}

int report_options_parse(int argc, char **argv, struct options *ret_options)
{
	const struct option_reader reader = {.verb = "report",
					     .rows = rows,
					     .count = ROWS,
					     .verbs = REPORT,
					     .target = ret_options};
	int r;

	*ret_options = (struct options){.lines = LINES, .min = MIN_PERCENT};
	r = option_read(&reader, argc, argv);
	if (r < 0 || ret_options->help)
		return r;
	r = option_refuse("report", "options", check_views(ret_options));
	if (r < 0)
		return r;
	r = option_refuse("report", "files", take_files(ret_options, argc - optind, argv + optind));
	if (r < 0 || !ret_options->output)
		return r;
	return check_output(ret_options);
}

void report_options_usage(FILE *stream)
{
	fputs(usage_begin, stream);
	option_print(rows, ROWS, REPORT, HELP_COLUMN, stream);
	fputs(usage_end, stream);
}
