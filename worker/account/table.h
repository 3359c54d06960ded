/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of stints by process and by cgroup, within bounds of memory. Where there is no room for
 * another process, those that have ended become one row for each name, and one for all other names.
 * Where there is none for another cgroup, those without a stint become one row.
 */
#ifndef KEYHOLE_WORKER_ACCOUNT_TABLE_H
#define KEYHOLE_WORKER_ACCOUNT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "profile/container.h"
#include "worker/account/amount.h"

#ifndef TABLE_PROCESSES
#define TABLE_PROCESSES 4096u
#endif
#ifndef TABLE_NAMES
#define TABLE_NAMES 512u
#endif
#ifndef TABLE_CGROUPS
#define TABLE_CGROUPS 4096u
#endif

struct row {
	struct amount total, mark; /* mark: the total when the window began */
	uint64_t start;		   /* of the process */
	uint64_t cgroup;	   /* of a process: the last one that it was seen in */
	uint32_t pid;		   /* 0: a cgroup, or several processes */
	uint32_t thread;	   /* of a table by thread */
	uint64_t key;		   /* in struct rows */
	uint64_t score;		   /* of an agent: ns, those of late count more */
	uint32_t ended;		   /* of an agent: tellings since the last stint ended */
	uint32_t stints;	   /* that go on */
	uint32_t processes;	   /* ended ones in this row; 0: the row is one process */
	bool unwanted;	    /* the filter of names leaves the process out: the row stays empty */
	bool kernel, shown; /* shown: of an agent, the row was told last time */
	char name[ABI_COMM_BYTES];	/* raw, NUL terminated; "": all other names */
	char group[CONTAINER_ID_BYTES]; /* id of a container, else "" */
};

struct rows {
	struct row **items; /* owned */
	size_t count, capacity;
	struct map *places; /* by key */
};

struct table {
	/* Returns whether the filter of names wants a process; NULL: it wants all. */
	bool (*wants)(void *context, const char name[ABI_COMM_BYTES]);
	void *wants_context;
	bool by_thread; /* each thread is a row, as if it were a process */
	struct rows processes, names, cgroups;
	struct row other_names;	  /* ended processes whose names have no row */
	struct row other_cgroups; /* without a row of their own */
	struct row crowded;	  /* processes for which there was no room */
};

int table_init(struct table *table); /* 0 or -ENOMEM; to be released either way */
void table_release(struct table *table);

int table_rows_init(struct rows *rows); /* 0 or -ENOMEM */
void table_rows_release(struct rows *rows);
/* Adds an empty row. Returns NULL without memory. */
struct row *table_rows_add(struct rows *rows, uint64_t key);

/* Removes those that are not shown and have a score of 0. */
void table_rows_drop_idle(struct rows *rows);

/* Return the row, never NULL. The row stays as long as its `stints` is not 0. */
struct row *table_process(struct table *table, const struct account *account);
struct row *table_cgroup(struct table *table, uint64_t id);

/* Takes the name and the cgroup that a process has now. account: of a thread of it. */
void table_update(const struct table *table, struct row *row, const struct account *account);

/* Removes rows of processes that have ended for two tellings and are not shown. */
void table_forget(struct table *table);

/*
 * Lists all rows that share the time of threads: those of processes, or those of cgroups. The
 * caller frees the list. Returns 0 or -ENOMEM.
 */
int table_list(struct table *table, bool by_cgroup, struct row ***ret_rows, size_t *ret_count);

/* Begins a window: marks all rows. forget: ended processes lose their rows. */
void table_mark(struct table *table, bool forget);

#endif
