/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/naming/naming.h"
#include "profile/profile.h"

/* Of the code that ran; its callers' names are missing where the leaf's is not, and not counted. */
static bool nameless(const struct profile *profile, uint32_t stack)
{
	const uint32_t *locations;
	uint32_t id;

	if (profile_stack_get(profile, stack, &locations) == 0)
		return true;
	id = profile_location_get(profile, locations[0])->function;
	return id == 0 || !profile_function_get(profile, id)->named;
}

uint64_t naming_failed(const struct profile *profile)
{
	uint64_t failed = 0;

	for (uint32_t id = 1; id <= profile_locations(profile); id++)
		failed += profile_location_get(profile, id)->function == 0;
	return failed;
}

uint64_t naming_without(const struct profile *profile)
{
	size_t count;
	const struct profile_sample *samples = profile_samples(profile, &count);
	uint64_t without = 0;

	for (size_t i = 0; i < count; i++)
		if (nameless(profile, samples[i].stack))
			without += samples[i].count;
	return without;
}
