/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes live in blocks that never move. A table of ids finds equal bytes by a keyed hash. */
#include "base/intern.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

#define INTERN_BLOCK_BYTES (64u << 10)
#define INTERN_ALIGNMENT   8u /* callers also intern arrays and structs */
#define INTERN_FIRST_SLOTS 64u
#ifndef INTERN_COUNT_MAX
#define INTERN_COUNT_MAX (1u << 30)
#endif
#define INTERN_ITEM_SIZE_MAX (1u << 30)

struct intern_block {
	struct intern_block *next;
	size_t used, size;
	_Alignas(INTERN_ALIGNMENT) unsigned char bytes[];
};

struct intern_item {
	const unsigned char *bytes;
	uint32_t size;
	uint32_t hash; /* 0: not in the table */
};

struct intern {
	struct hash_key hash_key;
	struct intern_block *blocks; /* the newest first */
	struct intern_item *items;   /* by id */
	size_t count, capacity;
	uint32_t *slots; /* ids, 0 = free: the empty string is not in the table */
	size_t slot_count;
};

static const struct intern_item empty_item = {.bytes = (const unsigned char *)""};

struct intern *intern_new(void)
{
	struct intern *intern = calloc(1, sizeof(*intern));

	if (!intern)
		return NULL;
	intern->slot_count = INTERN_FIRST_SLOTS;
	intern->slots = calloc(intern->slot_count, sizeof(*intern->slots));
	if (!intern->slots || hash_key_random(&intern->hash_key) < 0 ||
	    ARRAY_RESERVE(intern->items, intern->capacity, 1) < 0) {
		intern_free(intern);
		return NULL;
	}
	intern->items[intern->count++] = empty_item;
	return intern;
}

void intern_free(struct intern *intern)
{
	struct intern_block *next;

	if (!intern)
		return;
	for (struct intern_block *block = intern->blocks; block; block = next) {
		next = block->next;
		free(block);
	}
	free(intern->items);
	free(intern->slots);
	free(intern);
}

static struct intern_block *intern_block_new(struct intern *intern, size_t need)
{
	const bool is_large = need > INTERN_BLOCK_BYTES / 8;
	const size_t size = is_large ? need : INTERN_BLOCK_BYTES;
	struct intern_block *block = malloc(sizeof(*block) + size);

	if (!block)
		return NULL;
	*block = (struct intern_block){.size = size};
	if (is_large && intern->blocks) { /* later items go on filling the newest block */
		block->next = intern->blocks->next;
		intern->blocks->next = block;
	} else {
		block->next = intern->blocks;
		intern->blocks = block;
	}
	return block;
}

static const unsigned char *intern_store(struct intern *intern, const void *bytes, size_t size)
{
	size_t need = (size + 1 + INTERN_ALIGNMENT - 1) & ~(size_t)(INTERN_ALIGNMENT - 1);
	struct intern_block *block = intern->blocks;
	unsigned char *to;

	if (!block || block->size - block->used < need)
		block = intern_block_new(intern, need);
	if (!block)
		return NULL;
	to = block->bytes + block->used;
	memcpy(to, bytes, size);
	to[size] = '\0';
	block->used += need;
	return to;
}

/* Returns the slot that holds the id of equal bytes, or the free slot where the id belongs. */
static uint32_t *intern_slot(const struct intern *intern, uint32_t hash, const void *bytes,
			     size_t size)
{
	const struct intern_item *item;
	size_t at = hash & (intern->slot_count - 1);

	for (; intern->slots[at]; at = (at + 1) & (intern->slot_count - 1)) {
		item = &intern->items[intern->slots[at]];
		if (item->hash == hash && item->size == size && !memcmp(item->bytes, bytes, size))
			break;
	}
	return &intern->slots[at];
}

/* Makes room for the id of one more item. */
static int intern_grow_slots(struct intern *intern)
{
	size_t slot_count = intern->slot_count * 2, at;
	uint32_t *slots;

	if (intern->count < intern->slot_count / 4 * 3)
		return 0;
	slots = calloc(slot_count, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (uint32_t id = 1; id < intern->count; id++) {
		if (!intern->items[id].hash)
			continue;
		at = intern->items[id].hash & (slot_count - 1);
		while (slots[at])
			at = (at + 1) & (slot_count - 1);
		slots[at] = id;
	}
	free(intern->slots);
	intern->slots = slots;
	intern->slot_count = slot_count;
	return 0;
}

/* Makes room for one more item, whose bytes have this size. */
static int intern_reserve(struct intern *intern, size_t size)
{
	if (size > INTERN_ITEM_SIZE_MAX || intern->count >= INTERN_COUNT_MAX)
		return -EOVERFLOW;
	return ARRAY_RESERVE(intern->items, intern->capacity, intern->count + 1);
}

/* Returns the hash of the bytes, never 0. */
static uint32_t intern_hash(const struct intern *intern, const void *bytes, size_t size)
{
	uint32_t hash = (uint32_t)hash_bytes(&intern->hash_key, bytes, size);

	if (hash == 0)
		return 1;
	return hash;
}

uint32_t intern_add(struct intern *intern, const void *bytes, size_t size)
{
	struct intern_item item = {.size = (uint32_t)size};
	uint32_t *slot;

	if (size == 0)
		return 0;
	if (size > INTERN_ITEM_SIZE_MAX)
		return INTERN_FAILED;
	item.hash = intern_hash(intern, bytes, size);
	slot = intern_slot(intern, item.hash, bytes, size);
	if (*slot)
		return *slot;
	if (intern_reserve(intern, size) < 0)
		return INTERN_FAILED;
	if (intern_grow_slots(intern) < 0)
		return INTERN_FAILED;
	item.bytes = intern_store(intern, bytes, size);
	if (!item.bytes)
		return INTERN_FAILED;
	slot = intern_slot(intern, item.hash, bytes, size);
	*slot = (uint32_t)intern->count;
	intern->items[intern->count++] = item;
	return *slot;
}

uint32_t intern_append(struct intern *intern, const void *bytes, size_t size)
{
	struct intern_item item = {.size = (uint32_t)size};

	if (intern_reserve(intern, size) < 0)
		return INTERN_FAILED;
	item.bytes = empty_item.bytes;
	if (size > 0)
		item.bytes = intern_store(intern, bytes, size);
	if (!item.bytes)
		return INTERN_FAILED;
	intern->items[intern->count] = item;
	return (uint32_t)intern->count++;
}

uint32_t intern_string(struct intern *intern, const char *string)
{
	return intern_add(intern, string, strlen(string));
}

const void *intern_get(const struct intern *intern, uint32_t id, size_t *ret_size)
{
	const struct intern_item *item = &empty_item;

	if (id < intern->count)
		item = &intern->items[id];
	if (ret_size)
		*ret_size = item->size;
	return item->bytes;
}

uint32_t intern_count(const struct intern *intern)
{
	return (uint32_t)intern->count;
}
