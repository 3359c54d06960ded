/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the samples of runtimes (base/runtimes.def), whose own functions a profile shows in place
 * of the program's.
 */
#ifndef KEYHOLE_PROFILE_RUNTIMES_H
#define KEYHOLE_PROFILE_RUNTIMES_H

#include <stddef.h>
#include <stdint.h>

struct profile;

#define RUNTIMES_KEPT	   8u /* objects with fewer samples than these are left out */
#define RUNTIME_NAME_BYTES 28

struct runtime_share {
	uint64_t samples;	       /* 0: none */
	uint32_t runtime;	       /* enum runtime */
	char name[RUNTIME_NAME_BYTES]; /* of the object, without folders; raw */
};

struct runtimes {
	uint64_t samples;			  /* all of them */
	struct runtime_share item[RUNTIMES_KEPT]; /* most samples first */
};

/*
 * Adds the samples of a profile: each counts for the runtime that runtime_finder_object() tells.
 * Objects of one name count together. Returns 0, or -ENOMEM without any change.
 */
int runtimes_add(struct runtimes *runtimes, const struct profile *profile);
/* Adds the counts of other samples. */
void runtimes_merge(struct runtimes *runtimes, const struct runtimes *other);
/* Puts a note about each runtime of some share in place of the profile's notes. 0 or -ENOMEM. */
int runtimes_note(const struct runtimes *runtimes, struct profile *profile);
/* Tells the objects of a profile from a file which runtimes they are, by the profile's notes. */
void runtimes_recall(struct profile *profile);

#endif
