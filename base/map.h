/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash map from any 64-bit key to a pointer that is not NULL. A random seed keeps attackers from
 * choosing keys that collide.
 */
#ifndef KEYHOLE_BASE_MAP_H
#define KEYHOLE_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map;

struct map *map_new(void);	/* NULL: no memory */
void map_free(struct map *map); /* leaves the values alone; NULL is fine */
/* Returns the key's value, or NULL for an unknown key. */
void *map_get(const struct map *map, uint64_t key);
/* Sets or replaces the key's value. Returns 0, or -ENOMEM for a new key. */
int map_put(struct map *map, uint64_t key, void *value);
/* Returns the removed value, or NULL for an unknown key. */
void *map_remove(struct map *map, uint64_t key);
size_t map_count(const struct map *map);
/*
 * Visits one entry a call, and returns false after the last one. *cursor starts at 0. A caller may
 * remove the entry that was visited last.
 */
bool map_next(const struct map *map, size_t *cursor, uint64_t *ret_key, void **ret_value);

#endif
