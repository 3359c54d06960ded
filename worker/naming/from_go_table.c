/* SPDX-License-Identifier: Apache-2.0 */
#include "base/redact.h"
#include "object/symbol/go_table.h"
#include "profile/profile.h"
#include "worker/naming/naming.h"
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
	const struct redact *redact = names->parts->redact;
	char name[REDACT_BYTES], file[REDACT_BYTES];
	struct profile_function function = {
		.line = frame->first_line,
		.object = names->object->profile_id,
		.start = frame->start,
		.named = true,
	};

	function.name = object_names_add_string(
		names, redact_name(redact, REDACT_FUNCTION, frame->name, name));
	function.system_name = function.name;
	function.file = object_names_add_string(names, redact_source(redact, frame->file, file));
	if (function.file == PROFILE_FAILED)
		function.file = 0;
	return function;
}

/* Sets the location's own function, for which names_from_go_table() has checked the room. */
static void set_outermost(struct go_place *go, const struct go_frame *frame)
{
	const struct profile_function function = describe(go->names, frame);
	struct profile *profile = go->names->parts->profile;

	profile_location_get(profile, go->place->location)->line = frame->line;
	place_set_function(profile, go->place, &function);
	profile_object_get(profile, function.object)->has_functions = true;
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
	const bool dropped = go->names->parts->redact->mode[REDACT_FUNCTION] == REDACT_DROP;

	if (dropped && !frame->inlined)
		object_names_set_offset(go->names, go->place, frame->start, true);
	else if (!dropped && frame->inlined)
		add_inlined(go, frame);
	else if (!dropped)
		set_outermost(go, frame);
}

void names_from_go_table(struct object_names *names)
{
	struct go_place go = {.names = names};
	struct go_table *table;

	if (go_table_open(names->parts->cache, names->image, &table) < 0)
		return;
	for (size_t i = 0; i < names->unnamed_count; i++) {
		if (!object_names_in_time(names) || !object_names_have_room(names))
			break;
		go.place = &names->unnamed[i];
		go.count = 0;
		if (go_table_find(table, go.place->address, on_frame, &go) < 0)
			continue;
		names->parts->counts->go++;
		/* without memory, the inlined functions are left out; the function itself stays */
		profile_location_set_inlined(names->parts->profile, go.place->location, go.lines,
					     go.count);
	}
	go_table_close(table);
}
