/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/naming/naming.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "ipc/log.h"
#include "profile/profile.h"
#include "worker/naming/groups.h"
#include "worker/naming/object_names.h"
#include "worker/naming/resources.h"
#include "worker/naming/source_lines.h"
#include "worker/naming/sources.h"
#include "worker/process/object.h"

/* ---- one object ---- */

/* The sources in their order. Each gets the places that the sources before it left. */
static const struct name_source {
	const char *label; /* for the log */
	/* NULL for what is no object: name_others() */
	uint64_t (*name)(struct object_names *names);
	bool always;	 /* also without an image, and when time is over */
	bool keeps_time; /* asks the clock itself, at each place */
} sources[NAMING_SOURCES] = {
	[NAMED_BY_KERNEL] = {.label = "kernel"},
	[NAMED_BY_RUNTIMES] = {.label = "runtimes"},
	[NAMED_BY_MAPS] = {.label = "perf maps"},
	[NAMED_BY_GO] = {.label = "Go", .name = names_from_go_table, .keeps_time = true},
	[NAMED_BY_TABLES] = {.label = "tables", .name = names_from_symbols},
	[NAMED_BY_DEBUGDATA] = {.label = ".gnu_debugdata", .name = names_from_debugdata},
	[NAMED_BY_DEBUG_FILES] = {.label = "debug files", .name = names_from_debug_file},
	[NAMED_BY_STARTS] = {.label = "function starts", .name = names_from_unwind, .always = true},
	[NAMED_BY_OFFSETS] = {.label = "nothing", .name = names_from_offsets, .always = true},
};

const char *naming_source_label(enum naming_source source)
{
	return sources[source].label;
}

static bool is_wanted(const struct name_source *source, struct object_names *names)
{
	if (!source->name)
		return false;
	if (source->always)
		return true;
	if (!names->image || names->unnamed_count == 0)
		return false;
	return source->keeps_time || object_names_in_time(names);
}

static void ask_sources(struct object_names *names, struct naming_counts *counts)
{
	for (unsigned int i = 0; i < NAMING_SOURCES; i++) {
		object_names_update(names);
		if (is_wanted(&sources[i], names))
			counts->named[i] += sources[i].name(names);
	}
}

static void offsets_to_addresses(struct object_names *names)
{
	for (size_t i = 0; i < names->count; i++) {
		struct place *place = &names->places[i];
		struct profile_location *location =
			profile_location_get(names->resources->profile, place->location);
		const struct image_segment *segment =
			image_segment_of(names->segments, names->segment_count, place->address, 1);

		if (!segment || location->converted)
			continue;
		place->address = place->address - segment->file_offset + segment->address;
		location->address = place->address;
		location->converted = true;
	}
	qsort(names->places, names->count, sizeof(*names->places), place_compare);
}

static struct object_names names_of(const struct naming_parts *parts, const struct object *object,
				    const struct groups *groups)
{
	const uint32_t first = groups->first[object->profile_id];

	return (struct object_names){
		.resources = parts->resources,
		.object = object,
		.places = groups->places + first,
		.count = groups->first[object->profile_id + 1] - first,
	};
}

static void set_paths(const struct object_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		object_names_set_path(names, &names->places[i]);
}

static void name_object(const struct naming_parts *parts, const struct object *object,
			const struct groups *groups, struct naming_budget *budget)
{
	struct object_names names = names_of(parts, object, groups);

	if (object->anonymous) {
		set_paths(&names);
		return;
	}
	names.budget = budget;
	if (object_names_open(&names) == 0) {
		offsets_to_addresses(&names);
		ask_sources(&names, parts->counts);
	}
	object_names_close(&names);
}

static void describe_object(const struct naming_parts *parts, const struct object *object,
			    const struct groups *groups)
{
	struct object_names names = names_of(parts, object, groups);

	if (object->anonymous) {
		set_paths(&names);
		return;
	}
	object_names_describe(&names);
	offsets_to_addresses(&names);
}

/* ---- all objects ---- */

static bool is_described(const struct naming_parts *parts, const uint32_t *first, uint32_t object)
{
	return object == 0 || (first[object] == first[object + 1] &&
			       profile_object_get(parts->resources->profile, object)->limit);
}

/* Names the objects in turn. Returns 1 when some objects are left, else 0. */
static int name_objects(const struct naming_parts *parts, const struct groups *groups)
{
	const uint64_t began = parts->resources->clock();
	struct naming_budget budget = {.deadline = began + NAMING_BUDGET};
	const struct object *object;
	size_t cursor = 0;
	int r = 0;

	while ((object = objects_next(parts->resources->objects, &cursor)) != NULL) {
		if (is_described(parts, groups->first, object->profile_id))
			continue;
		if (parts->patience && parts->resources->clock() - began >= parts->patience) {
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

static void describe_objects(const struct naming_parts *parts, const struct groups *groups)
{
	const struct object *object;
	size_t cursor = 0;

	while ((object = objects_next(parts->resources->objects, &cursor)) != NULL)
		if (!is_described(parts, groups->first, object->profile_id))
			describe_object(parts, object, groups);
}

/* Names what is in no file. */
static void name_others(const struct naming_parts *parts, const struct groups *groups)
{
	struct naming_counts *counts = parts->counts;

	counts->named[NAMED_BY_KERNEL] += names_from_kernel(parts->resources, groups);
	counts->named[NAMED_BY_RUNTIMES] +=
		names_from_runtimes(parts->resources, groups, &counts->bytes);
	counts->named[NAMED_BY_MAPS] += names_from_made(parts->resources, groups, &counts->bytes);
	names_from_markers(parts->resources, groups);
}

int naming_describe(const struct naming_parts *parts)
{
	struct groups groups = {0};
	int r = groups_make(parts->resources->profile, &groups);

	if (r == 0) {
		describe_objects(parts, &groups);
		name_others(parts, &groups);
	}
	groups_free(&groups);
	return r;
}

int naming_run(const struct naming_parts *parts)
{
	struct groups groups = {0};
	int r = groups_make(parts->resources->profile, &groups);

	if (r == 0) {
		r = name_objects(parts, &groups);
		name_others(parts, &groups);
	}
	if (r == 0 && parts->named)
		parts->named(parts->named_context);
	if (r == 0 && parts->line_counts)
		source_lines_run(parts->resources, parts->line_counts, &groups);
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
	const size_t count = profile_samples(profile);
	uint64_t without = 0;

	for (size_t i = 0; i < count; i++) {
		const struct profile_sample sample = profile_sample_get(profile, i);

		if (is_nameless(profile, sample.stack))
			without += sample.count;
	}
	return without;
}
