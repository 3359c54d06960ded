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
	/* The times of a difference's older profile (profile_sample.base). */
	const struct profile_times *base; /* NULL: no difference; only with format.shows_base */
};

struct format {
	uint32_t id;	  /* enum profile_format of ipc/messages.h */
	const char *name; /* as -f takes it */
	bool wants_times; /* profile_moments() */
	bool shows_base;
	/* Writes the whole profile to fd (a memfd). Returns 0 or a negative errno. */
	int (*render)(const struct profile *profile, const struct profile_times *times,
		      const struct format_options *options, int fd);
};

/* The first members of the const struct of a format: what its row in ipc/formats.def says. */
#define FORMAT_ROW(format) .id = FORMAT_##format, .name = format_names[FORMAT_##format]
#define FORMAT_WORD_MAX	   16
extern const char format_names[][FORMAT_WORD_MAX]; /* by id */

#define F(number, id, name, suffix, help) extern const struct format format_##id;
#include "ipc/formats.def"
#undef F

const struct format *format_find(uint32_t id); /* NULL: no such format */

/* The number of samples, and how many of these have a cut stack (struct profile_reason). */
struct format_totals {
	uint64_t samples, cut;
};
void format_totals(const struct profile *profile, struct format_totals *ret_totals);

/*
 * Makes a clean name of one that an attacker chose: valid UTF-8 of at most max bytes with the NUL.
 * '?' takes the place of characters that control a terminal or the direction of text. A name that
 * is cut ends in "...".
 */
#define FORMAT_NAME_MAX 4096
void format_clean_name(char *ret_text, size_t max, const char *name);

/* Returns the part of path behind the last '/', not clean, or path where that part is empty. */
const char *format_base_name(const char *path);

/* Returns the function that names a location, or 0 where no function has a name. */
uint32_t format_location_function(const struct profile *profile, uint32_t location);

/* Gets a function's clean name, or "" for an unknown function and for one without a name. */
void format_function_name(char *ret_text, size_t max, const struct profile *profile,
			  uint32_t function);

/*
 * Gets a location's clean name, which is never empty: the name of the function that owns the code,
 * or else object+0xaddress.
 */
void format_frame_name(char *ret_text, size_t max, const struct profile *profile,
		       uint32_t location);

/* Gets the clean name of a line of profile_location_lines(), which is never empty. */
void format_line_name(char *ret_text, size_t max, const struct profile *profile, uint32_t location,
		      const struct profile_line *line, bool inlined);
/* Returns the line's function, or 0. The function of an inlined line may have no name. */
uint32_t format_line_function(const struct profile *profile, const struct profile_line *line,
			      bool inlined);

#endif
