/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/process/segments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ipc/log.h"
#include "base/array.h"
#include "worker/target/target.h"

struct extent {
	uint32_t start, words;
};

struct area {
	struct segment *memory;
	struct extent *free; /* sorted, never adjacent */
	size_t count, capacity;
	uint32_t largest; /* no piece is larger */
};

struct waiting {
	uint64_t since;
	uint32_t word, words;
};

struct segments {
	struct target *target;
	struct area *areas;
	struct waiting *waiting; /* by time; [first] is the oldest */
	size_t first, count, capacity;
	uint32_t attached, max;
	uint64_t free, generation;
	bool asking, refused, wanted; /* wanted: the target refused the question; ask again */
};

struct segments *segments_new(struct target *target, uint32_t max)
{
	struct segments *segments = calloc(1, sizeof(*segments));

	if (!segments)
		return NULL;
	segments->target = target;
	segments->max = max;
	if (max > SEGMENT_MAX)
		segments->max = SEGMENT_MAX;
	segments->areas = calloc(segments->max + 1, sizeof(*segments->areas));
	if (!segments->areas) {
		free(segments);
		return NULL;
	}
	return segments;
}

void segments_free(struct segments *segments)
{
	if (!segments)
		return;
	for (uint32_t i = 0; i < segments->attached; i++) {
		if (segments->areas[i].memory)
			munmap(segments->areas[i].memory, SEGMENT_BYTES);
		free(segments->areas[i].free);
	}
	free(segments->areas);
	free(segments->waiting);
	free(segments);
}

static uint32_t rounded(uint32_t words)
{
	return (words + SEGMENTS_ALIGN - 1) & ~(SEGMENTS_ALIGN - 1);
}

/* Returns the index of the first free extent behind a place. */
static size_t extent_behind(const struct area *area, uint32_t place)
{
	size_t low = 0, high = area->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (area->free[middle].start <= place)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void remove_extent(struct area *area, size_t index)
{
	area->count--;
	memmove(area->free + index, area->free + index + 1,
		(area->count - index) * sizeof(*area->free));
}

static int insert_extent(struct area *area, size_t index, struct extent extent)
{
	int r = ARRAY_RESERVE(area->free, area->capacity, area->count + 1);

	if (r < 0)
		return r;
	memmove(area->free + index + 1, area->free + index,
		(area->count - index) * sizeof(*area->free));
	area->free[index] = extent;
	area->count++;
	return 0;
}

/* Gives a piece back, joined with its neighbours. Without memory the piece is lost. */
static int area_give(struct area *area, struct extent extent)
{
	size_t next = extent_behind(area, extent.start);
	struct extent *before = next > 0 ? &area->free[next - 1] : NULL;
	struct extent *behind = next < area->count ? &area->free[next] : NULL;
	int r = 0;

	if (before && before->start + before->words == extent.start) {
		before->words += extent.words;
		if (behind && before->start + before->words == behind->start) {
			before->words += behind->words;
			remove_extent(area, next);
		}
		extent = *before;
	} else if (behind && extent.start + extent.words == behind->start) {
		behind->start = extent.start;
		behind->words += extent.words;
		extent = *behind;
	} else {
		r = insert_extent(area, next, extent);
	}
	if (r == 0 && extent.words > area->largest)
		area->largest = extent.words;
	return r;
}

int segments_attach(struct segments *segments, struct segment *memory)
{
	struct area *area = &segments->areas[segments->attached];
	uint32_t skip = segments->attached == 0 ? SEGMENTS_ALIGN : 0;
	int r;

	if (segments->attached >= segments->max)
		return -ENOSPC;
	r = area_give(area, (struct extent){skip, SEGMENT_WORDS - skip});
	if (r < 0)
		return r;
	area->memory = memory;
	segments->attached++;
	segments->free += SEGMENT_WORDS - skip;
	segments->generation++;
	return 0;
}

static int attach_fd(struct segments *segments, int fd)
{
	void *memory = mmap(NULL, SEGMENT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	int r;

	if (memory == MAP_FAILED)
		return -errno;
	r = segments_attach(segments, memory);
	if (r < 0)
		munmap(memory, SEGMENT_BYTES);
	return r;
}

static void on_segment(void *context, uint64_t key, struct target_reply *reply)
{
	struct segments *segments = context;
	int r = reply->error;

	segments->asking = false;
	if (key != segments->attached)
		return;
	/* the broker is gone: its successor gets the question */
	if (r == -EPIPE || r == -ETIMEDOUT) {
		segments->wanted = true;
		return;
	}
	/* it was given by a broker that ended before the answer came: nobody has that segment */
	if (r == -EEXIST && segments->attached < segments->max) {
		segments->attached++;
		segments->wanted = true;
		return;
	}
	if (r == 0)
		r = attach_fd(segments, reply->fd);
	if (r < 0) {
		segments->refused = true;
		segments->generation++;
		log_warning("tables: segment %u: %s", segments->attached, strerror(-r));
	}
}

bool segments_full(const struct segments *segments)
{
	return segments->attached >= segments->max || segments->refused;
}

/* Asks for a segment. Returns whether one is under way. */
static bool ask(struct segments *segments)
{
	const struct target_request request = {
		.kind = TARGET_SEGMENT,
		.index = segments->attached,
		.done = on_segment,
		.context = segments,
		.key = segments->attached,
	};

	int r;

	if (segments->asking)
		return true;
	if (segments_full(segments) || !segments->target)
		return false;
	r = segments->target->ask(segments->target, &request);
	segments->asking = r == 0;
	segments->wanted = r == -EAGAIN;
	return r == 0 || r == -EAGAIN;
}

static bool area_take(struct area *area, uint32_t words, uint32_t *ret_start)
{
	uint32_t largest = 0;

	if (area->largest < words)
		return false;
	for (size_t i = 0; i < area->count; i++) {
		struct extent *extent = &area->free[i];

		if (extent->words > largest)
			largest = extent->words;
		if (extent->words < words)
			continue;
		*ret_start = extent->start;
		extent->start += words;
		extent->words -= words;
		if (extent->words == 0)
			remove_extent(area, i);
		return true;
	}
	area->largest = largest;
	return false;
}

/* Returns -EAGAIN while pieces wait for their grace, as they will be room. */
static int no_room(const struct segments *segments)
{
	if (segments->count > 0)
		return -EAGAIN;
	return -ENOSPC;
}

int segments_alloc(struct segments *segments, uint32_t words, uint32_t *ret_word)
{
	uint32_t need = rounded(words), start;

	if (words == 0 || words > SEGMENT_WORDS - SEGMENTS_ALIGN)
		return -E2BIG;
	for (uint32_t i = 0; i < segments->attached; i++) {
		if (!area_take(&segments->areas[i], need, &start))
			continue;
		segments->free -= need;
		*ret_word = i << SEGMENT_WORD_BITS | start;
		return 0;
	}
	if (ask(segments))
		return -EAGAIN;
	return no_room(segments);
}

int segments_alloc_spare(struct segments *segments, uint32_t words, uint32_t *ret_word)
{
	if (segments_full(segments) && segments->free < rounded(words) + SEGMENTS_RESERVE)
		return no_room(segments);
	return segments_alloc(segments, words, ret_word);
}

void segments_discard(struct segments *segments, uint32_t word, uint32_t words)
{
	struct area *area = &segments->areas[word >> SEGMENT_WORD_BITS];
	uint32_t need = rounded(words);

	if (area_give(area, (struct extent){word & (SEGMENT_WORDS - 1), need}) == 0) {
		segments->free += need;
		segments->generation++;
	}
}

void segments_release(struct segments *segments, uint32_t word, uint32_t words, uint64_t now)
{
	if (segments->first > 0 && segments->first + segments->count == segments->capacity) {
		memmove(segments->waiting, segments->waiting + segments->first,
			segments->count * sizeof(*segments->waiting));
		segments->first = 0;
	}
	if (ARRAY_RESERVE(segments->waiting, segments->capacity,
			  segments->first + segments->count + 1))
		return;
	segments->waiting[segments->first + segments->count++] = (struct waiting){now, word, words};
}

u32 *segments_at(const struct segments *segments, uint32_t word)
{
	return segments->areas[word >> SEGMENT_WORD_BITS].memory->word +
	       (word & (SEGMENT_WORDS - 1));
}

void segments_turn(struct segments *segments, uint64_t now)
{
	while (segments->count > 0) {
		const struct waiting *oldest = &segments->waiting[segments->first];

		if (oldest->since + SEGMENTS_GRACE > now)
			break;
		segments_discard(segments, oldest->word, oldest->words);
		segments->first++;
		segments->count--;
	}
	if (segments->wanted || segments->free < SEGMENT_WORDS / 2)
		ask(segments);
}

uint64_t segments_generation(const struct segments *segments)
{
	return segments->generation;
}
