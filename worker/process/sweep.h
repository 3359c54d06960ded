/* SPDX-License-Identifier: Apache-2.0 */
/* Frees files and objects that no process maps any more. */
#ifndef KEYHOLE_WORKER_PROCESS_SWEEP_H
#define KEYHOLE_WORKER_PROCESS_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

struct launches;
struct processes;
struct tracker_parts;

/* Marks what is mapped, then sweeps the rest (all: of it); see object.h. */
void sweep_unmapped(const struct tracker_parts *parts, const struct processes *processes,
		    const struct launches *launches, uint64_t now, bool all);
/* If launches came to nothing since the last time: files which nobody maps and nobody asked for. */
void sweep_unclaimed(const struct tracker_parts *parts, const struct processes *processes,
		     struct launches *launches);
/* Forgets what mappings of live processes were taken for, where the file was written to since. */
void sweep_replaced(const struct processes *processes);

#endif
