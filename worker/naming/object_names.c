/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/naming/object_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/redact.h"
#include "ipc/guard.h"
#include "object/symbol/cache.h"
#include "object/symbol/demangle.h"
#include "object/symbol/symtab.h"
#include "profile/profile.h"
#include "worker/naming/naming.h"
#include "worker/naming/places.h"
#include "worker/process/object.h"

/* ---- budget ---- */

bool object_names_in_time(struct object_names *names)
{
	if (!names->late && names->parts->clock() >= names->budget->deadline) {
		names->late = true;
		names->budget->late++;
	}
	return !names->late;
}

bool object_names_have_room(struct object_names *names)
{
	if (!names->full &&
	    (names->bytes >= NAMING_OBJECT_BYTES_MAX || names->budget->bytes >= NAMING_BYTES_MAX)) {
		names->full = true;
		symbol_cache_refuse(names->parts->cache);
	}
	return !names->full;
}

static void charge(struct object_names *names, size_t bytes)
{
	names->bytes += bytes;
	names->budget->bytes += bytes;
}

uint32_t object_names_add_string(struct object_names *names, const char *string)
{
	struct profile *profile = names->parts->profile;
	uint32_t strings = profile_strings(profile), id = profile_string(profile, string);

	if (profile_strings(profile) > strings)
		charge(names, strlen(string) + 1);
	return id;
}

uint32_t object_names_add_function(struct object_names *names,
				   const struct profile_function *function)
{
	struct profile *profile = names->parts->profile;
	uint32_t functions = profile_functions(profile);
	uint32_t id = profile_function_add(profile, function);

	if (profile_functions(profile) > functions)
		charge(names, sizeof(*function));
	return id;
}

/* ---- names ---- */

void object_names_set_symbol(struct object_names *names, const struct place *place,
			     const struct symbol_match *match)
{
	struct profile *profile = names->parts->profile;
	uint32_t object = names->object->profile_id;
	struct profile_function function = {.object = object, .start = match->start, .named = true};
	guard_free char *readable = NULL;
	char text[REDACT_BYTES];
	const char *name = redact_name(names->parts->redact, REDACT_FUNCTION, match->name, text);

	/* the policy changes the symbol table's form of a name, whether or not it is demangled */
	if (name == match->name)
		readable = demangle(name);
	function.system_name = object_names_add_string(names, name);
	function.name = function.system_name;
	if (readable)
		function.name = object_names_add_string(names, readable);
	profile_object_get(profile, object)->has_functions = true;
	place_set_function(profile, place, &function);
}

void object_names_set_offset(const struct object_names *names, const struct place *place,
			     uint64_t start, bool named)
{
	char name[320], text[REDACT_BYTES];
	const char *path =
		redact_name(names->parts->redact, REDACT_PATH, names->object->name, text);
	const char *slash = strrchr(path, '/');
	uint64_t shown = start ? start : place->address;

	snprintf(name, sizeof(name), "%.256s+0x%" PRIx64, slash ? slash + 1 : path, shown);
	place_set_name(names->parts->profile, place, names->object->profile_id, name, shown, named);
}

void object_names_update(struct object_names *names)
{
	const struct profile *profile = names->parts->profile;
	size_t count = 0;

	for (size_t i = 0; i < names->count; i++) {
		const struct place *place = &names->places[i];

		if (profile_location_get(profile, place->location)->function != 0)
			continue;
		names->unnamed[count] = *place;
		names->unnamed_addresses[count++] = place->address;
	}
	names->unnamed_count = count;
}

/* ---- the object ---- */

static int open_image(struct object_names *names)
{
	const struct object *object = names->object;

	if (object->fd < 0 && !object->bytes)
		return -ENOENT;
	if (!object_names_in_time(names))
		return -ETIME;
	if (object->fd >= 0)
		return image_open(object->fd, &names->image);
	return image_open_memory(object->bytes, object->size, &names->image);
}

/* Takes the image's segments for an object that was not parsed in time and has none. */
static void find_segments(struct object_names *names)
{
	const struct image_segment *segments = names->object->segments;
	size_t count = names->object->segment_count;

	if (!segments && names->image)
		count = image_segments(names->image, &segments);
	for (size_t i = 0; i < count && names->segment_count < IMAGE_SEGMENTS_MAX; i++)
		if (segments[i].executable)
			names->segments[names->segment_count++] = segments[i];
}

/* Returns the end of an object that could not be read: behind the last executed byte. */
static uint64_t end_of_places(const struct object_names *names)
{
	uint64_t last = 0;

	for (size_t i = 0; i < names->count; i++)
		if (names->places[i].address > last)
			last = names->places[i].address;
	return last < UINT64_MAX ? last + 1 : last;
}

/* Describes one mapping for all text of the object, whichever part of it was executed. */
static void describe_range(const struct object_names *names)
{
	struct profile_object *object =
		profile_object_get(names->parts->profile, names->object->profile_id);

	for (size_t i = 0; i < names->segment_count; i++) {
		const struct image_segment *segment = &names->segments[i];
		uint64_t end = segment->address + segment->memory_size;

		if (i == 0 || segment->address < object->start) {
			object->start = segment->address;
			object->file_offset = segment->file_offset;
		}
		if (i == 0 || end > object->limit)
			object->limit = end;
	}
	if (names->segment_count == 0 && object->limit < end_of_places(names))
		object->limit = end_of_places(names);
}

/* A build id identifies the file as well as its path does. */
static void describe_build_id(const struct object_names *names)
{
	struct profile *profile = names->parts->profile;
	uint32_t build_id = 0;

	if (names->object->build_id && redact_keeps(names->parts->redact, REDACT_PATH))
		build_id = profile_string(profile, names->object->build_id);
	if (build_id == PROFILE_FAILED)
		build_id = 0;
	profile_object_get(profile, names->object->profile_id)->build_id = build_id;
}

void object_names_open(struct object_names *names)
{
	if (names->count == 0 || open_image(names) < 0)
		names->image = NULL;
	find_segments(names);
	describe_range(names);
	describe_build_id(names);
}

void object_names_close(struct object_names *names)
{
	symbol_cache_forget(names->parts->cache, names->image);
	image_close(names->image);
}
