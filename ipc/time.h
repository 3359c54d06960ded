/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KEYHOLE_IPC_TIME_H
#define KEYHOLE_IPC_TIME_H

#include <stdint.h>
#include <time.h>

#define NS_PER_SECOND 1000000000ull
#define NS_PER_MS     1000000ull
#define NS_PER_US     1000ull

static inline uint64_t time_of_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

/* Returns CLOCK_MONOTONIC in nanoseconds: the clock of samples, events and side-band records. */
static inline uint64_t time_now(void)
{
	return time_of_clock(CLOCK_MONOTONIC);
}

/* Returns nanoseconds since 1970: the time of day, which may be set back. */
static inline uint64_t time_since_1970(void)
{
	return time_of_clock(CLOCK_REALTIME);
}

#endif
