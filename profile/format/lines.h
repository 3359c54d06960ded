/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the lines of locations. A location has a line for each function that is inlined there, and
 * one line for the function that owns the code.
 *
 * struct format_lines keeps the id of a frame for each line: a format maps lines to its own frames.
 * A walk then gives a stack as ids of frames, from the root on. A format may replace each id by
 * another number above 0, as folded.c does.
 */
#ifndef KEYHOLE_PROFILE_FORMAT_LINES_H
#define KEYHOLE_PROFILE_FORMAT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"
#include "profile/offset_name.h"
#include "profile/profile.h"

struct format_line {
	uint32_t location; /* id: the profile has the location */
	uint32_t function; /* id, 0: not known; format_line_function() also asks for a name */
	uint32_t line;	   /* in the function's file, known or not; 0: not known */
	uint32_t depth;	   /* 0: the owner of the code, 1: a function inlined into the owner, ... */
};

/*
 * Gets the lines of a location, innermost first, and returns their number, at least 1. The location
 * exists: its id is 1 to profile_locations().
 */
size_t format_location_lines(const struct profile *profile, uint32_t location,
			     struct format_line ret_lines[PROFILE_LINES_MAX]);

/* Returns whether the function is known and has a name that is not empty. */
bool format_function_is_named(const struct profile *profile, uint32_t id);
/* Returns the raw name of a function, or PROFILE_UNKNOWN. */
const char *format_function_name(const struct profile *profile, uint32_t id);

/*
 * Returns the id of the line's function. 0 means that the function is not known, or that the owner
 * of the code has no name. The function of an inlined line may have no name.
 */
uint32_t format_line_function(const struct profile *profile, const struct format_line *line);

/*
 * Returns the line at which a function begins, or 0: the line or the function's file is not known.
 * A line of a frame is kept without a file: the reader of a profile may have the source.
 */
uint32_t format_first_line(const struct profile_function *function);

/*
 * Returns the raw name of the line, which is never empty: the name of the line's function. Where
 * the function has no name, the owner of the code is "object+0xaddress", and an inlined line is
 * PROFILE_UNKNOWN. The text belongs to the profile or is in `room`, which the caller keeps for as
 * long as the name.
 */
const char *format_line_name(const struct profile *profile, const struct format_line *line,
			     char room[OFFSET_NAME_BYTES]);

/* Returns the raw path of the object that a location is in, or "": no object, or a marker. */
const char *format_location_file(const struct profile *profile, uint32_t location);

/* ---- frames ---- */

struct format_lines {
	const struct profile *profile; /* borrowed */
	uint32_t *ids;		       /* of frames, by location; the outermost line comes first */
	size_t *first;		       /* by location: ids[first[id]] to ids[first[id + 1] - 1] */
	size_t count, capacity;	       /* of ids */
};

/* Returns the id of the line's frame, from 1 on, or FORMAT_LINE_FAILED without memory. */
#define FORMAT_LINE_FAILED INTERN_FAILED
typedef uint32_t format_line_id(void *context, const struct format_line *line);

/*
 * Calls id_of for each line: locations ascend, and the outermost line of a location comes first.
 * Returns 0 or -ENOMEM. The caller releases the lines either way. The profile has to outlive the
 * lines, and gets no location meanwhile.
 */
int format_lines_init(struct format_lines *lines, const struct profile *profile,
		      format_line_id *id_of, void *context);
void format_lines_release(struct format_lines *lines); /* also of zeros */

/*
 * Compares two stacks by the ids of their frames, from the root on. Returns a negative number, 0 or
 * a positive number; 0 means that the stacks look the same. A stack comes before longer ones that
 * begin with its frames.
 */
int format_lines_compare(const struct format_lines *lines, uint32_t a, uint32_t b);

struct format_walk {
	const struct format_lines *lines; /* borrowed */
	const uint32_t *stack;		  /* the profile's: locations, leaf first */
	size_t left;			  /* locations of the stack that are still to come */
	size_t next, end;		  /* in lines->ids: the rest of the present location */
};

struct format_walk format_walk_begin(const struct format_lines *lines, uint32_t stack);
/* Returns the id of the next frame, or 0 behind the leaf. */
uint32_t format_walk_next(struct format_walk *walk);

#endif
