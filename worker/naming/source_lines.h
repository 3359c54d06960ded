/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds source lines and inlined functions at the end of a recording, to the objects with most
 * samples first. Another process reads debug information (object/debug/reader.h); its answers are
 * checked here, and go into the profile.
 */
#ifndef KEYHOLE_WORKER_NAMING_SOURCE_LINES_H
#define KEYHOLE_WORKER_NAMING_SOURCE_LINES_H

#include <stdint.h>

#include "ipc/time.h"
#include "object/dwarf/merge.h"

struct groups;
struct resources;

/* The time that it may take, all in all and of one object. */
#ifndef SOURCE_LINES_BUDGET
#define SOURCE_LINES_BUDGET (3 * NS_PER_SECOND)
#endif
#define SOURCE_LINES_OBJECT_MAX	 (3 * NS_PER_SECOND / 2)
#define SOURCE_LINES_OBJECT_MIN	 (20 * NS_PER_MS) /* with less left nothing more is begun */
#define SOURCE_LINES_OBJECTS_MAX 200
#define SOURCE_LINES_BYTES_MAX	 (32u << 20) /* of answers */

struct source_lines_counts {
	uint64_t asked; /* objects */
	uint64_t left;	/* objects with debug information that was not, or not all, read */
	uint64_t bytes; /* of answers */
	uint64_t time;	/* ns */
	struct merge_counts merged;
};

/*
 * Runs after names are there: functions keep theirs. Asks nothing where the policy does not keep
 * paths and functions' names as they are, as a process of the user's reads them. An object that
 * fails costs its lines, is counted as left, and is logged.
 */
void source_lines_run(const struct resources *resources, struct source_lines_counts *counts,
		      const struct groups *groups);

#endif
