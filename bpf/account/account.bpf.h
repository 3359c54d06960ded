/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The time of a CPU, charged to whom the CPU has worked for: to a thread, to a vector of softirqs
 * or to an interrupt. Plain C, for the kernel and for host tests. The includer supplies INLINE
 * and BOUND().
 *
 * Each function that charges takes the time from `since` on, so that no time is charged twice and
 * none is left out. Times of a thread wait in `pending` until the thread leaves the CPU.
 */
#ifndef KEYHOLE_BPF_ACCOUNT_ACCOUNT_BPF_H
#define KEYHOLE_BPF_ACCOUNT_ACCOUNT_BPF_H

#include "bpf/abi.h"

/* Keeps the order of stores before and behind it, as one CPU makes them. */
#define ACCOUNT_COMPILER_BARRIER() __asm__ volatile("" ::: "memory")

/* Charges the time until now. from: when accounting began, for a CPU's first event. */
INLINE void account_advance(struct account_cpu *cpu, u64 from, u64 now)
{
	u64 passed;

	if (!cpu->begin) {
		cpu->begin = cpu->since = from;
		cpu->place = ACCOUNT_NO_PLACE;
		cpu->thread = ACCOUNT_NO_THREAD;
	}
	if (now <= cpu->since)
		return;
	passed = now - cpu->since;
	cpu->since = now;
	if (cpu->context & ACCOUNT_IN_HARDIRQ)
		cpu->hardirqs[BOUND(cpu->hardirq, ACCOUNT_HARDIRQS)].ns += passed;
	else if (cpu->context & ACCOUNT_IN_SOFTIRQ)
		cpu->softirqs[BOUND(cpu->softirq, ACCOUNT_SOFTIRQS)].ns += passed;
	else
		cpu->pending += passed;
}

/*
 * Follows CLOCK_MONOTONIC by another clock of the CPU that is cheaper to read. The other clock may
 * have been noted some time before it is read here.
 */
struct account_clock {
	u64 noted; /* ns: the other clock, when both were read */
	u64 ahead; /* ns, may have wrapped: CLOCK_MONOTONIC is ahead of the other one */
};
#define ACCOUNT_CLOCK_NS    200000u  /* both are read again after that time */
#define ACCOUNT_CLOCK_RATES 1024u    /* rates differ by less: 500 millionths, adjtimex(2) */
#define ACCOUNT_CLOCK_JUMP  1000000u /* ns; a clock that is later by more was set */

/* other: 0 where that clock cannot be read. */
INLINE int account_clock_is_due(const struct account_clock *clock, u64 other)
{
	return !other || other - clock->noted >= ACCOUNT_CLOCK_NS;
}

/* Returns CLOCK_MONOTONIC while the clock is not due. */
INLINE u64 account_clock_now(const struct account_clock *clock, u64 other)
{
	return other + clock->ahead;
}

/* Takes a difference that has grown faster than the rates allow for a clock that is not new. */
INLINE void account_clock_set(struct account_clock *clock, u64 other, u64 now)
{
	u64 ahead = now - other, most = clock->ahead + (other - clock->noted) / ACCOUNT_CLOCK_RATES;

	if (ahead - most < ACCOUNT_CLOCK_JUMP)
		ahead = most;
	clock->noted = other;
	clock->ahead = ahead;
}

INLINE void account_enter_softirq(struct account_cpu *cpu, u64 vector)
{
	u64 place = BOUND(vector, ACCOUNT_SOFTIRQS);

	cpu->context |= ACCOUNT_IN_SOFTIRQ;
	cpu->softirq = place;
	cpu->softirqs[place].count++;
	cpu->pending_softirqs++;
}

INLINE void account_leave_softirq(struct account_cpu *cpu)
{
	cpu->context &= ~ACCOUNT_IN_SOFTIRQ;
}

INLINE void account_enter_hardirq(struct account_cpu *cpu, u64 number)
{
	u64 place = ACCOUNT_HARDIRQS - 1;

	if (number < ACCOUNT_HARDIRQS - 1)
		place = number;
	place = BOUND(place, ACCOUNT_HARDIRQS);
	cpu->context |= ACCOUNT_IN_HARDIRQ;
	cpu->hardirq = place;
	cpu->hardirqs[place].count++;
}

INLINE void account_leave_hardirq(struct account_cpu *cpu)
{
	cpu->context &= ~ACCOUNT_IN_HARDIRQ;
}

/* Gives a place what waits for it. */
INLINE void account_commit(struct account_cpu *cpu, struct account *account)
{
	account->ns += cpu->pending;
	account->softirqs += cpu->pending_softirqs;
	cpu->pending = 0;
	cpu->pending_softirqs = 0;
}

/* Tells the reader that a place has changed. To be called behind the change. */
INLINE void account_tell(struct account_cpu *cpu, u32 place)
{
	cpu->recent[cpu->changes & (ACCOUNT_RECENT - 1)] = place;
	ACCOUNT_COMPILER_BARRIER();
	*(volatile u64 *)&cpu->changes = cpu->changes + 1;
}

/* Ends a CPU's work for a thread. Where softirqs are threads, one may leave the CPU within one. */
INLINE void account_switch(struct account_cpu *cpu, struct account *account)
{
	account_commit(cpu, account);
	account->switches++;
	cpu->switches++;
	cpu->context = 0;
}

#define ACCOUNT_RATIO_BITS 10 /* of a fraction: enabled by running */

/*
 * Gives a place what a counter has counted since the CPU's last reading, as if the counter had run
 * all the time. The first reading gives nothing.
 */
INLINE void account_count(struct account_reading *before, const struct account_reading *now,
			  u64 *counter)
{
	u64 count = now->value - before->value, enabled = now->enabled - before->enabled,
	    running = now->running - before->running;

	if (before->enabled && running) {
		if (running < enabled)
			count = count * ((enabled << ACCOUNT_RATIO_BITS) / running) >>
				ACCOUNT_RATIO_BITS;
		*counter += count;
	}
	*before = *now;
}

/* Keeps the sums of the stint that had a place, and empties the place for the next one. */
INLINE void account_take_over(struct account_cpu *cpu, struct account *account)
{
	if (account->number) {
		cpu->gone_ns += account->ns;
		cpu->gone_switches += account->switches;
		cpu->gone_softirqs += account->softirqs;
		for (u32 i = 0; i < FIGURES; i++)
			cpu->gone[i] += account->last[i] - account->first[i];
		for (u32 i = 0; i < ACCOUNT_COUNTERS; i++)
			cpu->gone_counter[i] += account->counter[i];
	}
	*(volatile u64 *)&account->number = 0;
	ACCOUNT_COMPILER_BARRIER();
	account->ended = 0;
	account->ns = account->switches = account->softirqs = 0;
	for (u32 i = 0; i < FIGURES; i++)
		account->first[i] = account->last[i] = 0;
	for (u32 i = 0; i < ACCOUNT_COUNTERS; i++)
		account->counter[i] = 0;
}

/*
 * Shows a stint to the reader once all words of its place are there. number: of this CPU among
 * `cpus`, so that no two CPUs give a stint the same number.
 */
INLINE void account_show(struct account_cpu *cpu, u64 number, u64 cpus, struct account *account)
{
	ACCOUNT_COMPILER_BARRIER();
	*(volatile u64 *)&account->number = cpu->stints++ * cpus + number + 1;
}

#endif
