/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces a child that ended or hangs. */
#ifndef KEYHOLE_LOADER_REPLACE_H
#define KEYHOLE_LOADER_REPLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "loader/monitor.h"

struct recording;

struct replace_plan {
	bool give_up;	/* instead of a new child */
	uint64_t pause; /* ns: from the death to the start of a new worker */
};

/*
 * Returns what a role's latest death leads to, from the times (ns, monotonic, the latest first, 0:
 * none) of its last deaths.
 */
struct replace_plan replace_decide(const uint64_t deaths[DEATHS_MAX]);

/*
 * Runs monitor_run() and replaces children, until something else happens. Never returns
 * MONITOR_ENDED. Explains a failure. MONITOR_GAVE_UP: the broker ended too often, so sampling
 * ends early with the profile so far, and rec->status is EXIT_FAILED.
 */
enum monitor_result replace_watch(struct recording *rec, enum monitor_goal goal, uint64_t until);

#endif
