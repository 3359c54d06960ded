/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads accounts while BPF writes them, and adds what has come since to a table. A stint is read to
 * its end, unless another stint takes its place between two turns. For such stints BPF keeps the
 * sums, and a table shows what of them nobody has read.
 */
#ifndef KEYHOLE_WORKER_ACCOUNT_READER_H
#define KEYHOLE_WORKER_ACCOUNT_READER_H

#include <stdint.h>

#include "bpf/abi.h"
#include "worker/account/table.h"

struct reader_stint;

struct accounts_reader {
	const struct account *places; /* borrowed: ACCOUNTS of them */
	const struct account_cpu *cpus;
	uint32_t cpu_count;
	uint64_t (*clock)(void);   /* CLOCK_MONOTONIC, ns */
	struct table *table;	   /* borrowed */
	struct account_note *note; /* borrowed: of the worker before, for the next one; or NULL */
	struct reader_stint *known;
	struct account_cpu *seen; /* of each CPU: as it was at the end of the last turn */
	uint64_t *changes;	  /* of each CPU: that were read */
	uint64_t *until;	  /* of each CPU: all time until here was read; 0: none */
	struct amount unwanted;	  /* that was read of processes which the filter leaves out */
	struct amount taken_over; /* that was read of stints whose places others have */
	/* The part of that which the filter leaves out, by the last names of the stints. */
	struct amount taken_over_unwanted;
};

/* Sums of all CPUs since accounts began. */
struct accounts_sums {
	struct amount kind[ACCOUNT_KINDS]; /* without ACCOUNT_THREAD */
	struct amount threads;		   /* all stints that the filter wants */
	struct amount unseen;		   /* of them: those that ended between two turns */
	struct amount counted; /* everything that counters have counted, and nothing else */
	struct account_time softirqs[ACCOUNT_SOFTIRQS], hardirqs[ACCOUNT_HARDIRQS];
	uint64_t begin;	   /* of the first CPU, CLOCK_MONOTONIC, ns; 0: nothing has come yet */
	uint64_t wall;	   /* ns, over all CPUs: what the sums are to be together */
	uint64_t charged;  /* ns: what they are */
	uint64_t cpus;	   /* that had an event */
	uint32_t counters; /* bit of each counter that all CPUs have */
	uint64_t lost_places, lost_tasks, skipped, missed;
};

int accounts_reader_init(struct accounts_reader *reader); /* 0 or -ENOMEM */
void accounts_reader_release(struct accounts_reader *reader);

/* Adds what has come since the last turn, the running threads included. */
void accounts_reader_turn(struct accounts_reader *reader);

/* Adds up. To be called right after a turn. */
void accounts_reader_sum(const struct accounts_reader *reader, struct accounts_sums *ret_sums);

#endif
