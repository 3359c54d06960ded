/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses among several names of one address: fewest leading underscores, then the shortest, then
 * by bytes.
 */
#ifndef KEYHOLE_OBJECT_SYMBOL_ALIAS_H
#define KEYHOLE_OBJECT_SYMBOL_ALIAS_H

#include <stdbool.h>
#include <stddef.h>

struct alias {
	const char *name; /* not terminated */
	size_t length, underscores;
};

struct alias alias_make(const char *name, size_t length);
bool alias_is_better(const struct alias *a, const struct alias *b);

#endif
