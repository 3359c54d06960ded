/* SPDX-License-Identifier: Apache-2.0 */
/* Growing arrays: the caller has items, count and capacity of its own type. */
#ifndef KEYHOLE_BASE_ARRAY_H
#define KEYHOLE_BASE_ARRAY_H

#include <stddef.h>

/*
 * Makes room for `need` items in all; *items may move. Returns 0, -ENOMEM or -EOVERFLOW; on
 * failure nothing has changed.
 */
int array_reserve(void **items, size_t *capacity, size_t need, size_t item_size);

#define ARRAY_RESERVE(items, capacity, need) \
	array_reserve((void **)&(items), &(capacity), (need), sizeof(*(items)))

#endif
