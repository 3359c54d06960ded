/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing with linear probing; at most three quarters of the slots are filled. */
#include "base/slots.h"

#include <errno.h>
#include <stdlib.h>

#define SLOTS_FIRST 64u

void slots_release(struct slots *slots)
{
	free(slots->items);
	*slots = (struct slots){0};
}

size_t slots_bytes(const struct slots *slots)
{
	return slots->capacity * sizeof(*slots->items);
}

/* Returns the first slot from this one on that has this hash or is free. */
static struct slot *search(const struct slots *slots, size_t at, uint32_t hash)
{
	const size_t mask = slots->capacity - 1;
	struct slot *slot = &slots->items[at & mask];

	while (slot->id && slot->hash != hash)
		slot = &slots->items[++at & mask];
	return slot;
}

struct slot *slots_first(const struct slots *slots, uint32_t hash)
{
	return search(slots, hash, hash);
}

struct slot *slots_next(const struct slots *slots, struct slot *slot, uint32_t hash)
{
	return search(slots, (size_t)(slot - slots->items) + 1, hash);
}

void slots_fill(struct slots *slots, struct slot *slot, uint32_t hash, uint32_t id)
{
	*slot = (struct slot){.hash = hash, .id = id};
	slots->used++;
}

/* Returns the first free slot from the place of this hash on. */
static struct slot *free_slot(const struct slots *slots, uint32_t hash)
{
	const size_t mask = slots->capacity - 1;
	size_t at = hash & mask;

	while (slots->items[at].id)
		at = (at + 1) & mask;
	return &slots->items[at];
}

int slots_reserve(struct slots *slots)
{
	struct slots grown = {.capacity = slots->capacity * 2, .used = slots->used};

	if (slots->used < slots->capacity / 4 * 3)
		return 0;
	if (grown.capacity == 0)
		grown.capacity = SLOTS_FIRST;
	grown.items = calloc(grown.capacity, sizeof(*grown.items));
	if (!grown.items)
		return -ENOMEM;
	for (size_t i = 0; i < slots->capacity; i++)
		if (slots->items[i].id)
			*free_slot(&grown, slots->items[i].hash) = slots->items[i];
	free(slots->items);
	*slots = grown;
	return 0;
}
