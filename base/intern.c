/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes live in blocks that never move. An index finds equal bytes by a keyed hash. */
#include "base/intern.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/slots.h"

#define INTERN_BLOCK_BYTES (64u << 10)
#define INTERN_ALIGNMENT   8u /* callers also intern arrays and structs */
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
};

struct intern {
	struct hash_key hash_key;
	struct intern_block *blocks; /* the newest first */
	struct intern_item *items;   /* by id */
	size_t count, capacity;
	struct slots slots; /* the empty string and appended bytes are not in them */
};

static const struct intern_item empty_item = {.bytes = (const unsigned char *)""};

struct intern *intern_new(void)
{
	struct intern *intern = calloc(1, sizeof(*intern));

	if (!intern)
		return NULL;
	if (hash_key_random(&intern->hash_key) < 0 ||
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
	slots_release(&intern->slots);
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
static struct slot *intern_slot(const struct intern *intern, uint32_t hash, const void *bytes,
				size_t size)
{
	struct slot *slot = slots_first(&intern->slots, hash);

	while (slot->id) {
		const struct intern_item *item = &intern->items[slot->id];

		if (item->size == size && memcmp(item->bytes, bytes, size) == 0)
			break;
		slot = slots_next(&intern->slots, slot, hash);
	}
	return slot;
}

/* Makes room for one more item, whose bytes have this size. */
static int intern_reserve(struct intern *intern, size_t size)
{
	if (size > INTERN_ITEM_SIZE_MAX || intern->count >= INTERN_COUNT_MAX)
		return -EOVERFLOW;
	return ARRAY_RESERVE(intern->items, intern->capacity, intern->count + 1);
}

uint32_t intern_add(struct intern *intern, const void *bytes, size_t size)
{
	struct intern_item item = {.size = (uint32_t)size};
	struct slot *slot;
	uint32_t hash;

	if (size == 0)
		return 0;
	if (size > INTERN_ITEM_SIZE_MAX || slots_reserve(&intern->slots) < 0)
		return INTERN_FAILED;
	hash = (uint32_t)hash_bytes(&intern->hash_key, bytes, size);
	slot = intern_slot(intern, hash, bytes, size);
	if (slot->id)
		return slot->id;
	if (intern_reserve(intern, size) < 0)
		return INTERN_FAILED;
	item.bytes = intern_store(intern, bytes, size);
	if (!item.bytes)
		return INTERN_FAILED;
	slots_fill(&intern->slots, slot, hash, (uint32_t)intern->count);
	intern->items[intern->count] = item;
	return (uint32_t)intern->count++;
}

uint32_t intern_find(const struct intern *intern, const void *bytes, size_t size)
{
	if (size == 0 || slots_bytes(&intern->slots) == 0)
		return 0;
	return intern_slot(intern, (uint32_t)hash_bytes(&intern->hash_key, bytes, size), bytes,
			   size)
		->id;
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
