/* SPDX-License-Identifier: Apache-2.0 */
/* A format is one file with one const struct, and a row in ipc/formats.def. */
#ifndef KEYHOLE_PROFILE_FORMAT_FORMAT_H
#define KEYHOLE_PROFILE_FORMAT_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

struct profile;
struct profile_times;

/* Holds choices of the user. A format ignores the choices that the format does not offer. */
struct format_options {
	bool by_thread; /* thread name and id as a frame above the process */
	/* OTLP: no value of profile.frame.type that devfiler refuses (frame_type.h) */
	bool otlp_compat;
	/* The times of a difference's older profile (profile_sample.base). */
	const struct profile_times *base; /* NULL: no difference; only with format.shows_base */
};

/* Returns false for a difference: the threads of two profiles have different ids. */
static inline bool format_has_threads(const struct format_options *options)
{
	return !options->base;
}

struct format {
	bool wants_times;   /* the caller asks the profile to keep times */
	bool wants_details; /* the caller gives samples their CPU and struct profile_process */
	bool skips_empty;   /* a window without samples leaves its file empty */
	bool shows_base;    /* options->base may be set */
	/*
	 * Writes the whole profile to fd, open for writing, which the caller keeps; nothing seeks.
	 * Returns 0 or a negative errno: -ENOMEM, or the error of a write(). -EFBIG and -EIO are
	 * those of output.h. -EPROTO is a mistake of the writer (json.h). fd has parts of the
	 * profile after an error. All arguments are borrowed, and none but fd is changed.
	 */
	int (*render)(const struct profile *profile, const struct profile_times *times,
		      const struct format_options *options, int fd);
};

#define F(number, id, name, suffix, help) extern const struct format format_##id;
#include "ipc/formats.def"
#undef F

/* Returns the format of an enum profile_format of ipc/messages.h, or NULL: no such format. */
const struct format *format_find(uint32_t id);

/*
 * Names the type and unit of values: of profile_times.period, or of a file without samples. Both
 * texts are raw, and live as the times do.
 */
struct format_worth {
	const char *type, *unit;
};
struct format_worth format_worth(const struct profile_times *times);

/* Returns what times of threads (profile_times.tick) are, for people. */
const char *format_time_name(const struct profile_times *times);
/* Returns whether samples have times of threads, both on and off the CPU. */
bool format_is_wall(const struct profile_times *times);

struct format_totals {
	uint64_t samples;
	uint64_t complete, guessed,
		cut; /* samples by the end of their stack (struct profile_reason) */
};
void format_totals(const struct profile *profile, struct format_totals *ret_totals);

#endif
