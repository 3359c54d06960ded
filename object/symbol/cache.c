/* SPDX-License-Identifier: Apache-2.0 */
#include "object/symbol/cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "object/elf/image.h"

#define BLOCK_BYTES (16u << 10)
#define FIRST_BYTES 256u /* of a string: most end there */

struct block {
	uint64_t key, number;
	const struct image *image; /* NULL: free */
	uint64_t used;		   /* tick */
	size_t size;		   /* less than BLOCK_BYTES at the end of a file */
	unsigned char bytes[BLOCK_BYTES];
};

struct symbol_cache {
	size_t most, claimed, count, slots;
	struct block **blocks; /* count of them are allocated */
	struct map *by_key;
	struct block *last;
	uint64_t tick;
	struct symbol_cache_counts counts;
};

struct symbol_cache *symbol_cache_new(size_t most)
{
	struct symbol_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return NULL;
	cache->most = most;
	cache->slots = most / sizeof(struct block);
	cache->blocks = calloc(cache->slots + 1, sizeof(struct block *));
	cache->by_key = map_new();
	if (!cache->blocks || !cache->by_key) {
		symbol_cache_free(cache);
		return NULL;
	}
	return cache;
}

void symbol_cache_free(struct symbol_cache *cache)
{
	if (!cache)
		return;
	for (size_t i = 0; i < cache->count; i++)
		free(cache->blocks[i]);
	free(cache->blocks);
	map_free(cache->by_key);
	free(cache);
}

static size_t held(const struct symbol_cache *cache)
{
	return cache->claimed + cache->count * sizeof(struct block);
}

static void note_peak(struct symbol_cache *cache)
{
	if (held(cache) > cache->counts.peak)
		cache->counts.peak = held(cache);
}

static void unlist(struct symbol_cache *cache, struct block *block)
{
	if (block->image && map_get(cache->by_key, block->key) == block)
		map_remove(cache->by_key, block->key);
	if (cache->last == block)
		cache->last = NULL;
	block->image = NULL;
	block->used = 0;
}

/* The index of the one to go first. */
static size_t oldest(const struct symbol_cache *cache)
{
	size_t at = 0;

	for (size_t i = 1; i < cache->count; i++)
		if (cache->blocks[i]->used < cache->blocks[at]->used)
			at = i;
	return at;
}

static void free_block(struct symbol_cache *cache, size_t at)
{
	unlist(cache, cache->blocks[at]);
	free(cache->blocks[at]);
	cache->blocks[at] = cache->blocks[--cache->count];
}

static void drop_block(struct symbol_cache *cache, size_t at)
{
	cache->counts.evicted += cache->blocks[at]->image != NULL;
	free_block(cache, at);
}

bool symbol_cache_claim(struct symbol_cache *cache, size_t bytes)
{
	if (bytes > cache->most || cache->claimed > cache->most - bytes) {
		cache->counts.refused++;
		return false;
	}
	cache->claimed += bytes;
	while (cache->count > 0 && held(cache) > cache->most)
		drop_block(cache, oldest(cache));
	note_peak(cache);
	return true;
}

void symbol_cache_release(struct symbol_cache *cache, size_t bytes)
{
	cache->claimed -= bytes;
}

size_t symbol_cache_room(const struct symbol_cache *cache)
{
	return cache->most - cache->claimed;
}

void symbol_cache_refuse(struct symbol_cache *cache)
{
	cache->counts.refused++;
}

void symbol_cache_forget(struct symbol_cache *cache, const struct image *image)
{
	size_t at = 0;

	while (cache && at < cache->count)
		if (cache->blocks[at]->image == image)
			free_block(cache, at);
		else
			at++;
}

void symbol_cache_counts(const struct symbol_cache *cache, struct symbol_cache_counts *ret_counts)
{
	*ret_counts = cache->counts;
	ret_counts->held = held(cache);
}

uint64_t symbol_cache_steps(const struct symbol_cache *cache)
{
	return cache->counts.missed * (BLOCK_BYTES / 64);
}

/* A block to fill, not listed. NULL: there is no room for a single one. */
static struct block *take_block(struct symbol_cache *cache)
{
	struct block *block;

	if (cache->count < cache->slots && held(cache) + sizeof(*block) <= cache->most) {
		block = calloc(1, sizeof(*block));
		if (block) {
			cache->blocks[cache->count++] = block;
			note_peak(cache);
			return block;
		}
	}
	if (cache->count == 0)
		return NULL;
	block = cache->blocks[oldest(cache)];
	cache->counts.evicted += block->image != NULL;
	unlist(cache, block);
	return block;
}

static uint64_t block_key(const struct image *image, uint64_t number)
{
	return (uint64_t)(uintptr_t)image * 0x9e3779b97f4a7c15ull + number;
}

static bool is_block(const struct block *block, const struct image *image, uint64_t number)
{
	return block && block->image == image && block->number == number;
}

static struct block *find_block(struct symbol_cache *cache, const struct image *image,
				uint64_t number)
{
	uint64_t key = block_key(image, number);
	struct block *block = map_get(cache->by_key, key);

	if (is_block(block, image, number))
		return block;
	if (block) /* two blocks of one key */
		unlist(cache, block);
	cache->counts.missed++;
	block = take_block(cache);
	if (!block)
		return NULL;
	block->size = image_read(image, number * BLOCK_BYTES, block->bytes, BLOCK_BYTES);
	block->key = key;
	block->number = number;
	block->image = image;
	if (map_put(cache->by_key, key, block) < 0)
		block->image = NULL;
	return block;
}

static size_t read_block(struct symbol_cache *cache, const struct image *image, uint64_t offset,
			 void *to, size_t size)
{
	uint64_t number = offset / BLOCK_BYTES;
	size_t inside = (size_t)(offset % BLOCK_BYTES);
	struct block *block = cache->last;

	if (!is_block(block, image, number))
		block = find_block(cache, image, number);
	if (!block) /* no room: from the file itself */
		return image_read(image, offset, to, size);
	cache->last = block;
	block->used = ++cache->tick;
	if (inside >= block->size)
		return 0;
	if (size > block->size - inside)
		size = block->size - inside;
	memcpy(to, block->bytes + inside, size);
	return size;
}

struct window window_make(struct symbol_cache *cache, const struct image *image,
			  const struct image_place *place)
{
	return (struct window){
		.cache = cache,
		.image = image,
		.offset = place->offset,
		.size = place->size,
	};
}

struct window window_from(const struct window *window, uint64_t offset)
{
	struct window part = *window;

	if (offset > part.size)
		offset = part.size;
	part.offset += offset;
	part.size -= offset;
	return part;
}

size_t window_read(const struct window *window, uint64_t at, void *to, size_t size)
{
	unsigned char *next = to;
	size_t copied = 0, got;

	if (at >= window->size)
		return 0;
	if (size > window->size - at)
		size = (size_t)(window->size - at);
	at += window->offset;
	if (image_is_in_memory(window->image))
		return image_read(window->image, at, to, size);
	do {
		got = read_block(window->cache, window->image, at + copied, next + copied,
				 size - copied);
		copied += got;
	} while (got > 0 && copied < size);
	return copied;
}

size_t window_string(const struct window *window, uint64_t at, char *to, size_t size)
{
	size_t got = 0, wanted = FIRST_BYTES, part;
	const char *end = NULL;

	/* reads twice as much each time, so that the cost is proportional to the length */
	for (part = wanted; !end && part == wanted && got < size - 1; got += part) {
		wanted = FIRST_BYTES;
		if (got > 0)
			wanted = got;
		if (wanted > size - 1 - got)
			wanted = size - 1 - got;
		part = window_read(window, at + got, to + got, wanted);
		end = memchr(to + got, '\0', part);
	}
	if (end)
		got = (size_t)(end - to);
	to[got] = '\0';
	return got;
}
