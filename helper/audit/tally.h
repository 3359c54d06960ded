/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the broker's operations, and reports them once a second, alike operations in one record. A
 * worker cannot cause more than a fixed number of records: further operations are reported without
 * process and object. Every operation is in exactly one count.
 */
#ifndef KEYHOLE_HELPER_TALLY_H
#define KEYHOLE_HELPER_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/messages.h"

enum operation {
	OPERATION_MAPS,
	OPERATION_OBJECT,
	OPERATION_SEGMENT,
	OPERATION_GRANT,
	OPERATION_CODE_FILE,
	OPERATION_CONTEXT,
	OPERATION_CGROUPS,
	OPERATION_COUNT
};

/* Records at first, and a second. */
#define TALLY_AT_ONCE 16384
#define TALLY_RATE    64

#define TALLY_ROWS   4096		   /* counted apart at one time */
#define TALLY_OTHERS (2 * OPERATION_COUNT) /* of all processes: done, refused */

/* A number of operations that are alike. */
#define TALLY_SEVERAL 1
struct operations {
	uint64_t device, inode; /* of the object as far as it is known, or 0 */
	uint64_t count;
	uint64_t granted;   /* of these: a descriptor was given, or memory may be read */
	uint32_t pid;	    /* or 0: a segment, or of several processes and objects */
	uint32_t operation; /* enum operation */
	int32_t error;	    /* 0, a negative errno, or TALLY_SEVERAL of these */
};

struct tally {
	void (*report)(const struct operations *operations);
	uint64_t since, sent;
	uint64_t due; /* monotonic; 0: there is nothing to report */
	struct operations rows[TALLY_ROWS + TALLY_OTHERS];
};

void tally_start(struct tally *tally, void (*report)(const struct operations *), uint64_t now);

/* Adds one operation, whose count is 1. */
void tally_count(struct tally *tally, const struct operations *operation, uint64_t now);

/*
 * Reports the counts that are due; with `last`, all counts. Returns the milliseconds until the next
 * turn, or -1 for any time.
 */
int tally_turn(struct tally *tally, uint64_t now, bool last);

#endif
