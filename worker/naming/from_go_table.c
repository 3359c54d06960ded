/* SPDX-License-Identifier: Apache-2.0 */
#include "object/symbol/go_table.h"
#include "profile/profile.h"
#include "worker/naming/resources.h"
#include "worker/naming/object_names.h"
#include "worker/naming/places.h"
#include "worker/naming/sources.h"
#include "worker/process/object.h"

/* Collects what go_table_find() shows of one address. */
struct go_place {
	struct object_names *names;
	const struct place *place;
	struct profile_line lines[PROFILE_LINES_MAX]; /* of inlined functions */
	size_t count;
};

static struct profile_function describe(struct object_names *names, const struct go_frame *frame)
{
	struct profile_function function = {
		.line = frame->first_line,
		.object = names->object->profile_id,
		.start = frame->start,
		.named = true,
	};

	function.name = object_names_add_function_name(names, frame->name);
	function.system_name = function.name;
	function.file = object_names_add_source(names, frame->file);
	if (function.file == PROFILE_FAILED)
		function.file = 0;
	return function;
}

/* Sets the location's own function, for which names_from_go_table() has checked the room. */
static void set_outermost(struct go_place *go, const struct go_frame *frame)
{
	const struct profile_function function = describe(go->names, frame);
	struct profile *profile = go->names->resources->profile;

	profile_location_get(profile, go->place->location)->line = frame->line;
	place_set_function(profile, go->place, &function);
}

static void add_inlined(struct go_place *go, const struct go_frame *frame)
{
	struct profile_line *line = &go->lines[go->count];
	struct profile_function function;

	if (!object_names_have_room(go->names))
		return;
	function = describe(go->names, frame);
	if (go->count == PROFILE_LINES_MAX || function.name == PROFILE_FAILED)
		return;
	line->function = object_names_add_function(go->names, &function);
	line->line = frame->line;
	go->count += line->function != PROFILE_FAILED;
}

static void on_frame(void *context, const struct go_frame *frame)
{
	struct go_place *go = context;
	const bool dropped = object_names_drops_functions(go->names);

	if (dropped && !frame->inlined)
		object_names_set_offset(go->names, go->place, frame->start, true);
	else if (!dropped && frame->inlined)
		add_inlined(go, frame);
	else if (!dropped)
		set_outermost(go, frame);
}

uint64_t names_from_go_table(struct object_names *names)
{
	struct go_place go = {.names = names};
	struct go_table *table;
	uint64_t named = 0;

	if (go_table_open(names->resources->cache, names->image, &table) < 0)
		return 0;
	for (size_t i = 0; i < names->unnamed_count; i++) {
		if (!object_names_in_time(names) || !object_names_have_room(names))
			break;
		go.place = &names->unnamed[i];
		go.count = 0;
		if (go_table_find(table, go.place->address, on_frame, &go) < 0)
			continue;
		named++;
		/* without memory for the inlined functions there is the function itself */
		profile_location_set_inlined(names->resources->profile, go.place->location,
					     go.lines, go.count);
	}
	go_table_close(table);
	return named;
}
