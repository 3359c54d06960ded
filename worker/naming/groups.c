/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/naming/groups.h"

#include <errno.h>
#include <stdlib.h>

#include "profile/profile.h"

static void fill_groups(const struct profile *profile, struct groups *groups)
{
	uint32_t objects = profile_objects(profile), locations = profile_locations(profile);

	for (uint32_t id = 1; id <= locations; id++) {
		const struct profile_location *location = profile_location_get(profile, id);

		groups->first[location->object + 2] += location->function == 0;
	}
	for (uint32_t id = 2; id < objects + 3; id++)
		groups->first[id] += groups->first[id - 1];
	/* first[o + 1] is the index for the next place of object o, and finally their end */
	for (uint32_t id = 1; id <= locations; id++) {
		const struct profile_location *location = profile_location_get(profile, id);

		if (location->function == 0)
			groups->places[groups->first[location->object + 1]++] =
				(struct place){location->address, id};
	}
}

int groups_make(const struct profile *profile, struct groups *groups)
{
	groups->first = calloc((size_t)profile_objects(profile) + 3, sizeof(*groups->first));
	groups->places = calloc((size_t)profile_locations(profile) + 1, sizeof(*groups->places));
	if (!groups->first || !groups->places)
		return -ENOMEM;
	fill_groups(profile, groups);
	return 0;
}

void groups_free(struct groups *groups)
{
	free(groups->first);
	free(groups->places);
}
