/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <string.h>

#include "base/reader.h"
#include "bpf/abi.h"
#include "worker/runtime/memory.h"
#include "worker/runtime/ruby_code.h"
#include "worker/runtime/ruby_layout.h"
#include "worker/runtime/told.h"

/*
 * iseq.c, struct succ_index_table, all versions: how many of the code's places begin a new entry up
 * to a place. The first places have numbers of 7 bits, nine in a word. Others are in blocks of 512.
 * A block has a u32, how many there are before; numbers of 9 bits for parts of 64; a bit for each
 * place.
 */
#define FIRST_PLACES 54u
#define FIRST_IN     9u
#define FIRST_BITS   7u
#define BLOCKS_AT    (FIRST_PLACES / FIRST_IN * 8)
#define BLOCK_PLACES 512u
#define BLOCK_BYTES  80u
#define BLOCK_RANKS  8u
#define BLOCK_WORDS  16u
#define PART_PLACES  64u
#define PART_BITS    9u

#define WORD_BYTES  8u /* of an instruction's word */
#define ENTRY_BYTES 8u /* of our table: the first place, and the line */
_Static_assert(sizeof(uint32_t) * 2 == ENTRY_BYTES, "an entry is two numbers");

/* Finds how many entries begin up to a place. Returns false where the table is not there. */
static bool find_rank(const struct memory *memory, uint64_t table, uint32_t place,
		      uint32_t *ret_rank)
{
	uint64_t word, ranks, block;
	uint32_t rank, part;

	if (place < FIRST_PLACES) {
		if (memory_word(memory, table + place / FIRST_IN * 8, &word) < 0)
			return false;
		*ret_rank = word >> place % FIRST_IN * FIRST_BITS & ((1u << FIRST_BITS) - 1);
		return true;
	}
	place -= FIRST_PLACES;
	block = table + BLOCKS_AT + (uint64_t)(place / BLOCK_PLACES) * BLOCK_BYTES;
	place %= BLOCK_PLACES;
	part = place / PART_PLACES;
	if (memory_read(memory, block, &rank, sizeof(rank)) < 0 ||
	    memory_word(memory, block + BLOCK_RANKS, &ranks) < 0 ||
	    memory_word(memory, block + BLOCK_WORDS + (uint64_t)part * 8, &word) < 0)
		return false;
	if (part > 0)
		rank += ranks >> (part - 1) * PART_BITS & ((1u << PART_BITS) - 1);
	word <<= PART_PLACES - 1 - place % PART_PLACES;
	*ret_rank = rank + (uint32_t)__builtin_popcountll(word);
	return true;
}

static bool add_line(struct told *told, uint32_t place, uint32_t line)
{
	struct told_lines *lines = &told->lines;

	if (lines->size + ENTRY_BYTES > TOLD_TABLE_BYTES)
		return false;
	memcpy(told->table + lines->size, &place, sizeof(place));
	memcpy(told->table + lines->size + sizeof(place), &line, sizeof(line));
	lines->size += ENTRY_BYTES;
	return true;
}

/* Where the parts of a function's lines are, and how many there are. */
struct parts {
	uint64_t lines, table;
	uint32_t count, places;
};

static bool find_parts(const struct ruby_layout *layout, const struct memory *memory, uint64_t code,
		       struct parts *ret_parts)
{
	return memory_word(memory, code + layout->code_lines, &ret_parts->lines) == 0 &&
	       memory_word(memory, code + layout->code_line_table, &ret_parts->table) == 0 &&
	       memory_read(memory, code + layout->code_line_count, &ret_parts->count,
			   sizeof(ret_parts->count)) == 0 &&
	       memory_read(memory, code + layout->code_count, &ret_parts->places,
			   sizeof(ret_parts->places)) == 0;
}

/* Adds the line of a place if it has another entry than the place before. */
static bool add_place(const struct ruby_layout *layout, const struct memory *memory,
		      const struct parts *parts, uint32_t place, uint32_t *last, struct told *told)
{
	uint32_t rank = 1, line;
	uint64_t at;

	if (parts->count > 1 && !find_rank(memory, parts->table, place, &rank))
		return false;
	if (rank == *last || rank == 0)
		return true;
	if (rank > parts->count)
		return false;
	*last = rank;
	at = parts->lines + (uint64_t)(rank - 1) * layout->line_bytes + layout->line_number;
	return memory_read(memory, at, &line, sizeof(line)) == 0 && add_line(told, place, line);
}

void ruby_lines_read(const struct ruby_layout *layout, const struct memory *memory, uint64_t code,
		     struct told *told)
{
	struct parts parts;
	uint32_t last = 0, place = 0;

	if (!find_parts(layout, memory, code, &parts))
		return;
	while (place < parts.places && add_place(layout, memory, &parts, place, &last, told)) {
		/* one entry is for all places */
		if (parts.count <= 1)
			place = parts.places;
		else
			place++;
	}
	told->lines.unit = place;
	told->lines.is_cut = place < parts.places;
}

/* pc points behind the instruction: calc_pos() of vm_backtrace.c */
uint32_t ruby_lines_find(const struct told_lines *lines, uint32_t instruction)
{
	uint32_t place = instruction / WORD_BYTES, low = 0;
	uint32_t high = (uint32_t)(lines->size / ENTRY_BYTES);
	struct reader reader;

	if (place > 0)
		place--;
	if (instruction >= RUNTIME_OFFSET_NONE || place >= lines->unit || high == 0)
		return 0;
	reader_init(&reader, lines->table, lines->size);
	while (high - low > 1) {
		const uint32_t middle = low + (high - low) / 2;

		reader_seek(&reader, (size_t)middle * ENTRY_BYTES);
		if (reader_u32(&reader) <= place)
			low = middle;
		else
			high = middle;
	}
	reader_seek(&reader, (size_t)low * ENTRY_BYTES + sizeof(uint32_t));
	place = reader_u32(&reader);
	if (reader_failed(&reader) || place > INT32_MAX)
		return 0;
	return place;
}
