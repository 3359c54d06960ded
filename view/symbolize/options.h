/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the command line of `keyhole symbolize`. */
#ifndef KEYHOLE_VIEW_SYMBOLIZE_OPTIONS_H
#define KEYHOLE_VIEW_SYMBOLIZE_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "object/debug/folders.h"

#define OPTIONS_SUFFIX ".pb.gz" /* of the input and the output */

struct options {
	struct debug_folders folders;
	size_t folders_given; /* by the user; some may not exist */
	const char *input;
	const char *output; /* "-": standard output; NULL: a name made from the input's */
	bool force, verbose, help;
};

/*
 * Reads argv behind its first word. Texts stay in argv. Returns 0, or -EINVAL after one line in the
 * log. With `help`, only `verbose` and `help` have a meaning.
 */
int symbolize_options_parse(int argc, char **argv, struct options *ret_options);

void symbolize_options_usage(FILE *stream);

#endif
