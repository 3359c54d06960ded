/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds source lines and inlined functions at the end of a recording, to the objects with most
 * samples first. Another process reads debug information (object/debug/reader.h). This module
 * checks the answers and adds them to the profile.
 */
#ifndef KEYHOLE_WORKER_NAMING_SOURCE_LINES_H
#define KEYHOLE_WORKER_NAMING_SOURCE_LINES_H

#include <stdint.h>

#include "ipc/time.h"
#include "object/dwarf/merge.h"

struct groups;
struct resources;

/* Limits of time, for all objects and for one object. */
#ifndef SOURCE_LINES_BUDGET
#define SOURCE_LINES_BUDGET (3 * NS_PER_SECOND)
#endif
#define SOURCE_LINES_OBJECT_MAX	 (3 * NS_PER_SECOND / 2)
#define SOURCE_LINES_OBJECT_MIN	 (20 * NS_PER_MS) /* with less time left, no object is begun */
#define SOURCE_LINES_OBJECTS_MAX 200
#define SOURCE_LINES_BYTES_MAX	 (32u << 20) /* of answers */

struct source_lines_counts {
	uint64_t asked; /* objects */
	uint64_t left;	/* objects whose debug information was not looked for, or not read whole */
	uint64_t bytes; /* of answers */
	uint64_t time;	/* ns */
	struct merge_counts merged;
};

/*
 * Adds the lines after naming, so that functions keep their names. An object that fails loses its
 * lines, is counted as left, and is logged.
 *
 * Asks no question unless the policy keeps paths and names of functions as they are, because a
 * process of the user's reads them.
 */
void source_lines_run(const struct resources *resources, struct source_lines_counts *counts,
		      const struct groups *groups);

#endif
