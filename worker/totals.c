/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/totals.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ipc/log.h"
#include "ipc/time.h"
#include "worker/delivery.h"
#include "worker/session.h"
#include "worker/target/lanes.h"

#define NAMES_BYTES 384 /* for labels of 24 bytes and numbers of 20 */

static void log_stream(const struct delivery *delivery)
{
	log_info("stream: %" PRIu64 " profiles before the last, %" PRIu64
		 " joined to the next as nobody read",
		 delivery->sent, delivery->joined);
}

static void log_tables(const struct session_totals *totals)
{
	log_info("tables: %" PRIu64 " bytes, %" PRIu64 " rows of %" PRIu64 " objects (%" PRIu64
		 " failed), %" PRIu64 " processes, listed again %" PRIu64 " times",
		 totals->table_bytes, totals->table_rows, totals->objects, totals->objects_failed,
		 totals->processes, totals->relists);
}

static void log_grants(const struct session_totals *totals)
{
	if (totals->grants_given + totals->grants_refused > 0)
		log_info("grants: memory of %" PRIu64 " processes, %" PRIu64 " refused",
			 totals->grants_given, totals->grants_refused);
}

static void log_profile(const struct session_totals *totals)
{
	log_info("profile: %" PRIu64 " distinct samples, %" PRIu64 " KiB of them in the file",
		 totals->distinct, totals->spilled >> 10);
	if (totals->spill_error)
		log_warning("profile: temporary file: %s; later samples stayed in memory",
			    strerror(-totals->spill_error));
}

static void log_requests(const struct lanes *lanes)
{
	log_info("requests: %" PRIu64 " maps, %" PRIu64 " object, %" PRIu64 " segment, %" PRIu64
		 " grant, %" PRIu64 " code file, %" PRIu64 " context, %" PRIu64 " cgroups",
		 lanes_asked(lanes, TARGET_MAPS), lanes_asked(lanes, TARGET_OBJECT),
		 lanes_asked(lanes, TARGET_SEGMENT), lanes_asked(lanes, TARGET_GRANT),
		 lanes_asked(lanes, TARGET_CODE), lanes_asked(lanes, TARGET_CONTEXT),
		 lanes_asked(lanes, TARGET_CGROUPS));
}

/* Spells "kernel 12, Go 0, ...". */
static void spell_names(const struct naming_counts *names, char *text, size_t size)
{
	const char *separator = "";
	size_t used = 0;

	for (unsigned int i = 0; i < NAMING_SOURCES && used < size; i++) {
		used += (size_t)snprintf(text + used, size - used, "%s%s %" PRIu64, separator,
					 naming_source_label(i), names->named[i]);
		separator = ", ";
	}
}

static void log_names(const struct session_totals *totals)
{
	char names[NAMES_BYTES];

	spell_names(&totals->names, names, sizeof(names));
	log_info("names: %.0f ms, at most %zu KiB of symbols, %" PRIu64 " blocks evicted; "
		 "addresses by %s",
		 (double)totals->naming_time / NS_PER_MS, totals->cache.peak >> 10,
		 totals->cache.evicted, names);
}

/* Nothing is said where nothing is interpreted. */
static void log_functions(const struct functions_counts *counts)
{
	if (counts->told + counts->untold + counts->unverified + counts->refused == 0)
		return;
	log_info("functions: %" PRIu64 " told, %" PRIu64 " told again, %" PRIu64
		 " not told, %" PRIu64 " refused; %" PRIu64 " frames unverified",
		 counts->told, counts->again, counts->untold, counts->refused, counts->unverified);
}

/* Nothing is said where no process publishes contexts. */
static void log_contexts(const struct session_totals *totals)
{
	const uint64_t *by = totals->contexts;

	if (by[CONTEXT_TAKEN] + by[CONTEXT_NONE] + by[CONTEXT_DENIED] + by[CONTEXT_OVERDRAWN] +
		    by[CONTEXT_NOT_GRANTED] ==
	    0)
		return;
	log_info("links: %" PRIu64 " samples in a span, %" PRIu64 " in none; %" PRIu64
		 " not granted, %" PRIu64 " denied, %" PRIu64 " beyond the grant, %" PRIu64
		 " too late, %" PRIu64 " without room",
		 by[CONTEXT_TAKEN], by[CONTEXT_NONE], by[CONTEXT_NOT_GRANTED], by[CONTEXT_DENIED],
		 by[CONTEXT_OVERDRAWN], by[CONTEXT_NOT_NOW], totals->links_lost);
}

/* Nothing is said where nobody asked for labels, or no Go program was there. */
static void log_labels(const struct session_totals *totals)
{
	const uint64_t *by = totals->labels;
	uint64_t asked = totals->labels_unknown;

	for (uint32_t i = LABELS_NOT_WANTED + 1; i < LABELS_RESULTS; i++)
		asked += by[i];
	if (asked == 0)
		return;
	log_info("labels: %" PRIu64 " samples of goroutines, %" PRIu64
		 " without all labels, %" PRIu64 " of no goroutine; %" PRIu64
		 " not granted, %" PRIu64 " denied, %" PRIu64 " beyond the grant, %" PRIu64
		 " too late, %" PRIu64 " without room; %" PRIu64 " programs of an unknown version",
		 by[LABELS_TAKEN], by[LABELS_CUT], by[LABELS_NO_GOROUTINE], by[LABELS_NOT_GRANTED],
		 by[LABELS_DENIED], by[LABELS_OVERDRAWN], by[LABELS_NOT_NOW], totals->labels_lost,
		 totals->labels_unknown);
}

static void log_lines(const struct source_lines_counts *counts)
{
	log_info("lines: %.0f ms, %" PRIu64 " objects, %" PRIu64
		 " more without all of them; %" PRIu64 " addresses, %" PRIu64
		 " inlined functions, %" PRIu64 " KiB of answers",
		 (double)counts->time / NS_PER_MS, counts->asked, counts->left,
		 counts->merged.lines, counts->merged.inlined, counts->bytes >> 10);
}

void totals_log(const struct session *session, const struct lanes *lanes,
		const struct delivery *delivery)
{
	struct session_totals totals;

	session_totals(session, &totals);
	if (delivery)
		log_stream(delivery);
	log_tables(&totals);
	log_grants(&totals);
	log_profile(&totals);
	log_requests(lanes);
	log_names(&totals);
	log_functions(&totals.functions);
	log_contexts(&totals);
	log_labels(&totals);
	log_lines(&totals.line_counts);
}
