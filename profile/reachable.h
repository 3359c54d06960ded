/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies the part of a profile that its samples refer to. The names, objects and addresses that
 * only removed samples referred to stay behind.
 */
#ifndef KEYHOLE_PROFILE_REACHABLE_H
#define KEYHOLE_PROFILE_REACHABLE_H

struct profile;

/*
 * Makes a new profile of all samples and their times, in their order. Returns 0 or -ENOMEM;
 * the caller frees *ret_profile.
 */
int profile_reachable(const struct profile *from, struct profile **ret_profile);

#endif
