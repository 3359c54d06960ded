/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames of every location as ids of names, innermost first. Inlined functions are frames.
 * Names are those of functions as pprof shows them, so that functions of one name are one. Names
 * may also be those of objects, of languages, or lines of sources, "FILE:LINE". A line without a
 * number is "FILE", and a line without a file has its function's name.
 */
#ifndef KEYHOLE_VIEW_FRAMES_H
#define KEYHOLE_VIEW_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

struct intern;

enum frames_kind {
	FRAMES_FUNCTIONS,
	FRAMES_OBJECTS,
	FRAMES_LANGUAGES,
	FRAMES_LINES
};

struct frames {
	enum frames_kind kind;
	struct intern *names; /* clean text; ids from 1 */
	uint32_t *first;      /* of location id: ids[first[id]] to ids[first[id + 1] - 1] */
	uint32_t *ids;
	uint32_t *objects; /* by name: the object of all its frames, 0: of several */
	uint32_t
		*functions; /* by name: the name of the function of all its frames, 0: of several */
};

/* Returns 0 or -ENOMEM; to be released either way. */
int frames_make(const struct profile *profile, enum frames_kind kind, struct frames *ret_frames);
void frames_release(struct frames *frames);

/* A stack as names, innermost first. The caller frees names. */
struct frames_trace {
	uint32_t *names;
	size_t count, capacity;
};

/* Replaces the trace by that of the stack. Returns 0 or -ENOMEM. */
int frames_trace(const struct frames *frames, const struct profile *profile, uint32_t stack,
		 struct frames_trace *trace);

#endif
