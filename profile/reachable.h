/* SPDX-License-Identifier: Apache-2.0 */
/* A profile without what no sample refers to: names, objects and addresses of others among it. */
#ifndef KEYHOLE_PROFILE_REACHABLE_H
#define KEYHOLE_PROFILE_REACHABLE_H

struct profile;

/* A new one, of all samples in their order, without their times. 0 or -ENOMEM. */
int profile_reachable(const struct profile *from, struct profile **ret_profile);

#endif
