/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/options/events.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "ipc/time.h"
#include "base/decimal.h"
#include "base/event_rows.h"

#define LIST_BYTES 512

/* Further names that perf list has. */
static const struct {
	const char *name, *of;
} aliases[] = {
	{"cpu-cycles", "cycles"},   {"branch-instructions", "branches"}, {"faults", "page-faults"},
	{"cs", "context-switches"}, {"migrations", "cpu-migrations"},
};

static bool is(const char *name, const char *text, size_t length)
{
	return strlen(name) == length && !strncmp(name, text, length);
}

/* Returns the row as messages have it; 0: no event has that name. */
static uint32_t find(const char *text, size_t length)
{
	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (is(aliases[i].name, text, length))
			return find(aliases[i].of, strlen(aliases[i].of));
	for (uint32_t event = 1; event_row(event); event++)
		if (is(event_row(event)->name, text, length))
			return event;
	return 0;
}

const char *events_names(void)
{
	static char text[LIST_BYTES];
	const char *before = "";
	size_t used = 0;

	for (uint32_t event = 1; event_row(event) && used < sizeof(text); event++) {
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", before,
					 event_row(event)->name);
		before = ", ";
	}
	return text;
}

static const char *parse_period(const char *text, const struct event_row *row, uint64_t *ret_period)
{
	static char problem[128];
	const char *unit = " ns";

	if (decimal_read(text, row->least, EVENTS_PERIOD_MAX, ret_period))
		return NULL;
	if (row->counted)
		unit = "";
	snprintf(problem, sizeof(problem), "a period of %s is %llu to %llu%s", row->name,
		 (unsigned long long)row->least, (unsigned long long)EVENTS_PERIOD_MAX, unit);
	return problem;
}

const char *events_parse(const char *text, struct message_sampling *ret_sampling)
{
	static char problem[LIST_BYTES + 64];
	size_t length = strcspn(text, ":");
	uint32_t event = find(text, length);

	ret_sampling->event = event;
	ret_sampling->period = 0;
	if (!event) {
		snprintf(problem, sizeof(problem), "not an event; there are: %s", events_names());
		return problem;
	}
	if (!text[length])
		return NULL;
	return parse_period(text + length + 1, event_row(event), &ret_sampling->period);
}

/* Returns the most samples a second that a period makes. */
static uint32_t frequency_of(const struct event_row *row, uint64_t period)
{
	if (row->counted)
		return EVENTS_COUNTED_HZ;
	return (uint32_t)((NS_PER_SECOND + period - 1) / period);
}

const char *events_finish(struct message_sampling *sampling)
{
	const struct event_row *row = event_row(1);

	if (sampling->event)
		row = event_row(sampling->event);
	if (sampling->frequency && sampling->period)
		return "a period, so no -F: only one of them can be given";
	if (sampling->frequency && row->period)
		return "is counted, it has no frequency: instead of -F give a period, EVENT:PERIOD";
	if (!sampling->period)
		sampling->period = row->period;
	if (sampling->period)
		sampling->frequency = frequency_of(row, sampling->period);
	else if (!sampling->frequency)
		sampling->frequency = EVENTS_DEFAULT_HZ;
	return NULL;
}
