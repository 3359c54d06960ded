/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/process/life.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "bpf/abi.h"
#include "worker/process/launch.h"
#include "worker/process/lister.h"
#include "worker/process/listing.h"
#include "worker/process/mapping.h"
#include "worker/process/object.h"
#include "worker/process/process.h"
#include "worker/process/publisher.h"
#include "worker/process/roster.h"
#include "worker/runtime/cpython_types.h"
#include "worker/runtime/functions.h"
#include "worker/runtime/runtime.h"
#include "worker/runtime/told.h"
#include "worker/target/target.h"

/* ---- mappings and names ---- */

/* Returns true when something changed. */
static bool add_mapping(struct life *life, struct mappings *mappings, const struct mapping *mapping)
{
	int r = mappings_add(mappings, mapping);

	if (r < 0)
		life->refused++;
	return r > 0;
}

static void add_to_process(struct life *life, struct process *process,
			   const struct mapping *mapping)
{
	if (mappings_know(process->mappings, mapping))
		return;
	if (roster_own_mappings(process) < 0)
		return;
	if (add_mapping(life, process->mappings, mapping))
		roster_wake(life->roster, process);
}

void life_mmap(struct life *life, uint64_t time, uint32_t pid, const struct tracker_mapping *told)
{
	struct launch *launch = launches_find(life->launches, pid);
	struct process *process = processes_live(life->roster->processes, pid);
	struct mapping mapping;

	if (!launch && !process)
		return;
	if (launch && launch->denied)
		return;
	if (!listing_mapping(life->parts, told, &mapping))
		return;
	mapping.from = time;
	if (launch)
		add_mapping(life, launch->mappings, &mapping);
	else
		add_to_process(life, process, &mapping);
}

void life_comm(struct life *life, uint64_t time, uint32_t pid, uint32_t tid, const char *comm,
	       bool exec)
{
	struct process *process = processes_live(life->roster->processes, pid);
	bool keep = process || !life->parts->known_only;

	if (exec)
		launches_begin(life->launches, pid, time, comm, life->lister->losses, keep);
	else if (process && pid == tid)
		process_set_comm(process, comm);
}

/* ---- events ---- */

/* Notes whose process it is. */
static void set_owner(struct process *process, const struct event *event)
{
	struct target_group *owner = &process->owner;

	_Static_assert(sizeof(owner->outer) == sizeof(event->outer), "as in struct event");
	owner->cgroup = event->cgroup;
	owner->uid = event->uid;
	owner->session = event->session;
	memcpy(owner->outer, event->outer, sizeof(owner->outer));
}

/* Adds a live process, without asking for a listing. Takes the mappings. */
static struct process *add(struct life *life, const struct event *event, struct mappings *mappings)
{
	struct process *process =
		roster_add(life->roster, event->pid, event->generation, event->time, mappings);

	if (!process)
		return NULL;
	process->losses = life->lister->losses;
	set_owner(process, event);
	return process;
}

/* 0: an event does not tell. */
static void set_family(struct process *process, uint64_t family)
{
	if (family)
		process->family = family;
}

static struct process *find(const struct life *life, const struct event *event)
{
	return processes_find(life->roster->processes, event->pid, event->generation);
}

static void on_seen(struct life *life, const struct event *event)
{
	struct process *process = find(life, event);

	if (process) {
		set_owner(process, event);
		set_family(process, event->parent_generation);
		return;
	}
	process = add(life, event, NULL);
	if (!process)
		return;
	set_family(process, event->parent_generation);
	lister_ask(life->lister, process);
}

static void on_found(struct life *life, const struct event *event)
{
	struct process *process = NULL;

	if (!find(life, event))
		process = add(life, event, NULL);
	if (process)
		lister_find(life->lister, process, event->parent_generation);
}

static void inherit(struct process *child, const struct process *parent, uint64_t time)
{
	process_set_comm(child, parent->comm);
	child->owner = parent->owner;
	child->owner.cgroup = process_cgroup(parent, time);
	child->losses = parent->losses;
	child->grant = parent->grant;
	if (process_state_is_complete(parent->state))
		process_step(child, PROCESS_WAS_TOLD);
}

/* Gives a child the family of its parent. An unknown parent counts as the first of a family. */
static void join_family(struct process *child, const struct process *parent,
			const struct event *event)
{
	set_family(child, event->parent_generation);
	if (parent)
		set_family(child, parent->family);
}

static void on_forked(struct life *life, const struct event *event)
{
	struct process *parent = processes_find(life->roster->processes, event->parent_pid,
						event->parent_generation);
	struct mappings *mappings = NULL;
	struct process *child = find(life, event);

	/* A sample may have come before the event: life_process(). */
	if (child) {
		child->created = event->time;
		join_family(child, parent, event);
		return;
	}
	if (parent && parent->mappings)
		mappings = mappings_share(parent->mappings);
	child = add(life, event, mappings);
	if (!child)
		return;
	child->created = event->time;
	child->owner.uid = TARGET_UID_UNKNOWN;
	join_family(child, parent, event);
	if (parent)
		inherit(child, parent, event->time);
	if (!process_state_is_complete(child->state))
		lister_ask(life->lister, child);
}

/* Returns when a pid was given to the process that has it. */
static uint64_t creation_of(const struct life *life, uint32_t pid)
{
	const struct process *process = processes_live(life->roster->processes, pid);

	if (!process)
		return 0;
	return process->created;
}

static void start_program(struct life *life, const struct event *event, struct launch *launch)
{
	struct mappings *mappings = launch ? launch_take(launch) : NULL;
	const uint64_t created = creation_of(life, event->pid);
	bool told = mappings != NULL;
	struct process *process = add(life, event, mappings);

	if (!process)
		return;
	process->created = created;
	if (launch)
		process_set_comm(process, launch->comm);
	if (told)
		process_step(process, PROCESS_WAS_TOLD);
	if (!told || launch->losses != life->lister->losses)
		lister_ask(life->lister, process);
}

static void on_execed(struct life *life, const struct event *event)
{
	struct launch *launch = launches_find(life->launches, event->pid);

	if (find(life, event))
		return;
	start_program(life, event, launch);
	launches_end(life->launches, launch);
}

/* Ends the process; the records of the denied program that follow are thrown away. */
static void on_denied(struct life *life, const struct event *event)
{
	struct process *process = processes_live(life->roster->processes, event->pid);

	launches_deny(life->launches, event->pid, event->time);
	if (process)
		roster_end(life->roster, process, event->time);
}

static void on_moved(struct life *life, const struct event *event)
{
	struct process *process = find(life, event);

	if (process)
		process_move(process, event->cgroup, event->time);
}

/* The sample waits for its mappings, even after the end of the process. */
static void on_waiting(struct life *life, const struct event *event)
{
	struct process *process = find(life, event);

	if (!process)
		return;
	process->waited_for = event->time + PROCESS_WAITED_FOR;
	if (!process_state_is_complete(process->state))
		lister_relist(life->lister, process, event->time);
	roster_wake(life->roster, process);
}

static void on_exited(struct life *life, const struct event *event)
{
	struct process *process = find(life, event);

	launches_end(life->launches, launches_find(life->launches, event->pid));
	if (process && !process_state_is_ended(process->state))
		roster_end(life->roster, process, event->time);
}

void life_event(struct life *life, const struct event *event)
{
	static void (*const handlers[])(struct life *, const struct event *) = {
		[EVENT_SEEN] = on_seen,	  [EVENT_FORK] = on_forked,   [EVENT_EXEC] = on_execed,
		[EVENT_EXIT] = on_exited, [EVENT_DENIED] = on_denied, [EVENT_MOVED] = on_moved,
		[EVENT_FOUND] = on_found, [EVENT_WAITS] = on_waiting,
	};

	if (event->kind >= sizeof(handlers) / sizeof(*handlers) || !handlers[event->kind])
		return;
	if (event->pid == 0 || event->pid > PROCESS_PID_MAX || event->generation == 0)
		return;
	handlers[event->kind](life, event);
}

/* ---- code ---- */

/* Puts the copies that a program has of types in their places. Returns false without any. */
static bool use_copies(const struct process *process, struct cpython_types *types)
{
	bool found = false;

	for (size_t i = 0; i < process->mappings->open_count; i++) {
		const struct mapping *mapping = &process->mappings->open[i];
		struct cpython_types copies;
		uint64_t bias;

		if (!mapping->object || !cpython_types_any(&mapping->object->copies) ||
		    !publisher_bias(mapping, &bias))
			continue;
		copies = cpython_types_at(&mapping->object->copies, bias);
		found |= cpython_types_replace(types, &copies);
	}
	return found;
}

/*
 * Reads the event as one of the interpreter whose code the stack has. Returns as told_read(), or
 * -ENOENT without an interpreter that the worker knows.
 */
static int read_code(const struct process *process, const struct event_code *event,
		     struct told *ret_told)
{
	const struct runtime_setup *setup;
	const struct mapping *mapping;
	struct cpython_types types;
	uint64_t bias;
	int r;

	if (!process || !process->mappings)
		return -ENOENT;
	mapping = mappings_find(process->mappings, event->marked, event->event.time);
	if (!mapping || !mapping->object || !mapping->object->setup ||
	    !publisher_bias(mapping, &bias))
		return -ENOENT;
	setup = mapping->object->setup;
	types = cpython_types_at(&setup->types, bias);
	r = told_read(setup, &types, event, ret_told);
	if (r == -EPROTO && use_copies(process, &types))
		r = told_read(setup, &types, event, ret_told);
	return r;
}

void life_code(struct life *life, const struct event_code *event)
{
	const struct function_key key = {
		.family = event->event.parent_generation,
		.code = event->code,
		.fingerprint = (uint32_t)event->fingerprint,
	};
	struct process *process = find(life, &event->event);
	struct told told;
	int r;

	if (!life->parts->functions)
		return;
	if (process)
		set_family(process, key.family);
	r = read_code(process, event, &told);
	if (r == 0)
		functions_tell(life->parts->functions, &key, &told, event->event.time);
	else if (r == -EPROTO)
		functions_doubt(life->parts->functions, &key, event->event.time);
	else
		life->unread++;
}

struct process *life_process(struct life *life, uint32_t pid, uint64_t generation, uint64_t time,
			     uint64_t now)
{
	struct roster *roster = life->roster;
	struct process *process = processes_find(roster->processes, pid, generation);
	const struct process *live = processes_live(roster->processes, pid);

	if (process)
		return process;
	/* A younger process has the pid: the record is of a process that has ended. */
	if (live && live->started >= time) {
		process = roster_add_ended(roster, pid, generation, now);
		if (process)
			process->losses = life->lister->losses;
		return process;
	}
	process = roster_add(roster, pid, generation, time, NULL);
	if (!process)
		return NULL;
	process->losses = life->lister->losses;
	lister_ask(life->lister, process);
	return process;
}
