/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/process/sweep.h"

#include "worker/process/file.h"
#include "worker/process/launch.h"
#include "worker/process/mapping.h"
#include "worker/process/object.h"
#include "worker/process/process.h"
#include "worker/process/tracker.h"

static void mark_list(const struct mapping *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (list[i].file)
			file_mark(list[i].file);
		if (list[i].object)
			list[i].object->marked = true;
	}
}

static void mark(const struct mappings *mappings)
{
	mark_list(mappings->open, mappings->open_count);
	mark_list(mappings->closed, mappings->closed_count);
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

void sweep_replaced(const struct processes *processes)
{
	const struct process *process;
	size_t cursor = 0;

	while ((process = processes_next(processes, &cursor)) != NULL)
		if (!process->ended)
			forget_replaced(process->mappings);
}

void sweep_unmapped(const struct tracker_parts *parts, const struct processes *processes,
		    const struct launches *launches, uint64_t now, bool all)
{
	const struct process *process;
	const struct launch *launch;
	size_t cursor = 0;

	while ((process = processes_next(processes, &cursor)) != NULL)
		mark(process->mappings);
	cursor = 0;
	while ((launch = launches_next(launches, &cursor)) != NULL)
		mark(launch->mappings);
	files_sweep(parts->files);
	objects_sweep(parts->objects, now, all);
}
