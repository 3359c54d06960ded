/* SPDX-License-Identifier: Apache-2.0 */
/* Hash map from a 64-bit key (any value) to a pointer. Keys are hashed with a random seed. */
#ifndef KEYHOLE_BASE_MAP_H
#define KEYHOLE_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map;

struct map *map_new(void);			    /* NULL: no memory */
void map_free(struct map *map);			    /* not the values; NULL is fine */
void *map_get(const struct map *map, uint64_t key); /* NULL: not there */
int map_put(struct map *map, uint64_t key,
	    void *value);			 /* replaces; value not NULL; 0 or -ENOMEM */
void *map_remove(struct map *map, uint64_t key); /* the value, or NULL */
size_t map_count(const struct map *map);
/* Visits all; *cursor starts at 0. The entry just visited may be removed. False at the end. */
bool map_next(const struct map *map, size_t *cursor, uint64_t *ret_key, void **ret_value);

#endif
