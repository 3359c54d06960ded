/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <string.h>

#include "base/redact.h"
#include "base/runtimes.h"
#include "profile/offset_name.h"
#include "profile/profile.h"
#include "worker/naming/groups.h"
#include "worker/naming/places.h"
#include "worker/naming/resources.h"
#include "worker/naming/sources.h"
#include "worker/runtime/functions.h"
#include "worker/sample/samples.h"

#define NOT_READ     "[function, name not read]"
#define NOT_VERIFIED "[function, not verified]"

struct script_names {
	const struct resources *resources;
	uint32_t object;
	uint64_t named, bytes;
};

static uint32_t add_string(struct script_names *names, const char *string)
{
	struct profile *profile = names->resources->profile;
	const uint32_t strings = profile_strings(profile), id = profile_string(profile, string);

	if (profile_strings(profile) > strings)
		names->bytes += strlen(string) + 1;
	return id;
}

/* Returns the name as the policy allows. Dropped names leave the functions apart, by number. */
static uint32_t add_name(struct script_names *names, const char *raw, uint64_t number)
{
	const struct redact *redact = names->resources->redact;
	struct profile *profile = names->resources->profile;
	char text[REDACT_BYTES], room[OFFSET_NAME_BYTES];

	if (redact->mode[REDACT_FUNCTION] != REDACT_DROP)
		return add_string(names, redact_name(redact, REDACT_FUNCTION, raw, text));
	offset_name(room, sizeof(room),
		    profile_string_get(profile, profile_object_get(profile, names->object)->name),
		    number);
	return add_string(names, room);
}

static struct profile_function describe(struct script_names *names, uint64_t number,
					const struct function *told)
{
	char text[REDACT_BYTES];
	struct profile_function function = {
		.object = names->object,
		.line = told->first_line,
		.start = FUNCTION_PLACE(number, 0),
		.named = true,
	};

	function.name = add_name(names, told->name, number);
	function.system_name = function.name;
	function.file =
		add_string(names, redact_source(names->resources->redact, told->file, text));
	if (function.file == PROFILE_FAILED)
		function.file = 0;
	return function;
}

static void set_function(struct script_names *names, const struct place *place,
			 const struct function *told)
{
	struct profile *profile = names->resources->profile;
	const struct profile_function function = describe(names, FUNCTION_OF(place->address), told);

	place_set_function(profile, place, &function);
	profile_location_get(profile, place->location)->line =
		functions_line(names->resources->functions, place->address);
	names->named++;
}

/* Returns what stands for the name of a function that has none. */
static const char *name_of_none(const struct script_names *names, const struct place *place)
{
	if (functions_unverified(names->resources->functions, FUNCTION_OF(place->address)))
		return NOT_VERIFIED;
	return NOT_READ;
}

/* ---- inlined functions ---- */

/* Describes the function of a place in code, which may have no name. */
static struct profile_function describe_inlined(struct script_names *names, uint64_t address)
{
	struct profile_function function = {.object = names->object};
	struct function told;

	if (functions_get(names->resources->functions, FUNCTION_OF(address), &told))
		return describe(names, FUNCTION_OF(address), &told);
	function.name = add_string(names, NOT_READ);
	function.system_name = function.name;
	return function;
}

static void add_inlined(struct script_names *names, uint64_t address, struct profile_line *lines,
			size_t *count)
{
	const struct profile_function function = describe_inlined(names, address);
	struct profile_line *line = &lines[*count];

	if (function.name == PROFILE_FAILED || *count == PROFILE_LINES_MAX)
		return;
	line->function = profile_function_add(names->resources->profile, &function);
	line->line = functions_line(names->resources->functions, address);
	*count += line->function != PROFILE_FAILED;
}

/* Names a place with the functions that are inlined there. Returns false: there are none. */
static bool name_inlined(struct script_names *names, const struct place *place)
{
	struct functions *functions = names->resources->functions;
	struct profile *profile = names->resources->profile;
	struct profile_line lines[PROFILE_LINES_MAX];
	struct profile_function function;
	uint64_t address, next;
	size_t count = 0;

	if (!functions_inlined(functions, place->address, 0, &address))
		return false;
	for (size_t i = 1; functions_inlined(functions, place->address, i, &next); i++) {
		add_inlined(names, address, lines, &count);
		address = next;
	}
	function = describe_inlined(names, address);
	place_set_function(profile, place, &function);
	profile_location_get(profile, place->location)->line = functions_line(functions, address);
	/* without memory for the inlined functions there is the function itself */
	profile_location_set_inlined(profile, place->location, lines, count);
	names->named++;
	return true;
}

static void name_place(struct script_names *names, const struct place *place)
{
	struct profile *profile = names->resources->profile;
	struct profile_object *object = profile_object_get(profile, names->object);
	struct function told;

	/* the numbers go on */
	if (object->limit <= place->address)
		object->limit = place->address + 1;
	if (name_inlined(names, place))
		return;
	if (functions_get(names->resources->functions, FUNCTION_OF(place->address), &told))
		set_function(names, place, &told);
	else
		place_set_name(profile, place, names->object, name_of_none(names, place), 0, false);
}

uint64_t names_from_runtimes(const struct resources *resources, const struct groups *groups,
			     uint64_t *bytes)
{
	struct script_names names = {.resources = resources};

	for (uint32_t runtime = 0; runtime < RUNTIME_COUNT && resources->functions; runtime++) {
		const uint32_t object = samples_script_object(resources->samples, runtime);

		names.object = object;
		for (uint32_t i = groups->first[object]; object && i < groups->first[object + 1];
		     i++)
			name_place(&names, &groups->places[i]);
	}
	*bytes += names.bytes;
	return names.named;
}
