/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is in memory of symbols: blocks of the files that names are looked up in, and what others
 * claim for tables of theirs. Together at most what the cache was made for: the block that was not
 * used for longest goes first, and what cannot have room is refused and counted.
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

/* Bytes that the caller allocates itself. False: there is no room for them, which is counted. */
bool symbol_cache_claim(struct symbol_cache *cache, size_t bytes);
void symbol_cache_release(struct symbol_cache *cache, size_t bytes);
size_t symbol_cache_room(const struct symbol_cache *cache); /* bytes that could be claimed */
void symbol_cache_refuse(struct symbol_cache *cache);	    /* counts what the caller refused */
/* To be called before an image that was read through the cache is closed. NULL is fine. */
void symbol_cache_forget(struct symbol_cache *cache, const struct image *image);

struct symbol_cache_counts {
	size_t peak;		   /* bytes */
	uint64_t evicted, refused; /* blocks, claims */
	uint64_t missed;	   /* blocks that were not there */
};
void symbol_cache_counts(const struct symbol_cache *cache, struct symbol_cache_counts *ret_counts);
/* What reading through the cache has cost so far, in steps of 64 bytes of files. */
uint64_t symbol_cache_steps(const struct symbol_cache *cache);

/* A part of an image that is read through the cache. */
struct window {
	struct symbol_cache *cache;
	const struct image *image;
	uint64_t offset, size;
};
struct window window_make(struct symbol_cache *cache, const struct image *image,
			  const struct image_place *place);
/* The part of it from an offset on: empty where there is none. */
struct window window_from(const struct window *window, uint64_t offset);
/* Copies and returns how many: fewer at the end of the window, or when the file cannot be read. */
size_t window_read(const struct window *window, uint64_t at, void *to, size_t size);
/* A string into `to`, cut to size - 1 bytes; its length. */
size_t window_string(const struct window *window, uint64_t at, char *to, size_t size);

#endif
