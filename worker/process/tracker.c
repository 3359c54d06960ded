/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/process/tracker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/time.h"
#include "worker/process/file.h"
#include "worker/process/launch.h"
#include "worker/process/listing.h"
#include "worker/process/mapping.h"
#include "worker/process/object.h"
#include "worker/process/process.h"
#include "worker/process/publisher.h"
#include "worker/process/sweep.h"
#include "worker/target/target.h"

struct tracker {
	struct tracker_parts parts;
	struct processes *processes;
	struct launches *launches;
	struct tracker_counts counts;
	uint64_t now;		   /* of the last turn */
	uint64_t losses, listings; /* answered */
	bool work;		   /* something changed since the last turn */
	uint64_t seen_objects, seen_files, seen_replaced;
	uint64_t tidied, sweep_at, failures;
	uint64_t second, relists; /* in this second */
	size_t check;		  /* cursor of look_for_ended() */
};

struct tracker *tracker_new(const struct tracker_parts *parts)
{
	struct tracker *tracker = calloc(1, sizeof(*tracker));

	if (!tracker)
		return NULL;
	tracker->parts = *parts;
	tracker->sweep_at = TRACKER_SWEEP_OBJECTS;
	tracker->processes = processes_new();
	tracker->launches = launches_new();
	if (!tracker->processes || !tracker->launches) {
		tracker_free(tracker);
		return NULL;
	}
	return tracker;
}

static void drop_mappings(struct tracker *tracker, struct process *process)
{
	struct mappings *mappings = process->mappings;

	process->mappings = NULL;
	if (!mappings || !mappings_unshare(mappings))
		return;
	publisher_release(tracker->parts.publisher, mappings, tracker->now);
	mappings_free(mappings);
}

void tracker_free(struct tracker *tracker)
{
	struct process *process;
	size_t cursor = 0;

	if (!tracker)
		return;
	while (tracker->processes &&
	       (process = processes_next(tracker->processes, &cursor)) != NULL)
		drop_mappings(tracker, process);
	processes_free(tracker->processes);
	launches_free(tracker->launches);
	free(tracker);
}

/* ---- mappings ---- */

/* Before a change: mappings that others share are copied. */
static int own_mappings(struct process *process)
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

static void add_mapping(struct tracker *tracker, struct mappings *mappings,
			const struct mapping *mapping)
{
	int r = mappings_add(mappings, mapping);

	tracker->work |= r > 0;
	tracker->counts.mappings_refused += r < 0;
}

void tracker_mmap(struct tracker *tracker, uint64_t time, uint32_t pid,
		  const struct tracker_mapping *told)
{
	struct launch *launch = launches_find(tracker->launches, pid);
	struct process *process = processes_live(tracker->processes, pid);
	struct mapping mapping;

	if ((!launch && !process) || (launch && launch->denied) ||
	    !listing_mapping(&tracker->parts, told, &mapping))
		return;
	mapping.from = time;
	if (launch)
		add_mapping(tracker, launch->mappings, &mapping);
	else if (!mappings_know(process->mappings, &mapping) && own_mappings(process) == 0)
		add_mapping(tracker, process->mappings, &mapping);
}

/* ---- listing ---- */

static void end_process(struct tracker *tracker, struct process *process, uint64_t time)
{
	publisher_retract(tracker->parts.publisher, process->pid, process->generation);
	processes_end(tracker->processes, process, time);
	tracker->work = true;
}

static void on_maps(void *context, uint64_t key, struct target_reply *reply);

static bool list(struct tracker *tracker, struct process *process)
{
	const struct target_request request = {
		.kind = TARGET_MAPS,
		.process = process_asked(process),
		.done = on_maps,
		.context = tracker,
		.key = process_slot_key(process->pid, process->generation),
	};
	bool asked = tracker->parts.target->ask(tracker->parts.target, &request) == 0;

	process->asked = tracker->parts.clock();
	process->listing = asked ? LISTING_ASKED : LISTING_DONE;
	return asked;
}

static bool relist(struct tracker *tracker, struct process *process, uint64_t now);

/* Each listing refuses the same again. */
static void count_refused(struct tracker *tracker, struct process *process, uint64_t refused)
{
	if (refused <= process->refused)
		return;
	tracker->counts.mappings_refused += refused - process->refused;
	process->refused = refused;
}

/* False: there is nothing in it, as in that of a main thread that has exited before others. */
static bool take_listing(struct tracker *tracker, struct process *process,
			 const struct target_reply *reply, uint64_t now)
{
	struct listing listing;
	bool useful;

	if (reply->error < 0 || listing_read(&tracker->parts, reply->fd, &listing) < 0)
		return false;
	useful = listing.count > 0;
	if (useful && own_mappings(process) == 0) {
		int r = mappings_replace(process->mappings, listing.items, listing.count,
					 process->asked, now);

		count_refused(tracker, process, listing.refused + (r < 0));
		process->complete = true;
		process->listed = now;
	}
	listing_release(&listing);
	return useful;
}

static void on_maps(void *context, uint64_t key, struct target_reply *reply)
{
	struct tracker *tracker = context;
	struct process *process;
	uint64_t now = tracker->parts.clock();
	bool current = tracker->parts.catch_up(tracker->parts.catch_up_context);

	process =
		processes_find(tracker->processes, key & PROCESS_PID_MAX, key >> PROCESS_PID_BITS);
	if (!process || process->listing != LISTING_ASKED)
		return;
	process->listing = LISTING_DONE;
	process->list_again = !current;
	tracker->work = true;
	tracker->listings++;
	if (process->ended || !current)
		return;
	/* A launch: the pid may be another program's by now, of which its own events tell. */
	if (!launches_find(tracker->launches, process->pid)) {
		/* shown once and gone now: it is over, whatever became of its event */
		if (reply->error == -ENOENT && process->complete &&
		    process_asked(process).thread == process->pid) {
			end_process(tracker, process, now);
			return;
		}
		if (take_listing(tracker, process, reply, now))
			return;
		process->by_thread = !process->by_thread;
		if (process->tid == 0)
			return;
	}
	relist(tracker, process, now);
}

/* At most one for a process at a time, with growing gaps, and so many for all in a second. */
static bool relist(struct tracker *tracker, struct process *process, uint64_t now)
{
	if (process->listing == LISTING_ASKED)
		return true;
	if (process->ended || now < process->relist_after)
		return false;
	if (now / NS_PER_SECOND != tracker->second) {
		tracker->second = now / NS_PER_SECOND;
		tracker->relists = 0;
	}
	if (tracker->relists >= TRACKER_RELISTS_PER_SECOND) {
		tracker->counts.relists_refused += !process->put_off;
		process->put_off = true;
		return false;
	}
	process->put_off = false;
	tracker->relists++;
	tracker->counts.relists++;
	process->relist_gap = process->relist_gap == 0 ? RELIST_GAP_FIRST : process->relist_gap * 2;
	if (process->relist_gap > RELIST_GAP_MAX)
		process->relist_gap = RELIST_GAP_MAX;
	process->relist_after = now + process->relist_gap;
	process->losses = tracker->losses;
	return list(tracker, process);
}

bool tracker_unknown(struct tracker *tracker, struct process *process, uint64_t now)
{
	return relist(tracker, process, now);
}

bool tracker_doubtful(struct tracker *tracker, struct process *process, uint64_t now)
{
	if (process->listing == LISTING_ASKED)
		return true;
	return process->losses != tracker->losses && relist(tracker, process, now);
}

void tracker_lost(struct tracker *tracker, uint64_t records)
{
	tracker->counts.sideband_lost += records;
	tracker->losses++;
}

/* ---- life ---- */

/* Mappings are taken; NULL is replaced by none. */
static struct process *add_process(struct tracker *tracker, uint32_t pid, uint64_t generation,
				   uint64_t time, struct mappings *mappings, bool ended)
{
	struct process *old = processes_live(tracker->processes, pid), *process = NULL;

	if (old && !ended)
		end_process(tracker, old, time);
	if (!mappings)
		mappings = mappings_new();
	if (mappings && ended)
		process = processes_add_ended(tracker->processes, pid, generation, time);
	else if (mappings)
		process = processes_add(tracker->processes, pid, generation, time);
	if (!process) {
		if (mappings && mappings_unshare(mappings))
			mappings_free(mappings);
		return NULL;
	}
	process->mappings = mappings;
	process->losses = tracker->losses;
	tracker->counts.processes++;
	tracker->work = true;
	return process;
}

static void on_seen(struct tracker *tracker, const struct event *event)
{
	struct process *process = processes_find(tracker->processes, event->pid, event->generation);
	bool known = process != NULL;

	if (!known)
		process = add_process(tracker, event->pid, event->generation, event->time, NULL,
				      false);
	if (process)
		process->cgroup = event->cgroup;
	if (process && !known)
		list(tracker, process);
}

static void on_forked(struct tracker *tracker, const struct event *event)
{
	struct process *parent =
		processes_find(tracker->processes, event->parent_pid, event->parent_generation);
	struct mappings *mappings = NULL;
	struct process *child;

	/* a record may have told of it already */
	if (processes_find(tracker->processes, event->pid, event->generation))
		return;
	if (parent && parent->mappings)
		mappings = mappings_share(parent->mappings);
	child = add_process(tracker, event->pid, event->generation, event->time, mappings, false);
	if (!child)
		return;
	child->cgroup = event->cgroup;
	if (parent) {
		process_set_comm(child, parent->comm);
		child->complete = parent->complete;
		child->losses = parent->losses;
	}
	if (!child->complete)
		list(tracker, child);
}

static void on_execed(struct tracker *tracker, const struct event *event)
{
	struct launch *launch = launches_find(tracker->launches, event->pid);
	struct mappings *mappings;
	struct process *process;
	bool told;

	if (processes_find(tracker->processes, event->pid, event->generation))
		return;
	mappings = launch ? launch_take(launch) : NULL;
	told = mappings != NULL;
	process = add_process(tracker, event->pid, event->generation, event->time, mappings, false);
	if (process) {
		process->cgroup = event->cgroup;
		process->complete = told;
		if (launch)
			process_set_comm(process, launch->comm);
		if (!told || launch->losses != tracker->losses)
			list(tracker, process);
	}
	launches_end(tracker->launches, launch);
}

/* What the side-band tells of it from now on is not looked at. */
static void on_denied(struct tracker *tracker, const struct event *event)
{
	struct process *process = processes_live(tracker->processes, event->pid);

	launches_deny(tracker->launches, event->pid, event->time);
	if (process)
		end_process(tracker, process, event->time);
}

static void on_exited(struct tracker *tracker, const struct event *event)
{
	struct process *process = processes_find(tracker->processes, event->pid, event->generation);

	launches_end(tracker->launches, launches_find(tracker->launches, event->pid));
	if (process && !process->ended)
		end_process(tracker, process, event->time);
}

void tracker_event(struct tracker *tracker, const struct event *event)
{
	static void (*const handlers[])(struct tracker *, const struct event *) = {
		[EVENT_SEEN] = on_seen,	  [EVENT_FORK] = on_forked,   [EVENT_EXEC] = on_execed,
		[EVENT_EXIT] = on_exited, [EVENT_DENIED] = on_denied,
	};

	if (event->kind >= sizeof(handlers) / sizeof(*handlers) || !handlers[event->kind])
		return;
	if (event->pid == 0 || event->pid > PROCESS_PID_MAX || event->generation == 0)
		return;
	handlers[event->kind](tracker, event);
}

void tracker_comm(struct tracker *tracker, uint64_t time, uint32_t pid, uint32_t tid,
		  const char *comm, bool exec)
{
	struct process *process = processes_live(tracker->processes, pid);

	if (exec)
		launches_begin(tracker->launches, pid, time, comm, tracker->losses,
			       process || !tracker->parts.known_only);
	else if (process && pid == tid)
		process_set_comm(process, comm);
}

struct process *tracker_process(struct tracker *tracker, uint32_t pid, uint64_t generation,
				uint64_t time, uint64_t now)
{
	struct process *process = processes_find(tracker->processes, pid, generation);
	struct process *live;

	if (process)
		return process;
	live = processes_live(tracker->processes, pid);
	if (live && live->started >= time)
		return add_process(tracker, pid, generation, now, NULL, true);
	process = add_process(tracker, pid, generation, time, NULL, false);
	if (process)
		list(tracker, process);
	return process;
}

/* ---- turns ---- */

/* False: some object is not identified yet. */
static bool settle_open(struct tracker *tracker, struct process *process, uint64_t now)
{
	struct mappings *mappings = process->mappings;
	struct files *files = tracker->parts.files;
	bool settled = true;

	for (size_t i = 0; i < mappings->open_count; i++) {
		struct mapping *mapping = &mappings->open[i];

		if (mapping->object)
			continue;
		/* Of a process that is over, only what was found out before counts. */
		mapping->object =
			process->ended ? files_last_object(files, mapping->file, now)
				       : files_object(files, mapping->file, process_asked(process),
						      mapping->start, mapping->end, now);
		mapping->identified = now;
		settled &= mapping->object != NULL;
		mappings->dirty |= mapping->object != NULL;
		/* The dynamic linker maps a whole file and then others over its end, of which only
		 * executable ones are told. */
		if (!mapping->object && !process->ended && mapping->file &&
		    file_is_gone(mapping->file, process_asked(process), mapping->start,
				 mapping->end))
			tracker->work |= !relist(tracker, process, now);
	}
	return settled;
}

/* Without asking. */
static bool settle_last(struct files *files, struct mapping *list, size_t count, uint64_t now)
{
	bool settled = true;

	for (size_t i = 0; i < count; i++) {
		struct mapping *mapping = &list[i];

		if (!mapping->object)
			mapping->object = files_last_object(files, mapping->file, now);
		settled &= mapping->object != NULL;
	}
	return settled;
}

static void settle(struct tracker *tracker, struct process *process, uint64_t now)
{
	struct mappings *mappings = process->mappings;
	bool settled;

	if (!mappings->unsettled || (process->ended && mappings->references > 1))
		return;
	settled = settle_open(tracker, process, now);
	settled &= settle_last(tracker->parts.files, mappings->closed, mappings->closed_count, now);
	mappings->unsettled = !settled;
}

/* True: something has to wait for a moment that comes soon. */
static bool publish_all(struct tracker *tracker, uint64_t now)
{
	struct process *process;
	size_t cursor = 0;
	bool soon = false;

	while ((process = processes_next(tracker->processes, &cursor)) != NULL) {
		int r = publisher_update(tracker->parts.publisher, process, now);

		tracker->work |= r < 0;
		soon |= r == -EAGAIN;
	}
	return soon;
}

static void forget_ended(struct tracker *tracker, uint64_t now)
{
	struct process *process;
	size_t cursor = 0;

	while ((process = processes_next(tracker->processes, &cursor)) != NULL) {
		if (process->mappings->closed_count > 0 && now > KEEP_CLOSED)
			mappings_prune(process->mappings, now - KEEP_CLOSED);
		if (process->ended == 0 || process->ended + KEEP_ENDED > now)
			continue;
		drop_mappings(tracker, process);
		processes_remove(tracker->processes, process);
	}
}

/* Lists some again: each event of an exit that was lost keeps a slot and a block. */
static void look_for_ended(struct tracker *tracker)
{
	struct process *process;

	for (int asked = 0; asked < CHECKS_A_SECOND;) {
		process = processes_next(tracker->processes, &tracker->check);
		if (!process) {
			tracker->check = 0;
			return;
		}
		if (!process->ended && process->listing != LISTING_ASKED)
			asked += list(tracker, process);
	}
}

/* When many have come, or there is no room for blocks or no slot for a process. */
static void sweep(struct tracker *tracker, uint64_t now)
{
	uint64_t failures = publisher_failures(tracker->parts.publisher);
	bool no_room = failures != tracker->failures;

	if (no_room)
		look_for_ended(tracker);
	if (objects_count(tracker->parts.objects) < tracker->sweep_at && !no_room)
		return;
	tracker->failures = failures;
	sweep_unmapped(&tracker->parts, tracker->processes, tracker->launches, now, no_room);
	tracker->sweep_at = objects_count(tracker->parts.objects) * 3 / 2 + TRACKER_SWEEP_OBJECTS;
}

static void tidy(struct tracker *tracker, uint64_t now)
{
	if (now < tracker->tidied + NS_PER_SECOND)
		return;
	tracker->tidied = now;
	launches_prune(tracker->launches, now);
	forget_ended(tracker, now);
	sweep_unclaimed(&tracker->parts, tracker->processes, tracker->launches);
	sweep(tracker, now);
}

bool tracker_turn(struct tracker *tracker, uint64_t now)
{
	uint64_t objects = objects_changes(tracker->parts.objects);
	uint64_t files = files_changes(tracker->parts.files);
	bool ready = objects != tracker->seen_objects;
	struct process *process;
	size_t cursor = 0;

	tracker->now = now;
	tidy(tracker, now);
	if (!tracker->work && !ready && files == tracker->seen_files)
		return false;
	tracker->seen_objects = objects;
	tracker->seen_files = files;
	tracker->work = false;
	if (files_replaced(tracker->parts.files) != tracker->seen_replaced)
		sweep_replaced(tracker->processes);
	tracker->seen_replaced = files_replaced(tracker->parts.files);
	while ((process = processes_next(tracker->processes, &cursor)) != NULL) {
		settle(tracker, process, now);
		if (process->list_again && process->listing != LISTING_ASKED && !process->ended) {
			process->list_again = !list(tracker, process);
			tracker->work |= process->list_again;
		}
		if (ready)
			publisher_look_for_ready(process->mappings);
	}
	return publish_all(tracker, now);
}

void tracker_finish(struct tracker *tracker)
{
	struct process *process;
	size_t cursor = 0;

	while ((process = processes_next(tracker->processes, &cursor)) != NULL) {
		struct mappings *all = process->mappings;

		settle_last(tracker->parts.files, all->open, all->open_count, UINT64_MAX);
		settle_last(tracker->parts.files, all->closed, all->closed_count, UINT64_MAX);
	}
}

uint64_t tracker_answers(const struct tracker *tracker)
{
	return tracker->listings + files_changes(tracker->parts.files);
}

void tracker_counts(const struct tracker *tracker, struct tracker_counts *ret_counts)
{
	*ret_counts = tracker->counts;
	ret_counts->launches_dropped = launches_dropped(tracker->launches);
}

const struct processes *tracker_processes(const struct tracker *tracker)
{
	return tracker->processes;
}
