/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The broker's side of AUDIT: counts operations and reports them, alike ones in one message, once a
 * second. Whoever asks for them cannot make it send more than a fixed number of messages, nor wait:
 * what is beyond that, or what the loader is not there to take, is reported without process and
 * object. Every operation is in exactly one count.
 */
#ifndef KEYHOLE_IPC_TALLY_H
#define KEYHOLE_IPC_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/channel.h"

/* Messages at first, and a second: the loader takes no more. */
#define TALLY_AT_ONCE 16384
#define TALLY_RATE    64

#define TALLY_ROWS   4096		   /* counted apart at one time */
#define TALLY_OTHERS (2 * OPERATION_COUNT) /* of all processes: done, refused */

struct tally {
	struct channel *channel; /* borrowed; NULL: nothing is counted */
	uint64_t since, sent;
	uint64_t due; /* monotonic; 0: there is nothing to report */
	struct message_audit rows[TALLY_ROWS + TALLY_OTHERS];
};

void tally_start(struct tally *tally, struct channel *channel, uint64_t now);

/* One operation: its count is 1. */
void tally_count(struct tally *tally, const struct message_audit *operation, uint64_t now);

/* Reports what is due; `last`: everything, and waits for room. Milliseconds till the next turn, or
 * -1 for any time. */
int tally_turn(struct tally *tally, uint64_t now, bool last);

#endif
