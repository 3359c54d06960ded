/* SPDX-License-Identifier: Apache-2.0 */
/* What the loader says, in words. It sends numbers: names and texts are only in here. */
#ifndef KEYHOLE_HELPER_EVENT_H
#define KEYHOLE_HELPER_EVENT_H

#include "ipc/messages.h"

#define EVENT_USER_BYTES 64

/* Before the first event: whom `start` calls by this name. Longer ones are cut. */
void event_user(const char *name);

/* Writes the record. -EPROTO: the loader has no such event, or its numbers can be none of it. */
int event_record(const struct message_audit_event *event);

#endif
