/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/naming/places.h"

#include "profile/place.h"
#include "profile/profile.h"

void place_set_function(struct profile *profile, const struct place *place,
			const struct profile_function *function)
{
	uint32_t id;

	if (function->name == PROFILE_FAILED || function->system_name == PROFILE_FAILED)
		return;
	id = profile_function_add(profile, function);
	if (id == PROFILE_FAILED)
		return;
	profile_location_get(profile, place->location)->function = id;
	if (function->named)
		profile_object_get(profile, function->object)->has_functions = true;
}

void place_set_name(struct profile *profile, const struct place *place, uint32_t object,
		    const char *name, uint64_t start, bool named)
{
	struct profile_function function = {.object = object, .start = start, .named = named};

	function.name = profile_string(profile, name);
	function.system_name = function.name;
	place_set_function(profile, place, &function);
}
