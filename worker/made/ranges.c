/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/made/ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define PAGE_RANGES 256u

struct page {
	struct made_range *items; /* PAGE_RANGES of them, sorted */
	uint32_t count;		  /* at least 1 */
};

struct made_ranges {
	struct page *pages; /* sorted */
	size_t page_count, page_capacity;
	size_t count, most;
	size_t *all;
};

struct place {
	size_t page;
	uint32_t item;
};

static uint64_t end_of(const struct made_range *range)
{
	return range->start + range->size;
}

/* ---- pages ---- */

static void remove_page(struct made_ranges *ranges, size_t page)
{
	free(ranges->pages[page].items);
	ranges->page_count--;
	memmove(ranges->pages + page, ranges->pages + page + 1,
		(ranges->page_count - page) * sizeof(*ranges->pages));
}

/* Inserts an empty page. Returns 0 or -ENOMEM. */
static int insert_page(struct made_ranges *ranges, size_t page)
{
	struct made_range *items;
	int r = ARRAY_RESERVE(ranges->pages, ranges->page_capacity, ranges->page_count + 1);

	if (r < 0)
		return r;
	items = malloc(PAGE_RANGES * sizeof(*items));
	if (!items)
		return -ENOMEM;
	memmove(ranges->pages + page + 1, ranges->pages + page,
		(ranges->page_count - page) * sizeof(*ranges->pages));
	ranges->page_count++;
	ranges->pages[page] = (struct page){.items = items};
	return 0;
}

/* Moves the upper half of a full page to a page of its own. */
static int split(struct made_ranges *ranges, struct place *place)
{
	struct page *page, *upper;
	const uint32_t half = PAGE_RANGES / 2;
	int r = insert_page(ranges, place->page + 1);

	if (r < 0)
		return r;
	page = &ranges->pages[place->page];
	upper = page + 1;
	memcpy(upper->items, page->items + half, (PAGE_RANGES - half) * sizeof(*page->items));
	upper->count = PAGE_RANGES - half;
	page->count = half;
	if (place->item > half) {
		place->page++;
		place->item -= half;
	}
	return 0;
}

/* ---- places ---- */

/* Returns the first page that has a range that ends above an address, or page_count. */
static size_t find_page(const struct made_ranges *ranges, uint64_t address)
{
	size_t low = 0, high = ranges->page_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct page *page = &ranges->pages[middle];

		if (end_of(&page->items[page->count - 1]) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns the place of the first range that ends above an address; its page may be none. */
static struct place find_place(const struct made_ranges *ranges, uint64_t address)
{
	struct place place = {.page = find_page(ranges, address)};
	uint32_t high;

	if (place.page == ranges->page_count)
		return place;
	high = ranges->pages[place.page].count;
	while (place.item < high) {
		const uint32_t middle = place.item + (high - place.item) / 2;

		if (end_of(&ranges->pages[place.page].items[middle]) <= address)
			place.item = middle + 1;
		else
			high = middle;
	}
	return place;
}

static struct made_range *range_at(const struct made_ranges *ranges, const struct place *place)
{
	if (place->page == ranges->page_count)
		return NULL;
	return &ranges->pages[place->page].items[place->item];
}

static void remove_at(struct made_ranges *ranges, const struct place *place)
{
	struct page *page = &ranges->pages[place->page];

	page->count--;
	ranges->count--;
	--*ranges->all;
	memmove(page->items + place->item, page->items + place->item + 1,
		(page->count - place->item) * sizeof(*page->items));
	if (page->count == 0)
		remove_page(ranges, place->page);
}

/* Inserts where the range belongs. No other range overlaps it. Returns 0 or -ENOMEM. */
static int insert(struct made_ranges *ranges, const struct made_range *range)
{
	struct place place = find_place(ranges, range->start);
	struct page *page;
	int r = 0;

	if (place.page == ranges->page_count && place.page > 0) {
		place.page--;
		place.item = ranges->pages[place.page].count;
	} else if (ranges->page_count == 0) {
		r = insert_page(ranges, 0);
	}
	if (r == 0 && ranges->pages[place.page].count == PAGE_RANGES)
		r = split(ranges, &place);
	if (r < 0)
		return r;
	page = &ranges->pages[place.page];
	memmove(page->items + place.item + 1, page->items + place.item,
		(page->count - place.item) * sizeof(*page->items));
	page->items[place.item] = *range;
	page->count++;
	ranges->count++;
	++*ranges->all;
	return 0;
}

/* ---- all ---- */

struct made_ranges *made_ranges_new(size_t most, size_t *all)
{
	struct made_ranges *ranges = calloc(1, sizeof(*ranges));

	if (!ranges)
		return NULL;
	ranges->most = most;
	ranges->all = all;
	return ranges;
}

void made_ranges_clear(struct made_ranges *ranges)
{
	for (size_t i = 0; i < ranges->page_count; i++)
		free(ranges->pages[i].items);
	ranges->page_count = 0;
	*ranges->all -= ranges->count;
	ranges->count = 0;
}

void made_ranges_free(struct made_ranges *ranges)
{
	if (!ranges)
		return;
	made_ranges_clear(ranges);
	free(ranges->pages);
	free(ranges);
}

size_t made_ranges_count(const struct made_ranges *ranges)
{
	return ranges->count;
}

/* Cuts [start, end) out of a range that begins before it. Sets what is left behind it, if any. */
static bool cut_out(struct made_range *range, uint64_t start, uint64_t end,
		    struct made_range *ret_rest)
{
	const uint64_t old_end = end_of(range);

	range->size = (uint32_t)(start - range->start);
	*ret_rest = (struct made_range){end, (uint32_t)(old_end - end), range->place};
	return old_end > end;
}

/* Frees the addresses [start, end). Returns 0 or -ENOMEM. */
static int make_room(struct made_ranges *ranges, uint64_t start, uint64_t end)
{
	struct place place = find_place(ranges, start);
	struct made_range *range = range_at(ranges, &place), rest;

	while (range && range->start < end) {
		if (range->start < start) {
			if (cut_out(range, start, end, &rest))
				return insert(ranges, &rest);
		} else if (end_of(range) > end) {
			range->size = (uint32_t)(end_of(range) - end);
			range->start = end;
		} else {
			remove_at(ranges, &place);
		}
		place = find_place(ranges, start);
		range = range_at(ranges, &place);
	}
	return 0;
}

int made_ranges_add(struct made_ranges *ranges, const struct made_range *range)
{
	int r;

	if (range->size == 0 || range->size > MADE_SIZE_MAX || range->start >= MADE_ADDRESS_END ||
	    range->size > MADE_ADDRESS_END - range->start)
		return -EINVAL;
	if (ranges->count + 2 > ranges->most)
		return -E2BIG;
	r = make_room(ranges, range->start, end_of(range));
	if (r < 0)
		return r;
	return insert(ranges, range);
}

bool made_ranges_find(const struct made_ranges *ranges, uint64_t address,
		      struct made_range *ret_range)
{
	const struct place place = find_place(ranges, address);
	const struct made_range *range = range_at(ranges, &place);

	if (!range || range->start > address)
		return false;
	*ret_range = *range;
	return true;
}
