/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search PLACE...: looks for secrets of 16 bytes in places. Standard input names the secrets. The
 * search looks for each whole secret and for every 8 bytes of a secret, at any byte. The walk moves
 * words of 8 bytes, and fewer bytes occur too often by chance. In BPF's output, and as hexadecimal
 * digits, 6 bytes are enough, as a frame holds 6 bytes of an address. For each place the program
 * prints name, bytes and hits, tab-separated.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/canary/place.h"

#define SECRET_BYTES 16u
#define WINDOWS	     9u /* of 8 bytes */
#define LOW_48	     0xffffffffffffull
#define FILTER_BITS  23u
#define HEX_DIGITS   11u

/* Words, open addressing behind a filter of bits; 0 is never a word. */
struct set {
	uint64_t *slot, mask;
	uint8_t filter[1u << (FILTER_BITS - 3)];
};

static struct set words, addresses;
static uint64_t hits;
static bool verbose;

static uint64_t spread(uint64_t word)
{
	return word * 0x9e3779b97f4a7c15ull;
}

static void set_add(struct set *set, uint64_t word)
{
	uint64_t hash = spread(word), bit = hash >> (64 - FILTER_BITS), i = hash >> 20 & set->mask;

	set->filter[bit >> 3] |= (uint8_t)(1u << (bit & 7));
	while (set->slot[i] && set->slot[i] != word)
		i = (i + 1) & set->mask;
	set->slot[i] = word;
}

static inline bool set_has(const struct set *set, uint64_t word)
{
	uint64_t hash = spread(word), bit = hash >> (64 - FILTER_BITS);

	if (!(set->filter[bit >> 3] >> (bit & 7) & 1))
		return false;
	for (uint64_t i = hash >> 20 & set->mask; set->slot[i]; i = (i + 1) & set->mask)
		if (set->slot[i] == word)
			return true;
	return false;
}

static uint64_t word_at(const uint8_t *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

static void found(const struct place *place, uint64_t at, const char *how)
{
	hits++;
	if (verbose && hits <= 3)
		fprintf(stderr, "search: %s: at %" PRIx64 " (%s)\n", place->name, at, how);
}

static int digit(uint8_t letter)
{
	if (letter >= '0' && letter <= '9')
		return letter - '0';
	letter |= 0x20;
	return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

/*
 * Looks at every 12 hexadecimal digits in a row, or 11. No byte is 0, but a first digit that is 0
 * is not written.
 */
static void visit_text(const struct place *place, uint64_t at, const uint8_t *bytes, size_t size)
{
	uint64_t value = 0;
	unsigned int digits = 0;

	for (size_t i = 0; i < size; i++) {
		int next = digit(bytes[i]);

		digits = next < 0 ? 0 : digits + 1;
		value = next < 0 ? 0 : (value << 4 | (uint64_t)next) & LOW_48;
		if (digits >= HEX_DIGITS && set_has(&addresses, value))
			found(place, at + i, "in hexadecimal");
	}
}

static void visit(void *context, const struct place *place, uint64_t at, const uint8_t *bytes,
		  size_t size, bool fresh)
{
	bool by_kernel = place->kind == PLACE_KERNEL || place->kind == PLACE_PERF;

	(void)context;
	(void)fresh;
	for (size_t i = 0; i + 8 <= size; i++)
		if (set_has(&words, word_at(bytes + i)))
			found(place, at + i, "8 bytes");
	for (size_t i = 0; by_kernel && i + 8 <= size; i += 8)
		if (set_has(&addresses, word_at(bytes + i) & LOW_48))
			found(place, at + i, "6 bytes of a word");
	if (place->kind == PLACE_FILE)
		visit_text(place, at, bytes, size);
}

static void add_secret(const uint8_t *secret)
{
	for (unsigned int i = 0; i < WINDOWS; i++) {
		uint64_t word = word_at(secret + i);

		set_add(&words, word);
		set_add(&addresses, word & LOW_48);
		set_add(&addresses, word >> 16);
		set_add(&addresses, __builtin_bswap64(word) >> 16);
	}
}

static bool make_set(struct set *set, uint64_t entries)
{
	uint64_t size = 1024;

	while (size < 2 * entries)
		size *= 2;
	set->slot = calloc(size, sizeof(*set->slot));
	set->mask = size - 1;
	return set->slot;
}

static bool read_secrets(void)
{
	size_t used = 0, room = 1 << 16, got;
	uint8_t *bytes = malloc(room);

	while (bytes && (got = fread(bytes + used, 1, room - used, stdin)) > 0) {
		used += got;
		if (used == room)
			bytes = realloc(bytes, room *= 2);
	}
	if (!bytes || !make_set(&words, used / SECRET_BYTES * WINDOWS) ||
	    !make_set(&addresses, used / SECRET_BYTES * WINDOWS * 3))
		return false;
	for (size_t i = 0; i + SECRET_BYTES <= used; i += SECRET_BYTES)
		add_secret(bytes + i);
	free(bytes);
	return used >= SECRET_BYTES;
}

int main(int argc, char **argv)
{
	struct place place;

	verbose = getenv("VERBOSE");
	if (!read_secrets()) {
		fprintf(stderr, "search: standard input: no secrets\n");
		return 2;
	}
	for (int i = 1; i < argc; i++) {
		uint64_t bytes;

		hits = 0;
		if (!place_open(argv[i], &place)) {
			printf("%s\tnot there\t0\t0\n", argv[i]);
			continue;
		}
		bytes = place_read(&place, SECRET_BYTES - 1, visit, NULL);
		printf("%s\t%s%s\t%" PRIu64 "\t%" PRIu64 "\n", argv[i],
		       place.kind == PLACE_PRIVATE ? "private " : "", place.name, bytes, hits);
	}
	return 0;
}
