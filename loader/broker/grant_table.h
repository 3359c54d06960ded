/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The map of grants, with a limit for each user. An entry outlives its family until somebody needs
 * the room: a family's number is never given again. A family may have two entries, of which one has
 * GRANT_OF_CONTEXT in its key.
 */
#ifndef KEYHOLE_LOADER_BROKER_GRANT_TABLE_H
#define KEYHOLE_LOADER_BROKER_GRANT_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "loader/broker/charges.h"

struct grant_table {
	int grants;	/* map of struct grant by family */
	int processes;	/* map of struct generation by pid; read-only */
	uint64_t swept; /* ns, monotonic: the last time that dead families were removed */
};

/*
 * Finds room for a family of the owner. Removes families without a process, if that is necessary.
 * Returns 0 or a negative errno. -EDQUOT: the owner has as many as one may have; -ENOSPC: there is
 * no room for anybody; -EBUSY: the same, ask again a second later.
 */
int grant_table_make_room(struct grant_table *table, uint64_t family,
			  const struct charge_group *owner, uint64_t now);

/*
 * Adds the family with new accounts. A family that is there keeps its own. Returns 0 or a negative
 * errno.
 */
int grant_table_add(const struct grant_table *table, uint64_t family,
		    const struct charge_group *owner);

#endif
