/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/redact.h"
#include "base/runtimes.h"
#include "profile/offset_name.h"
#include "profile/profile.h"
#include "worker/made/names.h"
#include "worker/made/perf_map.h"
#include "worker/naming/groups.h"
#include "worker/naming/places.h"
#include "worker/naming/resources.h"
#include "worker/naming/sources.h"
#include "worker/sample/samples.h"

#define NAME_OF_NONE "[anon]" /* as the object is called whose code nobody names */

struct naming_made {
	const struct resources *resources;
	uint32_t object;
	uint64_t named, bytes;
};

/* A name in its parts. */
struct made_name {
	char name[PERF_MAP_NAME_MAX + 1], file[PERF_MAP_NAME_MAX + 1]; /* file: may be empty */
	uint32_t line;
};

static uint32_t add_string(struct naming_made *naming, const char *string)
{
	struct profile *profile = naming->resources->profile;
	const uint32_t strings = profile_strings(profile), id = profile_string(profile, string);

	if (profile_strings(profile) > strings)
		naming->bytes += strlen(string) + 1;
	return id;
}

/* Returns the name as the policy allows. Dropped names leave the functions apart, by number. */
static uint32_t add_name(struct naming_made *naming, const char *raw, uint64_t number)
{
	const struct redact *redact = naming->resources->redact;
	struct profile *profile = naming->resources->profile;
	char text[REDACT_BYTES], room[OFFSET_NAME_BYTES];

	if (redact->mode[REDACT_FUNCTION] != REDACT_DROP)
		return add_string(naming, redact_name(redact, REDACT_FUNCTION, raw, text));
	offset_name(room, sizeof(room),
		    profile_string_get(profile, profile_object_get(profile, naming->object)->name),
		    number);
	return add_string(naming, room);
}

/* Functions without a name are told apart by their source, if the policy lets a profile have it. */
static void split(const struct redact *redact, const char *raw, struct made_name *ret_name)
{
	struct perf_map_place place;
	bool whole;

	*ret_name = (struct made_name){.line = 0};
	whole = perf_map_split(raw, &place) < 0;
	if (whole || (perf_map_is_anonymous(&place) && redact_keeps(redact, REDACT_PATH)))
		snprintf(ret_name->name, sizeof(ret_name->name), "%s", raw);
	else
		memcpy(ret_name->name, raw, place.name_bytes);
	if (whole)
		return;
	memcpy(ret_name->file, raw + place.file_at, place.file_bytes);
	ret_name->line = place.line;
}

static void name_place(struct naming_made *naming, const struct place *place)
{
	struct profile *profile = naming->resources->profile;
	struct profile_object *object = profile_object_get(profile, naming->object);
	struct profile_function function = {
		.object = naming->object,
		.named = true,
	};
	struct made_source source = {.file = NULL};
	const uint32_t number =
		made_names_settled(naming->resources->made, (uint32_t)place->address);
	struct made_name name;
	char text[REDACT_BYTES];

	/* the numbers go on */
	if (object->limit <= place->address)
		object->limit = place->address + 1;
	if (number == 0) {
		place_set_name(profile, place, naming->object, NAME_OF_NONE, 0, false);
		return;
	}
	function.start = number;
	split(naming->resources->redact, made_names_get(naming->resources->made, number), &name);
	if (made_names_source(naming->resources->made, number, &source)) {
		function.start = source.function;
		snprintf(name.file, sizeof(name.file), "%s", source.file);
		name.line = 0;
		profile_location_get(profile, place->location)->line = source.line;
	}
	function.line = name.line;
	function.name = add_name(naming, name.name, number);
	function.system_name = function.name;
	if (name.file[0])
		function.file = add_string(
			naming, redact_source(naming->resources->redact, name.file, text));
	if (function.file == PROFILE_FAILED)
		function.file = 0;
	place_set_function(profile, place, &function);
	naming->named++;
}

uint64_t names_from_made(const struct resources *resources, const struct groups *groups,
			 uint64_t *bytes)
{
	struct naming_made naming = {.resources = resources};

	if (resources->made)
		made_names_settle(resources->made);
	for (uint32_t runtime = 0; runtime < RUNTIME_COUNT && resources->made; runtime++) {
		const uint32_t object = samples_made_object(resources->samples, runtime);

		naming.object = object;
		for (uint32_t i = groups->first[object]; object && i < groups->first[object + 1];
		     i++)
			name_place(&naming, &groups->places[i]);
	}
	*bytes += naming.bytes;
	return naming.named;
}
