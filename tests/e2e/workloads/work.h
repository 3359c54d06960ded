/* SPDX-License-Identifier: Apache-2.0 */
/* The work of every workload: burning CPU in functions whose callers a test knows. */
#ifndef WORK_H
#define WORK_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/* Keeps its name, its frame and its place on the stack. */
#define FUNCTION __attribute__((noinline, noclone, noipa))

/* After a call, so that it is not the last thing a function does. */
#define KEEP_FRAME() __asm__ volatile("" ::: "memory")

static volatile uint64_t work_sink;

static inline uint64_t clock_ns(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline void burn_rounds(unsigned int rounds)
{
	uint64_t value = work_sink | 1;

	while (rounds--)
		value = value * 6364136223846793005u + 1442695040888963407u;
	work_sink = value;
}

/*
 * So long; on a busy machine longer, until half of it was spent on a CPU, for enough samples. That
 * clock is a system call: seldom, so that few samples are of it.
 */
struct work_time {
	uint64_t end, least;
	unsigned int over;
};

static inline struct work_time work_for(double seconds)
{
	return (struct work_time){clock_ns(CLOCK_MONOTONIC) + (uint64_t)(1e9 * seconds),
				  clock_ns(CLOCK_PROCESS_CPUTIME_ID) + (uint64_t)(5e8 * seconds),
				  0};
}

static inline int is_left(struct work_time *time)
{
	return clock_ns(CLOCK_MONOTONIC) < time->end || time->over++ % 64 != 0 ||
	       clock_ns(CLOCK_PROCESS_CPUTIME_ID) < time->least;
}

static inline double seconds_argument(int argc, char **argv, int index, double otherwise)
{
	return argc > index ? strtod(argv[index], NULL) : otherwise;
}

#endif
