/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks as the frames that a format shows. A location has a line for each function inlined there
 * and one for the function that owns the code. The format gives each line the id of a frame. A walk
 * gives the ids of a stack, from the root on.
 */
#ifndef KEYHOLE_PROFILE_FORMAT_LINES_H
#define KEYHOLE_PROFILE_FORMAT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"
#include "profile/profile.h"

#define FORMAT_LINE_FAILED INTERN_FAILED

struct format_line {
	uint32_t location;
	struct profile_line line;
	uint32_t depth; /* 0: of the function that owns the code; else how deep it is inlined */
};

struct format_lines {
	const struct profile *profile; /* borrowed */
	uint32_t *ids;		       /* of one location after another, each from outside in */
	size_t *first; /* by location: where its ids begin; those of the next one are the end */
	size_t count, capacity; /* of ids */
};

/* Returns the id of the line's frame, from 1 on, or FORMAT_LINE_FAILED without memory. */
typedef uint32_t format_line_id(void *context, const struct format_line *line);

/*
 * Asks for the id of each line: locations ascend, and the lines of a location come from outside in.
 * Returns 0 or -ENOMEM; to be released either way.
 */
int format_lines_init(struct format_lines *lines, const struct profile *profile,
		      format_line_id *id_of, void *context);
void format_lines_release(struct format_lines *lines); /* also of zeros */

struct format_walk {
	const struct format_lines *lines; /* borrowed */
	const uint32_t *stack;
	size_t left;	  /* locations */
	size_t next, end; /* ids of the location that the walk is at */
};

struct format_walk format_walk_begin(const struct format_lines *lines, uint32_t stack);
uint32_t format_walk_next(struct format_walk *walk); /* 0: there is no other */

#endif
