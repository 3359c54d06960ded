/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/delivery/backoff.h"

#define JITTER_TOLD 10u /* a tenth: servers tell all clients the same */

void backoff_init(struct backoff *ret_backoff, uint64_t seed)
{
	ret_backoff->random = seed | 1;
	backoff_reset(ret_backoff);
}

void backoff_reset(struct backoff *backoff)
{
	backoff->interval = BACKOFF_FIRST_NS;
}

/* xorshift64 (Marsaglia, "Xorshift RNGs"): nobody gains by guessing it. */
static uint64_t below(struct backoff *backoff, uint64_t bound)
{
	backoff->random ^= backoff->random << 13;
	backoff->random ^= backoff->random >> 7;
	backoff->random ^= backoff->random << 17;
	if (bound == 0)
		return 0;
	return backoff->random % bound;
}

uint64_t backoff_next(struct backoff *backoff, uint64_t told)
{
	uint64_t wait = backoff->interval / 2 + below(backoff, backoff->interval);

	backoff->interval += backoff->interval / 2;
	if (backoff->interval > BACKOFF_MAX_NS)
		backoff->interval = BACKOFF_MAX_NS;
	if (told > BACKOFF_TOLD_MAX_NS)
		told = BACKOFF_TOLD_MAX_NS;
	if (told > 0)
		told += below(backoff, told / JITTER_TOLD + 1);
	if (told > wait)
		return told;
	return wait;
}
