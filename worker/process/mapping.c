/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/process/mapping.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Returns a version that no other member of a family of forked processes has, because they share
 * cached rules. 25 bits reach the BPF programs. */
static uint32_t next_version(void)
{
	static uint32_t version;

	return ++version;
}

struct mappings *mappings_new(void)
{
	struct mappings *mappings = calloc(1, sizeof(*mappings));

	if (!mappings)
		return NULL;
	mappings->references = 1;
	mappings->version = next_version();
	return mappings;
}

void mappings_free(struct mappings *mappings)
{
	if (!mappings)
		return;
	free(mappings->open);
	free(mappings->closed);
	free(mappings);
}

static int copy_items(struct mapping **items, size_t *capacity, const struct mapping *from,
		      size_t count)
{
	int r;

	if (count == 0)
		return 0;
	r = ARRAY_RESERVE(*items, *capacity, count);
	if (r < 0)
		return r;
	memcpy(*items, from, count * sizeof(*from));
	return 0;
}

struct mappings *mappings_copy(const struct mappings *mappings)
{
	struct mappings *copy = mappings_new();

	if (!copy)
		return NULL;
	if (copy_items(&copy->open, &copy->open_capacity, mappings->open, mappings->open_count) ||
	    copy_items(&copy->closed, &copy->closed_capacity, mappings->closed,
		       mappings->closed_count)) {
		mappings_free(copy);
		return NULL;
	}
	copy->open_count = mappings->open_count;
	copy->closed_count = mappings->closed_count;
	copy->unsettled = mappings->unsettled;
	copy->dirty = mappings->dirty;
	return copy;
}

struct mappings *mappings_share(struct mappings *mappings)
{
	mappings->references++;
	return mappings;
}

bool mappings_unshare(struct mappings *mappings)
{
	return --mappings->references == 0;
}

/* Returns the index of the first mapping of a sorted list that ends above an address. */
static size_t above(const struct mapping *list, size_t count, uint64_t address)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static size_t first_above(const struct mappings *mappings, uint64_t address)
{
	return above(mappings->open, mappings->open_count, address);
}

static uint64_t forgotten;

uint64_t mappings_forgotten(void)
{
	return forgotten;
}

static void drop_older_half(struct mappings *mappings)
{
	size_t dropped = (mappings->closed_count + 1) / 2;

	forgotten += dropped;
	mappings->closed_count -= dropped;
	memmove(mappings->closed, mappings->closed + dropped,
		mappings->closed_count * sizeof(*mappings->closed));
}

/* Keeps a closed mapping for earlier samples; without room they lose a name. */
static void keep_closed(struct mappings *mappings, const struct mapping *mapping, uint64_t time)
{
	struct mapping *kept;

	if (mapping->from >= time)
		return;
	if (mappings->closed_count >= MAPPINGS_CLOSED_MAX)
		drop_older_half(mappings);
	if (ARRAY_RESERVE(mappings->closed, mappings->closed_capacity, mappings->closed_count + 1))
		return;
	kept = &mappings->closed[mappings->closed_count++];
	*kept = *mapping;
	kept->until = time;
}

static void mark_changed(struct mappings *mappings, bool meaning)
{
	mappings->dirty = true;
	if (meaning)
		mappings->version = next_version();
}

static void close_at(struct mappings *mappings, size_t index, uint64_t time)
{
	keep_closed(mappings, &mappings->open[index], time);
	mappings->open_count--;
	memmove(mappings->open + index, mappings->open + index + 1,
		(mappings->open_count - index) * sizeof(*mappings->open));
	mark_changed(mappings, true);
}

static int insert_at(struct mappings *mappings, size_t index, const struct mapping *mapping)
{
	int r = ARRAY_RESERVE(mappings->open, mappings->open_capacity, mappings->open_count + 1);

	if (r < 0)
		return r;
	memmove(mappings->open + index + 1, mappings->open + index,
		(mappings->open_count - index) * sizeof(*mappings->open));
	mappings->open_count++;
	mappings->open[index] = *mapping;
	mappings->open[index].until = MAPPING_OPEN;
	mappings->unsettled |= !mapping->object;
	mark_changed(mappings, false);
	return 0;
}

/* Cuts a new mapping out of the mapping at index, whose rest on both sides stays open. */
static int cut_at(struct mappings *mappings, size_t index, const struct mapping *mapping)
{
	const struct mapping old = mappings->open[index];
	struct mapping right = old;
	int r = 0;

	keep_closed(mappings, &old, mapping->from);
	mark_changed(mappings, true);
	if (old.end > mapping->end) {
		right.start = mapping->end;
		right.offset += mapping->end - old.start;
		mappings->open[index] = right;
	}
	if (old.start < mapping->start) {
		if (old.end > mapping->end)
			r = insert_at(mappings, index, &old);
		mappings->open[index].end = mapping->start;
	}
	if (old.start >= mapping->start && old.end <= mapping->end) {
		mappings->open_count--;
		memmove(mappings->open + index, mappings->open + index + 1,
			(mappings->open_count - index) * sizeof(*mappings->open));
	}
	return r;
}

/*
 * Returns whether both have the same bytes of the same file at the same addresses where they
 * overlap.
 */
static bool continues(const struct mapping *old, const struct mapping *new)
{
	if (old->file != new->file)
		return false;
	if (!old->file)
		return old->object == new->object;
	return old->start - old->offset == new->start - new->offset;
}

/* Grows the first of the overlapping mappings, which all continue, over the others. */
static void merge(struct mappings *mappings, size_t first, size_t last, const struct mapping *new)
{
	struct mapping *into = &mappings->open[first];

	if (new->start < into->start) {
		if (new->file)
			into->offset -= into->start - new->start;
		into->start = new->start;
	}
	into->end = mappings->open[last - 1].end;
	if (new->end > into->end)
		into->end = new->end;
	memmove(into + 1, mappings->open + last,
		(mappings->open_count - last) * sizeof(*mappings->open));
	mappings->open_count -= last - first - 1;
	mark_changed(mappings, false);
}

int mappings_add(struct mappings *mappings, const struct mapping *mapping)
{
	size_t first = first_above(mappings, mapping->start), last = first;
	bool same = true;
	int r;

	for (; last < mappings->open_count && mappings->open[last].start < mapping->end; last++)
		same &= continues(&mappings->open[last], mapping);
	if (same && last == first + 1 && mappings->open[first].start <= mapping->start &&
	    mappings->open[first].end >= mapping->end)
		return 0;
	if (same && last > first) {
		merge(mappings, first, last, mapping);
		return 1;
	}
	if (mappings->open_count + 2 > MAPPINGS_MAX)
		return -E2BIG;
	for (size_t i = first; i < mappings->open_count;) {
		size_t before = mappings->open_count;

		if (mappings->open[i].start >= mapping->end)
			break;
		r = cut_at(mappings, i, mapping);
		if (r < 0)
			return r;
		i += mappings->open_count >= before;
	}
	r = insert_at(mappings, first_above(mappings, mapping->start), mapping);
	if (r < 0)
		return r;
	return 1;
}

/* Returns whether a sorted list covers an open mapping with the same bytes. */
static bool listed(const struct mapping *list, size_t count, const struct mapping *open)
{
	uint64_t covered = open->start;

	for (size_t i = above(list, count, covered); i < count && covered < open->end; i++) {
		if (list[i].start > covered || !continues(open, &list[i]))
			return false;
		covered = list[i].end;
	}
	return covered >= open->end;
}

static bool overlaps_any(const struct mappings *mappings, const struct mapping *mapping)
{
	size_t first = first_above(mappings, mapping->start);

	return first < mappings->open_count && mappings->open[first].start < mapping->end;
}

/* Returns whether a mapping contradicts a mapping that was told after the list was asked for. */
static bool is_late(const struct mappings *mappings, const struct mapping *mapping, uint64_t asked)
{
	size_t i = first_above(mappings, mapping->start);

	for (; i < mappings->open_count && mappings->open[i].start < mapping->end; i++)
		if (mappings->open[i].from >= asked && !continues(&mappings->open[i], mapping))
			return true;
	return false;
}

int mappings_replace(struct mappings *mappings, const struct mapping *list, size_t count,
		     uint64_t asked, uint64_t time)
{
	int changed = 0, r = 0;

	for (size_t i = mappings->open_count; i-- > 0;) {
		if (mappings->open[i].from >= asked || listed(list, count, &mappings->open[i]))
			continue;
		close_at(mappings, i, time);
		changed = 1;
	}
	for (size_t i = 0; i < count && r >= 0; i++) {
		struct mapping mapping = list[i];

		if (is_late(mappings, &mapping, asked))
			continue;
		mapping.from = 0;
		if (overlaps_any(mappings, &mapping))
			mapping.from = time;
		r = mappings_add(mappings, &mapping);
		changed |= r > 0;
	}
	if (r < 0)
		return r;
	return changed;
}

const struct mapping *mappings_find(const struct mappings *mappings, uint64_t address,
				    uint64_t time)
{
	size_t i;

	for (i = 0; i < mappings->closed_count; i++) {
		const struct mapping *closed = &mappings->closed[i];

		if (address >= closed->start && address < closed->end && time >= closed->from &&
		    time < closed->until)
			return closed;
	}
	i = first_above(mappings, address);
	if (i == mappings->open_count || address < mappings->open[i].start ||
	    time < mappings->open[i].from)
		return NULL;
	return &mappings->open[i];
}

bool mappings_know(const struct mappings *mappings, const struct mapping *mapping)
{
	const struct mapping *there = mappings_find(mappings, mapping->start, mapping->from);

	return there && there->until == MAPPING_OPEN && there->end >= mapping->end &&
	       continues(there, mapping);
}

void mappings_forget_object(struct mappings *mappings, size_t index)
{
	mappings->open[index].object = NULL;
	mappings->unsettled = true;
	mark_changed(mappings, true);
}

void mappings_prune(struct mappings *mappings, uint64_t before)
{
	size_t kept = 0;

	for (size_t i = 0; i < mappings->closed_count; i++)
		if (mappings->closed[i].until >= before)
			mappings->closed[kept++] = mappings->closed[i];
	mappings->closed_count = kept;
}
