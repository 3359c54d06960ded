/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list of names and values in memory of a fixed size: name NUL value NUL ..., an empty name ends
 * it. Bytes behind the end are 0. A name is there once.
 */
#ifndef KEYHOLE_HELPER_OPTIONS_PAIRS_H
#define KEYHOLE_HELPER_OPTIONS_PAIRS_H

#include <stdbool.h>
#include <stddef.h>

struct pairs {
	char *list; /* borrowed */
	size_t size;
};

/* Adds the pair, in place of the name's earlier value. Returns false where there is no room. */
bool pairs_put(struct pairs *pairs, const char *name, const char *value);

size_t pairs_count(const struct pairs *pairs);

/* Takes blanks off both ends, as the list of W3C baggage may have them. */
char *pairs_trim(char *text);

#endif
