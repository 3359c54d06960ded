/* SPDX-License-Identifier: Apache-2.0 */
/* Frees files and objects that no process maps any more. */
#ifndef KEYHOLE_WORKER_PROCESS_SWEEP_H
#define KEYHOLE_WORKER_PROCESS_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

struct launches;
struct processes;
struct tracker_parts;

/* Marks mapped files and objects, then frees the others; all: see objects_sweep(). */
void sweep_unmapped(const struct tracker_parts *parts, const struct processes *processes,
		    const struct launches *launches, uint64_t now, bool all);
/* Frees files that nobody maps and nobody asked for, if launches came to nothing since the last
 * call. */
void sweep_unclaimed(const struct tracker_parts *parts, const struct processes *processes,
		     struct launches *launches);
/* Forgets the objects of live processes' mappings whose file was written to since, and wakes these
 * processes. */
void sweep_replaced(struct processes *processes);

#endif
