/* SPDX-License-Identifier: Apache-2.0 */
#include "view/top/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/log.h"
#include "base/decimal.h"

#define NUMBER_MAX 1000000u

/* Behind what was given: the last one counts. */
static const char *const always[] = {"--every", "1", "-f", "pprof", "-o", "-"};
#define ALWAYS (sizeof(always) / sizeof(always[0]))

static const char usage[] =
	"usage: keyhole top [OPTIONS]\n"
	"Shows live which functions and processes use the CPUs.\n\n"
	"  -n, --updates N        end after so many\n"
	"  -w, --window SECONDS   sum of the last 1, 5, 15 or 60 seconds (5)\n"
	"      --batch            text for scripts, one table a window; so too where\n"
	"                         standard output is no terminal\n"
	"  -h, --help             this text\n"
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

void top_options_usage(FILE *stream)
{
	fputs(usage, stream);
}

static int refuse(const char *object, const char *reason)
{
	log_error("top: %s: %s%s", object, reason,
		  strchr(reason, ';') ? "" : "; see: keyhole top --help");
	return -EINVAL;
}

/* As getopt_long() takes it: "--hel", "--every=1". */
static bool is_long(const char *arg, const char *full)
{
	const size_t length = strcspn(arg, "=");

	return length > 2 && !strncmp(arg, full, length);
}

/* Of `keyhole record`: among letters that stand together, before one that has an argument. */
static bool has_letter(const char *arg, char letter)
{
	if (arg[0] != '-' || arg[1] == '-')
		return false;
	for (arg++; *arg && *arg != letter; arg++)
		if (!strchr("aqvh", *arg))
			return false;
	return *arg;
}

static const char *refused(const char *arg)
{
	static const char no_file[] = "writes no file; take keyhole record";
	static const struct {
		const char *full;
		char letter;
		const char *reason;
	} those[] = {
		{"--every", '\0', "it is 1"},
		{"--output", 'o', no_file},
		{"--format", 'f', no_file},
		{"--force", 'f', no_file},
		{"--quiet", 'q', "it says nothing anyway"},
	};

	if (!strcmp(arg, "--"))
		return "a command would share the terminal; start it elsewhere and take -p PID";
	for (size_t i = 0; i < sizeof(those) / sizeof(those[0]); i++)
		if (is_long(arg, those[i].full) || has_letter(arg, those[i].letter))
			return those[i].reason;
	return NULL;
}

/* Whether arg is this option; *ret_value is in it, or the next one. */
static bool is_option(const char *arg, const char *next, const char *brief, const char *full,
		      const char **ret_value, int *at)
{
	const size_t length = strlen(full);

	if (!strncmp(arg, full, length) && arg[length] == '=') {
		*ret_value = arg + length + 1;
		return true;
	}
	if (!strcmp(arg, brief) || !strcmp(arg, full)) {
		*ret_value = next ? next : "";
		*at += next != NULL;
		return true;
	}
	*ret_value = arg + 2;
	return !strncmp(arg, brief, 2) && arg[2];
}

static int parse_one(char **argv, int *at, struct top_options *options, size_t *record_count)
{
	char *arg = argv[*at], *next = argv[*at + 1];
	const char *value, *why;

	if (is_long(arg, "--help") || has_letter(arg, 'h')) {
		options->help = true;
	} else if (!strcmp(arg, "--batch")) {
		options->batch = true;
	} else if (is_option(arg, next, "-n", "--updates", &value, at)) {
		if (!decimal_read32(value, 1, NUMBER_MAX, &options->updates))
			return refuse(arg, "needs a number of 1 to 1000000");
	} else if (is_option(arg, next, "-w", "--window", &value, at)) {
		if (!decimal_read32(value, 1, NUMBER_MAX, &options->window) ||
		    (options->window != 1 && options->window != 5 && options->window != 15 &&
		     options->window != 60))
			return refuse(arg, "needs 1, 5, 15 or 60");
	} else if ((why = refused(arg))) {
		return refuse(arg, why);
	} else {
		options->record[(*record_count)++] = arg;
	}
	return 0;
}

int top_options_parse(int argc, char **argv, struct top_options *ret_options)
{
	size_t count = 2;
	int r = 0;

	*ret_options = (struct top_options){.window = 5};
	ret_options->record = calloc((size_t)argc + ALWAYS + 3, sizeof(char *));
	if (!ret_options->record)
		return -ENOMEM;
	ret_options->record[0] = (char *)"keyhole";
	ret_options->record[1] = (char *)"record";
	for (int i = 1; i < argc && r == 0; i++)
		r = parse_one(argv, &i, ret_options, &count);
	for (size_t i = 0; i < ALWAYS; i++)
		ret_options->record[count++] = (char *)always[i];
	return r;
}
