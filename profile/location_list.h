/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The locations of a profile. A key finds each, whatever becomes of the location itself. The index
 * holds the keys: a sample looks for each of its frames, and each search touches one cache line.
 */
#ifndef KEYHOLE_PROFILE_LOCATION_LIST_H
#define KEYHOLE_PROFILE_LOCATION_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "profile/profile.h"

struct location_key {
	uint64_t address, variant; /* as profile_location_add_variant() got them */
	uint64_t object;
};

struct location_slot {
	uint64_t address, variant;
	uint32_t object;
	uint32_t id; /* 0: the slot is free */
};

struct location_list {
	struct hash_key hash_key;
	struct location_slot *slots;
	size_t slot_count;		    /* a power of two; 0: none yet */
	struct profile_location *locations; /* by id, less 1 */
	size_t count, capacity;
};

int location_list_init(struct location_list *list); /* 0 or a negative errno */
void location_list_release(struct location_list *list);

/* Returns the id of the key's location, from 1 on, or PROFILE_FAILED. */
uint32_t location_list_add(struct location_list *list, const struct location_key *key);

#endif
