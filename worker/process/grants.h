/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks that BPF may read the memory of processes that run a language's runtime. A grant belongs to
 * a program and its forks, so a fork that has its parent's grant asks nothing.
 */
#ifndef KEYHOLE_WORKER_PROCESS_GRANTS_H
#define KEYHOLE_WORKER_PROCESS_GRANTS_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"

struct process;
struct roster;
struct tracker_parts;

#define GRANTS_AT_ONCE 4 /* requests under way: those for mappings and objects wait behind them */
#define GRANTS_APART   1 /* of groups whose requests wait apart, beside those */
#define GRANT_TRIES    4 /* for a process: when the broker is busy, and for further mappings */

struct grants {
	const struct tracker_parts *parts; /* borrowed, as the next one */
	struct roster *roster;
	unsigned int under_way, apart;
	bool later;		 /* a process waits for a later turn */
	uint64_t given, refused; /* counts of requests */
};

/*
 * Returns whether a turn is to ask for the process: a known mapping is that of a runtime. Others
 * may be unknown yet, and none published: a process of some ms has no time to lose.
 */
bool grants_want(const struct process *process);
/*
 * Notes the result of a list. BPF itself refuses to read memory by a rule about the process's
 * cgroup, which the process may leave.
 */
void grants_note(struct process *process, enum runtime_result result);
/* Asks for processes that are awake. */
void grants_turn(struct grants *grants, uint64_t now);

#endif
