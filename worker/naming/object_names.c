/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/naming/object_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/redact.h"
#include "ipc/guard.h"
#include "object/symbol/cache.h"
#include "object/symbol/demangle.h"
#include "object/symbol/symtab.h"
#include "profile/offset_name.h"
#include "profile/profile.h"
#include "worker/naming/naming.h"
#include "worker/naming/places.h"
#include "worker/naming/resources.h"
#include "worker/process/object.h"

/* ---- budget ---- */

bool object_names_in_time(struct object_names *names)
{
	if (!names->late && names->resources->clock() >= names->budget->deadline) {
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
		symbol_cache_refuse(names->resources->cache);
	}
	return !names->full;
}

static void charge(struct object_names *names, size_t bytes)
{
	names->bytes += bytes;
	names->budget->bytes += bytes;
}

static uint32_t add_string(struct object_names *names, const char *string)
{
	struct profile *profile = names->resources->profile;
	uint32_t strings = profile_strings(profile), id = profile_string(profile, string);

	if (profile_strings(profile) > strings)
		charge(names, strlen(string) + 1);
	return id;
}

uint32_t object_names_add_function_name(struct object_names *names, const char *raw)
{
	char text[REDACT_BYTES];

	return add_string(names, redact_name(names->resources->redact, REDACT_FUNCTION, raw, text));
}

uint32_t object_names_add_source(struct object_names *names, const char *raw)
{
	char text[REDACT_BYTES];

	return add_string(names, redact_source(names->resources->redact, raw, text));
}

uint32_t object_names_add_function(struct object_names *names,
				   const struct profile_function *function)
{
	struct profile *profile = names->resources->profile;
	uint32_t functions = profile_functions(profile);
	uint32_t id = profile_function_add(profile, function);

	if (profile_functions(profile) > functions)
		charge(names, sizeof(*function));
	return id;
}

/* ---- names ---- */

bool object_names_drops_functions(const struct object_names *names)
{
	return names->resources->redact->mode[REDACT_FUNCTION] == REDACT_DROP;
}

void object_names_set_symbol(struct object_names *names, const struct place *place,
			     const struct symbol_match *match)
{
	struct profile_function function = {
		.object = names->object->profile_id,
		.start = match->start,
		.named = true,
	};
	guard_free char *readable = NULL;

	if (object_names_drops_functions(names)) {
		object_names_set_offset(names, place, match->start, true);
		return;
	}
	/* as the symbol table has it, so that a name is the same however it is shown */
	function.system_name = object_names_add_function_name(names, match->name);
	function.name = function.system_name;
	if (redact_keeps(names->resources->redact, REDACT_FUNCTION))
		readable = demangle(match->name);
	if (readable)
		function.name = add_string(names, readable);
	place_set_function(names->resources->profile, place, &function);
}

static const char *shown_path(const struct object_names *names, char text[REDACT_BYTES])
{
	return redact_name(names->resources->redact, REDACT_PATH, names->object->name, text);
}

void object_names_set_offset(const struct object_names *names, const struct place *place,
			     uint64_t start, bool named)
{
	char name[OFFSET_NAME_BYTES], text[REDACT_BYTES];
	const char *file = shown_path(names, text), *slash = strrchr(file, '/');

	if (slash)
		file = slash + 1;
	if (start == 0)
		start = place->address;
	offset_name(name, sizeof(name), file, start);
	place_set_name(names->resources->profile, place, names->object->profile_id, name, start,
		       named);
}

void object_names_set_path(const struct object_names *names, const struct place *place)
{
	char text[REDACT_BYTES];

	place_set_name(names->resources->profile, place, names->object->profile_id,
		       shown_path(names, text), 0, false);
}

void object_names_update(struct object_names *names)
{
	const struct profile *profile = names->resources->profile;
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
		profile_object_get(names->resources->profile, names->object->profile_id);

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

/* Returns the id of the string, or 0 for NULL, "" and without memory. */
static uint32_t add_id(const struct object_names *names, const char *id)
{
	uint32_t string;

	if (!id || !id[0])
		return 0;
	string = profile_string(names->resources->profile, id);
	if (string == PROFILE_FAILED)
		return 0;
	return string;
}

/* An id of a file identifies the file as well as its path does. */
static void describe_ids(const struct object_names *names)
{
	const struct object *object = names->object;
	const bool kept = redact_keeps(names->resources->redact, REDACT_PATH);
	struct profile_object *described =
		profile_object_get(names->resources->profile, object->profile_id);

	described->build_id = 0;
	described->go_build_id = 0;
	described->file_id = 0;
	if (!kept)
		return;
	described->build_id = add_id(names, object->build_id);
	described->go_build_id = add_id(names, object->go_build_id);
	described->file_id = add_id(names, object->file_id);
}

static int allocate(struct object_names *names)
{
	names->unnamed = calloc(names->count, sizeof(*names->unnamed));
	names->unnamed_addresses = calloc(names->count, sizeof(*names->unnamed_addresses));
	names->matches = calloc(names->count, sizeof(*names->matches));
	names->starts = calloc(names->count, sizeof(*names->starts));
	if (!names->unnamed || !names->unnamed_addresses || !names->matches || !names->starts)
		return -ENOMEM;
	return 0;
}

void object_names_describe(struct object_names *names)
{
	find_segments(names);
	describe_range(names);
	describe_ids(names);
}

int object_names_open(struct object_names *names)
{
	if (names->count == 0 || open_image(names) < 0)
		names->image = NULL;
	object_names_describe(names);
	return allocate(names);
}

void object_names_close(struct object_names *names)
{
	symbol_cache_forget(names->resources->cache, names->image);
	image_close(names->image);
	free(names->unnamed);
	free(names->unnamed_addresses);
	free(names->matches);
	free(names->starts);
}
