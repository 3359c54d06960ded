/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clock that counters of reference cycles follow: the time-stamp counter of x86 (Intel SDM 3B,
 * 18.7.2 and 20.2.1; AMD APM 2, 13.2). It goes at one rate whatever the frequency is. Its rate is
 * measured, so that no file and no right is needed.
 */
#ifndef KEYHOLE_WORKER_ACCOUNT_REFERENCE_H
#define KEYHOLE_WORKER_ACCOUNT_REFERENCE_H

#include <stdint.h>

#define REFERENCE_LEAST 100000000ull /* ns: a shorter time says too little about the rate */

struct reference {
	uint64_t ticks; /* 0: this machine has no such clock */
	uint64_t time;	/* ns */
};

static inline struct reference reference_look(uint64_t now)
{
	struct reference look = {.time = now};

#ifdef __x86_64__
	look.ticks = __builtin_ia32_rdtsc();
#endif
	return look;
}

/* Returns the rate since an earlier look, Hz; 0: not known. */
static inline uint64_t reference_rate(const struct reference *before, uint64_t now)
{
	const struct reference look = reference_look(now);

	if (look.ticks <= before->ticks || look.time < before->time + REFERENCE_LEAST)
		return 0;
	return (uint64_t)((double)(look.ticks - before->ticks) * 1e9 /
			  (double)(look.time - before->time));
}

/* Returns the frequency at which so many cycles took so many reference cycles, or 0. */
static inline uint64_t reference_scale(uint64_t rate, uint64_t cycles, uint64_t reference_cycles)
{
	if (reference_cycles == 0)
		return 0;
	return (uint64_t)((double)rate * ((double)cycles / (double)reference_cycles));
}

#endif
