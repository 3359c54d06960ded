/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows processes through their life: events of the BPF programs and the kernel's side-band
 * records, applied in the order of time, become processes with mappings, which are published.
 */
#ifndef KEYHOLE_WORKER_PROCESS_TRACKER_H
#define KEYHOLE_WORKER_PROCESS_TRACKER_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"

struct files;
struct objects;
struct process;
struct processes;
struct publisher;
struct target;
struct tracker;

#ifndef TRACKER_RELISTS_PER_SECOND
#define TRACKER_RELISTS_PER_SECOND 200 /* of all processes */
#endif
/* Of processes that have ended, of closed mappings, between listings; in ns. */
#define KEEP_ENDED	      (3 * NS_PER_SECOND) /* longer than any sample is held */
#define KEEP_CLOSED	      (3 * NS_PER_SECOND)
#define RELIST_GAP_FIRST      (100 * NS_PER_MS)
#define RELIST_GAP_MAX	      (5 * NS_PER_SECOND)
#define CHECKS_A_SECOND	      100
#define TRACKER_SWEEP_OBJECTS 1024 /* and half as many again since the last sweep */

/* All borrowed. */
struct tracker_parts {
	struct target *target;
	struct objects *objects;
	struct files *files;
	struct publisher *publisher;
	uint64_t (*clock)(void); /* CLOCK_MONOTONIC */
	bool known_only; /* the start of a program is only kept of a process that is known */
	/* Applies what was told up to now, before an answer that may reflect it. False: not all of
	 * it can be read yet. */
	bool (*catch_up)(void *context);
	void *catch_up_context;
};

/* An executable mapping as the kernel tells it. */
struct tracker_mapping {
	uint64_t start, end, offset;
	uint64_t device, inode, inode_generation; /* inode 0: no file; generation 0: not told */
	const char *path;
};

struct tracker *tracker_new(const struct tracker_parts *parts); /* NULL: no memory */
void tracker_free(struct tracker *tracker);			/* NULL is fine */

/* Input, by time. */
void tracker_event(struct tracker *tracker, const struct event *event);
void tracker_comm(struct tracker *tracker, uint64_t time, uint32_t pid, uint32_t tid,
		  const char *comm, bool exec);
void tracker_mmap(struct tracker *tracker, uint64_t time, uint32_t pid,
		  const struct tracker_mapping *mapping);
void tracker_lost(struct tracker *tracker, uint64_t records);

/* Identifies, publishes, lists again, forgets. True: wants a turn soon, before the next tick. */
bool tracker_turn(struct tracker *tracker, uint64_t now);

/* At the end: what is not identified by now is named by its path alone. */
void tracker_finish(struct tracker *tracker);

/* The process of a record; one that no event told of is made and listed. NULL: no memory. */
struct process *tracker_process(struct tracker *tracker, uint32_t pid, uint64_t generation,
				uint64_t time, uint64_t now);
/* A record names an address that is in no known mapping: true when an answer is under way. */
bool tracker_unknown(struct tracker *tracker, struct process *process, uint64_t now);
/* Called for every sample: lists again what side-band losses made doubtful. As above. */
bool tracker_doubtful(struct tracker *tracker, struct process *process, uint64_t now);

/* Counts answers of the target: before another one, a record that waits would wait again. */
uint64_t tracker_answers(const struct tracker *tracker);

struct tracker_counts {
	uint64_t processes, relists, sideband_lost;
	uint64_t mappings_refused, launches_dropped, relists_refused;
};
void tracker_counts(const struct tracker *tracker, struct tracker_counts *ret_counts);
const struct processes *tracker_processes(const struct tracker *tracker);

#endif
