/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The draw of threads that leave their CPU (off_cpu.bpf.c), in plain C. It says with which
 * probability a stack is taken, and how the interval follows the cost. tests/bpf compiles it for
 * the host.
 */
#ifndef KEYHOLE_BPF_OFF_CPU_DRAW_BPF_H
#define KEYHOLE_BPF_OFF_CPU_DRAW_BPF_H

#include "bpf/abi.h"

#define DRAW_INTERVAL_MAX (1ull << 38) /* ns: 275 s */
#define DRAW_FIRST	  64u	       /* intervals */
#define DRAW_PASSED_LEAST 4096u	       /* ns */

/*
 * The state of a CPU for threads that leave it. on_switch draws whether a stack is taken, and
 * on_leave takes it.
 */
struct off_cpu {
	u64 taken;    /* CLOCK_MONOTONIC, ns: when the thread that was drawn last left */
	u64 word;     /* its OFF_WORD */
	u64 interval; /* ns: of a thread that leaves less often, every stack is taken; 0: not set */
	u64 window;   /* CLOCK_MONOTONIC, ns: since when `spent` counts */
	u64 ahead;    /* ns: CLOCK_MONOTONIC less the scheduler's clock, when both were read last */
	u64 spent;    /* ns that stacks took */
	u64 limit;    /* of `spent`: beyond it the interval doubles */
	u64 woke;     /* CLOCK_MONOTONIC, ns: the last time that a wait woke the worker */
	u64 arguments; /* address of those of a tracepoint, for a moment */
	u64 random;    /* the last number that was drawn; 0: none yet */
	u32 thread;    /* that the last switch brought; 0: none, or an idle one */
	u32 fill;
};

/* Returns 32 random bits, by xorshift64. seed: of the first one. */
static inline u32 draw_random(struct off_cpu *cpu, u64 seed)
{
	u64 random = cpu->random;

	if (!random)
		random = seed * 0x9e3779b97f4a7c15ull | 1;
	random ^= random << 13;
	random ^= random >> 7;
	random ^= random << 17;
	cpu->random = random;
	return random >> 32;
}

/*
 * Returns for how long a thread has not left. before: when it left last, 0: never. Clocks of two
 * CPUs differ, and threads may share a place. So no time is so short that a stack stands for more
 * than all others.
 */
static inline u64 draw_passed(u64 before, u64 now, u64 interval)
{
	/* nothing is known of the first time, and the wait may be the only one */
	if (!before)
		return interval * DRAW_FIRST;
	if (before > now || now - before < DRAW_PASSED_LEAST)
		return DRAW_PASSED_LEAST;
	return now - before;
}

/*
 * Returns whether a stack is taken, by a random number of 32 bits. That is so with
 * draw_probability(), without its division. interval is at most DRAW_INTERVAL_MAX.
 */
static inline int draw_takes(u64 passed, u64 interval, u32 random)
{
	if (passed >= interval)
		return 1;
	/* shifted, so that 64 bits are enough */
	return (u64)random * ((interval >> 6) + 1) < (passed >> 6 | 1) << 32;
}

/* Returns the probability of a stack, in 2^-32. */
static inline u32 draw_probability(u64 passed, u64 interval)
{
	u64 probability;

	if (passed >= interval)
		return OFF_CERTAIN;
	/* how many numbers draw_takes() takes */
	probability = (((passed >> 6 | 1) << 32) - 1) / ((interval >> 6) + 1) + 1;
	if (probability > OFF_CERTAIN)
		return OFF_CERTAIN;
	return probability;
}

static inline u64 draw_bounded(u64 interval, u64 least)
{
	if (interval < least)
		return least;
	if (interval > DRAW_INTERVAL_MAX)
		return DRAW_INTERVAL_MAX;
	return interval;
}

/* Returns whether the interval is to follow the cost. */
static inline int draw_is_due(const struct off_cpu *cpu, const struct off_limits *limits, u64 now)
{
	return cpu->spent > cpu->limit || now - cpu->window >= limits->window;
}

/*
 * Returns the interval after a time without a draw, which may be many windows. It halves for each
 * two of them, as it does where windows spend little.
 */
static inline u64 draw_rested(u64 interval, u64 windows)
{
	u64 halves = windows / 2;

	if (halves > 63)
		return 0;
	return interval >> halves;
}

/*
 * Sets the interval. Where a window's budget is spent early, the interval doubles at once, and
 * again for each further half of the budget. So the cost of a window is bounded, and no stack has
 * the probability 0. A window that spent little lets the interval shrink. A time without draws does
 * so, too, where its windows spent little on average.
 */
static inline void draw_adapt(struct off_cpu *cpu, const struct off_limits *limits, u64 now)
{
	u64 interval = cpu->interval, windows = (now - cpu->window) / limits->window;
	u64 spent = cpu->spent;

	if (interval && windows < 2 && spent > cpu->limit) {
		cpu->interval = draw_bounded(interval * 2, limits->interval);
		cpu->limit = spent + limits->budget / 2;
		return;
	}
	if (windows >= 2)
		spent /= windows;
	if (windows >= 2 && spent > limits->budget)
		interval *= 2;
	else if (windows >= 2 && spent < limits->budget / 2)
		interval = draw_rested(interval, windows);
	else if (spent < limits->budget / 2)
		interval -= interval / 4;
	else if (spent < limits->budget)
		interval -= interval / 16;
	cpu->interval = draw_bounded(interval, limits->interval);
	cpu->window = now;
	cpu->spent = 0;
	cpu->limit = limits->budget;
}

#endif
