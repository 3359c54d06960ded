/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows processes through their life. Events of BPF programs and records of the kernel's
 * side-band, applied by time, become processes with mappings. The publisher shows them to BPF.
 * roster.h holds the processes, life.h applies events, lister.h lists mappings,
 * settle.h finds objects; grants.h asks for memory; state.h has the states of a process.
 */
#ifndef KEYHOLE_WORKER_PROCESS_TRACKER_H
#define KEYHOLE_WORKER_PROCESS_TRACKER_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "worker/process/tracker_parts.h"

struct process;
struct processes;
struct tracker;

#define TRACKER_SWEEP_OBJECTS 128 /* and half as many again since the last sweep */

struct tracker *tracker_new(const struct tracker_parts *parts); /* NULL: no memory */
void tracker_free(struct tracker *tracker);			/* NULL is fine */

/* Input, by time. */
void tracker_event(struct tracker *tracker, const struct event *event);
void tracker_code(struct tracker *tracker, const struct event_code *event);
void tracker_comm(struct tracker *tracker, uint64_t time, uint32_t pid, uint32_t tid,
		  const char *comm, bool exec);
void tracker_mmap(struct tracker *tracker, uint64_t time, uint32_t pid,
		  const struct tracker_mapping *mapping);
void tracker_lost(struct tracker *tracker, uint64_t records);

/*
 * Identifies, publishes, lists again and forgets. resolved: all records that were in the rings at
 * that time are resolved. True: the tracker wants a turn soon, before the next tick.
 */
bool tracker_turn(struct tracker *tracker, uint64_t now, uint64_t resolved);

/* Ends the tracking: an object that is not identified by now is named by its path alone. */
void tracker_finish(struct tracker *tracker);

/* Returns the process of a record; makes and lists a process that no event told of. NULL: no
 * memory. */
struct process *tracker_process(struct tracker *tracker, uint32_t pid, uint64_t generation,
				uint64_t time, uint64_t now);
/* Takes note of a record with an address in no known mapping. True: an answer is under way. */
bool tracker_unknown(struct tracker *tracker, struct process *process, uint64_t now);
/* Lists a process anew, for what it says of itself. The caller limits how often. */
void tracker_look(struct tracker *tracker, struct process *process);
/* Called for every sample: lists processes again that side-band losses made doubtful. As above. */
bool tracker_doubtful(struct tracker *tracker, struct process *process, uint64_t now);

/* Returns the process that had a pid at a time, or the last one before. The kernel still works for
 * a process after its end. NULL: none is known. */
struct process *tracker_owner(struct tracker *tracker, uint32_t pid, uint64_t time);

/* Counts answers of the target: a record that waits need not look again before the next answer. */
uint64_t tracker_answers(const struct tracker *tracker);

struct tracker_counts {
	uint64_t processes, relists, sideband_lost;
	uint64_t mappings_refused, launches_dropped, relists_refused;
	uint64_t grants_given, grants_refused;
};
void tracker_counts(const struct tracker *tracker, struct tracker_counts *ret_counts);
const struct processes *tracker_processes(const struct tracker *tracker);

#endif
