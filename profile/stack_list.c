/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/stack_list.h"

#include <string.h>

#include "profile/profile.h"

#ifndef PROFILE_STACKS_MAX
#define PROFILE_STACKS_MAX (1u << 30)
#endif
#define CHUNK_WORDS (CHUNKS_UNIT_BYTES / sizeof(uint32_t))
#define WORDS_MAX   (UINT32_MAX / CHUNK_WORDS) /* chunks, so that a place fits 32 bits */

_Static_assert(PROFILE_STACK_MAX < CHUNK_WORDS, "a stack fits a chunk");

int stack_list_init(struct stack_list *list)
{
	*list = (struct stack_list){0};
	return hash_key_random(&list->hash_key);
}

void stack_list_release(struct stack_list *list)
{
	chunks_release(&list->words);
	chunks_release(&list->places);
	slots_release(&list->slots);
}

static const uint32_t *word_at(const struct chunks *chunks, uint32_t place)
{
	const uint32_t *words = (const uint32_t *)chunks->items[place / CHUNK_WORDS].bytes;

	return words + place % CHUNK_WORDS;
}

size_t stack_list_get(const struct stack_list *list, uint32_t id, const uint32_t **ret_locations)
{
	static const uint32_t none;
	const uint32_t *words;

	*ret_locations = &none;
	if (id == 0 || id > list->count)
		return 0;
	words = word_at(&list->words, *word_at(&list->places, id - 1));
	*ret_locations = words + 1;
	return words[0];
}

/* Writes the words of a stack, and returns the place of the first one, or PROFILE_FAILED. */
static uint32_t store(struct stack_list *list, const uint32_t *locations, size_t count)
{
	uint32_t *words = NULL;
	const struct chunk *chunk;

	if (list->words.count < WORDS_MAX)
		words = chunks_add(&list->words, (count + 1) * sizeof(*words));
	if (!words)
		return PROFILE_FAILED;
	words[0] = (uint32_t)count;
	memcpy(words + 1, locations, count * sizeof(*locations));
	chunk = &list->words.items[list->words.count - 1];
	return (uint32_t)((list->words.count - 1) * CHUNK_WORDS +
			  (size_t)(words - (uint32_t *)chunk->bytes));
}

uint32_t stack_list_append(struct stack_list *list, const uint32_t *locations, size_t count)
{
	uint32_t place, *entry;

	if (count == 0)
		return 0;
	if (list->count >= PROFILE_STACKS_MAX)
		return PROFILE_FAILED;
	place = store(list, locations, count);
	if (place == PROFILE_FAILED)
		return PROFILE_FAILED;
	entry = chunks_add(&list->places, sizeof(*entry));
	if (!entry)
		return PROFILE_FAILED;
	*entry = place;
	return ++list->count;
}

/* Returns the slot of an equal stack, or a free one. */
static struct slot *find(const struct stack_list *list, uint32_t hash, const uint32_t *locations,
			 size_t count)
{
	struct slot *slot = slots_first(&list->slots, hash);

	while (slot->id) {
		const uint32_t *known;
		const size_t known_count = stack_list_get(list, slot->id, &known);

		if (known_count == count && !memcmp(known, locations, count * sizeof(*known)))
			break;
		slot = slots_next(&list->slots, slot, hash);
	}
	return slot;
}

uint32_t stack_list_add(struct stack_list *list, const uint32_t *locations, size_t count)
{
	struct slot *slot;
	uint32_t hash, id;

	if (count == 0)
		return 0;
	if (slots_reserve(&list->slots) < 0)
		return PROFILE_FAILED;
	hash = (uint32_t)hash_bytes(&list->hash_key, locations, count * sizeof(*locations));
	slot = find(list, hash, locations, count);
	if (slot->id)
		return slot->id;
	id = stack_list_append(list, locations, count);
	if (id != PROFILE_FAILED)
		slots_fill(&list->slots, slot, hash, id);
	return id;
}
