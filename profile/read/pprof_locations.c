/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the locations of a pprof file, with their lines, into the model. */
#include "profile/read/pprof_input.h"

#include <errno.h>
#include <string.h>

#include "base/map.h"
#include "base/wire.h"

enum location_field { /* of Location in proto/profile.proto */
	LOCATION_ID = 1,
	LOCATION_MAPPING,
	LOCATION_ADDRESS,
	LOCATION_LINE
};

enum line_field { /* of Line */
	LINE_FUNCTION = 1,
	LINE_LINE
};

struct pprof_lines { /* of a location, the innermost first */
	const struct pprof_function *function[PROFILE_LINES_MAX];
	uint32_t line[PROFILE_LINES_MAX];
	size_t count;
};

/* ---- into the model ---- */

/*
 * Returns whether a function has a name of its own. keyhole calls a function object+0xoffset where
 * a symbol is missing.
 */
static bool is_named(const char *name)
{
	const char *plus = strrchr(name, '+');

	if (!plus || strncmp(plus, "+0x", 3) != 0)
		return true;
	plus += 3;
	if (!*plus)
		return true;
	return plus[strspn(plus, "0123456789abcdef")] != '\0';
}

/* Returns the id in the model, 0 for a function without a name, or PROFILE_FAILED. */
static uint32_t add_function(struct pprof_input *in, const struct pprof_function *from,
			     uint32_t object)
{
	struct profile_function function = {.object = object};

	if (!from || !from->name)
		return 0;
	function.name = from->name;
	function.system_name = from->system_name;
	if (!function.system_name)
		function.system_name = from->name;
	function.file = from->file;
	function.line = from->line;
	function.named = is_named(profile_string_get(in->profile, function.name));
	return profile_function_add(in->profile, &function);
}

static int set_lines(struct pprof_input *in, uint32_t id, uint32_t object,
		     const struct pprof_lines *lines)
{
	struct profile_line made[PROFILE_LINES_MAX];
	struct profile_location *location;

	if (lines->count == 0)
		return 0;
	for (size_t i = 0; i < lines->count; i++) {
		made[i].function = add_function(in, lines->function[i], object);
		made[i].line = lines->line[i];
		if (made[i].function == PROFILE_FAILED)
			return -ENOMEM;
	}
	location = profile_location_get(in->profile, id);
	location->function = made[lines->count - 1].function;
	location->line = made[lines->count - 1].line;
	return profile_location_set_inlined(in->profile, id, made, lines->count - 1);
}

/*
 * Gets the object for a location without a mapping, by the name of its function: a marker such as
 * "[cut: ...]", or PROFILE_UNKNOWN.
 */
static int marker_object(struct pprof_input *in, uint32_t name, uint32_t *ret_object)
{
	const char *text = profile_string_get(in->profile, name);
	struct profile_object object = {.name = name, .kind = KIND_MARKER};

	if (text[0] != '[')
		object.name = profile_string(in->profile, PROFILE_UNKNOWN);
	*ret_object = (uint32_t)(uintptr_t)map_get(in->markers, object.name);
	if (*ret_object)
		return 0;
	*ret_object = profile_object_add(in->profile, &object);
	if (object.name == PROFILE_FAILED || *ret_object == PROFILE_FAILED)
		return -ENOMEM;
	return map_put(in->markers, object.name, (void *)(uintptr_t)*ret_object);
}

/* Adds a location of its own each time, because a file may leave addresses out. */
static int add_location(struct pprof_input *in, uint32_t object, uint64_t address,
			const struct pprof_lines *lines)
{
	const uint64_t variant = (uint64_t)profile_locations(in->profile) + 1;
	uint32_t id, name = 0;
	int r;

	if (lines->count > 0 && lines->function[0])
		name = lines->function[0]->name;
	if (!object) {
		r = marker_object(in, name, &object);
		if (r < 0)
			return r;
	}
	id = profile_location_add_variant(in->profile, object, address, variant);
	if (id == PROFILE_FAILED)
		return -ENOMEM;
	return set_lines(in, id, object, lines);
}

/* ---- out of the file ---- */

/*
 * Reads one line. Beyond PROFILE_LINES_MAX a later line replaces the last one. Samples end in the
 * innermost functions, and the last line is the function that owns the code.
 */
static int read_line(struct pprof_input *in, struct reader *message, struct pprof_lines *lines)
{
	uint64_t number[LINE_LINE + 1];
	uint32_t function;
	bool whole = wire_numbers(message, number, LINE_LINE + 1);

	function = pprof_ids_get(&in->function_ids, number[LINE_FUNCTION]);
	if (!whole || (number[LINE_FUNCTION] && !function))
		return pprof_malformed(in, "a line's function is not there");
	if (in->lines++ >= PPROF_ENTRIES_MAX)
		return pprof_refuse(in, -E2BIG, "more entries than the limit");
	if (lines->count == PROFILE_LINES_MAX) {
		in->info->lines_cut++;
		lines->count--;
	}
	lines->function[lines->count] = NULL;
	if (function)
		lines->function[lines->count] = &in->functions[function - 1];
	lines->line[lines->count++] = pprof_line_number(number[LINE_LINE]);
	return 0;
}

static int read_lines(struct pprof_input *in, struct reader message, struct pprof_lines *lines)
{
	struct wire field;
	int r = 0;

	while (r == 0 && wire_next(&message, &field))
		if (field.type == WIRE_BYTES && field.field == LOCATION_LINE)
			r = read_line(in, &field.bytes, lines);
	return r;
}

static int read_location(struct pprof_input *in, struct reader message, uint32_t index)
{
	const struct reader start = message;
	uint64_t number[LOCATION_ADDRESS + 1];
	struct pprof_lines lines = {.count = 0};
	bool whole = wire_numbers(&message, number, LOCATION_ADDRESS + 1);
	uint32_t object = pprof_ids_get(&in->mapping_ids, number[LOCATION_MAPPING]);
	int r;

	if (!whole || (number[LOCATION_MAPPING] && !object))
		return pprof_malformed(in, "a location, or its mapping is not there");
	if (object)
		object += in->first_object - 1;
	r = read_lines(in, start, &lines);
	if (r < 0)
		return r;
	r = add_location(in, object, number[LOCATION_ADDRESS], &lines);
	if (r < 0)
		return r;
	return pprof_put_id(in, &in->location_ids, number[LOCATION_ID], index,
			    "a location's id is 0, or another's");
}

int pprof_read_locations(struct pprof_input *in)
{
	const struct pprof_spans *spans = &in->tables.locations;
	int r = pprof_ids_init(&in->location_ids, spans->count);

	in->first_location = profile_locations(in->profile) + 1;
	in->markers = map_new();
	if (!in->markers)
		return -ENOMEM;
	for (size_t i = 0; i < spans->count && r == 0; i++)
		r = read_location(in, pprof_open_span(in, &spans->items[i]), (uint32_t)i);
	return r;
}
