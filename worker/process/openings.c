/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/process/openings.h"

#include <errno.h>
#include <stdint.h>

#include "base/map.h"
#include "base/tally.h"

#define CGROUP_ROOT 1u		 /* the id of the root of all */
#define PROCESS_KEY (1ull << 63) /* not a bit of a cgroup's id */

int openings_init(struct openings *openings)
{
	openings->of_process = map_new();
	openings->of_group = map_new();
	openings->apart_of = map_new();
	if (!openings->of_process || !openings->of_group || !openings->apart_of)
		return -ENOMEM;
	return 0;
}

void openings_release(struct openings *openings)
{
	map_free(openings->of_process);
	map_free(openings->of_group);
	map_free(openings->apart_of);
}

static uint64_t group_of(struct target_process process)
{
	if (process.group.cgroup > CGROUP_ROOT)
		return process.group.cgroup;
	return PROCESS_KEY | process.pid;
}

void openings_add(struct openings *openings, struct target_process process, bool apart, int more)
{
	tally_add(openings->of_process, process.pid, more);
	if (apart) {
		openings->apart += (size_t)more;
		tally_add(openings->apart_of, group_of(process), more);
	} else {
		openings->count += (size_t)more;
		tally_add(openings->of_group, group_of(process), more);
	}
}

size_t openings_of_process(const struct openings *openings, struct target_process process)
{
	return tally_get(openings->of_process, process.pid);
}

size_t openings_of_group(const struct openings *openings, struct target_process process)
{
	return tally_get(openings->of_group, group_of(process));
}

bool openings_has_place_apart(const struct openings *openings, struct target_process process)
{
	const size_t own = tally_get(openings->apart_of, group_of(process));

	return openings->apart < OPENINGS_APART_MAX && own < OPENINGS_APART_MAX - openings->apart;
}
