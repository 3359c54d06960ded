/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The time for which a thread is off its CPU (off_cpu.bpf.c), in plain C. tests/bpf compiles it for
 * the host.
 */
#ifndef KEYHOLE_BPF_OFF_CPU_WAIT_BPF_H
#define KEYHOLE_BPF_OFF_CPU_WAIT_BPF_H

#include "bpf/abi.h"

/* A thread off its CPU whose stack was drawn, until it runs again. Times: CLOCK_MONOTONIC, ns. */
struct off_wait {
	u64 began;
	u64 left;			 /* behind the sampler; 0: the worker gets no record */
	u64 woken;			 /* 0: not yet, or nobody saw it */
	u32 epoch;			 /* of the worker that gets the record */
	u32 waker, waker_pid, waker_tid; /* as in struct event_wait */
	u32 idle;			 /* flag: no other thread came to the CPU */
	u32 fill;
	u8 waker_name[ABI_COMM_BYTES];
};

/*
 * Returns from when the wait counts. The sampler's time is no part of it where that delayed another
 * thread on this CPU, which may be the one that wakes. Where the CPU had no other work, the thread
 * would have run from its wake-up on: only that time is left out.
 */
static inline u64 wait_counts_from(const struct off_wait *wait)
{
	if (!wait->idle)
		return wait->left;
	if (!wait->woken || wait->woken >= wait->left)
		return wait->began;
	return wait->began + wait->left - wait->woken;
}

/*
 * Returns when the wait ended, of a thread that has run for `ran` ns since. The scheduler's clock
 * may say more than passed since the wake-up. No wait is shorter than known.
 */
static inline u64 wait_ended(const struct off_wait *wait, u64 now, u64 ran)
{
	u64 least = wait->woken > wait->left ? wait->woken : wait->left;

	if (now < least || ran > now - least)
		return least;
	return now - ran;
}

#endif
