/* SPDX-License-Identifier: Apache-2.0 */
/* Makes records of what the loader sends, which is numbers: names and texts are in here alone. */
#ifndef KEYHOLE_HELPER_EVENT_H
#define KEYHOLE_HELPER_EVENT_H

#include "ipc/messages.h"

#define EVENT_USER_BYTES 64
#define EVENT_HASH_BYTES 68

/* Sets the user's name that `start` states, cut to fit; "" without it. Before the first event. */
void event_user(const char *name);

/* Sets the policy that `start` states, "" for none. Before the first event. */
void event_policy(const char *hash);

/* Writes the record. -EPROTO: the loader has no such event, or its numbers can be none of it. */
int event_record(const struct message_audit_event *event);

#endif
