/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `keyhole top`: what is not its own is for `keyhole record`. */
#ifndef KEYHOLE_VIEW_TOP_OPTIONS_H
#define KEYHOLE_VIEW_TOP_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

struct top_options {
	bool help, batch;
	unsigned int updates; /* then it ends; 0: never */
	unsigned int window;  /* seconds */
	char **record;	      /* argv of `keyhole record`, NULL at the end; malloc()ed */
};

/* 0, -ENOMEM, or -EINVAL after one line on standard error. argv[0] is not looked at. */
int top_options_parse(int argc, char **argv, struct top_options *ret_options);

void top_options_usage(FILE *stream);

#endif
