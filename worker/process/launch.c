/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/process/launch.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "worker/process/mapping.h"

struct launches {
	struct map *by_pid;
	uint64_t dropped;
	bool unclaimed;
};

struct launches *launches_new(void)
{
	struct launches *launches = calloc(1, sizeof(*launches));

	if (!launches)
		return NULL;
	launches->by_pid = map_new();
	if (!launches->by_pid) {
		free(launches);
		return NULL;
	}
	return launches;
}

struct launch *launches_next(const struct launches *launches, size_t *cursor)
{
	uint64_t key;
	void *value;

	if (!map_next(launches->by_pid, cursor, &key, &value))
		return NULL;
	return value;
}

void launches_free(struct launches *launches)
{
	struct launch *launch;
	size_t cursor = 0;

	if (!launches)
		return;
	while ((launch = launches_next(launches, &cursor)) != NULL)
		launches_end(launches, launch);
	map_free(launches->by_pid);
	free(launches);
}

struct launch *launches_find(const struct launches *launches, uint32_t pid)
{
	return map_get(launches->by_pid, pid);
}

struct mappings *launch_take(struct launch *launch)
{
	struct mappings *mappings = launch->mappings;

	if (mappings->open_count == 0)
		return NULL;
	launch->mappings = NULL;
	return mappings;
}

void launches_end(struct launches *launches, struct launch *launch)
{
	if (!launch)
		return;
	map_remove(launches->by_pid, launch->pid);
	launches->unclaimed |= launch->mappings && launch->mappings->open_count > 0;
	mappings_free(launch->mappings);
	explicit_bzero(launch, sizeof(*launch));
	free(launch);
}

bool launches_unclaimed(struct launches *launches)
{
	bool unclaimed = launches->unclaimed;

	launches->unclaimed = false;
	return unclaimed;
}

static void drop_oldest(struct launches *launches)
{
	struct launch *launch, *oldest = NULL;
	size_t cursor = 0;

	while ((launch = launches_next(launches, &cursor)) != NULL)
		if (!oldest || launch->time < oldest->time)
			oldest = launch;
	if (!oldest)
		return;
	launches->dropped++;
	launches_end(launches, oldest);
}

static struct launch *launch_new(uint32_t pid)
{
	struct launch *launch = calloc(1, sizeof(*launch));

	if (!launch)
		return NULL;
	launch->pid = pid;
	launch->mappings = mappings_new();
	if (launch->mappings)
		return launch;
	free(launch);
	return NULL;
}

/* Makes a launch in place of the pid's earlier one. NULL: no memory. */
static struct launch *replace(struct launches *launches, uint32_t pid, uint64_t time)
{
	struct launch *launch;

	launches_end(launches, launches_find(launches, pid));
	if (map_count(launches->by_pid) >= LAUNCHES_MAX)
		drop_oldest(launches);
	launch = launch_new(pid);
	if (!launch)
		return NULL;
	launch->time = time;
	if (map_put(launches->by_pid, pid, launch) == 0)
		return launch;
	mappings_free(launch->mappings);
	free(launch);
	return NULL;
}

void launches_begin(struct launches *launches, uint32_t pid, uint64_t time, const char *comm,
		    uint64_t losses, bool keep)
{
	struct launch *launch = launches_find(launches, pid);

	if (launch && launch->denied && !launch->named) {
		launch->named = true;
		return;
	}
	if (!keep) {
		launches_end(launches, launch);
		return;
	}
	launch = replace(launches, pid, time);
	if (!launch)
		return;
	memcpy(launch->comm, comm, strnlen(comm, ABI_COMM_BYTES - 1));
	launch->losses = losses;
}

void launches_deny(struct launches *launches, uint32_t pid, uint64_t time)
{
	struct launch *launch = replace(launches, pid, time);

	if (launch)
		launch->denied = true;
}

uint64_t launches_dropped(const struct launches *launches)
{
	return launches->dropped;
}

void launches_prune(struct launches *launches, uint64_t now)
{
	struct launch *launch;
	size_t cursor = 0;

	while ((launch = launches_next(launches, &cursor)) != NULL)
		if (launch->time + LAUNCH_AGE < now)
			launches_end(launches, launch);
}
