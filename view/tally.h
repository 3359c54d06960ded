/* SPDX-License-Identifier: Apache-2.0 */
/* Adds samples up, by what enum by names: functions, processes and so on. */
#ifndef KEYHOLE_VIEW_TALLY_H
#define KEYHOLE_VIEW_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"
#include "view/amount.h"
#include "view/frames.h"

enum by {
#define B(id, name, ids) BY_##id,
#include "view/by.def"
#undef B
	BY_COUNT
};

struct tally_row {
	uint32_t name;
	uint32_t pid;	    /* of the first process or thread with this name */
	uint32_t pids;	    /* how many processes or threads have this name */
	struct amount now;  /* self and total are equal where a sample has one row */
	struct amount base; /* the same of the older profile of a difference */
};

struct tally {
	struct frames frames;	/* frames.names has the names of the rows */
	struct tally_row *rows; /* by name: rows[0] is unused, and some may be empty */
	size_t count, capacity;
	uint64_t sum, base_sum;
};

/* Returns 0 or -ENOMEM; to be released either way. */
int tally_make(const struct profile *profile, enum by by, struct tally *ret_tally);
void tally_release(struct tally *tally);

/* Returns whether rows are those of frames, so that self and total differ. */
static inline bool tally_is_by_frames(enum by by)
{
	return by == BY_FUNCTION || by == BY_LINE || by == BY_OBJECT || by == BY_LANGUAGE;
}

const char *tally_name(const struct tally *tally, uint32_t row);

/* The counts that are a whole in each profile of a difference: the shares are parts of them. */
struct tally_scale {
	double now, base; /* 0: every share is 0 */
};

/*
 * Returns the names of the rows that are not empty: the largest self or total first, equal ones by
 * name. With `diff`, the largest change of shares comes first; NULL means one profile. The caller
 * frees the array; NULL means no memory.
 */
uint32_t *tally_order(const struct tally *tally, bool by_total, const struct tally_scale *diff,
		      size_t *ret_count);

#endif
