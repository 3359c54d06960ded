/* SPDX-License-Identifier: Apache-2.0 */
/* Puts what an answer says of addresses into the model. */
#ifndef KEYHOLE_OBJECT_DWARF_MERGE_H
#define KEYHOLE_OBJECT_DWARF_MERGE_H

#include <stddef.h>
#include <stdint.h>

struct answer;
struct place;
struct profile;

struct merge_counts { /* of locations, but `inlined` */
	uint64_t lines, named, inlined;
};

/*
 * Places in ascending order; the answer is to their place_addresses(). The function whose code it
 * is keeps a name that it has, which may tell more (".cold"). 0 or -ENOMEM; where nothing is known
 * a location stays as it is.
 */
int merge_places(struct profile *profile, const struct place *places, size_t count,
		 const struct answer *answer, struct merge_counts *counts);

#endif
