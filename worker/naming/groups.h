/* SPDX-License-Identifier: Apache-2.0 */
/* Locations without a function, by object: names are looked up object by object. */
#ifndef KEYHOLE_WORKER_NAMING_GROUPS_H
#define KEYHOLE_WORKER_NAMING_GROUPS_H

#include <stdint.h>

#include "profile/place.h"

struct profile;

/* Grouped by object: those of object o are [first[o], first[o + 1]). */
struct groups {
	uint32_t *first;
	struct place *places;
};

/* 0 or -ENOMEM; to be freed either way. */
int groups_make(const struct profile *profile, struct groups *groups);
void groups_free(struct groups *groups);

#endif
