/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's configuration file. Each line is an option of `keyhole agent` by its long name, with
 * its argument: "endpoint https://collector:4317". Blank lines and lines
 * that begin with '#' say nothing. The first other line is "version 1".
 */
#ifndef KEYHOLE_HELPER_OPTIONS_CONFIGURATION_H
#define KEYHOLE_HELPER_OPTIONS_CONFIGURATION_H

#include <stddef.h>
#include <stdint.h>

#include "base/option.h"

#define CONFIGURATION_BYTES_MAX 65536

/*
 * Gives each line of the text to the setter of its row, in order. Only rows that have one of the
 * bits of `verbs` count. Returns NULL, or why line *ret_line, from 1 on, is refused.
 */
const char *configuration_read(const char *text, size_t size, const struct option_row *rows,
			       size_t count, uint32_t verbs, void *target, unsigned int *ret_line);

#endif
