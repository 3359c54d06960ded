/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open addressing with linear probing. A removed entry leaves a tombstone, so that a walk over the
 * map may remove the entries that it visits. Growing throws the tombstones away.
 */
#include "base/map.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"

#define MAP_FIRST_CAPACITY 16u

struct map_slot {
	uint64_t key;
	void *value; /* NULL: never used; GONE: removed */
};

struct map {
	struct hash_key hash_key;
	struct map_slot *slots;
	size_t capacity; /* a power of two, or 0 */
	size_t count;	 /* entries */
	size_t filled;	 /* entries and tombstones */
};

static char gone;
#define GONE ((void *)&gone)

struct map *map_new(void)
{
	struct map *map = calloc(1, sizeof(*map));

	if (map && hash_key_random(&map->hash_key) < 0) {
		free(map);
		return NULL;
	}
	return map;
}

void map_free(struct map *map)
{
	if (!map)
		return;
	free(map->slots);
	free(map);
}

static size_t map_home(const struct map *map, uint64_t key)
{
	return hash_bytes(&map->hash_key, &key, sizeof(key)) & (map->capacity - 1);
}

/*
 * Returns the key's slot, or NULL for an unknown key. Then *ret_place, where ret_place is given, is
 * the slot that the key would take.
 */
static struct map_slot *map_probe(const struct map *map, uint64_t key, struct map_slot **ret_place)
{
	struct map_slot *place = NULL, *slot;
	size_t at;

	if (map->capacity == 0)
		return NULL;
	for (at = map_home(map, key);; at = (at + 1) & (map->capacity - 1)) {
		slot = &map->slots[at];
		if (!slot->value)
			break;
		if (slot->value != GONE && slot->key == key)
			return slot;
		if (slot->value == GONE && !place)
			place = slot;
	}
	if (!place)
		place = slot;
	if (ret_place)
		*ret_place = place;
	return NULL;
}

void *map_get(const struct map *map, uint64_t key)
{
	const struct map_slot *slot = map_probe(map, key, NULL);

	if (!slot)
		return NULL;
	return slot->value;
}

static int map_resize(struct map *map, size_t capacity)
{
	struct map_slot *old = map->slots, *place;
	size_t old_capacity = map->capacity;
	struct map_slot *slots = calloc(capacity, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	map->slots = slots;
	map->capacity = capacity;
	map->filled = map->count;
	for (size_t i = 0; i < old_capacity; i++) {
		if (!old[i].value || old[i].value == GONE)
			continue;
		map_probe(map, old[i].key, &place);
		*place = old[i];
	}
	free(old);
	return 0;
}

/*
 * Keeps at most three quarters of the slots filled. A map filled by tombstones for the most part is
 * built anew in its old size.
 */
static int map_make_room(struct map *map)
{
	if (map->capacity == 0)
		return map_resize(map, MAP_FIRST_CAPACITY);
	if (map->filled + 1 <= map->capacity / 4 * 3)
		return 0;
	if (map->count >= map->capacity / 2)
		return map_resize(map, map->capacity * 2);
	return map_resize(map, map->capacity);
}

int map_put(struct map *map, uint64_t key, void *value)
{
	struct map_slot *slot = map_probe(map, key, NULL);
	int r;

	if (slot) {
		slot->value = value;
		return 0;
	}
	r = map_make_room(map);
	if (r < 0)
		return r;
	map_probe(map, key, &slot);
	if (!slot->value)
		map->filled++;
	*slot = (struct map_slot){.key = key, .value = value};
	map->count++;
	return 0;
}

void *map_remove(struct map *map, uint64_t key)
{
	struct map_slot *slot = map_probe(map, key, NULL);
	void *value;

	if (!slot)
		return NULL;
	value = slot->value;
	slot->value = GONE;
	map->count--;
	return value;
}

size_t map_count(const struct map *map)
{
	return map->count;
}

bool map_next(const struct map *map, size_t *cursor, uint64_t *ret_key, void **ret_value)
{
	while (*cursor < map->capacity) {
		const struct map_slot *slot = &map->slots[(*cursor)++];

		if (!slot->value || slot->value == GONE)
			continue;
		*ret_key = slot->key;
		*ret_value = slot->value;
		return true;
	}
	return false;
}
