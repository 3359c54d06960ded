/* SPDX-License-Identifier: Apache-2.0 */
/* A format is one file with one const struct, and a row in ipc/formats.def. */
#ifndef KEYHOLE_PROFILE_FORMAT_FORMAT_H
#define KEYHOLE_PROFILE_FORMAT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;
struct profile_line;
struct profile_times;

struct format_options {
	bool by_thread; /* thread name and id as a frame above the process */
	/* Of a difference: of the profile that this one is held against (profile_sample.base). */
	const struct profile_times *base; /* NULL: none; only with format.shows_base */
};

struct format {
	uint32_t id; /* enum profile_format of ipc/messages.h */
	const char *name;
	bool wants_times; /* profile_moments() */
	bool shows_base;
	/* Writes the whole profile to fd (a memfd). 0 or a negative errno. */
	int (*render)(const struct profile *profile, const struct profile_times *times,
		      const struct format_options *options, int fd);
};

#define F(number, id, name, suffix, help) extern const struct format format_##id;
#include "ipc/formats.def"
#undef F

const struct format *format_find(uint32_t id); /* NULL: no such format */

/* Samples, and those whose stack is cut (struct profile_reason). */
struct format_totals {
	uint64_t samples, cut;
};
void format_totals(const struct profile *profile, struct format_totals *ret_totals);

/*
 * Names are chosen by attackers: valid UTF-8, no character that controls a terminal or the
 * direction of text, at most max bytes with the NUL. What is replaced becomes '?'; what is cut ends
 * in "...".
 */
#define FORMAT_NAME_MAX 4096
void format_clean_name(char *ret_text, size_t max, const char *name);

/* What follows the last '/', not clean; the whole where nothing does. In path. */
const char *format_base_name(const char *path);

/* The function that names a location, 0: there is none with a name. */
uint32_t format_location_function(const struct profile *profile, uint32_t location);

/* A function's name, clean; "" when there is no such function, or it has none. */
void format_function_name(char *ret_text, size_t max, const struct profile *profile,
			  uint32_t function);

/*
 * A location's name, clean, without what is inlined there: of its function, else of its object with
 * the address. Never empty.
 */
void format_frame_name(char *ret_text, size_t max, const struct profile *profile,
		       uint32_t location);

/* Of one of profile_location_lines(), which is inlined or the last one. Never empty. */
void format_line_name(char *ret_text, size_t max, const struct profile *profile, uint32_t location,
		      const struct profile_line *line, bool inlined);
/* Its function, 0: there is none. Only what is inlined can be one without a name. */
uint32_t format_line_function(const struct profile *profile, const struct profile_line *line,
			      bool inlined);

#endif
