/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>

#include "view/tally.h"
#include "base/array.h"
#include "base/intern.h"
#include "profile/format/format.h"

static uint32_t function_name(const struct profile *profile, struct intern *names,
			      uint32_t location, const struct profile_line *line, bool last)
{
	char text[FORMAT_NAME_MAX];

	if (last)
		format_frame_name(text, sizeof(text), profile, location);
	else
		format_function_name(text, sizeof(text), profile, line->function);
	return intern_string(names, text[0] ? text : "[unknown]");
}

static uint32_t object_name(const struct profile *profile, struct intern *names, uint32_t location)
{
	const struct profile_location *at = profile_location_get(profile, location);
	const struct profile_object *object = profile_object_get(profile, at->object);
	char text[FORMAT_NAME_MAX];

	format_clean_name(text, sizeof(text),
			  object ? profile_string_get(profile, object->name) : "");
	return intern_string(names, text[0] ? text : "[unknown]");
}

struct filling {
	const struct profile *profile;
	struct frames *frames;
	enum by by;
	size_t count, capacity;	 /* ids */
	size_t named, name_room; /* objects */
};

static int put(struct filling *filling, uint32_t name, uint32_t location)
{
	struct frames *frames = filling->frames;
	uint32_t object;

	if (name == INTERN_FAILED ||
	    ARRAY_RESERVE(frames->ids, filling->capacity, filling->count + 1) < 0 ||
	    ARRAY_RESERVE(frames->objects, filling->name_room, (size_t)name + 1) < 0)
		return -ENOMEM;
	frames->ids[filling->count++] = name;
	object = profile_location_get(filling->profile, location)->object;
	if (name >= filling->named) { /* names count up */
		frames->objects[name] = object;
		filling->named = (size_t)name + 1;
	} else if (frames->objects[name] != object) {
		frames->objects[name] = 0;
	}
	return 0;
}

static int put_location(struct filling *filling, uint32_t id)
{
	struct profile_line lines[PROFILE_LINES_MAX];
	struct intern *names = filling->frames->names;
	size_t count = profile_location_lines(filling->profile, id, lines);
	int r = 0;

	if (filling->by == BY_OBJECT)
		return put(filling, object_name(filling->profile, names, id), id);
	for (size_t i = 0; i < count && r == 0; i++)
		r = put(filling,
			function_name(filling->profile, names, id, &lines[i], i == count - 1), id);
	return r;
}

int frames_make(const struct profile *profile, enum by by, struct frames *ret_frames)
{
	uint32_t count = profile_locations(profile);
	struct filling filling = {.profile = profile, .frames = ret_frames, .by = by, .named = 1};
	int r = 0;

	*ret_frames = (struct frames){.names = intern_new()};
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
}

int frames_trace(const struct frames *frames, const struct profile *profile, uint32_t stack,
		 struct trace *trace)
{
	const uint32_t *locations;
	size_t count = profile_stack_get(profile, stack, &locations), need = 0;

	for (size_t i = 0; i < count; i++)
		need += frames->first[locations[i] + 1] - frames->first[locations[i]];
	if (ARRAY_RESERVE(trace->names, trace->capacity, need) < 0)
		return -ENOMEM;
	trace->count = 0;
	for (size_t i = 0; i < count; i++)
		for (uint32_t at = frames->first[locations[i]];
		     at < frames->first[locations[i] + 1]; at++)
			trace->names[trace->count++] = frames->ids[at];
	return 0;
}
