/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The accounts: turns, and tables of the sums (OPTIONS_STAT), or what an agent tells of them beside
 * its profile (OPTIONS_ACCOUNTS).
 */
#ifndef KEYHOLE_WORKER_ACCOUNT_ACCOUNTS_H
#define KEYHOLE_WORKER_ACCOUNT_ACCOUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"

struct accounts;
struct energy;
struct redact;
struct teller_channel;

#define ACCOUNTS_TICK	    (250ull * 1000 * 1000)  /* ns: the longest time between turns */
#define ACCOUNTS_AGENT_TICK (1000ull * 1000 * 1000) /* of an agent, which takes less for it */
#define ACCOUNTS_TELL	    (5000ull * 1000 * 1000) /* ns between what an agent tells */

/* All pointers are borrowed. */
struct accounts_parts {
	const struct account *places; /* ACCOUNTS of them */
	const struct account_cpu *cpus;
	struct account_note *note; /* from worker to worker; NULL: this one is the only one */
	uint32_t cpu_count, flags; /* OPTIONS_* of ipc/messages.h */
	uint32_t top;		   /* OPTIONS_ACCOUNTS: rows that are told of each kind */
	uint64_t epoch, tick;	   /* of the worker; ns: the shortest time between turns */
	uint64_t (*clock)(void);   /* CLOCK_MONOTONIC */
	uint64_t realtime_offset;  /* from CLOCK_MONOTONIC to CLOCK_REALTIME */
	const struct redact *redact;
	const char *(*path)(void *context, uint64_t cgroup); /* raw; NULL: not known */
	void *path_context;
	struct energy *energy; /* NULL: nobody asks for energy */
	/* Returns whether the filter of names wants a process; NULL: it wants all. */
	bool (*wants)(void *context, const char name[ABI_COMM_BYTES]);
	void *wants_context;
};

struct accounts *accounts_new(const struct accounts_parts *parts); /* NULL: no memory */
void accounts_free(struct accounts *accounts);			   /* NULL is fine */

/* Reads what has come, once in a tick at most. */
void accounts_turn(struct accounts *accounts);

/*
 * Writes the table of what was used since the table before, and begins the next one. goes_on: more
 * tables follow, which need no row for what has ended. Returns 0 or a negative errno.
 */
int accounts_render(struct accounts *accounts, bool goes_on, int fd);

/* Tells the exporter sums and rows, once in ACCOUNTS_TELL at most. 0 or a negative errno. */
int accounts_tell(struct accounts *accounts, const struct teller_channel *channel);

#endif
