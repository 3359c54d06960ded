/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/profile.h"
#include "worker/naming/groups.h"
#include "worker/naming/places.h"
#include "worker/naming/resources.h"
#include "worker/naming/sources.h"
#include "worker/sample/samples.h"

static void name_marker(const struct resources *resources, const struct groups *groups,
			uint32_t object)
{
	const bool named = object != samples_unknown_object(resources->samples);
	const char *name = profile_string_get(resources->profile,
					      profile_object_get(resources->profile, object)->name);

	for (uint32_t i = groups->first[object]; i < groups->first[object + 1]; i++)
		place_set_name(resources->profile, &groups->places[i], object, name, 0, named);
}

void names_from_markers(const struct resources *resources, const struct groups *groups)
{
	for (uint32_t id = 1; id <= profile_objects(resources->profile); id++)
		if (profile_object_get(resources->profile, id)->kind == KIND_MARKER)
			name_marker(resources, groups, id);
}
