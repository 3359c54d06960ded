/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the names of events that make samples (ipc/events.def): -e EVENT[:PERIOD] and -F. */
#ifndef KEYHOLE_HELPER_OPTIONS_EVENTS_H
#define KEYHOLE_HELPER_OPTIONS_EVENTS_H

#include "ipc/messages.h"

#define EVENTS_DEFAULT_HZ 99
#define EVENTS_COUNTED_HZ 1000u /* at most: counted events come as often as they happen */
#define EVENTS_PERIOD_MAX 1000000000000u

/*
 * Reads EVENT[:PERIOD] into event and period; period is 0 where none is given. Returns NULL, or why
 * the text is refused, valid until the next call.
 */
const char *events_parse(const char *text, struct message_sampling *ret_sampling);

/*
 * Completes period and frequency when all options are known. Before, frequency is that of -F, or 0.
 * Returns NULL, or why event, period and frequency exclude each other.
 */
const char *events_finish(struct message_sampling *sampling);

/* Returns a list of all names, "cycles, cpu-clock", valid until the next call. */
const char *events_names(void);

#endif
