/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The roster: all processes with their mappings, and the slots that name them to BPF. A process
 * that has ended keeps its mappings as long as a sample of its life may be unresolved.
 */
#ifndef KEYHOLE_WORKER_PROCESS_ROSTER_H
#define KEYHOLE_WORKER_PROCESS_ROSTER_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/time.h"

struct mappings;
struct process;
struct processes;
struct publisher;

/* After an end, the longest time until the record of a sample is in the ring, and then some. */
#define KEEP_ENDED  (1 * NS_PER_SECOND)
#define KEEP_CLOSED (1 * NS_PER_SECOND) /* of a mapping, the same */

struct roster {
	struct processes *processes;
	struct publisher *publisher; /* borrowed */
	uint64_t now;		     /* of the last turn: when memory of BPF was given back */
	uint64_t added;		     /* count */
	bool changed;		     /* there is work for the next turn */
};

int roster_init(struct roster *roster, struct publisher *publisher); /* 0 or -ENOMEM */
void roster_release(struct roster *roster); /* after roster_init(), also if that failed */

/*
 * Adds a live process, and ends the process that had its pid. Takes the mappings; NULL: none are
 * known. Returns NULL without memory.
 */
struct process *roster_add(struct roster *roster, uint32_t pid, uint64_t generation, uint64_t time,
			   struct mappings *mappings);
/* Adds a process that has ended already; a live process of the same pid stays. */
struct process *roster_add_ended(struct roster *roster, uint32_t pid, uint64_t generation,
				 uint64_t time);
/* Gives the next turn work to do for a process. */
void roster_wake(struct roster *roster, struct process *process);
/* Takes a process from BPF. The process must not have ended before. */
void roster_end(struct roster *roster, struct process *process, uint64_t time);
/*
 * Forgets ended processes and closed mappings that no sample can ask for any more: all records in
 * the rings until a time are resolved. Wakes the processes that have found no slot.
 */
void roster_prune(struct roster *roster, uint64_t resolved);

/* Gives a process mappings of its own, before a change of shared ones. Returns 0 or -ENOMEM. */
int roster_own_mappings(struct process *process);

#endif
