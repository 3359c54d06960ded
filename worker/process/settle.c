/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/process/settle.h"

#include <stdbool.h>
#include <stddef.h>

#include "worker/process/file.h"
#include "worker/process/lister.h"
#include "worker/process/mapping.h"
#include "worker/process/process.h"
#include "worker/process/roster.h"
#include "worker/process/tracker_parts.h"

/* The target knows nothing of an ended process, so that only earlier answers count. */
static struct object *find_object(struct files *files, const struct process *process,
				  const struct mapping *mapping, uint64_t now)
{
	if (process_state_is_ended(process->state))
		return files_last_object(files, mapping->file, now);
	return files_object(files, mapping->file, process_asked(process), mapping->start,
			    mapping->end, now);
}

/* Lists a process again whose mapping is not there any more. The dynamic linker maps a whole file
 * and then other files over the end of that mapping; the side-band tells executable ones alone. */
static void follow_gone(struct lister *lister, struct process *process,
			const struct mapping *mapping, uint64_t now)
{
	if (process_state_is_ended(process->state) || !mapping->file)
		return;
	if (!file_is_gone(mapping->file, process_asked(process), mapping->start, mapping->end))
		return;
	if (!lister_relist(lister, process, now))
		roster_wake(lister->roster, process);
}

/* Returns false while an object is not identified yet. */
static bool settle_open(struct files *files, struct lister *lister, struct process *process,
			uint64_t now)
{
	struct mappings *mappings = process->mappings;
	bool settled = true;

	for (size_t i = 0; i < mappings->open_count; i++) {
		struct mapping *mapping = &mappings->open[i];

		if (mapping->object)
			continue;
		mapping->object = find_object(files, process, mapping, now);
		mapping->identified = now;
		if (mapping->object) {
			mappings->dirty = true;
			continue;
		}
		settled = false;
		follow_gone(lister, process, mapping, now);
	}
	return settled;
}

/* Settles mappings that cannot be asked about any more. */
static bool settle_last(struct files *files, struct mapping *list, size_t count, uint64_t now)
{
	bool settled = true;

	for (size_t i = 0; i < count; i++) {
		struct mapping *mapping = &list[i];

		if (!mapping->object)
			mapping->object = files_last_object(files, mapping->file, now);
		if (!mapping->object)
			settled = false;
	}
	return settled;
}

void settle_process(const struct tracker_parts *parts, struct lister *lister,
		    struct process *process, uint64_t now)
{
	struct mappings *mappings = process->mappings;
	bool shared = mappings->references > 1, open, closed;

	if (!mappings->unsettled || (process_state_is_ended(process->state) && shared))
		return;
	open = settle_open(parts->files, lister, process, now);
	closed = settle_last(parts->files, mappings->closed, mappings->closed_count, now);
	mappings->unsettled = !open || !closed;
}

void settle_finally(const struct tracker_parts *parts, struct process *process)
{
	struct mappings *all = process->mappings;

	settle_last(parts->files, all->open, all->open_count, UINT64_MAX);
	settle_last(parts->files, all->closed, all->closed_count, UINT64_MAX);
}
