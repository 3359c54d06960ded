/* SPDX-License-Identifier: Apache-2.0 */
/* What `keyhole why` shows, counted and sorted; private to why*.c. */
#ifndef KEYHOLE_WORKER_WHY_WHY_ROWS_H
#define KEYHOLE_WORKER_WHY_WHY_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ipc/messages.h"
#include "profile/format/output.h"
#include "worker/why/why.h"

struct source;

#define ROW_NAME 21 /* columns, with the NUL */

struct row {
	uint32_t object;	     /* of the profile; 0: samples without a user frame */
	const struct source *source; /* NULL: an address in no mapping, or no frame */
	uint64_t samples;	     /* that have a frame in it */
	uint64_t self;		     /* whose innermost user frame is in it */
	uint64_t unnamed;	     /* that have a frame without a name in it */
	uint64_t ended;		     /* whose walk ended in it, and why: */
	uint64_t reason[SUMMARY_REASONS];
	uint64_t cut;
};

struct why {
	const struct profile *profile;
	const struct sources *sources;
	struct output output;
	unsigned int lines, left_out; /* written; pieces of advice that did not fit */
	uint64_t samples, cut;	      /* of the process */
	uint64_t others;	      /* of its children */
	uint64_t reason[SUMMARY_REASONS];
	struct row *rows; /* with something to show: what most walks ended in first */
	size_t count;
};

/* From profile and sources. 0 or -ENOMEM; rows are to be freed. */
int why_rows(struct why *why);

/* The reason with the highest count that is not done, SUMMARY_REASONS: there is none. */
size_t why_most(const uint64_t reason[SUMMARY_REASONS], const bool done[SUMMARY_REASONS]);

/* A name as printable ASCII, at most size bytes with the NUL. */
void why_clean(const char *name, char *ret_text, size_t size);
/* An object's, without its folders. */
void why_name(const struct profile *profile, uint32_t object, char *ret_text, size_t size);

/* What to do, the most useful first: a paragraph for each. */
void why_advise(struct why *why, void (*add)(struct why *why, const char *text));

#endif
