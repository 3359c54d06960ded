/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the objects without unwind rules that cost most samples the rest of their stack. */
#ifndef KEYHOLE_WORKER_RULELESS_H
#define KEYHOLE_WORKER_RULELESS_H

#include "ipc/messages.h"

struct objects;
struct redact;

/*
 * Returns those with most samples first; samples 0: no further one. Names are printable and have no
 * folders. Objects of one name count together, as far as they have a place.
 */
void ruleless_find(const struct objects *objects, const struct redact *redact,
		   struct summary_object ret_top[static SUMMARY_OBJECTS]);

#endif
