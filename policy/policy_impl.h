/* SPDX-License-Identifier: Apache-2.0 */
/* Private to policy/. */
#ifndef KEYHOLE_POLICY_POLICY_IMPL_H
#define KEYHOLE_POLICY_POLICY_IMPL_H

#include <stdint.h>

#include "policy/policy.h"

/* Sanitizers map, open and signal as they like: such builds run without limits and filter. */
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

struct limit {
	unsigned int resource;
	uint64_t value;
};
#define ROLE_LIMITS 6 /* RLIMIT_CPU = 0 is in no table: it ends the list */

struct role {
	const char *program;
	unsigned int id;       /* uid and gid */
	uint64_t capabilities; /* bit per capability: permitted, effective, inheritable, ambient */
	struct limit limits[ROLE_LIMITS + 1];
};

/* NULL for a role that does not exist. */
const struct role *policy_role(enum policy_role role);

int policy_limit(const struct role *role);

/* Puts the system call filter into force; with fd >= 0 writes it there instead, as an array of
 * struct sock_filter, for tests and for reading. */
int policy_filter(enum policy_role role, int fd);

#endif
