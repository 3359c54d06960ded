/* SPDX-License-Identifier: Apache-2.0 */
/* Items with the same key of a map: a list that the map's value begins. */
#ifndef KEYHOLE_BASE_CHAIN_H
#define KEYHOLE_BASE_CHAIN_H

#include <stdint.h>

struct map;

struct chain { /* the first member of an item, so that one is the other */
	struct chain *next;
};

/* In front of those that are there. 0 or -ENOMEM. */
int chain_add(struct map *map, uint64_t key, struct chain *item);
/* Takes it out, if it is there, and the key with the last of them. */
void chain_remove(struct map *map, uint64_t key, const struct chain *item);

#endif
