/* SPDX-License-Identifier: Apache-2.0 */
/* The samples of one process counted by object and reason, beside the sources of each object. */
#ifndef KEYHOLE_WORKER_WHY_FINDINGS_H
#define KEYHOLE_WORKER_WHY_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ipc/messages.h"

struct profile;
struct source;
struct sources;

struct finding {
	uint32_t object;	     /* of the profile; 0: samples without a user frame */
	const struct source *source; /* NULL: an address in no mapping, or no frame */
	uint64_t samples;	     /* that have a frame in the object */
	uint64_t self;		     /* whose innermost user frame is in the object */
	uint64_t unnamed;	     /* that have a frame without a name in the object */
	uint64_t ended;		     /* whose walk ended in the object, and why: */
	uint64_t reason[SUMMARY_REASONS];
	uint64_t cut;
};

struct findings {
	const struct profile *profile; /* borrowed, as the sources */
	const struct sources *sources;
	uint64_t samples, guessed, cut; /* of the process */
	uint64_t others;		/* of its children */
	uint64_t listless;		/* that lack functions of the interpreted program */
	uint64_t reason[SUMMARY_REASONS];
	struct finding *items; /* owned; the object in which most walks ended comes first */
	size_t count;
};

/*
 * Counts the samples. Objects without samples and mappings are left out. Returns 0 or -ENOMEM; to
 * be released.
 */
int findings_collect(const struct profile *profile, const struct sources *sources,
		     struct findings *ret_findings);
void findings_release(struct findings *findings);

/* Returns the reason with the highest count that is not done, or SUMMARY_REASONS: none is left. */
size_t findings_next_reason(const uint64_t reason[SUMMARY_REASONS],
			    const bool done[SUMMARY_REASONS]);

/* Makes a name printable ASCII, at most size bytes with the NUL. */
void findings_clean(const char *name, char *ret_text, size_t size);
/* Makes an object's name printable in the same way, without its folders. */
void findings_name(const struct findings *findings, uint32_t object, char *ret_text, size_t size);

#endif
