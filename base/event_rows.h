/* SPDX-License-Identifier: Apache-2.0 */
/* What ipc/events.def says of an event, by the row that messages have: from 1 on, 0 is none. */
#ifndef KEYHOLE_BASE_EVENT_ROWS_H
#define KEYHOLE_BASE_EVENT_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_row {
	const char *name;
	bool counted;
	uint64_t period, least; /* period: the default */
};

static inline const struct event_row *event_row(uint32_t event) /* NULL: no such row */
{
	static const struct event_row rows[] = {
#define E(name, kind, what, counted, period, least) {name, counted, period, least},
#include "ipc/events.def"
#undef E
	};

	return event > 0 && event <= sizeof(rows) / sizeof(rows[0]) ? &rows[event - 1] : NULL;
}

/* The name, if a sample stands for so many of the event, not for CPU time; else NULL. */
static inline const char *event_counted(uint32_t event, uint64_t period)
{
	const struct event_row *row = event_row(event);

	return row && row->counted && period ? row->name : NULL;
}

#endif
