/* SPDX-License-Identifier: Apache-2.0 */
#include "view/frames.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/intern.h"
#include "base/languages.h"
#include "profile/format/lines.h"
#include "profile/format/names.h"
#include "view/source.h"

#define UNSET UINT32_MAX /* of a name that no frame has */

struct filling {
	const struct profile *profile;
	struct frames *frames;
	enum frames_kind kind;
	size_t count, capacity;	 /* ids */
	size_t named, name_room; /* objects and functions */
	size_t function_room;
};

static uint32_t add_name(struct frames *frames, const char *raw)
{
	char clean[FORMAT_NAME_MAX];

	format_clean_name(clean, sizeof(clean), format_known_name(raw));
	return intern_string(frames->names, clean);
}

static uint32_t function_name(const struct filling *filling, const struct format_line *line)
{
	char room[OFFSET_NAME_BYTES];

	return add_name(filling->frames, format_line_name(filling->profile, line, room));
}

static uint32_t object_name(const struct filling *filling, uint32_t location)
{
	const struct profile *profile = filling->profile;
	const struct profile_object *object = profile_location_object(profile, location);
	const char *name = "";

	if (object)
		name = profile_string_get(profile, object->name);
	return add_name(filling->frames, name);
}

/* Names the language of the code: all that is compiled ahead of time is native. */
static uint32_t language_name(const struct filling *filling, uint32_t location)
{
	static const char *const names[] = {
		[KIND_NATIVE] = "native",	  [KIND_KERNEL] = "kernel",
		[KIND_ANON] = "made at run time", [KIND_SCRIPT] = "interpreted",
		[KIND_MARKER] = PROFILE_UNKNOWN,
	};
	const struct language *language = profile_location_language(filling->profile, location);

	if (language)
		return add_name(filling->frames, language->name);
	return add_name(filling->frames, names[profile_location_kind(filling->profile, location)]);
}

/* Names the line of a source, or the function where no source is known. */
static uint32_t line_name(const struct filling *filling, const struct format_line *line,
			  uint32_t function)
{
	char text[FORMAT_NAME_MAX + 16];
	const struct source source = source_of(filling->profile, line);

	if (!source.file)
		return function;
	source_spell(filling->profile, &source, text, sizeof(text));
	return add_name(filling->frames, text);
}

/* Fills the rows of names that came since the last call: the names of functions count up, too. */
static void clear_names(struct filling *filling, size_t count)
{
	for (; filling->named < count; filling->named++) {
		filling->frames->objects[filling->named] = UNSET;
		filling->frames->functions[filling->named] = UNSET;
	}
}

/* Keeps what all frames of a name have in common, and 0 where the frames differ. */
static void note(uint32_t *place, uint32_t value)
{
	if (*place == UNSET)
		*place = value;
	else if (*place != value)
		*place = 0;
}

static int put_frame(struct filling *filling, uint32_t name, uint32_t function, uint32_t location)
{
	const size_t names = intern_count(filling->frames->names);
	struct frames *frames = filling->frames;

	if (name == INTERN_FAILED || function == INTERN_FAILED)
		return -ENOMEM;
	if (ARRAY_RESERVE(frames->ids, filling->capacity, filling->count + 1) < 0)
		return -ENOMEM;
	if (ARRAY_RESERVE(frames->objects, filling->name_room, names) < 0)
		return -ENOMEM;
	if (ARRAY_RESERVE(frames->functions, filling->function_room, names) < 0)
		return -ENOMEM;
	clear_names(filling, names);
	frames->ids[filling->count++] = name;
	note(&frames->objects[name], profile_location_get(filling->profile, location)->object);
	note(&frames->functions[name], function);
	return 0;
}

static int put_line(struct filling *filling, const struct format_line *line)
{
	const uint32_t function = function_name(filling, line);
	uint32_t name = function;

	if (filling->kind == FRAMES_LINES && function != INTERN_FAILED)
		name = line_name(filling, line, function);
	return put_frame(filling, name, function, line->location);
}

static int put_location(struct filling *filling, uint32_t id)
{
	struct format_line lines[PROFILE_LINES_MAX];
	size_t count = format_location_lines(filling->profile, id, lines);
	int r = 0;

	if (filling->kind == FRAMES_OBJECTS)
		return put_frame(filling, object_name(filling, id), 0, id);
	if (filling->kind == FRAMES_LANGUAGES)
		return put_frame(filling, language_name(filling, id), 0, id);
	for (size_t i = 0; i < count && r == 0; i++)
		r = put_line(filling, &lines[i]);
	return r;
}

int frames_make(const struct profile *profile, enum frames_kind kind, struct frames *ret_frames)
{
	uint32_t count = profile_locations(profile);
	struct filling filling = {.profile = profile, .frames = ret_frames, .kind = kind};
	int r = 0;

	*ret_frames = (struct frames){.kind = kind, .names = intern_new()};
	ret_frames->first = calloc((size_t)count + 2, sizeof(*ret_frames->first));
	if (!ret_frames->names || !ret_frames->first)
		return -ENOMEM;
	for (uint32_t id = 1; id <= count && r == 0; id++) {
		ret_frames->first[id] = (uint32_t)filling.count;
		r = put_location(&filling, id);
	}
	ret_frames->first[count + 1] = (uint32_t)filling.count;
	return r;
}

void frames_release(struct frames *frames)
{
	intern_free(frames->names);
	free(frames->first);
	free(frames->ids);
	free(frames->objects);
	free(frames->functions);
}

int frames_trace(const struct frames *frames, const struct profile *profile, uint32_t stack,
		 struct frames_trace *trace)
{
	const uint32_t *locations, *first = frames->first;
	size_t count = profile_stack_get(profile, stack, &locations), need = 0;

	for (size_t i = 0; i < count; i++)
		need += first[locations[i] + 1] - first[locations[i]];
	if (ARRAY_RESERVE(trace->names, trace->capacity, need) < 0)
		return -ENOMEM;
	trace->count = 0;
	for (size_t i = 0; i < count; i++)
		for (uint32_t at = first[locations[i]]; at < first[locations[i] + 1]; at++)
			trace->names[trace->count++] = frames->ids[at];
	return 0;
}
