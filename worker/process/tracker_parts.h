/* SPDX-License-Identifier: Apache-2.0 */
/* The surroundings of the tracker: the modules that it asks, and the form of a side-band record. */
#ifndef KEYHOLE_WORKER_PROCESS_TRACKER_PARTS_H
#define KEYHOLE_WORKER_PROCESS_TRACKER_PARTS_H

#include <stdbool.h>
#include <stdint.h>

struct files;
struct functions;
struct objects;
struct publisher;
struct target;

/* All borrowed. */
struct tracker_parts {
	struct target *target;
	struct objects *objects;
	struct files *files;
	struct publisher *publisher;
	struct functions *functions; /* NULL: events about code are left alone */
	uint64_t (*clock)(void);     /* CLOCK_MONOTONIC, ns */
	bool known_only;	     /* a program's start is kept for known processes alone */
	/* Applies all records and events so far, before an answer that may reflect them. Returns
	 * false when some of them cannot be read yet. */
	bool (*catch_up)(void *context);
	void *catch_up_context;
};

/* An executable mapping as the kernel tells it. */
struct tracker_mapping {
	uint64_t start, end, offset;
	uint64_t device, inode, inode_generation; /* inode 0: no file; generation 0: not told */
	const char *path;
};

#endif
