/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory that scribble.so may change: pages of the process that are there. It leaves out those
 * of the C library and its own, and what the spinning thread needs. The header has one includer.
 */
#ifndef SCRIBBLE_MEMORY_H
#define SCRIBBLE_MEMORY_H

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

#include "hostile.h"

#define PAGE	      4096u
#define WORDS	      (PAGE / 8)
#define PAGES_MAX     (1u << 16)
#define AREAS_MAX     8192u
#define CHANGES_MAX   (1u << 18)
#define LINKS_MAX     (1u << 18)
#define LINKS_LIST    40u   /* of a list, at least */
#define LINKS_LONG    4096u /* and at most */
#define NODE_BYTES    128u
#define CONTROL_BYTES 4096u /* of a thread, which the C library needs */
#define STACK_BYTES   65536u
#define STACK_REACH   32768u /* of callers' frames */
#define ROUND_NS      20000000ull
#define ADDRESS_END   (1ull << 47)

enum phase {
	PHASE_INTACT,
	PHASE_CYCLE,
	PHASE_WILD,
	PHASE_SIZES,
	PHASE_TORN,
	PHASES
};

struct area {
	uint64_t start, end;
};

struct change {
	uint64_t *place, before, after;
};

struct link {
	uint64_t *place;
	uint64_t node; /* that has it */
	uint32_t list;
};

/* In shared memory, which is not changed. */
static struct state {
	volatile int phase;
	volatile bool goes_on;
	pid_t spins, scribbles; /* the two threads */
	uint64_t random, seconds;
	uint64_t low, high; /* of the thread that spins: its stack, */
	uint64_t control;   /* and the place of its thread pointer */
	struct area area[AREAS_MAX];
	uint32_t areas, pages, changes, links, lists;
	uint64_t *page[PAGES_MAX];
	bool linked[PAGES_MAX * WORDS];
	struct change change[CHANGES_MAX];
	struct link link[LINKS_MAX];
	char text[1 << 20], stack[STACK_BYTES] __attribute__((aligned(4096)));
} * state;

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

/* xorshift64 (Marsaglia) */
static inline uint64_t random_word(void)
{
	state->random ^= state->random << 13;
	state->random ^= state->random >> 7;
	state->random ^= state->random << 17;
	return state->random;
}

static inline uint64_t random_below(uint64_t end)
{
	return random_word() % end;
}

/* ---- what may be changed ---- */

static inline bool is_ours(uint64_t page)
{
	return page + PAGE > (uint64_t)__ehdr_start && page < (uint64_t)_end;
}

static inline bool is_control(uint64_t page)
{
	return page + PAGE > state->control && page < state->control + CONTROL_BYTES;
}

/* The spinning thread's own frame, and what is below, stay as they are. */
static inline bool is_below(uint64_t page)
{
	return page <= state->low && page + (1u << 20) > state->low;
}

static inline void take_pages(int pagemap, const struct area *area)
{
	uint64_t entry[512];

	for (uint64_t at = area->start; at < area->end; at += sizeof(entry) / 8 * PAGE) {
		ssize_t bytes = pread(pagemap, entry, sizeof(entry), (off_t)(at / PAGE * 8));

		for (ssize_t i = 0; i < bytes / 8 && at + (uint64_t)i * PAGE < area->end; i++) {
			const uint64_t page = at + (uint64_t)i * PAGE;

			/* present */
			if (entry[i] >> 63 && state->pages < PAGES_MAX && !is_ours(page) &&
			    !is_control(page) && !is_below(page))
				state->page[state->pages++] = (uint64_t *)page;
		}
	}
}

/* The C library's own memory is left alone, and what it has behind its file. */
static inline bool is_library(const char *line, const struct area *area, uint64_t *behind)
{
	if (strstr(line, "/libc.so") || strstr(line, "/ld-linux"))
		*behind = area->end;
	else if (area->start == *behind && !strchr(line, '/'))
		return true;
	return area->end == *behind;
}

static inline void take_line(int pagemap, const char *line, uint64_t *behind)
{
	struct area area;
	char access[5];

	if (sscanf(line, "%lx-%lx %4s", &area.start, &area.end, access) != 3)
		return;
	if (is_library(line, &area, behind) || strncmp(access, "rw", 2) || access[3] != 'p' ||
	    state->areas == AREAS_MAX)
		return;
	state->area[state->areas++] = area;
	if ((uint64_t)&area >= area.start && (uint64_t)&area < area.end)
		state->high = area.end;
	take_pages(pagemap, &area);
}

static inline void take_memory(void)
{
	int maps = open("/proc/self/maps", O_RDONLY),
	    pagemap = open("/proc/self/pagemap", O_RDONLY);
	uint64_t behind = 0;
	size_t size = 0;
	ssize_t bytes;

	while ((bytes = read(maps, state->text + size, sizeof(state->text) - size - 1)) > 0)
		size += (size_t)bytes;
	for (char *line = state->text, *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = 0;
		take_line(pagemap, line, &behind);
	}
	close(maps);
	close(pagemap);
}

/* ---- words ---- */

/* Returns the number of a page that may be changed, or `pages`. */
static inline uint32_t page_of(uint64_t address)
{
	uint32_t low = 0, high = state->pages;

	while (low < high) {
		const uint32_t middle = (low + high) / 2;

		if ((uint64_t)state->page[middle] + PAGE <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < state->pages && (uint64_t)state->page[low] <= address ? low : state->pages;
}

static inline bool is_pointer(uint64_t word)
{
	uint32_t low = 0, high = state->areas;

	while (low < high) {
		const uint32_t middle = (low + high) / 2;

		if (state->area[middle].end <= word)
			low = middle + 1;
		else
			high = middle;
	}
	return low < state->areas && state->area[low].start <= word;
}

static inline uint64_t *any_word(void)
{
	return state->page[random_below(state->pages)] + random_below(WORDS);
}

/* Returns a word of the spinning thread's callers. */
static inline uint64_t *stack_word(void)
{
	uint64_t bytes = state->high - state->low;

	if (state->control - state->low < bytes)
		bytes = state->control - state->low;
	if (bytes > STACK_REACH)
		bytes = STACK_REACH;
	return (uint64_t *)state->low + random_below(bytes / 8);
}

#endif
