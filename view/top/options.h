/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `keyhole top`, which hands other options on to `keyhole record`. */
#ifndef KEYHOLE_VIEW_TOP_OPTIONS_H
#define KEYHOLE_VIEW_TOP_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

struct top_options {
	bool help, batch;
	unsigned int updates; /* number after which top ends; 0: never */
	unsigned int window;  /* seconds */
	char **record;	      /* argv of `keyhole record`, NULL at its end; owned, on the heap */
};

/* Reads argv behind its first word. Returns 0, -ENOMEM, or -EINVAL after one line in the log. */
int top_options_parse(int argc, char **argv, struct top_options *ret_options);

void top_options_usage(FILE *stream);

#endif
