/* SPDX-License-Identifier: Apache-2.0 */
#include "object/unwind/rows.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "object/unwind/dictionary.h"
#include "object/unwind/pace.h"
#include "object/unwind/unwind_table.h"

void rows_free(struct rows *rows)
{
	free(rows->pc);
	free(rows->rule);
	*rows = (struct rows){0};
}

int rows_reserve(struct rows *rows, size_t more)
{
	size_t need = rows->count + more;
	int r;

	if (need > UNWIND_ROWS_MAX)
		return -EFBIG;
	r = ARRAY_RESERVE(rows->pc, rows->pc_capacity, need);
	if (r < 0)
		return r;
	return ARRAY_RESERVE(rows->rule, rows->rule_capacity, need);
}

void rows_add(struct rows *rows, u64 pc, u16 rule)
{
	size_t count = rows->count;

	if (count > 0 && rows->pc[count - 1] == (u32)pc)
		count--;
	if (count == 0 || rows->rule[count - 1] != rule) {
		rows->pc[count] = (u32)pc;
		rows->rule[count++] = rule;
	}
	rows->count = count;
}

static bool is_gap(u16 rule)
{
	return rule == DICTIONARY_NONE || rule == ROWS_PADDING;
}

/* Walks over rows by address. */
struct cursor {
	const struct rows *rows;
	size_t next;
	u16 rule; /* at the present address */
};

static u64 next_pc(const struct cursor *cursor)
{
	if (cursor->next == cursor->rows->count)
		return UINT64_MAX;
	return cursor->rows->pc[cursor->next];
}

static void advance(struct cursor *cursor, u64 pc)
{
	if (next_pc(cursor) == pc)
		cursor->rule = cursor->rows->rule[cursor->next++];
}

static u64 lower(u64 one, u64 other)
{
	if (one < other)
		return one;
	return other;
}

/* Returns whether a gap of the first got a rule of the second. */
static bool join(const struct rows *first, const struct rows *second, struct rows *joined)
{
	struct cursor one = {.rows = first, .rule = DICTIONARY_NONE};
	struct cursor two = {.rows = second, .rule = DICTIONARY_NONE};
	u64 pc = lower(next_pc(&one), next_pc(&two));
	bool filled = false;

	while (pc != UINT64_MAX) {
		u16 rule;

		advance(&one, pc);
		advance(&two, pc);
		rule = one.rule;
		if (is_gap(rule) && !is_gap(two.rule)) {
			rule = two.rule;
			filled = true;
		}
		rows_add(joined, pc, rule);
		pc = lower(next_pc(&one), next_pc(&two));
	}
	return filled;
}

int rows_fill(struct rows *rows, struct rows *more)
{
	struct rows joined = {0};
	bool filled;
	int r;

	if (more->count == 0)
		return 0;
	if (rows->count == 0) {
		rows_free(rows);
		*rows = *more;
		*more = (struct rows){0};
		return 1;
	}
	r = rows_reserve(&joined, rows->count + more->count);
	if (r < 0) {
		rows_free(&joined);
		return r;
	}
	filled = join(rows, more, &joined);
	rows_free(rows);
	rows_free(more);
	*rows = joined;
	return filled;
}

/* Returns the index of the first row at or behind a pc. */
static size_t index_at(const struct rows *rows, u32 pc)
{
	size_t low = 0, high = rows->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (rows->pc[middle] < pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

u64 rows_gap_end(const struct rows *rows, u32 pc)
{
	size_t at = index_at(rows, pc);

	if (at == rows->count || rows->pc[at] != pc) {
		if (at > 0 && !is_gap(rows->rule[at - 1]))
			return pc;
	}
	while (at < rows->count && is_gap(rows->rule[at]))
		at++;
	if (at == rows->count)
		return UINT64_MAX;
	return rows->pc[at];
}

int rows_insert(struct rows *rows, const struct rows *more)
{
	size_t count = more->count, from = index_at(rows, more->pc[0]), to = from, tail;
	int r = rows_reserve(rows, count);

	if (r < 0)
		return r;
	while (to < rows->count && rows->pc[to] < more->pc[count - 1])
		to++;
	if (to < rows->count && rows->pc[to] == more->pc[count - 1])
		count--;
	tail = rows->count - to;
	memmove(rows->pc + from + count, rows->pc + to, tail * sizeof(*rows->pc));
	memmove(rows->rule + from + count, rows->rule + to, tail * sizeof(*rows->rule));
	memcpy(rows->pc + from, more->pc, count * sizeof(*rows->pc));
	memcpy(rows->rule + from, more->rule, count * sizeof(*rows->rule));
	rows->count = from + count + tail;
	return 0;
}

int rows_settle(struct rows *rows, struct pace *pace)
{
	size_t count = rows->count;
	int r = 0;

	rows->count = 0;
	for (size_t i = 0; i < count && r == 0; i++) {
		if (rows->rule[i] != ROWS_PADDING)
			rows_add(rows, rows->pc[i], rows->rule[i]);
		r = pace_step(pace);
	}
	return r;
}
