/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/process/roster.h"

#include <errno.h>

#include "worker/process/mapping.h"
#include "worker/process/process.h"
#include "worker/process/publisher.h"

int roster_init(struct roster *roster, struct publisher *publisher)
{
	*roster = (struct roster){.publisher = publisher, .processes = processes_new()};
	if (!roster->processes)
		return -ENOMEM;
	return 0;
}

static void drop_mappings(struct roster *roster, struct process *process)
{
	struct mappings *mappings = process->mappings;

	process->mappings = NULL;
	if (!mappings || !mappings_unshare(mappings))
		return;
	publisher_release(roster->publisher, mappings, roster->now);
	mappings_free(mappings);
}

void roster_release(struct roster *roster)
{
	struct process *process;
	size_t cursor = 0;

	if (!roster->processes)
		return;
	while ((process = processes_next(roster->processes, &cursor)) != NULL)
		drop_mappings(roster, process);
	processes_free(roster->processes);
	roster->processes = NULL;
}

int roster_own_mappings(struct process *process)
{
	struct mappings *shared = process->mappings, *copy;

	if (shared->references == 1)
		return 0;
	copy = mappings_copy(shared);
	if (!copy)
		return -ENOMEM;
	publisher_share(copy, shared);
	mappings_unshare(shared);
	process->mappings = copy;
	return 0;
}

static struct process *enter(struct roster *roster, struct process *process,
			     struct mappings *mappings)
{
	process->mappings = mappings;
	roster->added++;
	roster->changed = true;
	return process;
}

struct process *roster_add(struct roster *roster, uint32_t pid, uint64_t generation, uint64_t time,
			   struct mappings *mappings)
{
	struct process *old = processes_live(roster->processes, pid), *process;

	if (old)
		roster_end(roster, old, time);
	if (!mappings)
		mappings = mappings_new();
	if (!mappings)
		return NULL;
	process = processes_add(roster->processes, pid, generation, time);
	if (process)
		return enter(roster, process, mappings);
	if (mappings_unshare(mappings))
		mappings_free(mappings);
	return NULL;
}

struct process *roster_add_ended(struct roster *roster, uint32_t pid, uint64_t generation,
				 uint64_t time)
{
	struct mappings *mappings = mappings_new();
	struct process *process;

	if (!mappings)
		return NULL;
	process = processes_add_ended(roster->processes, pid, generation, time);
	if (process)
		return enter(roster, process, mappings);
	mappings_free(mappings);
	return NULL;
}

void roster_wake(struct roster *roster, struct process *process)
{
	processes_wake(roster->processes, process);
	roster->changed = true;
}

void roster_end(struct roster *roster, struct process *process, uint64_t time)
{
	if (!process_is_waited_for(process, time))
		publisher_retract(roster->publisher, process->pid, process->generation);
	processes_end(roster->processes, process, time);
	roster->changed = true;
}

/* Takes an ended process from BPF, which keeps no sample of the process any more. */
static void stop_waiting(struct roster *roster, struct process *process)
{
	publisher_retract(roster->publisher, process->pid, process->generation);
	process->waited_for = 0;
}

void roster_prune(struct roster *roster, uint64_t resolved)
{
	struct process *process;
	size_t cursor = 0;

	while ((process = processes_next(roster->processes, &cursor)) != NULL) {
		if (process->mappings->closed_count > 0 && resolved > KEEP_CLOSED)
			mappings_prune(process->mappings, resolved - KEEP_CLOSED);
		if (process->unplaced && !process_state_is_ended(process->state))
			roster_wake(roster, process);
		if (!process_state_is_ended(process->state))
			continue;
		if (process->waited_for && !process_is_waited_for(process, roster->now))
			stop_waiting(roster, process);
		if (process->ended + KEEP_ENDED > resolved)
			continue;
		stop_waiting(roster, process);
		drop_mappings(roster, process);
		processes_remove(roster->processes, process);
	}
}
