/* SPDX-License-Identifier: Apache-2.0 */
/* Puts an answer about addresses into the profile. */
#ifndef KEYHOLE_OBJECT_DWARF_MERGE_H
#define KEYHOLE_OBJECT_DWARF_MERGE_H

#include <stddef.h>
#include <stdint.h>

struct answer;
struct place;
struct profile;

struct merge_counts { /* of locations; `inlined` is of frames */
	uint64_t lines, named, inlined;
};

/*
 * Merges the answer about the place_addresses() of places, which are in ascending order. A location
 * about which nothing is known stays as it is. The outermost function of a location keeps its name,
 * which may tell more (".cold"). Returns 0 or -ENOMEM.
 */
int merge_places(struct profile *profile, const struct place *places, size_t count,
		 const struct answer *answer, struct merge_counts *counts);

#endif
