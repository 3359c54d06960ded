/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the rows of one source of rules, and joins the rows of two sources. */
#ifndef KEYHOLE_OBJECT_UNWIND_ROWS_H
#define KEYHOLE_OBJECT_UNWIND_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"

struct pace;

/* In place of a rule: bytes between two functions, which the rule before them may cover. */
#define ROWS_PADDING UINT16_MAX

/*
 * A row holds from its pc to the next row. Pcs ascend; DICTIONARY_NONE marks code without rules. A
 * gap is a range of text with neither: DICTIONARY_NONE, ROWS_PADDING, or outside of all rows.
 */
struct rows {
	u32 *pc;   /* from a base that the owner knows */
	u16 *rule; /* number in the dictionary */
	size_t count, pc_capacity, rule_capacity;
};

void rows_free(struct rows *rows);
/* Makes room for `more` rows. Returns 0, -EFBIG beyond UNWIND_ROWS_MAX, or -ENOMEM. */
int rows_reserve(struct rows *rows, size_t more);
/*
 * Adds a row, in order of address, for which the caller has made room. Rows without text and rows
 * that change nothing disappear.
 */
void rows_add(struct rows *rows, u64 pc, u16 rule);
/*
 * Fills the gaps of `rows` from `more`, whose rows disappear. Returns 1, or 0 when no gap got a
 * rule, or an error of rows_reserve(), which leaves both unchanged.
 */
int rows_fill(struct rows *rows, struct rows *more);
/* Returns the end of the gap that a pc is in: `pc` in none, UINT64_MAX behind all rows. */
u64 rows_gap_end(const struct rows *rows, u32 pc);
/*
 * Inserts rows that lie in one gap. The last one ends them with DICTIONARY_NONE. Returns 0 or an
 * error of rows_reserve(), which leaves `rows` unchanged.
 */
int rows_insert(struct rows *rows, const struct rows *more);
/* Gives padding the rule before it. Returns 0 or an errno of the pace, which may be NULL. */
int rows_settle(struct rows *rows, struct pace *pace);

#endif
