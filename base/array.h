/* SPDX-License-Identifier: Apache-2.0 */
/* Growing arrays: the caller keeps items, count and capacity, in types of its own. */
#ifndef KEYHOLE_BASE_ARRAY_H
#define KEYHOLE_BASE_ARRAY_H

#include <stddef.h>

/*
 * Makes room for `need` items in all; *items may move. Returns 0, -ENOMEM or -EOVERFLOW. A failure
 * changes nothing.
 */
int array_reserve(void **items, size_t *capacity, size_t need, size_t item_size);

#define ARRAY_RESERVE(items, capacity, need) \
	array_reserve((void **)&(items), &(capacity), (need), sizeof(*(items)))

#endif
