/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The starts of brokers after hangs, of which each lane may have so many a minute for ever. Anybody
 * can make brokers hang: so the budget ends no recording, and a lane without a broker waits.
 */
#ifndef KEYHOLE_LOADER_STARTS_H
#define KEYHOLE_LOADER_STARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/messages.h"

/* All zero: full. */
struct starts {
	uint32_t spent;
	uint64_t refilled; /* ns, monotonic: when a start came back last */
	bool is_denied;	   /* the last look found no start left */
};

/* Takes a start of the lane. now: ns, monotonic. Returns false when there is none left. */
bool starts_take(struct starts *starts, enum broker_lane lane, uint64_t now);

#endif
