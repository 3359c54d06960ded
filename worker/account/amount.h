/* SPDX-License-Identifier: Apache-2.0 */
/* Amounts that a stint, a process or a cgroup has used. All words count up. */
#ifndef KEYHOLE_WORKER_ACCOUNT_AMOUNT_H
#define KEYHOLE_WORKER_ACCOUNT_AMOUNT_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"

struct amount {
	uint64_t ns; /* CPU time without interrupts */
	uint64_t switches, softirqs;
	uint64_t figure[FIGURES];
	uint64_t counter[ACCOUNT_COUNTERS];
	uint64_t energy; /* uJ, an estimate (energy.h); of rows alone */
};

#define AMOUNT_WORDS (sizeof(struct amount) / sizeof(uint64_t))

static inline void amount_add(struct amount *to, const struct amount *more)
{
	uint64_t *words = &to->ns;
	const uint64_t *others = &more->ns;

	for (size_t i = 0; i < AMOUNT_WORDS; i++)
		words[i] += others[i];
}

/*
 * Returns by how much each word is above that of an earlier amount, and raises the earlier amount
 * to it. A word that is lower leaves the earlier one: what was charged stays charged.
 */
static inline struct amount amount_raise(struct amount *earlier, const struct amount *now)
{
	struct amount growth = {0};
	uint64_t *grown = &growth.ns, *before = &earlier->ns;
	const uint64_t *words = &now->ns;

	for (size_t i = 0; i < AMOUNT_WORDS; i++) {
		if (words[i] <= before[i])
			continue;
		grown[i] = words[i] - before[i];
		before[i] = words[i];
	}
	return growth;
}

/* Returns the difference of each word, or 0 where that would be below 0. */
static inline struct amount amount_since(const struct amount *now, const struct amount *mark)
{
	struct amount copy = *mark;

	return amount_raise(&copy, now);
}

#endif
