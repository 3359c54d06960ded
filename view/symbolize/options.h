/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the command line of `keyhole symbolize`. */
#ifndef KEYHOLE_VIEW_SYMBOLIZE_OPTIONS_H
#define KEYHOLE_VIEW_SYMBOLIZE_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "object/debug/folders.h"

#define OPTIONS_SUFFIX ".pb.gz" /* of what is read and written */

struct options {
	struct debug_folders folders;
	size_t folders_given; /* some may not exist */
	const char *input;
	const char *output; /* "-" is standard output; NULL: named after the input */
	bool force, verbose, help;
};

/*
 * Reads argv behind its first word; texts stay there. Returns 0, or -EINVAL after one line in the
 * log. Only options->verbose and options->help have a meaning when help is asked for.
 */
int symbolize_options_parse(int argc, char **argv, struct options *ret_options);

void symbolize_options_usage(FILE *stream);

#endif
