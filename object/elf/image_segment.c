/* SPDX-License-Identifier: Apache-2.0 */
#include "object/elf/image_segment.h"

#define PAGE_MASK 4095ull

/* How well a part of the file fits a segment. */
struct fit {
	uint64_t pages;	  /* bytes of the part in the segment's pages */
	bool own;	  /* some bytes of the part are the segment's own */
	uint64_t outside; /* bytes of the segment outside of the part */
};

static uint64_t overlap(uint64_t start, uint64_t end, uint64_t from, uint64_t to)
{
	if (start < from)
		start = from;
	if (end > to)
		end = to;
	if (end <= start)
		return 0;
	return end - start;
}

/* Returns whether the part has bytes in the segment's pages. */
static bool fit_make(const struct image_segment *segment, uint64_t offset, uint64_t size,
		     struct fit *ret_fit)
{
	uint64_t start = segment->file_offset, end, last, stop, own;

	if (segment->file_size == 0)
		return false;
	if (__builtin_add_overflow(offset, size, &stop))
		return false;
	if (__builtin_add_overflow(start, segment->file_size, &end))
		return false;
	if (__builtin_add_overflow(end, PAGE_MASK, &last))
		return false;
	own = overlap(offset, stop, start, end);
	ret_fit->pages = overlap(offset, stop, start & ~PAGE_MASK, last & ~PAGE_MASK);
	ret_fit->own = own > 0;
	ret_fit->outside = segment->file_size - own;
	return ret_fit->pages > 0;
}

/* Returns a positive number where a is better. */
static int fit_compare(const struct fit *a, const struct fit *b)
{
	if (a->pages != b->pages)
		return (a->pages > b->pages) - (a->pages < b->pages);
	if (a->own != b->own)
		return (int)a->own - (int)b->own;
	return (a->outside < b->outside) - (a->outside > b->outside);
}

static bool have_same_shift(const struct image_segment *a, const struct image_segment *b)
{
	return a->address - a->file_offset == b->address - b->file_offset;
}

const struct image_segment *image_segment_of(const struct image_segment *segments, size_t count,
					     uint64_t offset, uint64_t size)
{
	const struct image_segment *best = NULL;
	struct fit best_fit = {0}, fit;
	bool unclear = false;
	int order;

	for (size_t i = 0; i < count; i++) {
		if (!fit_make(&segments[i], offset, size, &fit))
			continue;
		order = fit_compare(&fit, &best_fit);
		if (order > 0) {
			best = &segments[i];
			best_fit = fit;
			unclear = false;
		} else if (order == 0 && !have_same_shift(best, &segments[i])) {
			unclear = true;
		}
	}
	if (unclear)
		return NULL;
	return best;
}
