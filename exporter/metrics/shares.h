/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shares of processes, cgroups and containers, as the worker tells them. The worker may send
 * anything: rows are bounded in number, texts become clean, and no number falls. A share adds what
 * has come since its last message. So it goes on when the worker's numbers begin anew, and when it
 * comes back after a time without a place among the first.
 */
#ifndef KEYHOLE_EXPORTER_METRICS_SHARES_H
#define KEYHOLE_EXPORTER_METRICS_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ipc/messages.h"

#define SHARES_SHOWN_MAX (ACCOUNTS_TOP_MAX + 1) /* of a kind, in a set: the others are one row */
#define SHARES_KEPT_MAX	 (2 * SHARES_SHOWN_MAX) /* with those that may come back */
#define SHARES_COUNT_MAX ((uint64_t)INT64_MAX)	/* of a number, which OTLP gives a sign */

/* CPU time by mode: never falls, and is the CPU time together once there was a tick. */
struct share_modes {
	uint64_t user, system; /* ns */
};

struct share {
	uint64_t id;
	uint32_t pid;
	uint64_t set;	 /* the last one that the share was in; 0: the place is free */
	uint64_t before; /* the one that the share was in before that one; 0: none */
	uint64_t begun;	 /* ns since 1970: when its numbers were 0; 0: when the agent began */
	struct account_values last, total;
	struct share_modes modes;
	char name[ACCOUNT_NAME_BYTES], group[ACCOUNT_GROUP_BYTES]; /* clean, end with a NUL */
};

struct shares {
	struct share *rows[ACCOUNT_ROWS]; /* SHARES_KEPT_MAX each; NULL: none yet */
	size_t taken[ACCOUNT_ROWS];	  /* in the set that is coming */
	size_t whole[ACCOUNT_ROWS];	  /* rows of the last whole set */
	uint64_t set;			  /* that is whole; 0: none */
	uint64_t epoch;			  /* of the worker that sends the set */
	uint64_t refused;		  /* rows beyond the bounds */
	uint64_t begun;			  /* CLOCK_MONOTONIC, ns: of this process */
	uint64_t realtime_offset;	  /* from CLOCK_MONOTONIC to ns since 1970 */
	bool is_late;			  /* the first worker seen was not the agent's first */
	struct message_account_sums sums;
	struct message_interrupts interrupts;
	struct share_modes modes; /* of all processes */
};

void shares_init(struct shares *ret_shares);
void shares_release(struct shares *shares);

/* Takes a row of the set that is coming. Returns 0 or -ENOMEM. */
int shares_take(struct shares *shares, const struct message_account *message);
void shares_take_interrupts(struct shares *shares, const struct message_interrupts *message);
/* Takes the sums, with which the set is whole. */
void shares_take_sums(struct shares *shares, const struct message_account_sums *message);

/* Returns whether the share is among those to tell. */
bool shares_tells(const struct shares *shares, const struct share *share);
/* Returns whether the share is that of all without one of their own. */
bool share_is_rest(const struct share *share, enum account_row kind);

#endif
