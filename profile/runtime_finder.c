/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/runtime_finder.h"

#include <errno.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/runtimes.h"
#include "profile/profile.h"

static bool is_user(const struct profile_object *object)
{
	return object && (object->kind == KIND_NATIVE || object->kind == KIND_ANON);
}

/* Returns whether an object holds a runtime beside functions of its own. */
static bool is_host(const struct profile *profile, const struct profile_object *object)
{
	return object->runtime &&
	       !runtime_is_own_file(object->runtime, profile_string_get(profile, object->name));
}

static bool has_own_function(const struct profile *profile, const struct profile_location *location,
			     uint32_t runtime)
{
	const struct profile_function *function = profile_function_get(profile, location->function);

	if (!function)
		return false;
	return runtime_is_own_function(runtime, profile_string_get(profile, function->name));
}

static bool is_in_runtime(const struct runtime_finder *finder, uint32_t id)
{
	const struct profile *profile = finder->profile;
	const struct profile_location *location = profile_location_get(profile, id);
	const struct profile_object *object = profile_object_get(profile, location->object);

	if (!object || !object->runtime)
		return false;
	return !finder->hosts[location->object] ||
	       has_own_function(profile, location, object->runtime);
}

/* Returns whether the stack has functions of a program that a runtime runs. */
static bool has_script(const struct profile *profile, uint32_t stack)
{
	const uint32_t *locations;
	size_t depth = profile_stack_get(profile, stack, &locations);

	for (size_t i = 0; i < depth; i++)
		if (profile_location_language(profile, locations[i]))
			return true;
	return false;
}

/* Returns the object of the innermost frame in a runtime, or 0. */
static uint32_t find_runtime(const struct runtime_finder *finder, uint32_t stack)
{
	const uint32_t *locations;
	size_t depth = profile_stack_get(finder->profile, stack, &locations);

	if (has_script(finder->profile, stack))
		return 0;
	for (size_t i = 0; i < depth; i++)
		if (is_in_runtime(finder, locations[i]))
			return profile_location_get(finder->profile, locations[i])->object;
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
	const size_t count = profile_samples(profile);

	*finder = (struct runtime_finder){.profile = profile, .processes = map_new()};
	finder->hosts = calloc((size_t)profile_objects(profile) + 1, sizeof(*finder->hosts));
	if (!finder->processes || !finder->hosts)
		return -ENOMEM;
	for (uint32_t id = 1; id <= profile_objects(profile); id++)
		finder->hosts[id] = is_host(profile, profile_object_get(profile, id));
	for (size_t i = 0; i < count; i++) {
		const struct profile_sample sample = profile_sample_get(profile, i);
		uint32_t id = find_runtime(finder, sample.stack);
		int r;

		if (id == 0 || map_get(finder->processes, sample.pid))
			continue;
		r = map_put(finder->processes, sample.pid, (void *)(uintptr_t)id);
		if (r < 0)
			return r;
	}
	return 0;
}

void runtime_finder_release(struct runtime_finder *finder)
{
	map_free(finder->processes);
	free(finder->hosts);
	finder->processes = NULL;
	finder->hosts = NULL;
}

uint32_t runtime_finder_object(const struct runtime_finder *finder,
			       const struct profile_sample *sample)
{
	uint32_t id = find_runtime(finder, sample->stack);

	if (id == 0 && !has_script(finder->profile, sample->stack) &&
	    is_in_made_code(finder->profile, sample->stack))
		id = (uint32_t)(uintptr_t)map_get(finder->processes, sample->pid);
	return id;
}
