/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The broker's time that groups of processes have used. A group that used much of it waits for a
 * moment, so that the broker serves the others in turn.
 */
#ifndef KEYHOLE_LOADER_BROKER_CHARGES_H
#define KEYHOLE_LOADER_BROKER_CHARGES_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/time.h"

#define CHARGE_SHARE	 10 /* a group may use one of so many parts of the time */
#define CHARGE_SHARE_ALL 4  /* all strangers together: one who has many groups gets no more */
#define CHARGE_AHEAD	 (NS_PER_SECOND / 4) /* a group may use its share of so much time at once */
#define CHARGE_MOST	 (NS_PER_SECOND / 2) /* of one question: the machine may have stalled */
#define CHARGE_GROUPS	 256
#define CHARGE_PROBES	 16 /* places where one group may be */

/* A group of processes. An equal id means the same group. */
struct charge_group {
	uint64_t id;
	bool stranger; /* shares CHARGE_SHARE_ALL with all other strangers */
};

struct charges {
	uint64_t key;	    /* random */
	uint64_t strangers; /* ns, monotonic: until then the time of strangers is used */
	struct {
		uint64_t id;
		uint64_t until; /* ns, monotonic: until then its share is used; past: free */
	} groups[CHARGE_GROUPS];
};

/* Times are ns, monotonic. Returns 0 or a negative errno. */
int charges_init(struct charges *charges);
/* Returns 0, or -EBUSY: the group has used its share, and may ask again a second later. */
int charges_check(struct charges *charges, const struct charge_group *group, uint64_t now);
/* Charges a group with the time from start to now. */
void charges_add(struct charges *charges, const struct charge_group *group, uint64_t start,
		 uint64_t now);

#endif
