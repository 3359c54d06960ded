/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/format/lines.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

static int add_location(struct format_lines *lines, uint32_t location, format_line_id *id_of,
			void *context)
{
	struct profile_line of[PROFILE_LINES_MAX];
	size_t count = profile_location_lines(lines->profile, location, of);

	if (ARRAY_RESERVE(lines->ids, lines->capacity, lines->count + count) < 0)
		return -ENOMEM;
	for (size_t i = count; i-- > 0;) {
		const struct format_line line = {
			.location = location, .line = of[i], .depth = (uint32_t)(count - 1 - i)};
		uint32_t id = id_of(context, &line);

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
		if (walk->left == 0)
			return 0;
		walk->next = lines->first[walk->stack[--walk->left]];
		walk->end = lines->first[walk->stack[walk->left] + 1];
	}
	return lines->ids[walk->next++];
}
