/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs being started: from the side-band's COMM record with the exec flag, which comes before
 * the program's segments are mapped, to the EXEC event, which comes after. Most are of processes
 * that nobody samples, so they are few and short-lived.
 */
#ifndef KEYHOLE_WORKER_PROCESS_LAUNCH_H
#define KEYHOLE_WORKER_PROCESS_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"

struct launches;
struct mappings;

#ifndef LAUNCHES_MAX
#define LAUNCHES_MAX 256
#endif
#define LAUNCH_AGE 1000000000ull /* ns */

struct launch {
	uint32_t pid;
	uint64_t time;
	uint64_t losses; /* of the side-band before it */
	char comm[ABI_COMM_BYTES];
	struct mappings *mappings;
	/* Of a denied program: nothing of it is kept, and it only stands here until it has started.
	 * named: its COMM record has come; the next one is of another program. */
	bool denied, named;
};

struct launches *launches_new(void);	       /* NULL: no memory */
void launches_free(struct launches *launches); /* NULL is fine */

/* In place of an earlier one of the pid, unless it is the record that launches_deny() expects; of a
 * process that is not to be kept the earlier one only ends. */
void launches_begin(struct launches *launches, uint32_t pid, uint64_t time, const char *comm,
		    uint64_t losses, bool keep);
/* A denied program is being started: its records follow. */
void launches_deny(struct launches *launches, uint32_t pid, uint64_t time);
struct launch *launches_find(const struct launches *launches, uint32_t pid);
/* Its mappings, which are the caller's then; NULL: none were told. */
struct mappings *launch_take(struct launch *launch);
/* The launch is over, and what mappings it still has go with it. Its name is wiped, as it may have
 * turned out to be of a denied program. NULL is fine. */
void launches_end(struct launches *launches, struct launch *launch);
/* Whether mappings went with a launch since it was asked last: their files may be nobody's. */
bool launches_unclaimed(struct launches *launches);
uint64_t launches_dropped(const struct launches *launches); /* for LAUNCHES_MAX */
void launches_prune(struct launches *launches, uint64_t now);
struct launch *launches_next(const struct launches *launches, size_t *cursor);

#endif
