/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiles an object's unwind information to the chunked tables of bpf/abi.h. A table is position
 * independent and lies in ordinary memory. The owner of the segments copies the table into them.
 */
#ifndef KEYHOLE_OBJECT_UNWIND_UNWIND_TABLE_H
#define KEYHOLE_OBJECT_UNWIND_UNWIND_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"

struct image;
struct pace;

/* Sources of rules. */
enum {
	UNWIND_EH_FRAME = 1u << 0,
	UNWIND_GO = 1u << 1, /* the table of a Go program: go_rows.h */
	UNWIND_DEBUG_FRAME = 1u << 2,
	UNWIND_ALL = (1u << 3) - 1,
};

struct unwind_table {
	u64 *dictionary; /* rules, then the entries of wide rules, each at an even index */
	u32 dictionary_count;
	u32 rules;	/* at the start of the dictionary */
	u32 first_page; /* pc >> PAGE_BITS, chunk aligned */
	u32 pages;	/* CHUNK_PAGES * chunks */
	u32 chunks;
	u32 *chunk_at;	  /* per chunk: index into words, or UINT32_MAX: no rows */
	u32 *chunk_words; /* per chunk: its length in words */
	u32 *words;	  /* all chunks, one after another */
	u32 words_count;
	u64 rows, rules_unsupported, frames; /* for counters */
	u32 sources;			     /* UNWIND_*: those that gave a row */
	u64 content_hash; /* of all input, so that copies of an object can share a table */
	/* of a Go program, as of struct go_layout; 0: not known */
	s32 go_thread_local_at;
	bool go_in_word;
	u32 go_current;
	struct runtime_config *runtime; /* unwind_table_set_runtime(); NULL: none */
};

/*
 * Compiles an object's sources of rules: .eh_frame, then the table of a Go program, then
 * .debug_frame unless it is compressed. Each source serves the ranges for which the sources before
 * it have no rule. An entry point that none covers gets a RULE_END row. Damaged records are skipped
 * and counted in *ret_damaged.
 *
 * Returns 0, -ENOENT without unwind information, -EBADMSG when no record is usable, -EFBIG beyond
 * UNWIND_ROWS_MAX and other limits, -ENOMEM, or an errno of the pace.
 */
#ifndef UNWIND_ROWS_MAX
#define UNWIND_ROWS_MAX (64u << 20)
#endif
int unwind_table_build(struct image *image, struct unwind_table **ret_table, u64 *ret_damaged);
/* The same; the pace looks in between. NULL: nobody does. */
int unwind_table_build_paced(struct image *image, struct pace *pace,
			     struct unwind_table **ret_table, u64 *ret_damaged);
void unwind_table_free(struct unwind_table *table); /* NULL is fine */

/*
 * Makes the table one of an object that holds an interpreter: all its rules have RULE_FLAG_RUNTIME.
 * Copies the config. Call it once. Returns 0 or -ENOMEM.
 */
int unwind_table_set_runtime(struct unwind_table *table, const struct runtime_config *config);

/* Returns the rule for a pc, decoded as the walker does. */
u64 unwind_table_rule(const struct unwind_table *table, u64 pc);

#endif
