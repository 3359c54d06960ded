/* SPDX-License-Identifier: Apache-2.0 */
#include "view/top/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/top/ui.h"
#include "base/decimal.h"
#include "base/option.h"
#include "helper/options/verbs.h"

#define NUMBER_MAX  1000000u
#define WINDOW	    5 /* seconds */
#define HELP_COLUMN 24

/* Stands behind the options that were given: record heeds the last one. */
static const char *const always[] = {"--every", "1", "-f", "pprof", "-o", "-"};
#define ALWAYS (sizeof(always) / sizeof(always[0]))

static const char usage_begin[] = "usage: keyhole top [OPTIONS]\n"
				  "Shows live which functions and processes use the CPUs.\n\n";
static const char usage_end[] =
	"and those of keyhole record that say what is sampled: -a, -p PID, -F HZ,\n"
	"  -d SECONDS ... (see: keyhole record --help)\n\n"
	"keys: h says them all\n"
	"  f functions, p processes, t threads, Enter callers and callees, Esc back,\n"
	"  / filter, s self or total, + - window, space pause, c clear, q quit\n\n"
	"examples:\n"
	"  sudo keyhole top\n"
	"  sudo keyhole top -p 1234 -F 499\n"
	"  sudo keyhole top --batch -n 1 -w 5 > hottest.txt\n\n"
	"exit status: that of keyhole record when that ended, else 0; 1: the viewer failed,\n"
	"  2: usage\n";

/* ---- our own options ------------------------------------------------------------------------- */

static const char *set_updates(void *target, const char *argument, size_t value)
{
	struct top_options *options = target;

	(void)value;
	if (!decimal_read32(argument, 1, NUMBER_MAX, &options->updates))
		return "needs a number of 1 to 1000000";
	return NULL;
}

static const char *set_window(void *target, const char *argument, size_t value)
{
	struct top_options *options = target;
	uint32_t seconds;

	(void)value;
	if (decimal_read32(argument, 1, NUMBER_MAX, &seconds)) {
		for (size_t i = 0; i < UI_WINDOWS; i++) {
			if (seconds != ui_windows[i])
				continue;
			options->window = seconds;
			return NULL;
		}
	}
	return "needs 1, 5, 15 or 60";
}

static const struct option_row rows[] = {
#define OPTION(name, letter, argument, verbs, set, value, completion, help, manual) \
	{name, letter, argument, verbs, help, set, value},
#include "view/top/options.def"
#undef OPTION
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* ---- those of record ------------------------------------------------------------------------- */

/*
 * The options of record, as far as needed to tell options with an argument from options without
 * one.
 */
static const struct option_row recorded[] = {
#define OPTION(name, letter, argument, verbs, set, value, completion, help, manual) \
	{name, letter, argument, verbs, NULL, NULL, 0},
#define TEXT(verbs, help, manual)
#include "helper/options/options.def"
#undef OPTION
#undef TEXT
};

static bool is_flag_of_record(char letter)
{
	for (size_t i = 0; i < sizeof(recorded) / sizeof(recorded[0]); i++)
		if ((recorded[i].verbs & RECORD) && recorded[i].letter == letter)
			return !recorded[i].argument;
	return false;
}

/* Says whether getopt_long() would take arg for that name: "--hel", "--every=1". */
static bool is_long(const char *arg, const char *full)
{
	const size_t length = strcspn(arg, "=");

	return length > 2 && !strncmp(arg, full, length);
}

/* Looks for a letter among those that stand together, before one that has an argument. */
static bool has_letter(const char *arg, char letter)
{
	if (!letter || arg[0] != '-' || arg[1] == '-')
		return false;
	for (arg++; *arg && *arg != letter; arg++)
		if (!is_flag_of_record(*arg))
			return false;
	return *arg != '\0';
}

/* Returns why the option is not handed on to record, or NULL. */
static const char *refused(const char *arg)
{
	static const char no_file[] = "writes no file; take keyhole record";
	static const struct {
		const char *full;
		char letter;
		const char *reason;
	} options[] = {
		{"--every", '\0', "it is 1"},
		{"--output", 'o', no_file},
		{"--format", 'f', no_file},
		{"--force", '\0', no_file},
		{"--quiet", 'q', "it says nothing anyway"},
	};

	if (!strcmp(arg, "--"))
		return "a command would share the terminal; start it elsewhere and take -p PID";
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (is_long(arg, options[i].full) || has_letter(arg, options[i].letter))
			return options[i].reason;
	return NULL;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Says whether arg is the option's short form; *ret_value is then in arg, or is the next word. */
static bool is_short(const struct option_row *row, const char *arg, const char *next,
		     const char **ret_value)
{
	if (!row->letter || arg[0] != '-' || arg[1] != row->letter)
		return false;
	*ret_value = next;
	if (arg[2])
		*ret_value = arg + 2;
	return true;
}

/* Does as is_short(), for the long form in full. */
static bool is_full(const struct option_row *row, const char *arg, const char *next,
		    const char **ret_value)
{
	const size_t length = strlen(row->name);

	if (strncmp(arg, "--", 2) != 0 || strncmp(arg + 2, row->name, length) != 0)
		return false;
	if (row->argument && arg[2 + length] == '=') {
		*ret_value = arg + 2 + length + 1;
		return true;
	}
	*ret_value = next;
	return !arg[2 + length];
}

static const struct option_row *find(const char *arg, const char *next, const char **ret_value)
{
	for (size_t i = 0; i < ROWS; i++)
		if (is_short(&rows[i], arg, next, ret_value) ||
		    is_full(&rows[i], arg, next, ret_value))
			return &rows[i];
	return NULL;
}

/* Takes argv[*at], and the word behind where that is its argument. */
static int parse_one(char **argv, int *at, struct top_options *options, size_t *record_count)
{
	char *arg = argv[*at], *next = argv[*at + 1];
	const struct option_row *row;
	const char *value, *reason;

	if (is_long(arg, "--help") || has_letter(arg, 'h')) {
		options->help = true;
		return 0;
	}
	row = find(arg, next, &value);
	if (row) {
		if (row->argument && value && value == next)
			++*at;
		if (!value)
			value = ""; /* which no setter takes */
		return option_refuse("top", arg, row->set(options, value, row->value));
	}
	reason = refused(arg);
	if (reason)
		return option_refuse("top", arg, reason);
	options->record[(*record_count)++] = arg;
	return 0;
}

int top_options_parse(int argc, char **argv, struct top_options *ret_options)
{
	size_t count = 2;
	int r;

	*ret_options = (struct top_options){.window = WINDOW};
	ret_options->record = calloc((size_t)argc + ALWAYS + 3, sizeof(char *));
	if (!ret_options->record)
		return -ENOMEM;
	ret_options->record[0] = (char *)"keyhole";
	ret_options->record[1] = (char *)"record";
	for (int i = 1; i < argc; i++) {
		r = parse_one(argv, &i, ret_options, &count);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < ALWAYS; i++)
		ret_options->record[count++] = (char *)always[i];
	return 0;
}

void top_options_usage(FILE *stream)
{
	fputs(usage_begin, stream);
	option_print(rows, ROWS, TOP, HELP_COLUMN, stream);
	fputs(usage_end, stream);
}
