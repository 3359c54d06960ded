/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An object's unwind information compiled to the chunked tables of bpf/abi.h, position
 * independent: in ordinary memory, then copied into segments by whoever owns those.
 */
#ifndef KEYHOLE_OBJECT_UNWIND_UNWIND_TABLE_H
#define KEYHOLE_OBJECT_UNWIND_UNWIND_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"

struct image;

struct unwind_table {
	u64 *dictionary; /* rules, then the entries of wide rules (each from an even index on) */
	u32 dictionary_count;
	u32 first_page; /* pc >> PAGE_BITS, chunk aligned */
	u32 pages;	/* CHUNK_PAGES * chunks */
	u32 chunks;
	u32 *chunk_at;	  /* per chunk: index into words, or UINT32_MAX: no rows */
	u32 *chunk_words; /* per chunk: its length in words */
	u32 *words;	  /* all chunks, one after another */
	u32 words_count;
	u64 rows, rules_unsupported, frames; /* for counters */
	u64 content_hash; /* of what was compiled, for sharing a table between copies */
};

/*
 * Compiles .eh_frame, plus a RULE_END row at the entry point when nothing covers it; without one,
 * the table of a Go program (go_rows.h). An object without unwind information gives -ENOENT.
 * Damaged records are skipped and counted in *ret_damaged; -EBADMSG when nothing is usable;
 * -ENOMEM, -EFBIG (limits below).
 */
#ifndef UNWIND_ROWS_MAX
#define UNWIND_ROWS_MAX (64u << 20)
#endif
int unwind_table_build(struct image *image, struct unwind_table **ret_table, u64 *ret_damaged);
void unwind_table_free(struct unwind_table *table); /* NULL is fine */

/* The rule for a pc, decoded from the compiled form as the walker does. For tests and oracles. */
u64 unwind_table_rule(const struct unwind_table *table, u64 pc);

/*
 * Function starts for names: for each of `count` ascending pcs the start of the FDE that covers
 * it, or 0. Reads .eh_frame again instead of keeping starts in memory.
 */
int unwind_function_starts(struct image *image, const u64 *pcs, size_t count, u64 *ret_starts);

#endif
