/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/sample/cgroups.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"

struct cgroup {
	uint64_t id;
	uint64_t used; /* the clock at the last addition or question */
	char *path;
};

struct cgroups {
	struct cgroup *items;
	size_t count, capacity;
	struct map *places; /* by id: the item's place, from 1 */
	uint64_t clock;	    /* counts additions and questions */
};

struct cgroups *cgroups_new(void)
{
	struct cgroups *cgroups = calloc(1, sizeof(*cgroups));

	if (!cgroups)
		return NULL;
	cgroups->places = map_new();
	if (!cgroups->places) {
		free(cgroups);
		return NULL;
	}
	return cgroups;
}

void cgroups_free(struct cgroups *cgroups)
{
	if (!cgroups)
		return;
	for (size_t i = 0; i < cgroups->count; i++)
		free(cgroups->items[i].path);
	free(cgroups->items);
	map_free(cgroups->places);
	free(cgroups);
}

static struct cgroup *find(const struct cgroups *cgroups, uint64_t id)
{
	const size_t place = (size_t)(uintptr_t)map_get(cgroups->places, id);

	if (place == 0)
		return NULL;
	return &cgroups->items[place - 1];
}

static size_t oldest(const struct cgroups *cgroups)
{
	size_t place = 0;

	for (size_t i = 1; i < cgroups->count; i++)
		if (cgroups->items[i].used < cgroups->items[place].used)
			place = i;
	return place;
}

/* Returns the place for a new item, or -1 without memory. An item at that place is forgotten. */
static int64_t make_place(struct cgroups *cgroups)
{
	size_t place = cgroups->count;

	if (place == CGROUPS_MAX) {
		place = oldest(cgroups);
		map_remove(cgroups->places, cgroups->items[place].id);
		return (int64_t)place;
	}
	if (ARRAY_RESERVE(cgroups->items, cgroups->capacity, place + 1) < 0)
		return -1;
	cgroups->items[place] = (struct cgroup){0};
	cgroups->count++;
	return (int64_t)place;
}

static struct cgroup *add(struct cgroups *cgroups, uint64_t id)
{
	const int64_t place = make_place(cgroups);
	struct cgroup *item;

	if (place < 0)
		return NULL;
	item = &cgroups->items[place];
	item->id = id;
	/* an item that is not found stays until its place is needed */
	if (map_put(cgroups->places, id, (void *)(uintptr_t)(place + 1)) < 0)
		item->id = 0;
	return item;
}

void cgroups_add(struct cgroups *cgroups, uint64_t id, const char *path)
{
	char *copy;
	struct cgroup *item;

	if (id == 0 || !path[0])
		return;
	copy = strdup(path);
	if (!copy)
		return;
	item = find(cgroups, id);
	if (!item)
		item = add(cgroups, id);
	if (!item) {
		free(copy);
		return;
	}
	free(item->path);
	item->path = copy;
	item->used = ++cgroups->clock;
}

const char *cgroups_find(struct cgroups *cgroups, uint64_t id)
{
	struct cgroup *item = find(cgroups, id);

	if (!item)
		return NULL;
	item->used = ++cgroups->clock;
	return item->path;
}
