/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch all|mapped SECONDS PLACE...: looks for absolute kernel addresses. One thread reads memory
 * that the kernel writes, again and again as fast as it can. A second thread reads all other
 * places.
 *
 * In memory that the kernel writes for us, no word begins with 17 set bits, whatever it means:
 *  - a user frame is an address below 2^47, perhaps with bit 63;
 *  - a kernel frame has a range below 2^16 in its upper half (bpf/abi.h);
 *  - all other words are counts, times and numbers below 2^48, or printable text.
 * Every word that does begin so is an address. The only exceptions are two words of a perf event's
 * control page, which are differences of times and counts. The ring of events has bytes of
 * programs, too (struct event_code): there a word counts as in memory that programs write.
 *
 * In memory that programs write, -1 and the like are ordinary. A word counts there when it lies in
 * a range of the running kernel. Standard input has the ranges as lines "START END NAME". Our own
 * private map of processes holds addresses of kernel structures, and tells where the direct map is.
 *
 * The worker's memory and tables hold bytes of files, and the loader's memory holds the kernel's
 * types. Pairs of small numbers among them lie in very wide ranges, which are named with a "~". In
 * those ranges only the addresses of the private map count there. Elsewhere a random word (a hash,
 * a mangled pointer) lies in such a range once in half a million: these hits are counted apart.
 * Private maps are searched for `all` alone.
 */
#include <inttypes.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "tests/canary/place.h"

#define PLACES_MAX	 256u
#define RANGES_MAX	 1024u
#define SHOWN		 10u
#define GENERATION_BYTES sizeof(struct generation)

struct range {
	uint64_t start, end;
	char name[64];
};

struct round {
	uint64_t hits, wide, bytes, passes;
};

static struct place places[PLACES_MAX];
static struct range ranges[RANGES_MAX];
static size_t place_count, range_count;
static uint64_t lowest = ~0ull;
static atomic_bool ended;
static double seconds;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static const char *range_of(uint64_t word, bool narrow)
{
	for (size_t i = 0; word >= lowest && i < range_count; i++)
		if (word >= ranges[i].start && word < ranges[i].end &&
		    !(narrow && ranges[i].name[0] == '~'))
			return ranges[i].name;
	return NULL;
}

static void found(struct round *round, const struct place *place, uint64_t at, uint64_t word)
{
	const char *name = range_of(word, false);

	if (round->hits++ < SHOWN)
		printf("# %s: at %" PRIx64 ": %016" PRIx64 " (%s)\n", place->name, at, word,
		       name ? name : "in no known range");
	round->wide += name && !range_of(word, true);
}

static uint64_t word_at(const uint8_t *bytes)
{
	return *(const volatile uint64_t *)(const void *)bytes;
}

static bool may_be_negative(const struct place *place, size_t at)
{
	return place->kind == PLACE_PERF &&
	       (at == offsetof(struct perf_event_mmap_page, offset) ||
		at == offsetof(struct perf_event_mmap_page, time_offset));
}

/* In the ring of events a word may be a program's. */
static bool counts(const struct place *place, uint64_t word)
{
	return strcmp(place->name, "map events") != 0 || range_of(word, false);
}

static void look_hard(struct round *round, const struct place *place)
{
	for (size_t at = 0; at + 8 <= place->size; at += 8) {
		uint64_t word = word_at(place->bytes + at);

		if (word >> 47 == 0x1ffff && !may_be_negative(place, at) && counts(place, word))
			found(round, place, at, word);
	}
	round->bytes += place->size;
}

static void visit(void *context, const struct place *place, uint64_t at, const uint8_t *bytes,
		  size_t size, bool fresh)
{
	bool narrow = place->kind == PLACE_PARSER || place->kind == PLACE_WORKER;

	for (size_t i = (0 - at) & 7; fresh && i + 8 <= size; i += 8) {
		uint64_t word = word_at(bytes + i);

		if (word >= lowest && range_of(word, narrow))
			found(context, place, at + i, word);
	}
}

static void *watch_kernel(void *argument)
{
	struct round *round = argument;

	while (!ended) {
		for (size_t i = 0; i < place_count; i++)
			if (places[i].kind == PLACE_KERNEL || places[i].kind == PLACE_PERF)
				look_hard(round, &places[i]);
		round->passes++;
	}
	return NULL;
}

static void watch_others(struct round *round, bool all)
{
	double end = now() + seconds;

	do {
		for (size_t i = 0; i < place_count; i++)
			if (places[i].kind == PLACE_WORKER || places[i].kind == PLACE_MEMORY ||
			    places[i].kind == PLACE_PARSER ||
			    (places[i].kind == PLACE_PRIVATE && all))
				round->bytes += place_read(&places[i], 0, visit, round);
		round->passes++;
		nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
	} while (now() < end);
}

/* All memory around what struct generation's `mm` points to (bpf/maps.bpf.h). */
static void find_direct_map(const struct place *place)
{
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	struct range *range = &ranges[range_count++];

	*range = (struct range){~0ull, 0, "~direct-map"};
	for (size_t at = 0; at + GENERATION_BYTES <= place->size; at += GENERATION_BYTES) {
		uint64_t mm = word_at(place->bytes + at + offsetof(struct generation, mm));

		if (mm == MM_OF_EXEC)
			continue;
		range->start = mm && mm - memory < range->start ? mm - memory : range->start;
		range->end = mm && mm + memory > range->end ? mm + memory : range->end;
		if (mm && range_count < RANGES_MAX)
			ranges[range_count++] = (struct range){mm, mm + 1, "an-mm_struct"};
	}
	lowest = range->start < lowest ? range->start : lowest;
}

static void read_ranges(void)
{
	struct range *range = ranges;

	while (range_count < RANGES_MAX - 1 && scanf("%" SCNx64 " %" SCNx64 " %63s", &range->start,
						     &range->end, range->name) == 3) {
		lowest = range->start < lowest ? range->start : lowest;
		range++;
		range_count++;
	}
}

static void tell(const char *name, const struct round *round)
{
	printf("%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", name, round->passes,
	       round->bytes, round->hits, round->wide);
}

int main(int argc, char **argv)
{
	struct round kernel = {0}, others = {0};
	pthread_t thread;

	if (argc < 4)
		return 2;
	seconds = strtod(argv[2], NULL);
	read_ranges();
	for (int i = 3; i < argc && place_count < PLACES_MAX; i++) {
		place_count += place_open(argv[i], &places[place_count]);
		if (place_count && !strcmp(places[place_count - 1].name, "map generations"))
			find_direct_map(&places[place_count - 1]);
	}
	for (size_t i = 0; i < range_count; i++)
		if (ranges[i].end > ranges[i].start + 1)
			printf("# from %016" PRIx64 " to %016" PRIx64 ": %s\n", ranges[i].start,
			       ranges[i].end, ranges[i].name);
	if (pthread_create(&thread, NULL, watch_kernel, &kernel))
		return 2;
	watch_others(&others, !strcmp(argv[1], "all"));
	ended = true;
	pthread_join(thread, NULL);
	tell("kernel", &kernel);
	tell("others", &others);
	return 0;
}
