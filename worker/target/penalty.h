/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The groups of processes that hung a broker, or used much of its time, within the last minute. A
 * group is a cgroup; without a cgroup of its own, a user's session; and when neither is known, one
 * process. A user who makes many groups hang brokers is penalized as a whole, because users can
 * make groups at will. A user with subordinate uids can be many users, all in the cgroups that are
 * delegated to this user. So where groups of several users are penalized, the smallest subtree of
 * cgroups around them is penalized as a whole. Root is neither counted nor penalized for others.
 */
#ifndef KEYHOLE_WORKER_TARGET_PENALTY_H
#define KEYHOLE_WORKER_TARGET_PENALTY_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/time.h"
#include "worker/target/target.h"

#define PENALTY_NS	   (60 * NS_PER_SECOND) /* since the last hang */
#define PENALTY_GROUPS	   64 /* then a new group takes the place of the oldest one */
#define PENALTY_SPREAD	   3  /* groups of one user, or users of one subtree: then all of it */
#define PENALTY_SPREAD_TOP 6  /* the same, just below the root of all */
#define PENALTY_SHARE	   10 /* a group may use one of so many parts of the time */
#define PENALTY_AHEAD	   (NS_PER_SECOND / 4) /* of that time, at once */
#define PENALTY_LATE	   (20 * NS_PER_MS)    /* less of that time costs subtrees nothing */

enum penalty_kind {
	PENALTY_NONE,
	PENALTY_CGROUP,	 /* first: cgroup */
	PENALTY_SESSION, /* first: session, second: uid */
	PENALTY_PROCESS, /* first: pid */
	PENALTY_USER,	 /* second: uid */
	PENALTY_SUBTREE	 /* first: the low half of a cgroup's id */
};

struct penalty {
	enum penalty_kind kind;
	uint64_t first;
	uint32_t second;
	uint32_t uid;		       /* of the process that hung the broker; SUBTREE: 0 */
	uint32_t outer[TARGET_LEVELS]; /* around that process; USER, SUBTREE: 0 */
	uint64_t until; /* ns, monotonic; of an account: until then its share is used */
};

/* All zero: no group is penalized. */
struct penalties {
	struct penalty groups[PENALTY_GROUPS];
	struct penalty charged[PENALTY_GROUPS]; /* accounts of groups, users and subtrees */
};

/* Penalizes the process's group from now on. Returns whether that is new. */
bool penalty_add(struct penalties *penalties, const struct target_process *process, uint64_t now);
bool penalty_holds(const struct penalties *penalties, const struct target_process *process,
		   uint64_t now);
/*
 * Charges the process's group with so many ns of the broker's time. If the user is not root, also
 * charges the user. From PENALTY_LATE on, the call charges the subtrees around the process as well,
 * except the one just below the root of all.
 * Returns whether one of them used more than a share: then the group deserves a penalty.
 */
bool penalty_charge(struct penalties *penalties, const struct target_process *process,
		    uint64_t spent, uint64_t now);
/* Returns whether both processes are of one group. */
bool penalty_is_shared(const struct target_process *a, const struct target_process *b);

#endif
