/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wait before the next try: 1 s, then half as much again each time, up to 30 s. Jitter makes
 * each wait between half of that and one and a half. Agents that failed together thus do not come
 * together.
 */
#ifndef KEYHOLE_EXPORTER_DELIVERY_BACKOFF_H
#define KEYHOLE_EXPORTER_DELIVERY_BACKOFF_H

#include <stdint.h>

#define BACKOFF_FIRST_NS    1000000000ull
#define BACKOFF_MAX_NS	    30000000000ull
#define BACKOFF_TOLD_MAX_NS 3600000000000ull /* of a wait that a server asks for */

struct backoff {
	uint64_t interval; /* before jitter */
	uint64_t random;   /* state, never 0 */
};

void backoff_init(struct backoff *ret_backoff, uint64_t seed);
void backoff_reset(struct backoff *backoff);
/*
 * Returns ns until the next try, at least `told`, which a server asked for (0: it did not), and
 * longer the next time.
 */
uint64_t backoff_next(struct backoff *backoff, uint64_t told);

#endif
