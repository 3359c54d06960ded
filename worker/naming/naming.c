/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/naming/naming.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/guard.h"
#include "ipc/log.h"
#include "base/redact.h"
#include "worker/naming/debug_file.h"
#include "object/elf/image.h"
#include "worker/naming/groups.h"
#include "worker/naming/source_lines.h"
#include "worker/process/object.h"
#include "profile/profile.h"
#include "worker/sample/samples.h"
#include "object/symbol/cache.h"
#include "object/symbol/debugdata.h"
#include "object/symbol/demangle.h"
#include "object/symbol/go_table.h"
#include "worker/kernel/kernel_symbols.h"
#include "worker/kernel/late_names.h"
#include "object/symbol/symtab.h"
#include "object/unwind/unwind_table.h"

/* What all objects share: time, and room for their names. */
struct budget {
	uint64_t deadline, late; /* late: objects that were not named in time */
	size_t bytes;
};

/* One object being named. */
struct naming {
	const struct naming_parts *parts;
	const struct object *object;
	struct budget *budget;
	bool late, full;				   /* has been counted */
	size_t bytes;					   /* of its names */
	struct image *image;				   /* NULL: cannot be read */
	struct image_segment segments[IMAGE_SEGMENTS_MAX]; /* executable */
	size_t segment_count;
	struct place *places;
	size_t count;
	struct place *rest; /* those without a name yet */
	uint64_t *pcs;	    /* theirs */
	struct symbol_match *matches;
	u64 *starts;
};

/* ---- budget ---- */

static bool in_time(struct naming *naming)
{
	if (!naming->late && naming->parts->clock() >= naming->budget->deadline) {
		naming->late = true;
		naming->budget->late++;
	}
	return !naming->late;
}

static bool has_room(struct naming *naming)
{
	if (!naming->full && (naming->bytes >= NAMING_OBJECT_BYTES_MAX ||
			      naming->budget->bytes >= NAMING_BYTES_MAX)) {
		naming->full = true;
		symbol_cache_refuse(naming->parts->cache);
	}
	return !naming->full;
}

static void charge(struct naming *naming, size_t bytes)
{
	naming->bytes += bytes;
	naming->budget->bytes += bytes;
}

static uint32_t add_string(struct naming *naming, const char *string)
{
	struct profile *profile = naming->parts->profile;
	uint32_t strings = profile_strings(profile), id = profile_string(profile, string);

	if (profile_strings(profile) > strings)
		charge(naming, strlen(string) + 1);
	return id;
}

static uint32_t add_function(struct naming *naming, const struct profile_function *function)
{
	struct profile *profile = naming->parts->profile;
	uint32_t functions = profile_functions(profile);
	uint32_t id = profile_function_add(profile, function);

	if (profile_functions(profile) > functions)
		charge(naming, sizeof(*function));
	return id;
}

/* ---- functions ---- */

static void set_function(struct profile *profile, uint32_t location,
			 const struct profile_function *function)
{
	uint32_t id = PROFILE_FAILED;

	if (function->name != PROFILE_FAILED && function->system_name != PROFILE_FAILED)
		id = profile_function_add(profile, function);
	/* Without memory it is shown by its address, and counted. */
	if (id != PROFILE_FAILED)
		profile_location_get(profile, location)->function = id;
}

static void set_name(struct profile *profile, const struct place *place, uint32_t object,
		     const char *name, uint64_t start, bool named)
{
	struct profile_function function = {.object = object, .start = start, .named = named};

	function.name = profile_string(profile, name);
	function.system_name = function.name;
	if (named)
		profile_object_get(profile, object)->has_functions = true;
	set_function(profile, place->location, &function);
}

static void set_symbol(struct naming *naming, const struct place *place,
		       const struct symbol_match *match)
{
	struct profile *profile = naming->parts->profile;
	const struct redact *redact = naming->parts->redact;
	uint32_t object = naming->object->profile_id;
	struct profile_function function = {.object = object, .start = match->start, .named = true};
	guard_free char *readable = NULL;
	char text[REDACT_BYTES];
	const char *name = redact_name(redact, REDACT_FUNCTION, match->name, text);

	/* as the symbol table has it, so that a name is the same however it is shown */
	if (name == match->name)
		readable = demangle(name);
	function.system_name = add_string(naming, name);
	function.name = readable ? add_string(naming, readable) : function.system_name;
	profile_object_get(profile, object)->has_functions = true;
	set_function(profile, place->location, &function);
}

static void set_offset(struct profile *profile, const struct place *place,
		       const struct object *object, uint64_t start, bool named,
		       const struct redact *redact)
{
	char name[320], text[REDACT_BYTES];
	const char *path = redact_name(redact, REDACT_PATH, object->name, text);
	const char *slash = strrchr(path, '/');
	uint64_t shown = start ? start : place->address;

	snprintf(name, sizeof(name), "%.256s+0x%" PRIx64, slash ? slash + 1 : path, shown);
	set_name(profile, place, object->profile_id, name, shown, named);
}

/* ---- one object ---- */

/* An object that was not parsed in time has none of its own. */
static void find_segments(struct naming *naming)
{
	const struct image_segment *segments = naming->object->segments;
	size_t count = naming->object->segment_count;

	if (!segments && naming->image)
		count = image_segments(naming->image, &segments);
	for (size_t i = 0; i < count && naming->segment_count < IMAGE_SEGMENTS_MAX; i++)
		if (segments[i].executable)
			naming->segments[naming->segment_count++] = segments[i];
}

static void offsets_to_addresses(struct naming *naming)
{
	for (size_t i = 0; i < naming->count; i++) {
		struct place *place = &naming->places[i];
		const struct image_segment *segment = image_segment_of(
			naming->segments, naming->segment_count, place->address, 1);

		if (!segment)
			continue;
		place->address = place->address - segment->file_offset + segment->address;
		profile_location_get(naming->parts->profile, place->location)->address =
			place->address;
	}
	qsort(naming->places, naming->count, sizeof(*naming->places), place_compare);
}

/* One that could not be read: from its first byte to the last one that was executed. */
static uint64_t end_of_places(const struct naming *naming)
{
	uint64_t last = 0;

	for (size_t i = 0; i < naming->count; i++)
		if (naming->places[i].address > last)
			last = naming->places[i].address;
	return last < UINT64_MAX ? last + 1 : last;
}

/* One mapping for all text of an object, whichever part of it was executed. */
static void describe(const struct naming *naming)
{
	struct profile *profile = naming->parts->profile;
	struct profile_object *object = profile_object_get(profile, naming->object->profile_id);
	uint32_t build_id = 0;

	for (size_t i = 0; i < naming->segment_count; i++) {
		const struct image_segment *segment = &naming->segments[i];
		uint64_t end = segment->address + segment->memory_size;

		if (i == 0 || segment->address < object->start) {
			object->start = segment->address;
			object->file_offset = segment->file_offset;
		}
		if (i == 0 || end > object->limit)
			object->limit = end;
	}
	if (naming->segment_count == 0 && object->limit < end_of_places(naming))
		object->limit = end_of_places(naming);
	/* it says which file it is as well as the path does */
	if (naming->object->build_id && redact_keeps(naming->parts->redact, REDACT_PATH))
		build_id = profile_string(profile, naming->object->build_id);
	if (build_id == PROFILE_FAILED)
		build_id = 0;
	profile_object_get(profile, naming->object->profile_id)->build_id = build_id;
}

/* ---- where names come from ---- */

/* Those that still have none, ascending. */
static size_t rest(const struct naming *naming)
{
	const struct profile *profile = naming->parts->profile;
	size_t count = 0;

	for (size_t i = 0; i < naming->count; i++)
		if (profile_location_get(profile, naming->places[i].location)->function == 0)
			naming->rest[count++] = naming->places[i];
	for (size_t i = 0; i < count; i++)
		naming->pcs[i] = naming->rest[i].address;
	return count;
}

static bool same_symbol(const struct symbol_match *a, const struct symbol_match *b)
{
	return a->name && b->name && a->start == b->start && strcmp(a->name, b->name) == 0;
}

static uint64_t by_symbols(struct naming *naming, struct image *image)
{
	struct profile *profile = naming->parts->profile;
	const struct redact *redact = naming->parts->redact;
	const struct symbol_match *match = naming->matches;
	size_t count = rest(naming);
	uint64_t named = 0;

	if (symtab_resolve(naming->parts->cache, image, naming->pcs, count, naming->matches) < 0)
		return 0;
	for (size_t i = 0; i < count; i++, match++) {
		const struct place *place = &naming->rest[i];

		if (!match->name)
			continue;
		if (!has_room(naming) || !in_time(naming))
			break;
		named++;
		if (i > 0 && same_symbol(match, match - 1))
			profile_location_get(profile, place->location)->function =
				profile_location_get(profile, place[-1].location)->function;
		else if (redact->mode[REDACT_FUNCTION] == REDACT_DROP)
			set_offset(profile, place, naming->object, match->start, true, redact);
		else
			set_symbol(naming, place, match);
	}
	symbol_matches_free(naming->matches, count);
	return named;
}

static uint64_t by_debugdata(struct naming *naming)
{
	struct symbol_cache *cache = naming->parts->cache;
	struct image *inner;
	uint64_t named;
	size_t bytes;

	if (debugdata_open(cache, naming->image, &inner, &bytes) < 0)
		return 0;
	named = by_symbols(naming, inner);
	image_close(inner);
	symbol_cache_release(cache, bytes);
	return named;
}

static uint64_t by_debug_file(struct naming *naming)
{
	struct symbol_cache *cache = naming->parts->cache;
	struct debug_file file;
	uint64_t named;

	/* who opens them is the user's own process, and could be made to tell the path */
	if (!redact_keeps(naming->parts->redact, REDACT_PATH))
		return 0;
	if (!naming->parts->debug_files ||
	    debug_file_open(naming->parts->debug_files, naming->image, naming->object->name,
			    &file) < 0)
		return 0;
	named = by_symbols(naming, file.image);
	symbol_cache_forget(cache, file.image);
	debug_file_close(&file);
	return named;
}

/* What go_table_find() shows of one address. */
struct go_place {
	struct naming *naming;
	const struct place *place;
	struct profile_line lines[PROFILE_LINES_MAX];
	size_t count;
};

static void on_go_frame(void *context, const struct go_frame *frame)
{
	struct go_place *go = context;
	const struct object *object = go->naming->object;
	const struct redact *redact = go->naming->parts->redact;
	struct profile *profile = go->naming->parts->profile;
	char name[REDACT_BYTES], file[REDACT_BYTES];
	struct profile_function function = {
		.line = frame->first_line,
		.object = object->profile_id,
		.start = frame->start,
		.named = true,
	};
	struct profile_location *location;

	if (redact->mode[REDACT_FUNCTION] == REDACT_DROP) {
		if (!frame->inlined)
			set_offset(profile, go->place, object, frame->start, true, redact);
		return;
	}
	/* by_go_table() has asked for the function itself */
	if (frame->inlined && !has_room(go->naming))
		return;
	function.name =
		add_string(go->naming, redact_name(redact, REDACT_FUNCTION, frame->name, name));
	function.file = add_string(go->naming, redact_source(redact, frame->file, file));
	function.system_name = function.name;
	if (function.file == PROFILE_FAILED)
		function.file = 0;
	if (!frame->inlined) {
		location = profile_location_get(profile, go->place->location);
		location->line = frame->line;
		set_function(profile, go->place->location, &function);
		profile_object_get(profile, object->profile_id)->has_functions = true;
	} else if (go->count < PROFILE_LINES_MAX && function.name != PROFILE_FAILED) {
		go->lines[go->count].function = add_function(go->naming, &function);
		go->lines[go->count].line = frame->line;
		go->count += go->lines[go->count].function != PROFILE_FAILED;
	}
}

static uint64_t by_go_table(struct naming *naming)
{
	struct go_place go = {.naming = naming};
	struct profile *profile = naming->parts->profile;
	struct go_table *table;
	uint64_t named = 0;

	if (go_table_open(naming->parts->cache, naming->image, &table) < 0)
		return 0;
	for (size_t i = 0; i < naming->count && in_time(naming) && has_room(naming); i++) {
		go.place = &naming->places[i];
		go.count = 0;
		if (go_table_find(table, go.place->address, on_go_frame, &go) < 0)
			continue;
		named++;
		/* without memory for them there is the function itself */
		profile_location_set_inlined(profile, go.place->location, go.lines, go.count);
	}
	go_table_close(table);
	return named;
}

/* What has no name is shown by the start of its function, if the unwind information has it. */
static void by_starts(const struct naming *naming, struct naming_counts *counts)
{
	size_t count = rest(naming);

	if (!naming->image || count == 0 ||
	    unwind_function_starts(naming->image, (const u64 *)naming->pcs, count, naming->starts) <
		    0)
		memset(naming->starts, 0, count * sizeof(*naming->starts));
	for (size_t i = 0; i < count; i++) {
		set_offset(naming->parts->profile, &naming->rest[i], naming->object,
			   naming->starts[i], false, naming->parts->redact);
		counts->starts += naming->starts[i] != 0;
		counts->offsets += naming->starts[i] == 0;
	}
}

static bool wants_more(struct naming *naming)
{
	return rest(naming) > 0 && in_time(naming);
}

static void name_from_all(struct naming *naming)
{
	struct naming_counts *counts = naming->parts->counts;

	if (naming->image) {
		counts->go += by_go_table(naming);
		if (wants_more(naming))
			counts->tables += by_symbols(naming, naming->image);
		if (wants_more(naming))
			counts->debugdata += by_debugdata(naming);
		if (wants_more(naming))
			counts->debug_files += by_debug_file(naming);
		symbol_cache_forget(naming->parts->cache, naming->image);
	}
	by_starts(naming, counts);
}

static void name_places(struct naming *naming)
{
	guard_free struct place *places = calloc(naming->count, sizeof(*places));
	guard_free uint64_t *pcs = calloc(naming->count, sizeof(*pcs));
	guard_free struct symbol_match *matches = calloc(naming->count, sizeof(*matches));
	guard_free u64 *starts = calloc(naming->count, sizeof(*starts));

	if (!places || !pcs || !matches || !starts)
		return;
	naming->rest = places;
	naming->pcs = pcs;
	naming->matches = matches;
	naming->starts = starts;
	offsets_to_addresses(naming);
	name_from_all(naming);
}

static void name_anonymous(const struct naming *naming)
{
	char text[REDACT_BYTES];
	const char *name =
		redact_name(naming->parts->redact, REDACT_PATH, naming->object->name, text);

	for (size_t i = 0; i < naming->count; i++)
		set_name(naming->parts->profile, &naming->places[i], naming->object->profile_id,
			 name, 0, false);
}

static int open_image(struct naming *naming)
{
	const struct object *object = naming->object;
	bool in_file = object->fd >= 0;

	if (!in_file && !object->bytes)
		return -ENOENT;
	if (!in_time(naming))
		return -ETIME;
	return in_file ? image_open(object->fd, &naming->image)
		       : image_open_memory(object->bytes, object->size, &naming->image);
}

static void name_object(const struct naming_parts *parts, const struct object *object,
			const struct groups *groups, struct budget *budget)
{
	uint32_t first = groups->first[object->profile_id];
	struct naming naming = {
		.parts = parts,
		.object = object,
		.budget = budget,
		.places = groups->places + first,
		.count = groups->first[object->profile_id + 1] - first,
	};

	if (object->anonymous) {
		name_anonymous(&naming);
		return;
	}
	if (naming.count == 0 || open_image(&naming) < 0)
		naming.image = NULL;
	find_segments(&naming);
	describe(&naming);
	name_places(&naming);
	image_close(naming.image);
}

/* ---- kernel and markers ---- */

/* A late name's address is its place. */
static const char *kernel_name(const struct naming_parts *parts, uint32_t range, uint32_t address,
			       uint32_t *start)
{
	if (range >= SAMPLES_LATE) {
		*start = address;
		return late_names_function(parts->late_names, address);
	}
	if (parts->symbols && range < KERNEL_RANGES_MAX)
		return kernel_symbols_find(parts->symbols, range, address, start);
	return NULL;
}

static void name_kernel(const struct naming_parts *parts, const struct groups *groups,
			uint32_t range)
{
	uint32_t object = samples_kernel_object(parts->samples, range), start = 0;

	if (object == 0)
		return;
	for (uint32_t i = groups->first[object]; i < groups->first[object + 1]; i++) {
		const struct place *place = &groups->places[i];
		struct profile_object *range_object = profile_object_get(parts->profile, object);
		const char *name;
		char text[320];

		/* how long the range is has not been told */
		if (range_object->limit <= place->address)
			range_object->limit = place->address + 1;
		name = kernel_name(parts, range, (uint32_t)place->address, &start);
		if (name) {
			set_name(parts->profile, place, object, name, start, true);
			parts->counts->kernel++;
			continue;
		}
		snprintf(text, sizeof(text), "%.256s+0x%" PRIx64,
			 profile_string_get(parts->profile,
					    profile_object_get(parts->profile, object)->name),
			 place->address);
		set_name(parts->profile, place, object, text, place->address, false);
	}
}

static void name_marker(const struct naming_parts *parts, const struct groups *groups,
			uint32_t object)
{
	bool named = object != samples_unknown_object(parts->samples);
	const char *name = profile_string_get(parts->profile,
					      profile_object_get(parts->profile, object)->name);

	for (uint32_t i = groups->first[object]; i < groups->first[object + 1]; i++)
		set_name(parts->profile, &groups->places[i], object, name, 0, named);
}

static bool is_described(const struct naming_parts *parts, const uint32_t *first, uint32_t object)
{
	return object == 0 || (first[object] == first[object + 1] &&
			       profile_object_get(parts->profile, object)->limit);
}

/* 1: some objects are left. */
static int name_all(const struct naming_parts *parts, const struct groups *groups)
{
	int r = 0;
	const struct object *object;
	const uint64_t began = parts->clock();
	struct budget budget = {.deadline = began + NAMING_BUDGET};
	size_t cursor = 0;

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
	for (uint32_t range = 0; range < SAMPLES_KERNEL_RANGES; range++)
		name_kernel(parts, groups, range);
	for (uint32_t id = 1; id <= profile_objects(parts->profile); id++)
		if (profile_object_get(parts->profile, id)->kind == KIND_MARKER)
			name_marker(parts, groups, id);
	return r;
}

int naming_run(const struct naming_parts *parts)
{
	struct groups groups = {0};
	int r = groups_make(parts->profile, &groups);

	if (r == 0)
		r = name_all(parts, &groups);
	if (r == 0 && parts->inlines)
		source_lines_run(parts, &groups);
	groups_free(&groups);
	return r;
}
