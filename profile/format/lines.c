/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/format/lines.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/compare.h"
#include "profile/format/names.h"

size_t format_location_lines(const struct profile *profile, uint32_t location,
			     struct format_line ret_lines[PROFILE_LINES_MAX])
{
	struct profile_line lines[PROFILE_LINES_MAX];
	size_t count = profile_location_lines(profile, location, lines);

	for (size_t i = 0; i < count; i++)
		ret_lines[i] = (struct format_line){.location = location,
						    .function = lines[i].function,
						    .line = lines[i].line,
						    .depth = (uint32_t)(count - 1 - i)};
	return count;
}

/* ---- names ---- */

bool format_function_is_named(const struct profile *profile, uint32_t id)
{
	const struct profile_function *function = profile_function_get(profile, id);

	return function && profile_string_get(profile, function->name)[0];
}

const char *format_function_name(const struct profile *profile, uint32_t id)
{
	if (!format_function_is_named(profile, id))
		return PROFILE_UNKNOWN;
	return profile_string_get(profile, profile_function_get(profile, id)->name);
}

uint32_t format_line_function(const struct profile *profile, const struct format_line *line)
{
	const uint32_t id = line->function;

	if (!profile_function_get(profile, id))
		return 0;
	if (line->depth == 0 && !format_function_is_named(profile, id))
		return 0;
	return id;
}

uint32_t format_first_line(const struct profile_function *function)
{
	if (!function->file)
		return 0;
	return function->line;
}

static const char *owner_name(const struct profile *profile, uint32_t location,
			      char room[OFFSET_NAME_BYTES])
{
	const struct profile_object *object = profile_location_object(profile, location);
	const uint64_t address = profile_location_get(profile, location)->address;
	const char *file = "";

	if (object)
		file = format_base_name(profile_string_get(profile, object->name));
	offset_name(room, OFFSET_NAME_BYTES, format_known_name(file), address);
	return room;
}

const char *format_line_name(const struct profile *profile, const struct format_line *line,
			     char room[OFFSET_NAME_BYTES])
{
	if (line->depth == 0 && !format_function_is_named(profile, line->function))
		return owner_name(profile, line->location, room);
	return format_function_name(profile, line->function);
}

const char *format_location_file(const struct profile *profile, uint32_t location)
{
	const struct profile_object *object = profile_location_object(profile, location);

	if (!profile_object_is_file(object))
		return "";
	return profile_string_get(profile, object->name);
}

/* ---- frames ---- */

static int add_location(struct format_lines *lines, uint32_t location, format_line_id *id_of,
			void *context)
{
	struct format_line of[PROFILE_LINES_MAX];
	size_t count = format_location_lines(lines->profile, location, of);

	if (ARRAY_RESERVE(lines->ids, lines->capacity, lines->count + count) < 0)
		return -ENOMEM;
	for (size_t i = count; i-- > 0;) {
		uint32_t id = id_of(context, &of[i]);

		if (id == FORMAT_LINE_FAILED)
			return -ENOMEM;
		lines->ids[lines->count++] = id;
	}
	return 0;
}

int format_lines_init(struct format_lines *lines, const struct profile *profile,
		      format_line_id *id_of, void *context)
{
	uint32_t count = profile_locations(profile);
	int r = 0;

	*lines = (struct format_lines){.profile = profile};
	lines->first = calloc(count + 2u, sizeof(*lines->first));
	if (!lines->first)
		return -ENOMEM;
	for (uint32_t id = 1; id <= count && r == 0; id++) {
		r = add_location(lines, id, id_of, context);
		lines->first[id + 1] = lines->count;
	}
	return r;
}

void format_lines_release(struct format_lines *lines)
{
	free(lines->ids);
	free(lines->first);
}

/* ---- stacks ---- */

struct format_walk format_walk_begin(const struct format_lines *lines, uint32_t stack)
{
	struct format_walk walk = {.lines = lines};

	walk.left = profile_stack_get(lines->profile, stack, &walk.stack);
	return walk;
}

uint32_t format_walk_next(struct format_walk *walk)
{
	const struct format_lines *lines = walk->lines;

	while (walk->next == walk->end) {
		uint32_t location;

		if (walk->left == 0)
			return 0;
		location = walk->stack[--walk->left];
		walk->next = lines->first[location];
		walk->end = lines->first[location + 1];
	}
	return lines->ids[walk->next++];
}

int format_lines_compare(const struct format_lines *lines, uint32_t a, uint32_t b)
{
	struct format_walk a_walk = format_walk_begin(lines, a);
	struct format_walk b_walk = format_walk_begin(lines, b);
	uint32_t a_frame, b_frame;

	if (a == b)
		return 0;
	do {
		a_frame = format_walk_next(&a_walk);
		b_frame = format_walk_next(&b_walk);
	} while (a_frame == b_frame && a_frame != 0);
	return compare_numbers(a_frame, b_frame);
}
