/* SPDX-License-Identifier: Apache-2.0 */
/* Unwind tables in segments. Objects with equal bytes share one table. */
#ifndef KEYHOLE_WORKER_PROCESS_TABLE_H
#define KEYHOLE_WORKER_PROCESS_TABLE_H

#include <stdint.h>

#include "base/chain.h"

struct segments;
struct tables;
struct unwind_table;

struct table {
	struct chain chain; /* with the same content hash */
	unsigned int references;
	uint32_t first_page, pages;
	uint32_t directory, dictionary; /* global word numbers */
	uint32_t runtime;		/* the same, of a struct runtime_config; 0: none */
	uint64_t rows, bytes;
	uint32_t sources; /* UNWIND_* of object/unwind/unwind_table.h */
	/* private to table.c */
	uint64_t content_hash;
	uint32_t dictionary_words, chunks, stored;
	uint32_t *chunk_at, *chunk_words; /* word numbers and lengths; 0: none */
};

struct tables *tables_new(struct segments *segments); /* NULL: no memory */
void tables_free(struct tables *tables);	      /* every table with it; NULL is fine */

/*
 * Stores a table, or takes an equal one. *table is NULL at first. On -EAGAIN *table holds the work
 * so far, and the same call goes on when there is room. Returns 0, -EAGAIN, -ENOSPC, -ENOMEM,
 * -E2BIG.
 */
int tables_store(struct tables *tables, const struct unwind_table *source, struct table **table,
		 uint64_t now);
/* Drops a user; the last one's release frees the table. */
void tables_release(struct tables *tables, struct table *table, uint64_t now);

/* Sums up all stored tables. */
void tables_totals(const struct tables *tables, uint64_t *ret_bytes, uint64_t *ret_rows);

#endif
