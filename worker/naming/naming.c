/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/naming/naming.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/redact.h"
#include "ipc/guard.h"
#include "ipc/log.h"
#include "object/symbol/symtab.h"
#include "profile/profile.h"
#include "worker/naming/groups.h"
#include "worker/naming/object_names.h"
#include "worker/naming/places.h"
#include "worker/naming/source_lines.h"
#include "worker/naming/sources.h"
#include "worker/process/object.h"

/* ---- one object ---- */

/* The sources in their order. Each gets the places that the sources before it left. */
static const struct name_source {
	void (*name)(struct object_names *names);
	bool always;	 /* asked also without an image, and after the deadline */
	bool keeps_time; /* asks the clock itself, at each place */
} sources[] = {
	{.name = names_from_go_table, .keeps_time = true},
	{.name = names_from_symbols},
	{.name = names_from_debugdata},
	{.name = names_from_debug_file},
	{.name = names_from_unwind, .always = true},
};

static bool is_wanted(const struct name_source *source, struct object_names *names)
{
	if (source->always)
		return true;
	if (!names->image || names->unnamed_count == 0)
		return false;
	return source->keeps_time || object_names_in_time(names);
}

static void ask_sources(struct object_names *names)
{
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		object_names_update(names);
		if (is_wanted(&sources[i], names))
			sources[i].name(names);
	}
}

static void offsets_to_addresses(struct object_names *names)
{
	for (size_t i = 0; i < names->count; i++) {
		struct place *place = &names->places[i];
		const struct image_segment *segment =
			image_segment_of(names->segments, names->segment_count, place->address, 1);

		if (!segment)
			continue;
		place->address = place->address - segment->file_offset + segment->address;
		profile_location_get(names->parts->profile, place->location)->address =
			place->address;
	}
	qsort(names->places, names->count, sizeof(*names->places), place_compare);
}

static void name_places(struct object_names *names)
{
	guard_free struct place *unnamed = calloc(names->count, sizeof(*unnamed));
	guard_free uint64_t *addresses = calloc(names->count, sizeof(*addresses));
	guard_free struct symbol_match *matches = calloc(names->count, sizeof(*matches));
	guard_free uint64_t *starts = calloc(names->count, sizeof(*starts));

	if (!unnamed || !addresses || !matches || !starts)
		return;
	names->unnamed = unnamed;
	names->unnamed_addresses = addresses;
	names->matches = matches;
	names->starts = starts;
	offsets_to_addresses(names);
	ask_sources(names);
}

static void name_anonymous(const struct object_names *names)
{
	char text[REDACT_BYTES];
	const char *name =
		redact_name(names->parts->redact, REDACT_PATH, names->object->name, text);

	for (size_t i = 0; i < names->count; i++)
		place_set_name(names->parts->profile, &names->places[i], names->object->profile_id,
			       name, 0, false);
}

static void name_object(const struct naming_parts *parts, const struct object *object,
			const struct groups *groups, struct naming_budget *budget)
{
	const uint32_t first = groups->first[object->profile_id];
	struct object_names names = {
		.parts = parts,
		.object = object,
		.budget = budget,
		.places = groups->places + first,
		.count = groups->first[object->profile_id + 1] - first,
	};

	if (object->anonymous) {
		name_anonymous(&names);
		return;
	}
	object_names_open(&names);
	name_places(&names);
	object_names_close(&names);
}

/* ---- all objects ---- */

static bool is_described(const struct naming_parts *parts, const uint32_t *first, uint32_t object)
{
	return object == 0 || (first[object] == first[object + 1] &&
			       profile_object_get(parts->profile, object)->limit);
}

/* Names the objects in turn. Returns 1 when some objects are left, else 0. */
static int name_objects(const struct naming_parts *parts, const struct groups *groups)
{
	const uint64_t began = parts->clock();
	struct naming_budget budget = {.deadline = began + NAMING_BUDGET};
	const struct object *object;
	size_t cursor = 0;
	int r = 0;

	while ((object = objects_next(parts->objects, &cursor)) != NULL) {
		if (is_described(parts, groups->first, object->profile_id))
			continue;
		if (parts->patience && parts->clock() - began >= parts->patience) {
			r = 1;
			break;
		}
		name_object(parts, object, groups, &budget);
	}
	parts->counts->bytes += budget.bytes;
	if (budget.late > 0)
		log_warning("names: %" PRIu64 " objects: time is over, shown by offset",
			    budget.late);
	return r;
}

int naming_run(const struct naming_parts *parts)
{
	struct groups groups = {0};
	int r = groups_make(parts->profile, &groups);

	if (r == 0) {
		r = name_objects(parts, &groups);
		names_from_kernel(parts, &groups);
		names_from_markers(parts, &groups);
	}
	if (r == 0 && parts->line_counts)
		source_lines_run(parts, &groups);
	groups_free(&groups);
	return r;
}

/* ---- what has no name ---- */

/* Returns whether the innermost frame has no symbol's name, whatever its callers have. */
static bool is_nameless(const struct profile *profile, uint32_t stack)
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
		if (is_nameless(profile, samples[i].stack))
			without += samples[i].count;
	return without;
}
