/* SPDX-License-Identifier: Apache-2.0 */
/* Log lines about a server, "what: server: reason", each kind of them once a minute at most. */
#ifndef KEYHOLE_EXPORTER_REPORTER_H
#define KEYHOLE_EXPORTER_REPORTER_H

#include <stdbool.h>

#include "exporter/delivery/counts.h"
#include "exporter/delivery/notices.h"
#include "exporter/delivery/verdict.h"
#include "ipc/log.h"

struct reporter {
	const char *server; /* the owner's */
	struct notices notices;
	bool failing;	  /* since the last success */
	uint64_t dropped; /* events that were dropped and told */
};

/* Returns whether the line is one that was written. */
bool reporter_tell(struct reporter *reporter, enum notice kind, enum log_level level,
		   const char *what, const char *reason);
/* Tells that there is no connection. */
void reporter_no_connection(struct reporter *reporter, const char *reason);
/* Tells what a server answered, or that it takes requests again. */
void reporter_verdict(struct reporter *reporter, const struct verdict *verdict);
/* Tells of events that were dropped since the last line about them. */
void reporter_dropped(struct reporter *reporter, const struct delivery_counts *counts);
/* Tells of all events that were dropped and not told of, however short ago the last line was. */
void reporter_finished(struct reporter *reporter, const struct delivery_counts *counts);

#endif
