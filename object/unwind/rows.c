/* SPDX-License-Identifier: Apache-2.0 */
#include "object/unwind/rows.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "object/unwind/dictionary.h"
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

static void join(const struct rows *first, const struct rows *second, struct rows *joined)
{
	struct cursor one = {.rows = first, .rule = DICTIONARY_NONE};
	struct cursor two = {.rows = second, .rule = DICTIONARY_NONE};
	u64 pc = lower(next_pc(&one), next_pc(&two));

	while (pc != UINT64_MAX) {
		u16 rule;

		advance(&one, pc);
		advance(&two, pc);
		rule = one.rule;
		if (rule == DICTIONARY_NONE)
			rule = two.rule;
		rows_add(joined, pc, rule);
		pc = lower(next_pc(&one), next_pc(&two));
	}
}

int rows_fill(struct rows *rows, struct rows *more)
{
	struct rows joined = {0};
	int r = 0;

	if (more->count == 0)
		return 0;
	if (rows->count > 0) {
		r = rows_reserve(&joined, rows->count + more->count);
		if (r == 0)
			join(rows, more, &joined);
	} else {
		joined = *more;
		*more = (struct rows){0};
	}
	if (r < 0) {
		rows_free(&joined);
		return r;
	}
	rows_free(rows);
	rows_free(more);
	*rows = joined;
	return 0;
}
