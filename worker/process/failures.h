/* SPDX-License-Identifier: Apache-2.0 */
/* Logs what fails about objects: each failure once, and not without end. */
#ifndef KEYHOLE_WORKER_PROCESS_FAILURES_H
#define KEYHOLE_WORKER_PROCESS_FAILURES_H

#include <stdint.h>

struct redact;

struct failures {
	const struct redact *redact; /* of names; borrowed, NULL: names as they are */
	uint64_t warned, logged;
};

/* Logs that an object is of no use; reason is a negative errno. */
void failures_object(struct failures *failures, const char *name, int reason);
/* Logs that a part of an object (its tables, its unwind information) is of no use. */
void failures_part(struct failures *failures, const char *part, const char *name, int reason);

#endif
