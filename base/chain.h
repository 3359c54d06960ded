/* SPDX-License-Identifier: Apache-2.0 */
/* Several items under one key of a map (map.h): the map's value is the first item of a list. */
#ifndef KEYHOLE_BASE_CHAIN_H
#define KEYHOLE_BASE_CHAIN_H

#include <stdint.h>

struct map;

struct chain { /* the first member of an item, so that a pointer to one is a pointer to both */
	struct chain *next;
};

/* Puts the item in front of the key's list. Returns 0 or -ENOMEM. */
int chain_add(struct map *map, uint64_t key, struct chain *item);
/* Takes the item out of the list, where it is in it; the last item takes the key along. */
void chain_remove(struct map *map, uint64_t key, const struct chain *item);

#endif
