/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>

#include "profile/offset_name.h"
#include "profile/profile.h"
#include "worker/kernel/kernel_symbols.h"
#include "worker/kernel/late_names.h"
#include "worker/naming/groups.h"
#include "worker/naming/places.h"
#include "worker/naming/resources.h"
#include "worker/naming/sources.h"
#include "worker/sample/samples.h"

/* Returns the name of a symbol, or NULL. A late name's address is its place in late_names. */
static const char *find_name(const struct resources *resources, uint32_t range, uint32_t address,
			     uint32_t *ret_start)
{
	if (range >= SAMPLES_LATE) {
		*ret_start = address;
		return late_names_function(resources->late_names, address);
	}
	if (resources->symbols && range < KERNEL_RANGES_MAX)
		return kernel_symbols_find(resources->symbols, range, address, ret_start);
	return NULL;
}

/* Returns whether a symbol names the place. */
static bool name_place(const struct resources *resources, uint32_t range, uint32_t object,
		       const struct place *place)
{
	uint32_t start = 0;
	const char *name = find_name(resources, range, (uint32_t)place->address, &start);
	char text[OFFSET_NAME_BYTES];
	const char *file;

	if (name) {
		place_set_name(resources->profile, place, object, name, start, true);
		return true;
	}
	file = profile_string_get(resources->profile,
				  profile_object_get(resources->profile, object)->name);
	offset_name(text, sizeof(text), file, place->address);
	place_set_name(resources->profile, place, object, text, place->address, false);
	return false;
}

static uint64_t name_range(const struct resources *resources, const struct groups *groups,
			   uint32_t range)
{
	const uint32_t object = samples_kernel_object(resources->samples, range);
	uint64_t named = 0;

	if (object == 0)
		return 0;
	for (uint32_t i = groups->first[object]; i < groups->first[object + 1]; i++) {
		const struct place *place = &groups->places[i];
		struct profile_object *range_object =
			profile_object_get(resources->profile, object);

		/* no source says how long the range is */
		if (range_object->limit <= place->address)
			range_object->limit = place->address + 1;
		named += name_place(resources, range, object, place);
	}
	return named;
}

uint64_t names_from_kernel(const struct resources *resources, const struct groups *groups)
{
	uint64_t named = 0;

	for (uint32_t range = 0; range < SAMPLES_KERNEL_RANGES; range++)
		named += name_range(resources, groups, range);
	return named;
}
