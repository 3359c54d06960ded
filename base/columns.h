/* SPDX-License-Identifier: Apache-2.0 */
/* How wide UTF-8 text is on a terminal: never narrower than said, so that no line is broken. */
#ifndef KEYHOLE_BASE_COLUMNS_H
#define KEYHOLE_BASE_COLUMNS_H

#include <stddef.h>

unsigned int columns_of(const char *text);

/* The bytes of the whole characters that fit into `room` columns, and the columns they take. */
size_t columns_fit(const char *text, unsigned int room, unsigned int *ret_used);

#endif
