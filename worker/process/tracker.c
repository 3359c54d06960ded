/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/process/tracker.h"

#include <errno.h>
#include <stdlib.h>

#include "ipc/time.h"
#include "worker/process/file.h"
#include "worker/process/grants.h"
#include "worker/process/launch.h"
#include "worker/process/life.h"
#include "worker/process/lister.h"
#include "worker/process/mapping.h"
#include "worker/process/object.h"
#include "worker/process/process.h"
#include "worker/process/publisher.h"
#include "worker/process/roster.h"
#include "worker/process/settle.h"
#include "worker/process/sweep.h"

struct tracker {
	struct tracker_parts parts;
	struct launches *launches;
	struct roster roster;
	struct lister lister;
	struct life life;
	struct grants grants;
	uint64_t sideband_lost; /* records */
	/* Counts of objects, files and failures as the last turn saw them. */
	uint64_t seen_objects, seen_files, seen_replaced, seen_failures;
	uint64_t tidied;   /* time */
	uint64_t sweep_at; /* objects */
};

struct tracker *tracker_new(const struct tracker_parts *parts)
{
	struct tracker *tracker = calloc(1, sizeof(*tracker));

	if (!tracker)
		return NULL;
	tracker->parts = *parts;
	tracker->sweep_at = TRACKER_SWEEP_OBJECTS;
	tracker->launches = launches_new();
	if (roster_init(&tracker->roster, parts->publisher) < 0 || !tracker->launches) {
		tracker_free(tracker);
		return NULL;
	}
	lister_init(&tracker->lister, &tracker->parts, &tracker->roster, tracker->launches);
	tracker->grants = (struct grants){.parts = &tracker->parts, .roster = &tracker->roster};
	tracker->life = (struct life){
		.parts = &tracker->parts,
		.roster = &tracker->roster,
		.lister = &tracker->lister,
		.launches = tracker->launches,
	};
	return tracker;
}

void tracker_free(struct tracker *tracker)
{
	if (!tracker)
		return;
	lister_release(&tracker->lister);
	roster_release(&tracker->roster);
	launches_free(tracker->launches);
	free(tracker);
}

/* ---- input ---- */

void tracker_event(struct tracker *tracker, const struct event *event)
{
	life_event(&tracker->life, event);
}

void tracker_code(struct tracker *tracker, const struct event_code *event)
{
	life_code(&tracker->life, event);
}

void tracker_comm(struct tracker *tracker, uint64_t time, uint32_t pid, uint32_t tid,
		  const char *comm, bool exec)
{
	life_comm(&tracker->life, time, pid, tid, comm, exec);
}

void tracker_mmap(struct tracker *tracker, uint64_t time, uint32_t pid,
		  const struct tracker_mapping *mapping)
{
	life_mmap(&tracker->life, time, pid, mapping);
}

void tracker_lost(struct tracker *tracker, uint64_t records)
{
	tracker->sideband_lost += records;
	tracker->lister.losses++;
}

struct process *tracker_process(struct tracker *tracker, uint32_t pid, uint64_t generation,
				uint64_t time, uint64_t now)
{
	return life_process(&tracker->life, pid, generation, time, now);
}

struct process *tracker_owner(struct tracker *tracker, uint32_t pid, uint64_t time)
{
	struct process *live = processes_live(tracker->roster.processes, pid);
	struct process *gone = processes_gone(tracker->roster.processes, pid);

	if (live && live->started <= time)
		return live;
	if (gone && gone->started <= time)
		return gone;
	return NULL;
}

bool tracker_unknown(struct tracker *tracker, struct process *process, uint64_t now)
{
	return lister_relist(&tracker->lister, process, now);
}

void tracker_look(struct tracker *tracker, struct process *process)
{
	lister_look(&tracker->lister, process);
}

bool tracker_doubtful(struct tracker *tracker, struct process *process, uint64_t now)
{
	return lister_relist_doubtful(&tracker->lister, process, now);
}

/* ---- turns ---- */

/* Sweeps after many objects have come, or where blocks or slots have found no room. */
static void sweep(struct tracker *tracker, uint64_t now)
{
	struct objects *objects = tracker->parts.objects;
	uint64_t failures = publisher_failures(tracker->parts.publisher);
	bool no_room = failures != tracker->seen_failures;

	/* A process whose exit was lost keeps a slot and a block. */
	if (no_room)
		lister_look_for_ended(&tracker->lister);
	if (objects_count(objects) < tracker->sweep_at && !no_room)
		return;
	tracker->seen_failures = failures;
	sweep_unmapped(&tracker->parts, tracker->roster.processes, tracker->launches, now, no_room);
	tracker->sweep_at = objects_count(objects) * 3 / 2 + TRACKER_SWEEP_OBJECTS;
}

static void tidy(struct tracker *tracker, uint64_t now, uint64_t resolved)
{
	if (now < tracker->tidied + NS_PER_SECOND)
		return;
	tracker->tidied = now;
	launches_prune(tracker->launches, now);
	roster_prune(&tracker->roster, resolved);
	files_retry(tracker->parts.files);
	tracker->roster.changed |= tracker->grants.later;
	sweep_unclaimed(&tracker->parts, tracker->roster.processes, tracker->launches);
	sweep(tracker, now);
}

/* Mappings of a file that turned out to be another object forget the old one. */
static void forget_replaced(struct tracker *tracker)
{
	uint64_t replaced = files_replaced(tracker->parts.files);

	if (replaced == tracker->seen_replaced)
		return;
	tracker->seen_replaced = replaced;
	sweep_replaced(tracker->roster.processes);
}

static void settle(struct tracker *tracker, bool objects_changed, uint64_t now)
{
	struct process *process = processes_awake(tracker->roster.processes);

	for (; process; process = process->awake_next) {
		settle_process(&tracker->parts, &tracker->lister, process, now);
		lister_retry(&tracker->lister, process);
		if (objects_changed)
			publisher_look_for_ready(process->mappings);
	}
}

/* Returns true when some mappings can be published soon, but not now. */
static bool publish(struct tracker *tracker, uint64_t now)
{
	struct process *process = processes_awake(tracker->roster.processes);
	bool soon = false;

	for (; process; process = process->awake_next) {
		int r = publisher_update(tracker->parts.publisher, process, now);

		if (r < 0)
			tracker->roster.changed = true;
		if (r == -EAGAIN)
			soon = true;
	}
	return soon;
}

/*
 * Returns whether a later turn has work to do for a process, whatever comes. Processes that share
 * mappings stay awake together, so that each of them publishes a new block.
 */
static bool has_work(const struct process *process, uint64_t now)
{
	const struct mappings *mappings = process->mappings;

	if (mappings->unsettled || process_state_is_early(process->state))
		return true;
	if (!process_state_is_complete(process->state))
		return false;
	if (process_state_is_ended(process->state) && !process_is_waited_for(process, now))
		return false;
	return mappings->dirty || publisher_waits(mappings) || grants_want(process);
}

static void rest(struct tracker *tracker, uint64_t now)
{
	struct process *process = processes_awake(tracker->roster.processes), *next;

	for (; process; process = next) {
		next = process->awake_next;
		if (!has_work(process, now))
			process_rest(process);
	}
}

bool tracker_turn(struct tracker *tracker, uint64_t now, uint64_t resolved)
{
	uint64_t objects = objects_changes(tracker->parts.objects);
	uint64_t files = files_changes(tracker->parts.files);
	bool objects_changed = objects != tracker->seen_objects, soon;

	tracker->roster.now = now;
	tidy(tracker, now, resolved);
	lister_turn(&tracker->lister);
	if (!tracker->roster.changed && !objects_changed && files == tracker->seen_files)
		return false;
	tracker->seen_objects = objects;
	tracker->seen_files = files;
	tracker->roster.changed = false;
	forget_replaced(tracker);
	settle(tracker, objects_changed, now);
	soon = publish(tracker, now);
	grants_turn(&tracker->grants, now);
	rest(tracker, now);
	return soon;
}

void tracker_finish(struct tracker *tracker)
{
	struct process *process;
	size_t cursor = 0;

	while ((process = processes_next(tracker->roster.processes, &cursor)) != NULL)
		settle_finally(&tracker->parts, process);
}

/* ---- figures ---- */

uint64_t tracker_answers(const struct tracker *tracker)
{
	return tracker->lister.answers + files_changes(tracker->parts.files);
}

void tracker_counts(const struct tracker *tracker, struct tracker_counts *ret_counts)
{
	*ret_counts = (struct tracker_counts){
		.processes = tracker->roster.added,
		.relists = tracker->lister.counts.relists,
		.sideband_lost = tracker->sideband_lost,
		.mappings_refused = tracker->life.refused + tracker->lister.counts.refused,
		.launches_dropped = launches_dropped(tracker->launches),
		.relists_refused = tracker->lister.counts.put_off,
		.grants_given = tracker->grants.given,
		.grants_refused = tracker->grants.refused,
	};
}

const struct processes *tracker_processes(const struct tracker *tracker)
{
	return tracker->roster.processes;
}
