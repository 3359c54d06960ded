/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/process/process.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "worker/process/mapping.h"
#include "worker/process/object.h"

struct processes {
	struct map *all;  /* process_slot_key() */
	struct map *live; /* pid */
	struct map *gone; /* pid: the process that ended last */
	struct process *awake;
};

struct processes *processes_new(void)
{
	struct processes *processes = calloc(1, sizeof(*processes));

	if (!processes)
		return NULL;
	processes->all = map_new();
	processes->live = map_new();
	processes->gone = map_new();
	if (!processes->all || !processes->live || !processes->gone) {
		processes_free(processes);
		return NULL;
	}
	return processes;
}

static void free_process(struct process *process)
{
	free(process->context.text);
	free(process->context.variables);
	free(process->context.cgroups);
	free(process);
}

void processes_free(struct processes *processes)
{
	struct process *process;
	size_t cursor = 0;

	if (!processes)
		return;
	while (processes->all && (process = processes_next(processes, &cursor)) != NULL) {
		if (process->mappings && mappings_unshare(process->mappings))
			mappings_free(process->mappings);
		free_process(process);
	}
	map_free(processes->all);
	map_free(processes->live);
	map_free(processes->gone);
	free(processes);
}

/* Returns a process that is in no list of live ones. NULL: no memory. */
static struct process *add(struct processes *processes, uint32_t pid, uint64_t generation,
			   uint64_t time)
{
	struct process *process = calloc(1, sizeof(*process));

	if (!process)
		return NULL;
	process->pid = pid;
	process->generation = generation;
	process->family = generation;
	process->state = PROCESS_UNLISTED;
	process->started = time;
	if (map_put(processes->all, process_slot_key(pid, generation), process) < 0) {
		free(process);
		return NULL;
	}
	processes_wake(processes, process);
	return process;
}

struct process *processes_add(struct processes *processes, uint32_t pid, uint64_t generation,
			      uint64_t time)
{
	struct process *process = add(processes, pid, generation, time);

	if (!process)
		return NULL;
	if (map_put(processes->live, pid, process) < 0) {
		processes_remove(processes, process);
		return NULL;
	}
	return process;
}

struct process *processes_add_ended(struct processes *processes, uint32_t pid, uint64_t generation,
				    uint64_t time)
{
	struct process *process = add(processes, pid, generation, time);

	if (process)
		processes_end(processes, process, time);
	return process;
}

struct process *processes_find(const struct processes *processes, uint32_t pid, uint64_t generation)
{
	return map_get(processes->all, process_slot_key(pid, generation));
}

struct process *processes_live(const struct processes *processes, uint32_t pid)
{
	return map_get(processes->live, pid);
}

struct process *processes_gone(const struct processes *processes, uint32_t pid)
{
	return map_get(processes->gone, pid);
}

void processes_end(struct processes *processes, struct process *process, uint64_t time)
{
	process_step(process, PROCESS_EXITED);
	process->ended = time;
	processes_wake(processes, process);
	if (map_get(processes->live, process->pid) == process)
		map_remove(processes->live, process->pid);
	/* without memory, what the process does after its end has no name */
	map_put(processes->gone, process->pid, process);
}

void processes_remove(struct processes *processes, struct process *process)
{
	process_rest(process);
	map_remove(processes->all, process_slot_key(process->pid, process->generation));
	if (map_get(processes->gone, process->pid) == process)
		map_remove(processes->gone, process->pid);
	free_process(process);
}

struct process *processes_next(const struct processes *processes, size_t *cursor)
{
	uint64_t key;
	void *value;

	if (!map_next(processes->all, cursor, &key, &value))
		return NULL;
	return value;
}

void processes_wake(struct processes *processes, struct process *process)
{
	if (process->awake_at)
		return;
	process->awake_next = processes->awake;
	process->awake_at = &processes->awake;
	if (processes->awake)
		processes->awake->awake_at = &process->awake_next;
	processes->awake = process;
}

void process_rest(struct process *process)
{
	if (!process->awake_at)
		return;
	*process->awake_at = process->awake_next;
	if (process->awake_next)
		process->awake_next->awake_at = process->awake_at;
	process->awake_next = NULL;
	process->awake_at = NULL;
}

struct process *processes_awake(const struct processes *processes)
{
	return processes->awake;
}

void process_step(struct process *process, enum process_event event)
{
	process->state = process_state_after(process->state, event);
}

bool process_is_waited_for(const struct process *process, uint64_t now)
{
	return now < process->waited_for;
}

struct target_process process_asked(const struct process *process)
{
	struct target_process asked = {
		.pid = process->pid,
		.thread = process->pid,
		.group = process->owner,
	};

	if (process->route == PROCESS_BY_THREAD && process->tid != 0)
		asked.thread = process->tid;
	return asked;
}

static void cut_name(char ret_name[ABI_COMM_BYTES], const char *name)
{
	size_t length = strnlen(name, ABI_COMM_BYTES - 1);

	memset(ret_name, 0, ABI_COMM_BYTES);
	memcpy(ret_name, name, length);
}

void process_move(struct process *process, uint64_t cgroup, uint64_t time)
{
	if (process->owner.cgroup == cgroup)
		return;
	process->cgroup_before = process->owner.cgroup;
	process->owner.cgroup = cgroup;
	process->moved = time;
}

uint64_t process_cgroup(const struct process *process, uint64_t time)
{
	if (time < process->moved)
		return process->cgroup_before;
	return process->owner.cgroup;
}

void process_set_comm(struct process *process, const char *comm)
{
	cut_name(process->comm, comm);
}

const struct object *process_program(const struct process *process)
{
	const struct mappings *mappings = process->mappings;

	/* A program lies below its libraries, with or without PIE. */
	for (size_t i = 0; mappings && i < mappings->open_count; i++) {
		const struct object *object = mappings->open[i].object;

		if (!object && mappings->open[i].file)
			return NULL; /* not yet */
		if (object && object->name[0] == '/')
			return object;
	}
	return NULL;
}

void process_name(const struct process *process, char ret_name[ABI_COMM_BYTES])
{
	const struct object *program;

	cut_name(ret_name, process->comm);
	if (ret_name[0])
		return;
	program = process_program(process);
	if (program)
		cut_name(ret_name, strrchr(program->name, '/') + 1);
}
