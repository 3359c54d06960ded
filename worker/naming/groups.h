/* SPDX-License-Identifier: Apache-2.0 */
/* Groups locations without a function by object, because names are looked up object by object. */
#ifndef KEYHOLE_WORKER_NAMING_GROUPS_H
#define KEYHOLE_WORKER_NAMING_GROUPS_H

#include <stdint.h>

#include "profile/place.h"

struct profile;

/* The places of object o are places[first[o]] up to, but not including, places[first[o + 1]]. */
struct groups {
	uint32_t *first;
	struct place *places;
};

/* Makes the groups. 0 or -ENOMEM; the caller frees them in both cases. */
int groups_make(const struct profile *profile, struct groups *groups);
void groups_free(struct groups *groups);

#endif
