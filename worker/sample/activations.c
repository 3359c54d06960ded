/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/sample/activations.h"

#include <string.h>

#define TAGS	    (RUNTIME_WORD_FRAME | RUNTIME_WORD_BORDER)
#define FRAME_WORDS 2u
#define NUMBER	    0xffffu

struct segment_of {
	size_t start, end; /* words, without the border that ends it */
	size_t groups;
	uint32_t last;	 /* number of the last frame that it may have */
	bool is_resumed; /* of a coroutine: it ends with a border that has a number */
};

static bool is_border(u64 word)
{
	return (word & TAGS) == RUNTIME_WORD_BORDER;
}

static uint32_t number_of(u64 border)
{
	return (uint32_t)(border & NUMBER);
}

/* Returns the next border from a word on, or `count`. */
static size_t next_border(const u64 *words, size_t at, size_t count)
{
	while (at < count && (words[at] & TAGS) == RUNTIME_WORD_FRAME)
		at += FRAME_WORDS;
	if (at >= count || !is_border(words[at]))
		return count;
	return at;
}

static struct segment_of find_segment(const u64 *words, size_t start, size_t count)
{
	struct segment_of segment = {.start = start, .last = RUNTIME_BORDER_NOWHERE};
	size_t at = next_border(words, start, count);

	for (; at < count; at = next_border(words, at + 1, count)) {
		if (number_of(words[at]) != RUNTIME_BORDER_NOWHERE) {
			segment.is_resumed = true;
			segment.last = number_of(words[at]);
			break;
		}
		segment.groups++;
	}
	segment.end = at;
	return segment;
}

/* How the groups of a segment lie beside its frames of the loop. */
struct offset {
	size_t early; /* innermost groups whose frame has ended */
	size_t bare;  /* innermost frames of the loop that have no group yet */
};

static struct offset offset_of(const struct segment_of *segment, size_t loops, bool is_whole)
{
	struct offset offset = {0};

	if (!segment->is_resumed && !is_whole)
		return offset;
	if (loops > segment->groups)
		offset.bare = loops - segment->groups;
	else if (!segment->is_resumed)
		offset.early = segment->groups - loops;
	return offset;
}

static void tie_segment(u64 *words, const struct segment_of *segment, const uint16_t *loops,
			size_t loop_count, bool is_whole)
{
	const struct offset offset = offset_of(segment, loop_count, is_whole);
	size_t at = segment->start;

	for (size_t i = 0; i < segment->groups; i++, at++) {
		uint32_t number = segment->last;
		size_t loop = offset.bare;

		if (i > offset.early)
			loop += i - offset.early;
		if (loop < loop_count)
			number = loops[loop];
		at = next_border(words, at, segment->end);
		words[at] = RUNTIME_WORD_BORDER | number;
	}
}

size_t activations_drop_idle(u64 *words, size_t count, size_t loop_count)
{
	const struct segment_of segment = find_segment(words, 0, count);
	size_t at = 0;

	if (loop_count == 0 || segment.groups <= loop_count)
		return count;
	for (size_t i = loop_count; i < segment.groups; i++)
		at = next_border(words, at, count) + 1;
	memmove(words, words + at, (count - at) * sizeof(*words));
	return count - at;
}

void activations_tie(u64 *words, size_t count, const uint16_t *loops, size_t loop_count,
		     bool is_whole)
{
	size_t start = 0, loop = 0;

	while (start < count) {
		const struct segment_of segment = find_segment(words, start, count);
		size_t mine = 0;

		while (loop + mine < loop_count && loops[loop + mine] <= segment.last)
			mine++;
		tie_segment(words, &segment, loops + loop, mine, is_whole);
		loop += mine;
		start = segment.end + 1;
	}
}
