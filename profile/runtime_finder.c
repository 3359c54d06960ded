/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/runtime_finder.h"

#include <errno.h>
#include <stdbool.h>

#include "base/map.h"
#include "profile/profile.h"

static bool is_user(const struct profile_object *object)
{
	return object && (object->kind == KIND_NATIVE || object->kind == KIND_ANON);
}

/* Returns the object of the innermost frame in a runtime, or 0. */
static uint32_t find_runtime(const struct profile *profile, uint32_t stack)
{
	const uint32_t *locations;
	size_t depth = profile_stack_get(profile, stack, &locations);

	for (size_t i = 0; i < depth; i++) {
		const struct profile_object *object =
			profile_location_object(profile, locations[i]);

		if (object && object->runtime)
			return profile_location_get(profile, locations[i])->object;
	}
	return 0;
}

/* Returns whether the innermost user frame is in code that is made at run time. */
static bool is_in_made_code(const struct profile *profile, uint32_t stack)
{
	const uint32_t *locations;
	size_t depth = profile_stack_get(profile, stack, &locations);

	for (size_t i = 0; i < depth; i++) {
		const struct profile_object *object =
			profile_location_object(profile, locations[i]);

		if (is_user(object))
			return object->kind == KIND_ANON;
	}
	return false;
}

int runtime_finder_init(struct runtime_finder *finder, const struct profile *profile)
{
	size_t left;
	const struct profile_sample *sample = profile_samples(profile, &left);

	*finder = (struct runtime_finder){.profile = profile, .processes = map_new()};
	if (!finder->processes)
		return -ENOMEM;
	for (; left > 0; left--, sample++) {
		uint32_t id = find_runtime(profile, sample->stack);
		int r;

		if (id == 0 || map_get(finder->processes, sample->pid))
			continue;
		r = map_put(finder->processes, sample->pid, (void *)(uintptr_t)id);
		if (r < 0)
			return r;
	}
	return 0;
}

void runtime_finder_release(struct runtime_finder *finder)
{
	map_free(finder->processes);
	finder->processes = NULL;
}

uint32_t runtime_finder_object(const struct runtime_finder *finder,
			       const struct profile_sample *sample)
{
	uint32_t id = find_runtime(finder->profile, sample->stack);

	if (id == 0 && is_in_made_code(finder->profile, sample->stack))
		id = (uint32_t)(uintptr_t)map_get(finder->processes, sample->pid);
	return id;
}
