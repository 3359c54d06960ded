/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/process_list.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/map.h"

int process_list_init(struct process_list *list)
{
	*list = (struct process_list){.ids = map_new()};
	if (!list->ids)
		return -ENOMEM;
	return 0;
}

void process_list_release(struct process_list *list)
{
	free(list->items);
	map_free(list->ids);
}

/* A program's path, and what the program says of itself, may come later than its first sample. */
static void fill(struct profile_process *known, const struct profile_process *process)
{
	if (!known->executable)
		known->executable = process->executable;
	if (!known->created)
		known->created = process->created;
	if (process->attributes)
		known->attributes = process->attributes;
}

uint32_t process_list_add(struct process_list *list, const struct profile_process *process)
{
	uint32_t id = (uint32_t)(uintptr_t)map_get(list->ids, process->generation);

	if (id) {
		fill(&list->items[id - 1], process);
		return id;
	}
	if (list->count >= PROFILE_PROCESSES_MAX)
		return 0;
	if (ARRAY_RESERVE(list->items, list->capacity, list->count + 1) < 0)
		return 0;
	id = (uint32_t)list->count + 1;
	if (map_put(list->ids, process->generation, (void *)(uintptr_t)id) < 0)
		return 0;
	list->items[list->count++] = *process;
	return id;
}

struct profile_process process_list_get(const struct process_list *list, uint32_t id)
{
	if (id == 0 || id > list->count)
		return (struct profile_process){0};
	return list->items[id - 1];
}
