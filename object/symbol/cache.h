/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds the memory for symbols: cached blocks of files in which names are looked up, and memory
 * that callers claim for tables. Where room is short, the block that was unused for longest goes. A
 * claim that finds no room is refused and counted.
 */
#ifndef KEYHOLE_OBJECT_SYMBOL_CACHE_H
#define KEYHOLE_OBJECT_SYMBOL_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image;
struct image_place;
struct symbol_cache;

#ifndef SYMBOL_BYTES_MAX
#define SYMBOL_BYTES_MAX (20u << 20)
#endif

struct symbol_cache *symbol_cache_new(size_t most); /* bytes; NULL: no memory */
void symbol_cache_free(struct symbol_cache *cache); /* NULL is fine */

/* Claims bytes that the caller allocates. Returns false, and counts it, where there is no room. */
bool symbol_cache_claim(struct symbol_cache *cache, size_t bytes);
void symbol_cache_release(struct symbol_cache *cache, size_t bytes);
size_t symbol_cache_room(const struct symbol_cache *cache); /* bytes that could be claimed */
void symbol_cache_refuse(struct symbol_cache *cache);	    /* counts a refusal of the caller */
/* Frees an image's blocks, before the image is closed. NULL is fine. */
void symbol_cache_forget(struct symbol_cache *cache, const struct image *image);

struct symbol_cache_counts {
	size_t held, peak;	   /* bytes */
	uint64_t evicted, refused; /* blocks, claims */
	uint64_t missed;	   /* blocks that were not there */
};
void symbol_cache_counts(const struct symbol_cache *cache, struct symbol_cache_counts *ret_counts);
/* Returns the cost of reading through the cache so far, in steps of 64 bytes of files. */
uint64_t symbol_cache_steps(const struct symbol_cache *cache);

/* A part of an image that is read through the cache. */
struct window {
	struct symbol_cache *cache;
	const struct image *image;
	uint64_t offset, size;
};
struct window window_make(struct symbol_cache *cache, const struct image *image,
			  const struct image_place *place);
/* Returns the part from an offset on, which is empty beyond the window's end. */
struct window window_from(const struct window *window, uint64_t offset);
/* Copies bytes. Returns how many: fewer at the window's end, or where the file cannot be read. */
size_t window_read(const struct window *window, uint64_t at, void *to, size_t size);
/* Copies a string, cut to size - 1 bytes. Returns its length. */
size_t window_string(const struct window *window, uint64_t at, char *to, size_t size);

#endif
