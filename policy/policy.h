/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may do what, as data: constant tables in policy/syscalls.h and policy/roles.h, applied by
 * the few functions here. Returns 0 or a negative errno; the caller logs and exits.
 */
#ifndef KEYHOLE_POLICY_POLICY_H
#define KEYHOLE_POLICY_POLICY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum policy_role {
	ROLE_LOADER, /* after start: supervision */
	ROLE_WORKER,
	ROLE_EXPORTER,
	ROLE_BROKER,
	ROLE_COUNT
};

/* Before exec, with privilege: no groups, the role's own uid and gid, its capabilities (ambient, so
 * that exec keeps them; none but for the broker), empty bounding set, locked securebits,
 * no_new_privs. Irreversible; verified before it returns. */
int policy_become(enum policy_role role);

/* After exec (the loader: after start): rlimits, not dumpable, seccomp for all threads. */
int policy_confine(enum policy_role role);

/* From inside: tries what must be refused; the number of attempts that succeeded (0 is right). */
unsigned int policy_selftest(enum policy_role role);

/* From outside: what /proc/<pid>/status says (capabilities, NoNewPrivs, Seccomp, uid). NULL, or
 * what is wrong. */
const char *policy_verify(enum policy_role role, pid_t pid);

#endif
