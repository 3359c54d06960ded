/* SPDX-License-Identifier: Apache-2.0 */
/* Who each process is: program, uid and gid, capabilities, limits. Read by policy.c alone. */
#ifndef KEYHOLE_POLICY_ROLES_H
#define KEYHOLE_POLICY_ROLES_H

#include <linux/capability.h>
#include <sys/resource.h>

#include "policy/policy_impl.h"

#define CAPABILITY(name) (1ull << (name))
#define MIB		 (1ull << 20)

/*
 * RLIMIT_MEMLOCK stays as it is: before Linux 5.11 it is what BPF maps (broker) are charged to, and
 * the side-band rings (worker) are charged to it on every kernel.
 */
static const struct role role_table[ROLE_SUPERVISED] = {
	[ROLE_LOADER] = {.program = "keyhole",
			 .id = 65434,
			 .landlock = LANDLOCK_SUPERVISOR,
			 .limits = {{RLIMIT_CORE, 0}, {RLIMIT_NPROC, 0}}},
	/* A descriptor for each segment, CPU and object in work; a profile is a memfd. */
	[ROLE_WORKER] = {.program = "keyhole-worker",
			 .id = 65431,
			 .namespaces = true,
			 .pid_namespace = true,
			 .root = ROOT_EMPTY,
			 .landlock = LANDLOCK_DENY_ALL,
			 .limits = {{RLIMIT_CORE, 0},
				    {RLIMIT_NPROC, 0},
				    {RLIMIT_NOFILE, 4096},
				    {RLIMIT_FSIZE, 1024 * MIB},
				    {RLIMIT_DATA, 2048 * MIB}}},
	[ROLE_EXPORTER] = {.program = "keyhole-exporter",
			   .id = 65432,
			   .namespaces = true,
			   .pid_namespace = true,
			   .root = ROOT_EMPTY,
			   .landlock = LANDLOCK_DENY_ALL,
			   .limits = {{RLIMIT_CORE, 0},
				      {RLIMIT_NPROC, 0},
				      {RLIMIT_NOFILE, 16},
				      {RLIMIT_DATA, 256 * MIB}}},
	/*
	 * map_files of another user: ptrace access, the links themselves, the folder's mode. Those
	 * need the host's pid namespace, and Landlock refuses ptrace access outside of its domain.
	 */
	[ROLE_BROKER] = {.program = "keyhole-broker",
			 .id = 65433,
			 .namespaces = true,
			 .root = ROOT_PROC,
			 .capabilities = CAPABILITY(CAP_SYS_PTRACE) |
					 CAPABILITY(CAP_CHECKPOINT_RESTORE) |
					 CAPABILITY(CAP_DAC_READ_SEARCH) | CAPABILITY(CAP_BPF),
			 .limits = {{RLIMIT_CORE, 0},
				    {RLIMIT_NPROC, 0},
				    {RLIMIT_NOFILE, 16},
				    {RLIMIT_FSIZE, 0},
				    {RLIMIT_DATA, 64 * MIB}}},
};

#endif
