/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of ipc/events.def, by the number that messages have: from 1 on; 0 is no row. */
#ifndef KEYHOLE_BASE_EVENT_ROWS_H
#define KEYHOLE_BASE_EVENT_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_row {
	const char *name;
	bool counted;
	uint64_t period; /* the default; 0: samples come at a frequency */
	uint64_t least;	 /* period */
};

/* Returns NULL when there is no such row. */
static inline const struct event_row *event_row(uint32_t event)
{
	static const struct event_row rows[] = {
#define E(name, kind, what, counted, period, least) {name, counted, period, least},
#include "ipc/events.def"
#undef E
	};

	if (event == 0 || event > sizeof(rows) / sizeof(rows[0]))
		return NULL;
	return &rows[event - 1];
}

/* Returns the name when a sample stands for a number of events, or NULL: it stands for CPU time. */
static inline const char *event_counted(uint32_t event, uint64_t period)
{
	const struct event_row *row = event_row(event);

	if (!row || !row->counted || !period)
		return NULL;
	return row->name;
}

#endif
