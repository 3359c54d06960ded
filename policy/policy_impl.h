/* SPDX-License-Identifier: Apache-2.0 */
/* Private to policy/. */
#ifndef KEYHOLE_POLICY_POLICY_IMPL_H
#define KEYHOLE_POLICY_POLICY_IMPL_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/policy.h"

/*
 * Sanitizers load libraries, map, open and signal as they like: builds with a sanitizer only change
 * their ids and capabilities.
 */
#if defined(__SANITIZE_ADDRESS__)
#define POLICY_UNCONFINED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define POLICY_UNCONFINED 1
#endif
#endif
#ifndef POLICY_UNCONFINED
#define POLICY_UNCONFINED 0
#endif

enum role_root {
	ROOT_HOST,
	ROOT_EMPTY,
	ROOT_PROC /* nothing but /proc */
};

enum role_landlock {
	LANDLOCK_NONE,
	LANDLOCK_DENY_ALL,
	LANDLOCK_SUPERVISOR /* reads files; its children are ended by their spawners */
};

struct limit {
	unsigned int resource;
	uint64_t value;
};
#define ROLE_LIMITS 6 /* RLIMIT_CPU, which is 0, ends the list: it has a field of its own */

#define ROLE_ID_OF_CALLER UINT32_MAX

struct role {
	const char *program;
	uint32_t layers; /* bit per layer: what holds of it */
	unsigned int id; /* uid and gid, or ROLE_ID_OF_CALLER */
	/* bit per capability: permitted, effective, inheritable, ambient; a caller's role keeps
	 * those that it has already */
	uint64_t capabilities;
	enum role_root root;
	enum role_landlock landlock;
	unsigned int cpu_seconds; /* 0: no limit */
	struct limit limits[ROLE_LIMITS + 1];
};

/* Returns a role's row, or NULL for a role that does not exist. */
const struct role *policy_role(enum policy_role role);

/*
 * Lowers the limits. A soft limit of the caller that is lower already stays, as its owner wants it.
 */
int policy_limit(const struct role *role);

/*
 * Lowers the soft and the hard limit to at most `most`; with `whole` the soft limit rises to the
 * hard limit.
 */
int policy_lower(unsigned int resource, uint64_t most, bool whole);

int policy_landlock(const struct role *role); /* -ENOSYS: the kernel has none */

/*
 * Puts the system call filter of the role, or of its spawner, into force. With fd >= 0 writes the
 * filter there instead, as an array of struct sock_filter. Returns -EINVAL for a role without a
 * filter.
 */
int policy_filter(enum policy_role role, bool spawner, int fd);

/*
 * Each tells from inside whether a layer holds, before the filter is put on, by a fact that cannot
 * be true by accident. policy_isolate() itself sees the namespaces change.
 */
bool policy_has_pid(const struct role *role);
bool policy_has_root(const struct role *role);
bool policy_has_ids(const struct role *role);
bool policy_has_capabilities(const struct role *role);
bool policy_has_no_new_privs(const struct role *role);
bool policy_has_limits(const struct role *role);
bool policy_has_dumpable(const struct role *role);
bool policy_has_landlock(const struct role *role);

/* Returns the layers that these tests found to hold. */
uint32_t policy_prove(const struct role *role, uint32_t layers);

/* Makes calls that the filter must refuse. Returns how many succeeded: 0 is right. */
unsigned int policy_selftest(enum policy_role role);

#endif
