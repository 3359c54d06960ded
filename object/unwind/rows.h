/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the rows of one source of rules, and joins the rows of two sources. */
#ifndef KEYHOLE_OBJECT_UNWIND_ROWS_H
#define KEYHOLE_OBJECT_UNWIND_ROWS_H

#include <stddef.h>

#include "bpf/abi.h"

/* A row holds from its pc to the next row. Pcs ascend; DICTIONARY_NONE marks code without rules. */
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
 * Fills the ranges without rules of `rows` from `more`, whose rows disappear. Returns 0 or an error
 * of rows_reserve(), which leaves both unchanged.
 */
int rows_fill(struct rows *rows, struct rows *more);

#endif
