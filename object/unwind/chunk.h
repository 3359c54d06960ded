/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts rows into the chunks of bpf/abi.h. */
#ifndef KEYHOLE_OBJECT_UNWIND_CHUNK_H
#define KEYHOLE_OBJECT_UNWIND_CHUNK_H

#include <stddef.h>

#include "bpf/abi.h"

struct pace;
struct unwind_table;

/* Ascending pcs, relative to the start of a chunk; each row holds up to the next one. */
struct chunk_rows {
	u32 *pc;
	u16 *rule; /* index in the dictionary */
	size_t count;
	u64 words_max;	   /* of chunks and directory together */
	struct pace *pace; /* borrowed; NULL is fine */
};

#define CHUNK_NONE UINT32_MAX /* of chunk_at: no rows there */

/*
 * Fills in chunks, chunk_at, chunk_words, words and words_count. `none` is RULE_NONE's index.
 * Returns 0, -ENOMEM, -EFBIG for more than words_max, or an errno of the pace.
 */
int chunk_write_all(const struct chunk_rows *rows, u16 none, struct unwind_table *table);
/* Returns the dictionary index that a chunk has for the low CHUNK_BITS of a pc. */
u32 chunk_find(const u32 *words, u32 pc);

#endif
