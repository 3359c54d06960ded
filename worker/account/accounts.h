/* SPDX-License-Identifier: Apache-2.0 */
/* The accounts of a recording without a profile (OPTIONS_STAT): turns, and tables of the sums. */
#ifndef KEYHOLE_WORKER_ACCOUNT_ACCOUNTS_H
#define KEYHOLE_WORKER_ACCOUNT_ACCOUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"

struct accounts;
struct energy;
struct redact;

#define ACCOUNTS_TICK (250ull * 1000 * 1000) /* ns: the longest time between turns */

/* All pointers are borrowed. */
struct accounts_parts {
	const struct account *places; /* ACCOUNTS of them */
	const struct account_cpu *cpus;
	uint32_t cpu_count, flags; /* OPTIONS_* of ipc/messages.h */
	uint64_t (*clock)(void);   /* CLOCK_MONOTONIC */
	uint64_t realtime_offset;  /* from CLOCK_MONOTONIC to CLOCK_REALTIME */
	const struct redact *redact;
	const char *(*path)(void *context, uint64_t cgroup); /* raw; NULL: not known */
	void *path_context;
	struct energy *energy; /* NULL: nobody asks for energy */
};

struct accounts *accounts_new(const struct accounts_parts *parts); /* NULL: no memory */
void accounts_free(struct accounts *accounts);			   /* NULL is fine */

/* Reads what has come, once in ACCOUNTS_TICK at most. */
void accounts_turn(struct accounts *accounts);

/*
 * Writes the table of what was used since the table before, and begins the next one. goes_on: more
 * tables follow, which need no row for what has ended. Returns 0 or a negative errno.
 */
int accounts_render(struct accounts *accounts, bool goes_on, int fd);

#endif
