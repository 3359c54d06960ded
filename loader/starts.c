/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/starts.h"

#include "ipc/time.h"

static const struct {
	uint32_t most; /* at once */
	uint64_t gap;  /* ns, between two starts afterwards */
} lanes[LANES] = {
	[LANE_ORDINARY] = {20, 3 * NS_PER_SECOND},
	[LANE_PENAL] = {5, 6 * NS_PER_SECOND},
};

/* `refilled` moves by whole starts: the rest of the time counts for the next one. */
static void refill(struct starts *starts, uint64_t gap, uint64_t now)
{
	const uint64_t due = (now - starts->refilled) / gap;

	if (due >= starts->spent) {
		starts->spent = 0;
		starts->refilled = now;
		return;
	}
	starts->spent -= (uint32_t)due;
	starts->refilled += due * gap;
}

bool starts_take(struct starts *starts, enum broker_lane lane, uint64_t now)
{
	refill(starts, lanes[lane].gap, now);
	starts->is_denied = starts->spent >= lanes[lane].most;
	if (!starts->is_denied)
		starts->spent++;
	return !starts->is_denied;
}
