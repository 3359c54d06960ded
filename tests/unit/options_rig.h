/* SPDX-License-Identifier: Apache-2.0 */
/* A command line on its way: keyhole-options reads it, the loader takes the answer. */
#ifndef KEYHOLE_TESTS_UNIT_OPTIONS_RIG_H
#define KEYHOLE_TESTS_UNIT_OPTIONS_RIG_H

#include <string.h>

#include "loader/options.h"

/* Returns 0 or the status of a refusal. argv must live as long as the options. */
int rig_parse(int argc, char **argv, struct options *ret_options);

#define PARSE_VERB(verb, options, ...)                                                   \
	({                                                                               \
		static const char *const argv_[] = {"keyhole", verb, __VA_ARGS__, NULL}; \
		static char *copy_[sizeof(argv_) / sizeof(argv_[0])];                    \
                                                                                         \
		memcpy(copy_, argv_, sizeof(argv_));                                     \
		rig_parse(sizeof(argv_) / sizeof(argv_[0]) - 1, copy_, options);         \
	})

#define PARSE(options, ...) PARSE_VERB("record", options, __VA_ARGS__)

#endif
