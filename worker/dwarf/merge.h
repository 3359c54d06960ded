/* SPDX-License-Identifier: Apache-2.0 */
/* What an answer says of an address, put into the model. */
#ifndef KEYHOLE_WORKER_DWARF_MERGE_H
#define KEYHOLE_WORKER_DWARF_MERGE_H

#include <stddef.h>
#include <stdint.h>

struct answer;
struct profile;

struct merge_counts { /* of locations, but `inlined` */
	uint64_t lines, named, inlined;
};

/*
 * The function whose code it is keeps a name that it has, which may tell more (".cold"). 0 or
 * -ENOMEM; where nothing is known the location stays as it is.
 */
int merge(struct profile *profile, uint32_t location, const struct answer *answer, size_t address,
	  struct merge_counts *counts);

#endif
