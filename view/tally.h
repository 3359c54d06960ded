/* SPDX-License-Identifier: Apache-2.0 */
/* Samples added up by what they, or their frames, belong to. */
#ifndef KEYHOLE_VIEW_TALLY_H
#define KEYHOLE_VIEW_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

enum by {
	BY_FUNCTION,
	BY_OBJECT,
	BY_PROCESS,
	BY_THREAD,
	BY_REASON,
	BY_CGROUP,
	BY_COUNT
};

struct intern;

/*
 * The frames of every location, innermost first (inlined functions are frames), as ids of names: of
 * functions as pprof has them, so those of one name are one; or of objects.
 */
struct frames {
	struct intern *names; /* clean text; ids from 1 */
	uint32_t *first;      /* of location id: ids[first[id]] to ids[first[id + 1] - 1] */
	uint32_t *ids;
	uint32_t *objects; /* by name: the object of all its frames, 0: of several */
};

int frames_make(const struct profile *profile, enum by by, struct frames *ret_frames);
void frames_release(struct frames *frames);

/* A stack as names, innermost first. */
struct trace {
	uint32_t *names;
	size_t count, capacity;
};

/* 0 or -ENOMEM. */
int frames_trace(const struct frames *frames, const struct profile *profile, uint32_t stack,
		 struct trace *trace);

struct amount {
	uint64_t self, total; /* equal where a sample has but one row */
};

struct row {
	uint32_t name;
	uint32_t pid;  /* of processes and threads: of the first one */
	uint32_t pids; /* how many */
	uint32_t seen; /* by frames: the last sample that had it, counted from 1 */
	struct amount now, base;
};

struct tally {
	struct frames frames; /* its names are those of the rows */
	struct row *rows;     /* by name: rows[0] is not used, some may be empty */
	size_t count, capacity;
	uint64_t sum, base_sum;
};

int tally_make(const struct profile *profile, enum by by, struct tally *ret_tally);
void tally_release(struct tally *tally);

const char *tally_name(const struct tally *tally, uint32_t row);

/* Names of the rows that are not empty, most first by self or total, then by name; malloc()ed. */
uint32_t *tally_order(const struct tally *tally, bool by_total, bool diff, size_t *ret_count);

/* Whether samples that ended so are whole; the name of the reason else, NULL of an unknown one. */
bool tally_is_cut(const struct profile_sample *sample, const char **ret_reason);

#endif
