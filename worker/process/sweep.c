/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/process/sweep.h"

#include "worker/process/file.h"
#include "worker/process/launch.h"
#include "worker/process/mapping.h"
#include "worker/process/object.h"
#include "worker/process/process.h"
#include "worker/process/tracker_parts.h"

typedef void (*marker)(const struct mapping *mapping);

static void mark_both(const struct mapping *mapping)
{
	if (mapping->file)
		file_mark(mapping->file);
	if (mapping->object)
		mapping->object->marked = true;
}

static void keep_file(const struct mapping *mapping)
{
	if (mapping->file)
		file_keep(mapping->file);
}

static void mark(const struct mappings *mappings, marker mark_one)
{
	for (size_t i = 0; i < mappings->open_count; i++)
		mark_one(&mappings->open[i]);
	for (size_t i = 0; i < mappings->closed_count; i++)
		mark_one(&mappings->closed[i]);
}

static void mark_all(const struct processes *processes, const struct launches *launches,
		     marker mark_one)
{
	const struct process *process;
	const struct launch *launch;
	size_t cursor = 0;

	while ((process = processes_next(processes, &cursor)) != NULL)
		mark(process->mappings, mark_one);
	cursor = 0;
	while ((launch = launches_next(launches, &cursor)) != NULL)
		mark(launch->mappings, mark_one);
}

static void forget_replaced(struct mappings *mappings)
{
	for (size_t i = 0; i < mappings->open_count; i++) {
		const struct mapping *mapping = &mappings->open[i];

		if (mapping->file && mapping->object &&
		    file_replaces(mapping->file, mapping->object, mapping->identified))
			mappings_forget_object(mappings, i);
	}
}

void sweep_replaced(struct processes *processes)
{
	struct process *process;
	size_t cursor = 0;

	while ((process = processes_next(processes, &cursor)) != NULL) {
		if (process_state_is_ended(process->state))
			continue;
		forget_replaced(process->mappings);
		/* another process that shares the mappings may have forgotten the object */
		if (process->mappings->unsettled)
			processes_wake(processes, process);
	}
}

void sweep_unmapped(const struct tracker_parts *parts, const struct processes *processes,
		    const struct launches *launches, uint64_t now, bool all)
{
	mark_all(processes, launches, mark_both);
	files_sweep(parts->files);
	objects_sweep(parts->objects, now, all);
}

void sweep_unclaimed(const struct tracker_parts *parts, const struct processes *processes,
		     struct launches *launches)
{
	if (!launches_unclaimed(launches))
		return;
	mark_all(processes, launches, keep_file);
	files_sweep_unasked(parts->files);
}
