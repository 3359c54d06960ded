/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probabilistic profiling: an agent that samples in some intervals and rests in others, by a draw
 * for each. Events stay enabled, so that BPF counts what a rest leaves out, and kept samples end.
 */
#ifndef KEYHOLE_LOADER_CHANCE_H
#define KEYHOLE_LOADER_CHANCE_H

#include <stdbool.h>
#include <stdint.h>

struct message_chance;

struct chance {
	uint64_t until; /* end of the interval, ns, monotonic; 0: before the first one */
	bool resting;
};

/*
 * Draws for the interval of `now`, unless that is drawn. Returns whether there was a draw. Without
 * a threshold there is one endless interval, which samples.
 */
bool chance_turn(struct chance *chance, const struct message_chance *given, uint64_t now);

#endif
