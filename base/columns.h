/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimates how wide UTF-8 text is on a terminal. The estimate is never too small, so that no line
 * of ours wraps.
 */
#ifndef KEYHOLE_BASE_COLUMNS_H
#define KEYHOLE_BASE_COLUMNS_H

#include <stddef.h>

unsigned int columns_of(const char *text);

/*
 * Returns the bytes of those whole characters that fit into `room` columns; *ret_used is columns.
 */
size_t columns_fit(const char *text, unsigned int room, unsigned int *ret_used);

#endif
