/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the command line of `keyhole report`. */
#ifndef KEYHOLE_VIEW_REPORT_OPTIONS_H
#define KEYHOLE_VIEW_REPORT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ipc/messages.h"
#include "view/tally.h"

enum where {
	WHERE_ANY,
	WHERE_KERNEL,
	WHERE_USER
};

struct options {
	const char *files[2]; /* the second one of --diff alone; "-" is standard input */
	unsigned int file_count;
	const char *output;			       /* "-" is standard output; NULL: a report */
	enum profile_format format;		       /* FORMAT_NONE: a report */
	const char *callers, *callees, *comm, *object; /* regular expressions */
	const char *sample_type;
	enum by by;
	enum where where;
	uint32_t pid;			   /* 0: any */
	unsigned int lines;		   /* UINT_MAX: all */
	double min;			   /* of --tree, percent */
	bool has_min, has_sort, has_lines; /* given, even where it is the default */
	bool by_total, by_time, diff, tree, json, by_thread, force, help;
};

/* Reads argv behind its first word. Returns 0, or -EINVAL after one line in the log. */
int report_options_parse(int argc, char **argv, struct options *ret_options);

void report_options_usage(FILE *stream);

/* Return a row of view/by.def: its name, and the word for several ids. */
const char *report_options_by_name(enum by by);
const char *report_options_by_ids(enum by by);

#endif
