/* SPDX-License-Identifier: Apache-2.0 */
#include "object/unwind/chunk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "object/unwind/pace.h"
#include "object/unwind/unwind_table.h"

/* A chunk's words are also read and written by halves. */
typedef u16 __attribute__((may_alias)) chunk_half;

/* The rows of one chunk. */
struct span {
	const u32 *pc;
	const u16 *rule;
	u32 count; /* own rows */
	u16 carry; /* in force at the chunk's start */
};

static u32 rows_words(u32 rows)
{
	return (rows + 1) / 2;
}

static u32 count_escapes(const struct span *span)
{
	u32 escapes = span->carry >= ROW_ESCAPE;

	for (u32 i = 0; i < span->count; i++)
		escapes += span->rule[i] >= ROW_ESCAPE;
	return escapes;
}

/*
 * Writes the number of own rows below each page's start, + 1 for the carry-in. The last number ends
 * the rows.
 */
static void write_first_rows(chunk_half *half, const struct span *span)
{
	u32 row = 0;

	for (u32 page = 0; page <= CHUNK_PAGES; page++) {
		while (row < span->count &&
		       (span->pc[row] & ((1u << CHUNK_BITS) - 1)) >> PAGE_BITS < page)
			row++;
		half[page] = (u16)(row + 1);
	}
}

static void write_row(chunk_half *half, u32 **escape, u32 row, u32 pc, u16 rule)
{
	u32 byte = rule;

	if (byte > ROW_ESCAPE)
		byte = ROW_ESCAPE;

	half[CHUNK_HEAD_U16 + row] = (u16)((pc & ((1u << PAGE_BITS) - 1)) | byte << 8);
	if (byte == ROW_ESCAPE)
		*(*escape)++ = row | (u32)rule << 16;
}

static u32 chunk_words(const struct span *span)
{
	return CHUNK_HEAD_WORDS + rows_words(span->count + 1) + count_escapes(span);
}

/* Writes a chunk into words that are 0. */
static void chunk_write(const struct span *span, u32 *words)
{
	chunk_half *half = (chunk_half *)words;
	u32 *first_escape = words + CHUNK_HEAD_WORDS + rows_words(span->count + 1);
	u32 *escape = first_escape;

	write_first_rows(half, span);
	write_row(half, &escape, 0, 0, span->carry);
	for (u32 i = 0; i < span->count; i++)
		write_row(half, &escape, i + 1, span->pc[i], span->rule[i]);
	half[CHUNK_ESCAPES_AT] = (u16)(escape - first_escape);
	half[CHUNK_ROWS_AT] = (u16)(span->count + 1);
}

/* Takes the rows of one chunk from *row on. *carry becomes the rule that holds behind them. */
static struct span next_span(const struct chunk_rows *rows, u32 chunk, size_t *row, u16 *carry)
{
	struct span span;
	size_t end;

	if (*row < rows->count && rows->pc[*row] == chunk << CHUNK_BITS)
		*carry = rows->rule[(*row)++];
	for (end = *row; end < rows->count && rows->pc[end] >> CHUNK_BITS == chunk; end++)
		;
	span = (struct span){.pc = rows->pc + *row,
			     .rule = rows->rule + *row,
			     .count = (u32)(end - *row),
			     .carry = *carry};
	if (span.count > 0)
		*carry = rows->rule[end - 1];
	*row = end;
	return span;
}

static int append_chunk(struct unwind_table *table, const struct span *span, u64 words_max,
			size_t *words_capacity)
{
	u32 words = chunk_words(span);
	int r;

	if ((u64)table->words_count + words > words_max)
		return -EFBIG;
	r = ARRAY_RESERVE(table->words, *words_capacity, (size_t)table->words_count + words);
	if (r < 0)
		return r;
	memset(table->words + table->words_count, 0, words * sizeof(*table->words));
	chunk_write(span, table->words + table->words_count);
	table->chunk_at[table->chunks] = table->words_count;
	table->chunk_words[table->chunks] = words;
	table->words_count += words;
	return 0;
}

/* Gives spare capacity back. */
static void shrink_words(struct unwind_table *table)
{
	u32 *words = realloc(table->words, table->words_count * sizeof(*words));

	if (words)
		table->words = words;
}

int chunk_write_all(const struct chunk_rows *rows, u16 none, struct unwind_table *table)
{
	u32 chunks = (rows->pc[rows->count - 1] >> CHUNK_BITS) + 1;
	size_t row = 0, words_capacity = 0;
	u16 carry = none;
	u64 words_max = rows->words_max;
	int r = 0;

	if (words_max >= CHUNK_NONE)
		words_max = CHUNK_NONE - 1;
	if (chunks > words_max)
		return -EFBIG;
	words_max -= chunks;
	table->chunk_at = calloc(chunks, sizeof(*table->chunk_at));
	table->chunk_words = calloc(chunks, sizeof(*table->chunk_words));
	if (!table->chunk_at || !table->chunk_words)
		return -ENOMEM;
	for (; table->chunks < chunks && r == 0; table->chunks++) {
		struct span span = next_span(rows, table->chunks, &row, &carry);

		table->chunk_at[table->chunks] = CHUNK_NONE;
		if (span.count > 0 || span.carry != none)
			r = append_chunk(table, &span, words_max, &words_capacity);
		if (r == 0)
			r = pace_step(rows->pace);
	}
	if (r == 0 && table->words_count > 0)
		shrink_words(table);
	return r;
}

/* ---- decoding ---- */

static u32 escaped(const u32 *escape, u32 count, u32 row)
{
	u32 low = 0, high = count;

	while (high - low > 1) {
		u32 middle = low + (high - low) / 2;

		if ((escape[middle] & 0xffff) <= row)
			low = middle;
		else
			high = middle;
	}
	return escape[low] >> 16;
}

u32 chunk_find(const u32 *words, u32 pc)
{
	const chunk_half *half = (const chunk_half *)words, *rows = half + CHUNK_HEAD_U16;
	u32 page = (pc & ((1u << CHUNK_BITS) - 1)) >> PAGE_BITS;
	u32 low = half[page] - 1u, high = half[page + 1];
	u32 byte = pc & ((1u << PAGE_BITS) - 1);

	while (high - low > 1) {
		u32 middle = low + (high - low) / 2;

		if ((rows[middle] & 0xff) <= byte)
			low = middle;
		else
			high = middle;
	}
	if (rows[low] >> 8 != ROW_ESCAPE)
		return rows[low] >> 8;
	return escaped(words + CHUNK_HEAD_WORDS + rows_words(half[CHUNK_ROWS_AT]),
		       half[CHUNK_ESCAPES_AT], low);
}
