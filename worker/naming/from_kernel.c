/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>

#include "profile/profile.h"
#include "worker/kernel/kernel_symbols.h"
#include "worker/kernel/late_names.h"
#include "worker/naming/groups.h"
#include "worker/naming/naming.h"
#include "worker/naming/places.h"
#include "worker/naming/sources.h"
#include "worker/sample/samples.h"

/* Returns the name of a symbol, or NULL. A late name's address is its place in late_names. */
static const char *find_name(const struct naming_parts *parts, uint32_t range, uint32_t address,
			     uint32_t *ret_start)
{
	if (range >= SAMPLES_LATE) {
		*ret_start = address;
		return late_names_function(parts->late_names, address);
	}
	if (parts->symbols && range < KERNEL_RANGES_MAX)
		return kernel_symbols_find(parts->symbols, range, address, ret_start);
	return NULL;
}

static void name_place(const struct naming_parts *parts, uint32_t range, uint32_t object,
		       const struct place *place)
{
	uint32_t start = 0;
	const char *name = find_name(parts, range, (uint32_t)place->address, &start);
	char text[320];

	if (name) {
		place_set_name(parts->profile, place, object, name, start, true);
		parts->counts->kernel++;
		return;
	}
	snprintf(text, sizeof(text), "%.256s+0x%" PRIx64,
		 profile_string_get(parts->profile,
				    profile_object_get(parts->profile, object)->name),
		 place->address);
	place_set_name(parts->profile, place, object, text, place->address, false);
}

static void name_range(const struct naming_parts *parts, const struct groups *groups,
		       uint32_t range)
{
	const uint32_t object = samples_kernel_object(parts->samples, range);

	if (object == 0)
		return;
	for (uint32_t i = groups->first[object]; i < groups->first[object + 1]; i++) {
		const struct place *place = &groups->places[i];
		struct profile_object *range_object = profile_object_get(parts->profile, object);

		/* no source says how long the range is */
		if (range_object->limit <= place->address)
			range_object->limit = place->address + 1;
		name_place(parts, range, object, place);
	}
}

void names_from_kernel(const struct naming_parts *parts, const struct groups *groups)
{
	for (uint32_t range = 0; range < SAMPLES_KERNEL_RANGES; range++)
		name_range(parts, groups, range);
}
