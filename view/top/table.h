/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the rows of a screen: sums over the newest profiles of a history. */
#ifndef KEYHOLE_VIEW_TOP_TABLE_H
#define KEYHOLE_VIEW_TOP_TABLE_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "view/amount.h"
#include "view/top/history.h"

enum view {
	VIEW_FUNCTIONS,
	VIEW_PROCESSES,
	VIEW_THREADS,
	VIEW_CALLS, /* of one function: its callers, itself, its callees */
};

struct query {
	enum view view;
	uint32_t pid, tid; /* 0: all */
	uint32_t function; /* VIEW_CALLS */
	bool by_total;
	uint64_t window_ns;
};

enum part { /* in the order of the rows */
	PART_CALLER,
	PART_ITSELF,
	PART_CALLEE,
};

struct top_row {
	uint32_t function, name; /* name: of the function, process or thread */
	uint32_t pid, tid;
	uint32_t process; /* its name; of a function in several processes: HISTORY_SEVERAL */
	enum part part;
	struct amount amount;
};

#define TOP_RUNTIMES 8 /* others are not counted */
struct top_runtime {
	uint32_t runtime; /* of history->runtimes; 0: none */
	uint64_t samples;
};

struct top_table {
	struct top_row *rows; /* sorted */
	size_t count, capacity;
	uint64_t sum;		    /* of all samples that the query selects */
	uint64_t samples, unproven; /* of the window */
	uint64_t cpu_ns, elapsed_ns;
	struct top_runtime runtimes[TOP_RUNTIMES]; /* of the samples in `sum` */
};

/* Selects rows by a regular expression in any case, or by plain text where it does not compile. */
struct match {
	char text[64];
	regex_t regex;
	bool is_regex;
};
void match_set(struct match *match, const char *text); /* "": all */
void match_release(struct match *match);

/* Returns 0 or -ENOMEM; to be released either way. */
int table_make(const struct history *history, const struct query *query, const struct match *match,
	       struct top_table *ret_table);
void table_release(struct top_table *table);
/* Returns the runtime with most samples of a table of functions, or NULL: none is worth a note. */
const struct top_runtime *table_runtime(const struct top_table *table, const struct query *query);

#endif
