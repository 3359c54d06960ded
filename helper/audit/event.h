/* SPDX-License-Identifier: Apache-2.0 */
/* What the loader says, in words. It sends numbers: names and texts are only in here. */
#ifndef KEYHOLE_HELPER_EVENT_H
#define KEYHOLE_HELPER_EVENT_H

#include "ipc/messages.h"

#define EVENT_USER_BYTES 64
#define EVENT_HASH_BYTES 68

/* Before the first event: whom `start` calls by this name. Longer ones are cut. */
void event_user(const char *name);

/* Before the first event: the policy that `start` states, "" for none. */
void event_policy(const char *hash);

/* Writes the record. -EPROTO: the loader has no such event, or its numbers can be none of it. */
int event_record(const struct message_audit_event *event);

#endif
