/* SPDX-License-Identifier: Apache-2.0 */
/* The user's words about resources, as struct profile_own has them. */
#ifndef KEYHOLE_WORKER_WORDS_H
#define KEYHOLE_WORKER_WORDS_H

#include "ipc/destination.h"
#include "profile/profile.h"

struct words {
	struct profile_attribute attributes[RESOURCE_PAIRS_MAX];
	struct profile_own own; /* refers to the attributes: the structure does not move */
};

/*
 * Reads the pairs of a struct resource_words, which are borrowed and end with three NULs. Pairs
 * beyond RESOURCE_PAIRS_MAX are none. NULL: there are none.
 */
void words_read(const char *pairs, struct words *ret_words);

/* Returns NULL where the user says nothing. Valid as long as the words are. */
const struct profile_own *words_own(const struct words *words);

#endif
