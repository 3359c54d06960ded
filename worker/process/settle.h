/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the object behind each mapping of a process. */
#ifndef KEYHOLE_WORKER_PROCESS_SETTLE_H
#define KEYHOLE_WORKER_PROCESS_SETTLE_H

#include <stdint.h>

struct lister;
struct process;
struct tracker_parts;

/* Asks for the objects that are not known yet; lists the process again if a mapping is gone. */
void settle_process(const struct tracker_parts *parts, struct lister *lister,
		    struct process *process, uint64_t now);
/*
 * Gives each mapping without an object the last object of its file, or a failed object: at the end
 * of a recording.
 */
void settle_finally(const struct tracker_parts *parts, struct process *process);

#endif
