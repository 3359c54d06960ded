/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of options.def, each with the function that takes the option. */
#ifndef KEYHOLE_HELPER_OPTIONS_SETTERS_H
#define KEYHOLE_HELPER_OPTIONS_SETTERS_H

#include <stdbool.h>

#include "base/option.h"
#include "helper/options/destination.h"
#include "helper/options/filters.h"
#include "helper/options/verbs.h"
#include "ipc/messages.h"

/* A command line while it is read: the target of the setters. */
struct line {
	struct message_options *options; /* borrowed */
	char **argv;			 /* argv[0] is the verb */
	const char *output, *event;	 /* in argv; NULL: not given */
	const char *config;		 /* in argv; NULL: not given */
	bool all, help, check;
	struct destination *destination; /* borrowed; NULL but for the agent */
	struct filters filters;
};

extern const struct option_row setters_rows[];
extern const size_t setters_count;

/* Takes the process id of `why`, which is no option. */
option_setter setters_add_pid;

#endif
