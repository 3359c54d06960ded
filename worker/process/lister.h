/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks the target for listings of processes' mappings, and takes the answers. At most one question
 * about a process is under way. A process is listed again with growing gaps, and all processes
 * together at most TRACKER_RELISTS_PER_SECOND times a second.
 */
#ifndef KEYHOLE_WORKER_PROCESS_LISTER_H
#define KEYHOLE_WORKER_PROCESS_LISTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ipc/time.h"

struct launches;
struct process;
struct roster;
struct tracker_parts;

#ifndef TRACKER_RELISTS_PER_SECOND
#define TRACKER_RELISTS_PER_SECOND 200 /* of all processes */
#endif
/*
 * Gaps between two listings of a process. The first is short: a loader maps libraries one after the
 * other. The second is doubled from then on.
 */
#define RELIST_GAP_FIRST  (10 * NS_PER_MS)
#define RELIST_GAP_SECOND (100 * NS_PER_MS)
#define RELIST_GAP_MAX	  (5 * NS_PER_SECOND)
#define CHECKS_A_SECOND	  100 /* of lister_look_for_ended() */

#define LISTINGS_AT_ONCE 16 /* from when on processes that were found have to wait */

/* A process that was found at the start. */
struct lister_found {
	uint32_t pid;
	uint64_t generation, runtime; /* ns */
};

struct lister {
	const struct tracker_parts *parts; /* borrowed, as all pointers here */
	struct roster *roster;
	const struct launches *launches;
	uint64_t losses;	    /* gaps of the side-band so far */
	uint64_t answers;	    /* of the target */
	uint64_t second, relists;   /* relists in this second */
	size_t check;		    /* cursor of lister_look_for_ended() */
	size_t under_way;	    /* questions */
	struct lister_found *found; /* sorted while `sorted` is set: least CPU time first */
	size_t found_count, found_capacity;
	bool sorted;
	struct {
		uint64_t relists, put_off;
		uint64_t refused; /* mappings of listings */
	} counts;
};

void lister_init(struct lister *lister, const struct tracker_parts *parts, struct roster *roster,
		 const struct launches *launches);

void lister_release(struct lister *lister);
/*
 * Lists a new process when its turn comes: after those that have used more CPU time, or with its
 * first sample. runtime: that CPU time, in ns.
 */
void lister_find(struct lister *lister, struct process *process, uint64_t runtime);
/* Lists processes that were found, as far as there is room. */
void lister_turn(struct lister *lister);
/* Asks for the mappings of a process about which nothing is under way. False: refused. */
bool lister_ask(struct lister *lister, struct process *process);
/* Asks within the limits above. True: an answer is under way. */
bool lister_relist(struct lister *lister, struct process *process, uint64_t now);
/* Asks if the side-band has lost records since the mappings were known. Returns as above. */
bool lister_relist_doubtful(struct lister *lister, struct process *process, uint64_t now);
/* Asks for another reason than code; the caller limits how often. */
void lister_look(struct lister *lister, struct process *process);
/* Asks again if the last listing came too early. */
void lister_retry(struct lister *lister, struct process *process);
/* Lists some processes again, to find those whose exit was told by an event that was lost. */
void lister_look_for_ended(struct lister *lister);

#endif
