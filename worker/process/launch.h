/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches: programs between two moments of their start. The first moment is the side-band's COMM
 * record with the exec flag, before the program's segments are mapped. The second is the EXEC
 * event, after that. Launches are few and short-lived, and most of these processes are never
 * sampled.
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
	/* denied: the launch keeps nothing of the program, and stands until the program runs.
	 * named: the COMM record has come, so that the next one is of another program. */
	bool denied, named;
};

struct launches *launches_new(void);	       /* NULL: no memory */
void launches_free(struct launches *launches); /* NULL is fine */

/*
 * Begins a launch in place of the pid's earlier one. The record that launches_deny() expects begins
 * no launch. Without keep the earlier launch only ends.
 */
void launches_begin(struct launches *launches, uint32_t pid, uint64_t time, const char *comm,
		    uint64_t losses, bool keep);
/* Begins the launch of a denied program, whose records follow. */
void launches_deny(struct launches *launches, uint32_t pid, uint64_t time);
struct launch *launches_find(const struct launches *launches, uint32_t pid);
/* Gives the caller the mappings; NULL: none were told. */
struct mappings *launch_take(struct launch *launch);
/* Ends a launch and frees its mappings. Wipes its name, as the program may have turned out to be
 * denied. NULL is fine. */
void launches_end(struct launches *launches, struct launch *launch);
/* Returns whether a launch ended with mappings since the last call: nobody may map their files. */
bool launches_unclaimed(struct launches *launches);
uint64_t launches_dropped(const struct launches *launches); /* for LAUNCHES_MAX */
void launches_prune(struct launches *launches, uint64_t now);
struct launch *launches_next(const struct launches *launches, size_t *cursor);

#endif
