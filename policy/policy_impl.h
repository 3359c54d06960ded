/* SPDX-License-Identifier: Apache-2.0 */
/* Private to policy/. */
#ifndef KEYHOLE_POLICY_POLICY_IMPL_H
#define KEYHOLE_POLICY_POLICY_IMPL_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/policy.h"

/*
 * Sanitizers load libraries, map, open and signal as they like: such builds only change their ids
 * and capabilities.
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

/* A test build leaves one layer off and says nothing of it: no sample may be taken then. */
#ifndef POLICY_SABOTAGE
#define POLICY_SABOTAGE LAYER_COUNT
#endif
#define POLICY_PUTS_ON(name)  ((int)LAYER_##name != (int)POLICY_SABOTAGE)
#define POLICY_ISOLATES(name) (!POLICY_UNCONFINED && POLICY_PUTS_ON(name))

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
#define ROLE_LIMITS 6 /* RLIMIT_CPU = 0 is in no table: it ends the list */

struct role {
	const char *program;
	unsigned int id;       /* uid and gid */
	uint64_t capabilities; /* bit per capability: permitted, effective, inheritable, ambient */
	bool namespaces, pid_namespace;
	enum role_root root;
	enum role_landlock landlock;
	struct limit limits[ROLE_LIMITS + 1];
};

/* NULL for a role that does not exist. */
const struct role *policy_role(enum policy_role role);

int policy_limit(const struct role *role);
int policy_landlock(const struct role *role); /* -ENOSYS: the kernel has none */

/* Puts the system call filter of the role, or of its spawner, into force; with fd >= 0 writes it
 * there instead, as an array of struct sock_filter, for tests and for reading. */
int policy_filter(enum policy_role role, bool spawner, int fd);

/*
 * Whether the layer holds, from inside and before the filter is put on. Each asks for what cannot
 * be so by accident; policy_isolate() itself sees the namespaces change.
 */
bool policy_has_pid(const struct role *role);
bool policy_has_root(const struct role *role);
bool policy_has_ids(const struct role *role);
bool policy_has_capabilities(const struct role *role);
bool policy_has_no_new_privs(const struct role *role);
bool policy_has_limits(const struct role *role);
bool policy_has_dumpable(const struct role *role);
bool policy_has_landlock(const struct role *role);

/* The filter: tries what must be refused; the number of attempts that succeeded (0 is right). */
unsigned int policy_selftest(enum policy_role role);

#endif
