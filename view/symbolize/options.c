/* SPDX-License-Identifier: Apache-2.0 */
#include "view/symbolize/options.h"

#include <getopt.h>
#include <string.h>

#include "base/formats.h"
#include "base/option.h"
#include "ipc/log.h"

#define SYMBOLIZE   1 /* the only verb of option_row.verbs */
#define HELP_COLUMN 23

static const char usage_begin[] =
	"usage: keyhole symbolize [OPTIONS] FILE\n\n"
	"Adds names, lines and inlined functions to a profile of `keyhole record` (pprof).\n\n";
static const char usage_end[] =
	"\nexamples:\n"
	"  keyhole symbolize all" OPTIONS_SUFFIX "\n"
	"  keyhole symbolize -d server/usr/lib/debug -o named" OPTIONS_SUFFIX " all" OPTIONS_SUFFIX
	"\n\n"
	"exit status: 0 done, 1 failed, 2 usage\n";

/* Adds the folders of a list that colons separate. Cuts the list, in argv, into its words. */
static const char *add_folders(void *target, const char *argument, size_t value)
{
	struct options *options = target;
	char *list = (char *)argument;

	(void)value;
	for (;;) {
		char *path = strsep(&list, ":");
		int r;

		if (!path)
			return NULL;
		if (!*path)
			continue;
		if (options->folders_given == DEBUG_FOLDERS_MAX)
			return "--debug-dir takes no more than 8 folders";
		options->folders_given++;
		r = debug_folders_add(&options->folders, path);
		if (r)
			log_warning("symbolize: debug-dir: %s: %s; name another", path,
				    strerror(-r));
	}
}

static const struct option_row rows[] = {
#define OPTION(name, letter, argument, verbs, set, value, completion, help, manual) \
	{name, letter, argument, verbs, help, set, value},
#include "view/symbolize/options.def"
#undef OPTION
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* Refuses the suffix of another format, because the output is always pprof. */
static int check_output(const char *output)
{
	enum profile_format format = FORMAT_NONE;

	if (output)
		format = formats_by_suffix(output);
	if (format == FORMAT_NONE || format == FORMAT_pprof)
		return 0;
	return option_refuse("symbolize", output,
			     "is written as pprof; name it " OPTIONS_SUFFIX
			     " and convert that: keyhole report FILE -o ...");
}

int symbolize_options_parse(int argc, char **argv, struct options *ret_options)
{
	const struct option_reader reader = {.verb = "symbolize",
					     .rows = rows,
					     .count = ROWS,
					     .verbs = SYMBOLIZE,
					     .target = ret_options};
	int r = option_read(&reader, argc, argv);

	if (r < 0 || ret_options->help)
		return r;
	if (optind != argc - 1)
		return option_refuse("symbolize", "FILE", "not one is named");
	ret_options->input = argv[optind];
	if (!ret_options->folders_given)
		debug_folders_add(&ret_options->folders, DEBUG_FOLDERS_DEFAULT);
	return check_output(ret_options->output);
}

void symbolize_options_usage(FILE *stream)
{
	fputs(usage_begin, stream);
	option_print(rows, ROWS, SYMBOLIZE, HELP_COLUMN, stream);
	fputs(usage_end, stream);
}
