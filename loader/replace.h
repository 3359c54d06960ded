/* SPDX-License-Identifier: Apache-2.0 */
/* The replacement of children that ended or hang, while the recording goes on. */
#ifndef KEYHOLE_LOADER_REPLACE_H
#define KEYHOLE_LOADER_REPLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "loader/monitor.h"

struct recording;

/* How a recording goes on after the loss of a child that may be replaced. */
struct replace_plan {
	enum {
		REPLACE_START, /* with a new child */
		REPLACE_END    /* with nothing: the role's children die too often */
	} what;
	uint64_t pause; /* ns: from the death to the start of a new worker */
};

/* Decides from the deaths of a role, which include the present one. */
struct replace_plan replace_decide(const struct child *child);

/*
 * Runs monitor_run() and replaces children, until something else happens. Never returns
 * MONITOR_ENDED or MONITOR_HANGS. Explains a failure. MONITOR_GAVE_UP: the broker ended too often,
 * so sampling ends early with the profile so far, and rec->status is EXIT_FAILED.
 */
enum monitor_result replace_watch(struct recording *rec, enum monitor_goal goal, uint64_t until);

/*
 * After STOP: ends a worker that has not finished the profile, so that the exporter writes the
 * worker's last draft in place of the profile. Says so, and sets rec->status to EXIT_FAILED.
 * Returns false, and does nothing, when the worker has finished, has ended or has made no draft.
 */
bool replace_by_draft(struct recording *rec);

/*
 * Ends the worker, and waits up to 6 s until the exporter of a server has sent its queue. Comes
 * before an end that is a failure. Does nothing where there is no server.
 */
void replace_flush(struct recording *rec);

#endif
