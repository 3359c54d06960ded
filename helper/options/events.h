/* SPDX-License-Identifier: Apache-2.0 */
/* What makes samples (ipc/events.def), as people name it: -e EVENT[:PERIOD] and -F. */
#ifndef KEYHOLE_HELPER_OPTIONS_EVENTS_H
#define KEYHOLE_HELPER_OPTIONS_EVENTS_H

#include "ipc/messages.h"

#define EVENTS_DEFAULT_HZ 99
#define EVENTS_COUNTED_HZ 1000u /* what is counted comes as often as it likes */
#define EVENTS_PERIOD_MAX 1000000000000u

/* Sets event and period; NULL, or why the text is refused. */
const char *events_parse(const char *text, struct message_sampling *ret_sampling);

/*
 * The rest, once all options are known: its frequency is that of -F, or 0. NULL, or why the two
 * cannot be.
 */
const char *events_finish(struct message_sampling *sampling);

/* "cycles, cpu-clock": all. */
const char *events_names(void);

#endif
