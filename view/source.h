/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the lines of sources that frames stand for. */
#ifndef KEYHOLE_VIEW_SOURCE_H
#define KEYHOLE_VIEW_SOURCE_H

#include <stddef.h>
#include <stdint.h>

struct format_line;
struct frames;
struct profile;

struct source {
	uint32_t file; /* string of the profile; 0: not known */
	uint32_t line; /* 0: not known */
};

/* Returns the source of a line of a location. A line without a number has a file alone. */
struct source source_of(const struct profile *profile, const struct format_line *line);

/* Writes "FILE:LINE", raw: "FILE" for line 0, and "" for file 0. */
void source_spell(const struct profile *profile, const struct source *source, char *ret_text,
		  size_t size);
/* Does the same without the folders of the file. */
void source_spell_short(const struct profile *profile, const struct source *source, char *ret_text,
			size_t size);

/*
 * The source of each name of frames: where most samples are whose stacks hold the name. A function
 * whose lines have no numbers has the line at which the function begins.
 */
struct name_sources {
	struct source *items; /* by name; those of frames->names */
	size_t count;
};

/*
 * The frames are FRAMES_FUNCTIONS or FRAMES_LINES of the profile. Returns 0 or -ENOMEM; to be
 * released either way.
 */
int name_sources_make(const struct profile *profile, const struct frames *frames,
		      struct name_sources *ret_sources);
/* Returns the source of a name, or NULL: none is known. */
const struct source *name_sources_get(const struct name_sources *sources, uint32_t name);
void name_sources_release(struct name_sources *sources); /* also of zeros */

#endif
