/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/main_object.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/guard.h"
#include "base/map.h"
#include "profile/profile.h"

#define COMM_BYTES 15 /* the kernel cuts a process's name to so many */

static bool is_native(const struct profile *profile, uint32_t object)
{
	const struct profile_object *found = profile_object_get(profile, object);

	return found && found->kind == KIND_NATIVE;
}

/* Returns the object of the outermost native frame of a stack, or 0. */
static uint32_t outermost_object(const struct profile *profile, uint32_t stack)
{
	const uint32_t *locations;
	size_t count = profile_stack_get(profile, stack, &locations);

	while (count-- > 0) {
		const uint32_t object = profile_location_get(profile, locations[count])->object;

		if (is_native(profile, object))
			return object;
	}
	return 0;
}

static uint32_t first_native(const struct profile *profile)
{
	for (uint32_t id = 1; id <= profile_objects(profile); id++)
		if (is_native(profile, id))
			return id;
	return 0;
}

/* Returns the process with most samples that have a native frame, or 0. */
static uint32_t hottest_process(const struct profile *profile)
{
	const size_t count = profile_samples(profile);
	struct map *counts = map_new();
	uint64_t most = 0;
	uint32_t pid = 0;

	for (size_t i = 0; counts && i < count; i++) {
		const struct profile_sample sample = profile_sample_get(profile, i);
		uint64_t sum;

		if (!sample.pid || !outermost_object(profile, sample.stack))
			continue;
		sum = (uintptr_t)map_get(counts, sample.pid) + sample.count;
		if (sum == 0 || map_put(counts, sample.pid, (void *)(uintptr_t)sum) < 0)
			continue;
		if (sum > most) {
			most = sum;
			pid = sample.pid;
		}
	}
	map_free(counts);
	return pid;
}

/* Returns whether the file of an object has the name of the process, as far as the kernel keeps. */
static bool is_named(const struct profile *profile, uint32_t object, const char *process)
{
	const char *path = profile_string_get(profile, profile_object_get(profile, object)->name);
	const char *slash = strrchr(path, '/');
	const char *name = path;

	if (slash)
		name = slash + 1;
	if (strlen(process) < COMM_BYTES)
		return process[0] && !strcmp(name, process);
	return !strncmp(name, process, COMM_BYTES);
}

/* Returns an object of the stack that has the name of the sample's process, or 0. */
static uint32_t named_object(const struct profile *profile, const struct profile_sample *sample)
{
	const char *process = profile_string_get(profile, sample->process_name);
	const uint32_t *locations;
	size_t count = profile_stack_get(profile, sample->stack, &locations);

	for (size_t i = 0; i < count; i++) {
		const uint32_t object = profile_location_get(profile, locations[i])->object;

		if (is_native(profile, object) && is_named(profile, object, process))
			return object;
	}
	return 0;
}

/* Returns the object that holds most of the outermost frames of the process, or of one thread. */
static uint32_t root_object(const struct profile *profile, uint32_t pid, uint32_t tid)
{
	guard_free uint64_t *counts = calloc((size_t)profile_objects(profile) + 1, sizeof(*counts));
	const size_t count = profile_samples(profile);
	uint32_t best = 0;

	for (size_t i = 0; counts && i < count; i++) {
		const struct profile_sample sample = profile_sample_get(profile, i);
		uint32_t object;

		if (sample.pid != pid || (tid && sample.tid != tid))
			continue;
		object = outermost_object(profile, sample.stack);
		counts[object] += sample.count;
		if (object && (!best || counts[object] > counts[best]))
			best = object;
	}
	return best;
}

uint32_t profile_main_object(const struct profile *profile)
{
	const uint32_t pid = hottest_process(profile);
	const size_t count = profile_samples(profile);
	uint32_t object = 0;
	uint64_t most = 0;

	if (!pid)
		return first_native(profile);
	/* a process may have had another program before */
	for (size_t i = 0; i < count; i++) {
		const struct profile_sample sample = profile_sample_get(profile, i);
		uint32_t named;

		if (sample.pid != pid || sample.count <= most)
			continue;
		named = named_object(profile, &sample);
		if (!named)
			continue;
		most = sample.count;
		object = named;
	}
	if (!object)
		object = root_object(profile, pid, pid);
	if (!object)
		object = root_object(profile, pid, 0);
	return object;
}
