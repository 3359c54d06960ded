/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The times of samples, in the order of their addition. A moment takes 4 to 8 bytes as a rule: the
 * differences to the moment before, as variable-length numbers.
 */
#ifndef KEYHOLE_PROFILE_MOMENT_LIST_H
#define KEYHOLE_PROFILE_MOMENT_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/chunks.h"
#include "profile/profile.h"

struct moment_list { /* all zeros: empty */
	struct chunks bytes;
	struct profile_moment last;
	size_t count;
};

void moment_list_release(struct moment_list *list);
int moment_list_add(struct moment_list *list, const struct profile_moment *moment); /* 0, -ENOMEM */
/* Gets the next moment of a walk that began with all zeros. Returns false behind the last one. */
bool moment_list_next(const struct moment_list *list, struct profile_moment_walk *walk);

#endif
