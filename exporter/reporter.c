/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/reporter.h"

#include <inttypes.h>
#include <stdio.h>

#include "ipc/time.h"

bool reporter_tell(struct reporter *reporter, enum notice kind, enum log_level level,
		   const char *what, const char *reason)
{
	char more[48] = "";
	uint64_t left_out;

	if (!notice_due(&reporter->notices, kind, time_now(), &left_out))
		return false;
	if (left_out > 0)
		snprintf(more, sizeof(more), " (%" PRIu64 " more like this)", left_out);
	log_line(level, "%s: %s: %s%s", what, reporter->server, reason, more);
	return true;
}

static uint64_t dropped_events(const struct delivery_counts *counts)
{
	return counts->events_overflowed + counts->events_expired;
}

void reporter_dropped(struct reporter *reporter, const struct delivery_counts *counts)
{
	uint64_t dropped = dropped_events(counts);
	char reason[96];

	if (dropped == reporter->dropped)
		return;
	snprintf(reason, sizeof(reason),
		 "%" PRIu64 " events dropped, the queue is full or they are old",
		 dropped - reporter->dropped);
	if (reporter_tell(reporter, NOTICE_DROPPED, LOG_LEVEL_WARNING, "export", reason))
		reporter->dropped = dropped;
}

void reporter_finished(struct reporter *reporter, const struct delivery_counts *counts)
{
	notice_again(&reporter->notices, NOTICE_DROPPED);
	reporter_dropped(reporter, counts);
}

static void tell_recovered(struct reporter *reporter)
{
	if (!reporter->failing)
		return;
	reporter->failing = false;
	notice_again(&reporter->notices, NOTICE_CONNECT);
	notice_again(&reporter->notices, NOTICE_RETRY);
	log_info("export: %s: delivered again", reporter->server);
}

void reporter_verdict(struct reporter *reporter, const struct verdict *verdict)
{
	static const struct {
		enum notice notice;
		enum log_level level;
	} rows[] = {
		[OUTCOME_DELIVERED] = {NOTICE_PARTIAL, LOG_LEVEL_WARNING},
		[OUTCOME_RETRY] = {NOTICE_RETRY, LOG_LEVEL_WARNING},
		[OUTCOME_TOO_LARGE] = {NOTICE_TOO_LARGE, LOG_LEVEL_WARNING},
		[OUTCOME_REFUSED] = {NOTICE_REFUSED, LOG_LEVEL_ERROR},
	};

	if (verdict->bad_answer)
		reporter_tell(reporter, NOTICE_ANSWER, LOG_LEVEL_WARNING, "export",
			      "an answer that cannot be read");
	if (verdict->text[0])
		reporter_tell(reporter, rows[verdict->outcome].notice, rows[verdict->outcome].level,
			      "export", verdict->text);
	if (verdict->outcome == OUTCOME_DELIVERED)
		tell_recovered(reporter);
	else
		reporter->failing = true;
}

void reporter_no_connection(struct reporter *reporter, const char *reason)
{
	reporter->failing = true;
	reporter_tell(reporter, NOTICE_CONNECT, LOG_LEVEL_WARNING, "connect", reason);
}
