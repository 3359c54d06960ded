/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bpf/build_process.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "object/unwind/unwind_table.h"

#define CHUNK_BYTES (1u << CHUNK_BITS)

void build_init(struct build *build)
{
	memset(build, 0, sizeof(*build));
	build->next = 16;
}

void build_reset(struct build *build)
{
	for (u32 i = 0; i <= build->next >> SEGMENT_WORD_BITS; i++) {
		u32 start = i << SEGMENT_WORD_BITS, used = build->next - start;

		if (used > SEGMENT_WORDS)
			used = SEGMENT_WORDS;
		if (build->segment[i])
			memset(build->segment[i], 0, used * 4ul);
	}
	build->next = 16;
}

void build_free(struct build *build)
{
	for (u32 i = 0; i < SEGMENT_MAX; i++)
		free(build->segment[i]);
	build_init(build);
}

u32 build_words(struct build *build, u32 words, u32 align)
{
	u32 first = (build->next + align - 1) / align * align;

	assert(words && words <= SEGMENT_WORDS);
	if (first >> SEGMENT_WORD_BITS != (first + words - 1) >> SEGMENT_WORD_BITS)
		first = (first + words - 1) >> SEGMENT_WORD_BITS << SEGMENT_WORD_BITS;
	u32 number = first >> SEGMENT_WORD_BITS;

	assert(number < SEGMENT_MAX);
	if (!build->segment[number]) {
		build->segment[number] = aligned_alloc(64, sizeof(struct segment));
		assert(build->segment[number]);
		memset(build->segment[number], 0, sizeof(struct segment));
	}
	build->next = first + words;
	return first;
}

u32 *build_at(struct build *build, u32 word)
{
	return &build->segment[word >> SEGMENT_WORD_BITS]->word[word & (SEGMENT_WORDS - 1)];
}

u32 build_rule(struct build_table *table, u64 rule)
{
	for (u32 i = 0; i < table->rules; i++)
		if (table->rule[i] == rule)
			return i;
	assert(table->rules < BUILD_RULES_MAX);
	table->rule[table->rules] = rule;
	return table->rules++;
}

u64 build_wide(struct build_table *table, const struct rule_wide *wide)
{
	u32 index = table->rules;

	assert(index + 6 <= BUILD_RULES_MAX);
	memcpy(&table->rule[index], wide, sizeof(*wide));
	table->rules += 6;
	return RULE_MAKE(RULE_WIDE, 0, 0, index, wide->flags);
}

static u64 rule_before(const struct build_row *rows, size_t count, u64 pc)
{
	u64 rule = 0;

	for (size_t i = 0; i < count && rows[i].pc < pc; i++)
		rule = rows[i].rule;
	return rule;
}

u64 build_naive(const struct build_table *table, const struct build_row *rows, size_t count, u64 pc)
{
	u64 page = pc / 256;

	if (page < table->first_page || page >= (u64)table->first_page + table->pages)
		return 0;
	return rule_before(rows, count, pc + 1);
}

/* A chunk that is being made: the head, then rows, and the escapes apart. */
struct chunk {
	u16 half[CHUNK_HEAD_U16 + CHUNK_ROWS_MAX + 1];
	u32 escape[CHUNK_ROWS_MAX];
	u32 rows, escapes;
};

static void chunk_row(struct chunk *chunk, struct build_table *table, u64 pc, u64 rule)
{
	u32 index = build_rule(table, rule), byte = index < ROW_ESCAPE ? index : ROW_ESCAPE;

	if (byte == ROW_ESCAPE)
		chunk->escape[chunk->escapes++] = index << 16 | chunk->rows;
	chunk->half[CHUNK_HEAD_U16 + chunk->rows++] = (u16)(byte << 8 | (pc & 255));
}

static u32 chunk_store(struct build *build, struct chunk *chunk)
{
	u32 words = CHUNK_HEAD_WORDS + (chunk->rows + 1) / 2, at;

	chunk->half[CHUNK_PAGES] = (u16)chunk->rows;
	chunk->half[CHUNK_ESCAPES_AT] = (u16)chunk->escapes;
	chunk->half[CHUNK_ROWS_AT] = (u16)chunk->rows;
	at = build_words(build, words + chunk->escapes, 1);
	memcpy(build_at(build, at), chunk->half, words * 4ul);
	memcpy(build_at(build, at) + words, chunk->escape, chunk->escapes * 4ul);
	return at;
}

/* The chunk of [start, start + 16 KiB), or 0 when no rule is in force in it. */
static u32 build_chunk(struct build *build, struct build_table *table, const struct build_row *rows,
		       size_t count, u64 start)
{
	static struct chunk chunk;
	u64 carried = rule_before(rows, count, start);
	size_t i = 0;

	memset(&chunk, 0, sizeof(chunk));
	while (i < count && rows[i].pc < start)
		i++;
	if (!carried && (i == count || rows[i].pc >= start + CHUNK_BYTES))
		return 0;
	chunk_row(&chunk, table, 0, carried);
	for (u32 page = 0; page < CHUNK_PAGES; page++) {
		chunk.half[page] = (u16)chunk.rows;
		for (; i < count && rows[i].pc < start + (page + 1) * 256; i++)
			chunk_row(&chunk, table, rows[i].pc, rows[i].rule);
	}
	return chunk_store(build, &chunk);
}

void build_table(struct build *build, struct build_table *table, const struct build_row *rows,
		 size_t count, u64 end)
{
	u64 start = rows[0].pc / CHUNK_BYTES * CHUNK_BYTES;
	u32 chunks = (u32)((end - start + CHUNK_BYTES - 1) / CHUNK_BYTES);

	table->first_page = (u32)(start / 256);
	table->pages = (u32)((end - start + 255) / 256);
	table->directory = build_words(build, chunks, 1);
	for (u32 i = 0; i < chunks; i++) {
		u32 chunk = build_chunk(build, table, rows, count, start + (u64)i * CHUNK_BYTES);

		*build_at(build, table->directory + i) = chunk;
	}
	table->dictionary = build_words(build, table->rules * 2, 2);
	memcpy(build_at(build, table->dictionary), table->rule, table->rules * 8ul);
}

u32 build_block(struct build *build, const struct mapping_entry *entries, u32 count)
{
	u32 starts = (count * 2 + 15) / 16 * 16;
	u32 block = build_words(build, starts + count * 16, 16);

	for (u32 i = 0; i < count; i++) {
		memcpy(build_at(build, block) + i * 2ul, &entries[i].start, 8);
		memcpy(build_at(build, block) + starts + i * 16ul, &entries[i], 64);
	}
	return block;
}

struct mapping_entry build_mapping(const struct build_table *table, u64 start, u64 end, u64 bias)
{
	return (struct mapping_entry){
		.start = start,
		.end = end,
		.bias = bias,
		.first_page = table->first_page,
		.pages = table->pages,
		.directory = table->directory,
		.dictionary = table->dictionary,
		.flags = MAPPING_HAS_TABLE,
	};
}

u64 build_random(u64 *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 2685821657736338717ull;
}

void build_compiled(struct build *build, const struct unwind_table *from,
		    struct mapping_entry *entry)
{
	u32 directory = build_words(build, from->chunks, 1);

	for (u32 i = 0; i < from->chunks; i++) {
		if (from->chunk_at[i] == UINT32_MAX)
			continue;
		u32 chunk = build_words(build, from->chunk_words[i], 1);

		memcpy(build_at(build, chunk), from->words + from->chunk_at[i],
		       from->chunk_words[i] * 4ul);
		*build_at(build, directory + i) = chunk;
	}
	entry->directory = directory;
	entry->dictionary = build_words(build, from->dictionary_count * 2, 2);
	memcpy(build_at(build, entry->dictionary), from->dictionary, from->dictionary_count * 8ul);
	entry->first_page = from->first_page;
	entry->pages = from->pages;
	entry->flags = MAPPING_HAS_TABLE;
}
