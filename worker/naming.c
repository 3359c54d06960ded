/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/naming.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/guard.h"
#include "worker/elf/image.h"
#include "worker/process/object.h"
#include "worker/profile/profile.h"
#include "worker/sample/samples.h"
#include "worker/symbol/demangle.h"
#include "worker/symbol/kernel_symbols.h"
#include "worker/symbol/symtab.h"
#include "worker/unwind/unwind_table.h"

struct place {
	uint64_t address;
	uint32_t location;
};

/* All locations, grouped by object: those of object o are [first[o], first[o + 1]). */
struct groups {
	uint32_t *first;
	struct place *places;
};

/* One object being named. */
struct naming {
	const struct naming_parts *parts;
	const struct object *object;
	struct image *image; /* NULL: cannot be read */
	struct place *places;
	size_t count;
	uint64_t *pcs;
	struct symbol_match *matches;
	u64 *starts;
};

/* ---- grouping ---- */

static void fill_groups(const struct profile *profile, struct groups *groups)
{
	uint32_t objects = profile_objects(profile), locations = profile_locations(profile);

	for (uint32_t id = 1; id <= locations; id++)
		groups->first[profile_location_get(profile, id)->object + 2]++;
	for (uint32_t id = 2; id < objects + 3; id++)
		groups->first[id] += groups->first[id - 1];
	/* first[o + 1] is where the next place of object o goes, and at last where they end. */
	for (uint32_t id = 1; id <= locations; id++) {
		const struct profile_location *location = profile_location_get(profile, id);

		groups->places[groups->first[location->object + 1]++] =
			(struct place){location->address, id};
	}
}

static int make_groups(const struct profile *profile, struct groups *groups)
{
	groups->first = calloc((size_t)profile_objects(profile) + 3, sizeof(*groups->first));
	groups->places = calloc((size_t)profile_locations(profile) + 1, sizeof(*groups->places));
	if (!groups->first || !groups->places)
		return -ENOMEM;
	fill_groups(profile, groups);
	return 0;
}

/* ---- functions ---- */

static int set_function(struct profile *profile, uint32_t location,
			const struct profile_function *function)
{
	uint32_t id = profile_function_add(profile, function);

	if (id == PROFILE_FAILED || function->name == PROFILE_FAILED ||
	    function->system_name == PROFILE_FAILED)
		return -ENOMEM;
	profile_location_get(profile, location)->function = id;
	return 0;
}

static int set_name(struct profile *profile, const struct place *place, uint32_t object,
		    const char *name, uint64_t start, bool named)
{
	struct profile_function function = {.object = object, .start = start, .named = named};

	function.name = profile_string(profile, name);
	function.system_name = function.name;
	if (named)
		profile_object_get(profile, object)->has_functions = true;
	return set_function(profile, place->location, &function);
}

static int set_symbol(struct profile *profile, const struct place *place, uint32_t object,
		      const struct symbol_match *match)
{
	struct profile_function function = {.object = object, .start = match->start, .named = true};
	guard_free char *readable = demangle(match->name);

	function.system_name = profile_string(profile, match->name);
	function.name = readable ? profile_string(profile, readable) : function.system_name;
	profile_object_get(profile, object)->has_functions = true;
	return set_function(profile, place->location, &function);
}

static int set_offset(struct profile *profile, const struct place *place,
		      const struct object *object, uint64_t start)
{
	const char *slash = strrchr(object->name, '/');
	uint64_t shown = start ? start : place->address;
	char name[320];

	snprintf(name, sizeof(name), "%.256s+0x%" PRIx64, slash ? slash + 1 : object->name, shown);
	return set_name(profile, place, object->profile_id, name, shown, false);
}

/* ---- one object ---- */

static size_t segments_of(const struct naming *naming, const struct image_segment **ret_segments)
{
	if (naming->image)
		return image_segments(naming->image, ret_segments);
	*ret_segments = naming->object->segments;
	return naming->object->segment_count;
}

static const struct image_segment *segment_of_offset(const struct naming *naming, uint64_t offset)
{
	const struct image_segment *segments;
	size_t count = segments_of(naming, &segments);

	for (size_t i = 0; i < count; i++) {
		/* The page before a segment's first byte is mapped with it. */
		uint64_t start = segments[i].file_offset & ~4095ull;

		if (segments[i].executable && offset >= start &&
		    offset - start < segments[i].file_size + segments[i].file_offset - start)
			return &segments[i];
	}
	return NULL;
}

static int by_address(const void *a, const void *b)
{
	const struct place *left = a, *right = b;

	return left->address < right->address ? -1 : left->address > right->address;
}

static void offsets_to_addresses(struct naming *naming)
{
	for (size_t i = 0; i < naming->count; i++) {
		struct place *place = &naming->places[i];
		const struct image_segment *segment = segment_of_offset(naming, place->address);

		if (!segment)
			continue;
		place->address = place->address - segment->file_offset + segment->address;
		profile_location_get(naming->parts->profile, place->location)->address =
			place->address;
	}
	qsort(naming->places, naming->count, sizeof(*naming->places), by_address);
}

static int describe(const struct naming *naming)
{
	struct profile *profile = naming->parts->profile;
	struct profile_object *object = profile_object_get(profile, naming->object->profile_id);
	const struct image_segment *segments;
	size_t count = segments_of(naming, &segments);
	uint32_t build_id = 0;

	for (size_t i = 0; i < count; i++) {
		if (!segments[i].executable)
			continue;
		object->start = segments[i].address;
		object->limit = segments[i].address + segments[i].memory_size;
		object->file_offset = segments[i].file_offset;
		break;
	}
	if (naming->object->build_id)
		build_id = profile_string(profile, naming->object->build_id);
	if (build_id == PROFILE_FAILED)
		return -ENOMEM;
	profile_object_get(profile, naming->object->profile_id)->build_id = build_id;
	return 0;
}

/* Function starts for the addresses that have no symbol. */
static void find_starts(struct naming *naming)
{
	size_t count = 0;

	for (size_t i = 0; i < naming->count; i++)
		if (!naming->matches[i].name)
			naming->pcs[count++] = naming->places[i].address;
	if (count == 0 || unwind_function_starts(naming->image, (const u64 *)naming->pcs, count,
						 naming->starts) < 0)
		memset(naming->starts, 0, naming->count * sizeof(*naming->starts));
}

static bool same_symbol(const struct symbol_match *a, const struct symbol_match *b)
{
	return a->name && b->name && a->start == b->start && strcmp(a->name, b->name) == 0;
}

static int set_functions(const struct naming *naming)
{
	struct profile *profile = naming->parts->profile;
	size_t unnamed = 0;
	int r = 0;

	for (size_t i = 0; i < naming->count && r == 0; i++) {
		const struct place *place = &naming->places[i];
		const struct symbol_match *match = &naming->matches[i];

		if (i > 0 && same_symbol(match, match - 1))
			profile_location_get(profile, place->location)->function =
				profile_location_get(profile, place[-1].location)->function;
		else if (match->name)
			r = set_symbol(profile, place, naming->object->profile_id, match);
		else
			r = set_offset(profile, place, naming->object, naming->starts[unnamed]);
		unnamed += !match->name;
	}
	return r;
}

static int name_places(struct naming *naming)
{
	guard_free uint64_t *pcs = calloc(naming->count, sizeof(*pcs));
	guard_free struct symbol_match *matches = calloc(naming->count, sizeof(*matches));
	guard_free u64 *starts = calloc(naming->count, sizeof(*starts));
	int r;

	if (!pcs || !matches || !starts)
		return -ENOMEM;
	naming->pcs = pcs;
	naming->matches = matches;
	naming->starts = starts;
	offsets_to_addresses(naming);
	for (size_t i = 0; i < naming->count; i++)
		pcs[i] = naming->places[i].address;
	if (naming->image) {
		symtab_resolve(naming->image, pcs, naming->count, matches);
		find_starts(naming);
	}
	r = set_functions(naming);
	for (size_t i = 0; i < naming->count; i++)
		free(matches[i].name);
	return r;
}

static int name_anonymous(const struct naming *naming)
{
	int r = 0;

	for (size_t i = 0; i < naming->count && r == 0; i++)
		r = set_name(naming->parts->profile, &naming->places[i], naming->object->profile_id,
			     naming->object->name, 0, false);
	return r;
}

static int name_object(const struct naming_parts *parts, const struct object *object,
		       const struct groups *groups)
{
	uint32_t first = groups->first[object->profile_id];
	struct naming naming = {
		.parts = parts,
		.object = object,
		.places = groups->places + first,
		.count = groups->first[object->profile_id + 1] - first,
	};
	int r;

	if (naming.count == 0)
		return 0;
	if (object->anonymous)
		return name_anonymous(&naming);
	if (object->fd >= 0)
		r = image_open(object->fd, &naming.image);
	else if (object->bytes)
		r = image_open_memory(object->bytes, object->size, &naming.image);
	else
		r = -ENOENT;
	if (r < 0)
		naming.image = NULL;
	r = describe(&naming);
	if (r == 0)
		r = name_places(&naming);
	image_close(naming.image);
	return r;
}

/* ---- kernel and markers ---- */

static int name_kernel(const struct naming_parts *parts, const struct groups *groups,
		       uint32_t range)
{
	uint32_t object = samples_kernel_object(parts->samples, range), start = 0;
	int r = 0;

	if (object == 0)
		return 0;
	/* How long the range is has not been told; places are sorted. */
	if (groups->first[object] < groups->first[object + 1])
		profile_object_get(parts->profile, object)->limit =
			groups->places[groups->first[object + 1] - 1].address + 1;
	for (uint32_t i = groups->first[object]; i < groups->first[object + 1] && r == 0; i++) {
		const struct place *place = &groups->places[i];
		const char *name = NULL;
		char text[320];

		if (parts->symbols && range < KERNEL_RANGES_MAX)
			name = kernel_symbols_find(parts->symbols, range, (uint32_t)place->address,
						   &start);
		if (name) {
			r = set_name(parts->profile, place, object, name, start, true);
			continue;
		}
		snprintf(text, sizeof(text), "%.256s+0x%" PRIx64,
			 profile_string_get(parts->profile,
					    profile_object_get(parts->profile, object)->name),
			 place->address);
		r = set_name(parts->profile, place, object, text, place->address, false);
	}
	return r;
}

static int name_marker(const struct naming_parts *parts, const struct groups *groups,
		       uint32_t object)
{
	bool named = object != samples_unknown_object(parts->samples);
	const char *name = profile_string_get(parts->profile,
					      profile_object_get(parts->profile, object)->name);
	int r = 0;

	for (uint32_t i = groups->first[object]; i < groups->first[object + 1] && r == 0; i++)
		r = set_name(parts->profile, &groups->places[i], object, name, 0, named);
	return r;
}

static int name_all(const struct naming_parts *parts, const struct groups *groups)
{
	const struct object *object;
	size_t cursor = 0;
	int r = 0;

	while (r == 0 && (object = objects_next(parts->objects, &cursor)) != NULL)
		if (object->profile_id)
			r = name_object(parts, object, groups);
	for (uint32_t range = 0; range <= KERNEL_RANGES_MAX && r == 0; range++)
		r = name_kernel(parts, groups, range);
	for (uint32_t id = 1; id <= profile_objects(parts->profile) && r == 0; id++)
		if (profile_object_get(parts->profile, id)->kind == KIND_MARKER)
			r = name_marker(parts, groups, id);
	return r;
}

int naming_run(const struct naming_parts *parts)
{
	struct groups groups = {0};
	int r = make_groups(parts->profile, &groups);

	if (r == 0)
		r = name_all(parts, &groups);
	free(groups.first);
	free(groups.places);
	return r;
}

static bool nameless(const struct profile *profile, uint32_t stack)
{
	const uint32_t *locations;
	size_t depth = profile_stack_get(profile, stack, &locations);

	for (size_t i = 0; i < depth; i++) {
		uint32_t id = profile_location_get(profile, locations[i])->function;

		if (id == 0 || !profile_function_get(profile, id)->named)
			return true;
	}
	return false;
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
