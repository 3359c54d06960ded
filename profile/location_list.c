/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing with linear probing; at most three quarters of the slots are filled. */
#include "profile/location_list.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"

#ifndef PROFILE_LOCATIONS_MAX
#define PROFILE_LOCATIONS_MAX (1u << 30)
#endif
#define SLOTS_FIRST 256u

_Static_assert(sizeof(struct location_key) == 24, "a key has no padding");

int location_list_init(struct location_list *list)
{
	*list = (struct location_list){0};
	return hash_key_random(&list->hash_key);
}

void location_list_release(struct location_list *list)
{
	free(list->slots);
	free(list->locations);
}

static bool has_key(const struct location_slot *slot, const struct location_key *key)
{
	return slot->address == key->address && slot->object == key->object &&
	       slot->variant == key->variant;
}

/* Returns the slot of the key, or the free one where the key belongs. */
static struct location_slot *find(const struct location_list *list, const struct location_key *key)
{
	const size_t mask = list->slot_count - 1;
	size_t at = hash_bytes(&list->hash_key, key, sizeof(*key)) & mask;

	while (list->slots[at].id && !has_key(&list->slots[at], key))
		at = (at + 1) & mask;
	return &list->slots[at];
}

/* Makes room for one more slot. */
static int reserve_slot(struct location_list *list)
{
	struct location_list grown = *list;

	if (list->count < list->slot_count / 4 * 3)
		return 0;
	grown.slot_count *= 2;
	if (grown.slot_count == 0)
		grown.slot_count = SLOTS_FIRST;
	grown.slots = calloc(grown.slot_count, sizeof(*grown.slots));
	if (!grown.slots)
		return -ENOMEM;
	for (size_t i = 0; i < list->slot_count; i++) {
		const struct location_slot *slot = &list->slots[i];
		const struct location_key key = {slot->address, slot->variant, slot->object};

		if (slot->id)
			*find(&grown, &key) = *slot;
	}
	free(list->slots);
	*list = grown;
	return 0;
}

static int reserve_location(struct location_list *list)
{
	if (list->count >= PROFILE_LOCATIONS_MAX)
		return -EOVERFLOW;
	return ARRAY_RESERVE(list->locations, list->capacity, list->count + 1);
}

uint32_t location_list_add(struct location_list *list, const struct location_key *key)
{
	struct location_slot *slot;

	if (reserve_slot(list) < 0)
		return PROFILE_FAILED;
	slot = find(list, key);
	if (slot->id)
		return slot->id;
	if (reserve_location(list) < 0)
		return PROFILE_FAILED;
	*slot = (struct location_slot){
		.address = key->address,
		.variant = key->variant,
		.object = (uint32_t)key->object,
		.id = (uint32_t)list->count + 1,
	};
	list->locations[list->count++] = (struct profile_location){
		.object = slot->object,
		.address = slot->address,
	};
	return slot->id;
}
