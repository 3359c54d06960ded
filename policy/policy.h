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

/* Each a bit of a mask. */
enum policy_layer {
#define L(name, help) LAYER_##name,
#include "policy/layers.def"
#undef L
	LAYER_COUNT
};
#define LAYER_BIT(name) (1u << LAYER_##name)

enum policy_role {
	ROLE_LOADER, /* after start: supervision */
	ROLE_WORKER,
	ROLE_EXPORTER,
	ROLE_BROKER,
	ROLE_COUNT
};

/* fork(), in a pid namespace of its own if the role has one; *ret_lacking: layers that cannot be. */
pid_t policy_fork(enum policy_role role, uint32_t *ret_lacking);

/* Before policy_become(): the other namespaces, the root. Returns the layers that cannot be had, by
 * this kernel or with these rights. The working directory is where the role finds /proc. */
uint32_t policy_isolate(enum policy_role role);

/* Before exec, with privilege: no groups, the role's own uid and gid, its capabilities (ambient, so
 * that exec keeps them; none but for the broker), empty bounding set, locked securebits,
 * no_new_privs. Irreversible; verified before it returns. */
int policy_become(enum policy_role role);

struct policy_layers {
	uint32_t lacking; /* the kernel has them not */
	uint32_t proven;  /* seen, or what they refuse was tried: not what was meant to be put on */
};

/* After exec (the loader: after start): rlimits, not dumpable, Landlock, seccomp for all threads. */
int policy_confine(enum policy_role role, struct policy_layers *ret_layers);

/* The layers that a role has, and those without which it must not go on. */
uint32_t policy_layers_of(enum policy_role role);

/* NULL: no such layer. */
const char *policy_layer_name(unsigned int layer);

/* "landlock,pid" -> *ret_mask. -EINVAL: *ret_bad is what is no layer's name. */
int policy_layers_parse(const char *list, uint32_t *ret_mask, const char **ret_bad);

/* From outside: what /proc/<pid>/status says (capabilities, NoNewPrivs, Seccomp, uid). 0, or
 * -EPERM with a static reason. */
int policy_verify(enum policy_role role, pid_t pid, const char **ret_reason);

/* The program of the role ("keyhole-worker") and its uid, which is its gid too. */
const char *policy_role_name(enum policy_role role);
uid_t policy_role_uid(enum policy_role role);

/* The system call filter as an array of struct sock_filter, for tests and for reading. */
int policy_export_filter(enum policy_role role, int fd);

#endif
