/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes records from the numbers that the loader sends. Only this module has the names and texts.
 */
#ifndef KEYHOLE_HELPER_EVENT_H
#define KEYHOLE_HELPER_EVENT_H

#include "ipc/messages.h"

#define EVENT_USER_BYTES 64
#define EVENT_HASH_BYTES 68

/* Sets the user's name that `start` states, cut to fit; "" without it. Before the first event. */
void event_user(const char *name);

/* Sets the policy that `start` states, "" for none. Before the first event. */
void event_policy(const char *hash);

/*
 * Writes the record. Returns -EPROTO if the loader has no such event, or if its numbers fit no
 * event.
 */
int event_record(const struct message_audit_event *event);

#endif
