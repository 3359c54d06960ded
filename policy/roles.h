/* SPDX-License-Identifier: Apache-2.0 */
/* One row a role: program, ids, capabilities, limits, layers. roles.c alone reads them. */
#ifndef KEYHOLE_POLICY_ROLES_H
#define KEYHOLE_POLICY_ROLES_H

#include <linux/capability.h>
#include <sys/resource.h>

#include "policy/policy_impl.h"

#define CAPABILITY(name) (1ull << (name))
#define MIB		 (1ull << 20)
#define GIB		 (1ull << 30)

#define LOADER_ID 65434

/* policy_become() puts these on the loader and on its helpers and children. */
#define LAYERS_DROP (LAYER_BIT(ids) | LAYER_BIT(capabilities) | LAYER_BIT(no_new_privs))

/* Each program puts these on itself. */
#define LAYERS_SELF (LAYER_BIT(limits) | LAYER_BIT(dumpable) | LAYER_BIT(seccomp))

/* Viewers keep the ids of whoever started them. */
#define LAYERS_VIEWER (LAYER_BIT(capabilities) | LAYER_BIT(no_new_privs) | LAYERS_SELF)

/*
 * RLIMIT_MEMLOCK stays as it is. The kernel charges the worker's side-band rings to it, and before
 * Linux 5.11 the broker's BPF maps.
 */
static const struct role role_table[ROLE_ALL] = {
	[ROLE_LOADER] = {.program = "keyhole",
			 .layers = LAYERS_DROP | LAYERS_SELF | LAYER_BIT(landlock),
			 .id = LOADER_ID,
			 .landlock = LANDLOCK_SUPERVISOR,
			 .limits = {{RLIMIT_CORE, 0}, {RLIMIT_NPROC, 0}}},
	/* The worker has a descriptor for each segment, CPU and object in work. */
	[ROLE_WORKER] = {.program = "keyhole-worker",
			 .layers = LAYERS_DROP | LAYERS_SELF | LAYER_BIT(namespaces) |
				   LAYER_BIT(pid) | LAYER_BIT(root) | LAYER_BIT(landlock),
			 .id = 65431,
			 .root = ROOT_EMPTY,
			 .landlock = LANDLOCK_DENY_ALL,
			 .limits = {{RLIMIT_CORE, 0},
				    {RLIMIT_NPROC, 0},
				    {RLIMIT_NOFILE, 4096},
				    {RLIMIT_FSIZE, 1024 * MIB},
				    {RLIMIT_DATA, 2048 * MIB}}},
	[ROLE_EXPORTER] = {.program = "keyhole-exporter",
			   .layers = LAYERS_DROP | LAYERS_SELF | LAYER_BIT(namespaces) |
				     LAYER_BIT(pid) | LAYER_BIT(root) | LAYER_BIT(landlock),
			   .id = 65432,
			   .root = ROOT_EMPTY,
			   .landlock = LANDLOCK_DENY_ALL,
			   .limits = {{RLIMIT_CORE, 0},
				      {RLIMIT_NPROC, 0},
				      {RLIMIT_NOFILE, 32},
				      {RLIMIT_DATA, 256 * MIB}}},
	/*
	 * Opening map_files of another user takes ptrace access, the right to follow the links and
	 * the right to search the folder. Those need the host's pid namespace, and Landlock refuses
	 * ptrace access outside of its domain.
	 */
	[ROLE_BROKER] = {.program = "keyhole-broker",
			 .layers = LAYERS_DROP | LAYERS_SELF | LAYER_BIT(namespaces) |
				   LAYER_BIT(root),
			 .id = 65433,
			 .root = ROOT_PROC,
			 .capabilities = CAPABILITY(CAP_SYS_PTRACE) |
					 CAPABILITY(CAP_CHECKPOINT_RESTORE) |
					 CAPABILITY(CAP_DAC_READ_SEARCH) | CAPABILITY(CAP_BPF),
			 .limits = {{RLIMIT_CORE, 0},
				    {RLIMIT_NPROC, 0},
				    {RLIMIT_NOFILE, 16},
				    {RLIMIT_FSIZE, 0},
				    {RLIMIT_DATA, 64 * MIB}}},

	/* No filter: it looks at cgroups, processes and files that its arguments name. */
	[ROLE_OPTIONS] = {.program = "keyhole-options",
			  .layers = LAYERS_DROP | LAYER_BIT(dumpable),
			  .id = LOADER_ID},
	[ROLE_KERNEL_SYMBOLS] = {.program = "keyhole-kernel-symbols",
				 .layers = LAYERS_DROP | LAYERS_SELF,
				 .id = LOADER_ID,
				 .limits = {{RLIMIT_CORE, 0}}},
	[ROLE_RULES] = {.program = "keyhole-rules",
			.layers = LAYERS_DROP | LAYERS_SELF,
			.id = LOADER_ID,
			.limits = {{RLIMIT_CORE, 0}}},
	[ROLE_AUDIT] = {.program = "keyhole-audit",
			.layers = LAYERS_DROP | LAYERS_SELF,
			.id = LOADER_ID,
			.limits = {{RLIMIT_CORE, 0}}},
	/* Looks names up as the machine is set up to, so it reads files and loads modules. */
	[ROLE_CONNECTOR] = {.program = "keyhole-connector",
			    .layers = LAYERS_DROP | LAYERS_SELF,
			    .id = 65435,
			    .limits = {{RLIMIT_CORE, 0},
				       {RLIMIT_NPROC, 0},
				       {RLIMIT_NOFILE, 64},
				       {RLIMIT_FSIZE, 0},
				       {RLIMIT_DATA, 64 * MIB}}},
	/* No filter: it starts the command, and readers of debug information. */
	[ROLE_OUTPUT] = {.program = "keyhole-output",
			 .layers = LAYER_BIT(capabilities),
			 .id = ROLE_ID_OF_CALLER,
			 .capabilities = CAPABILITY(CAP_DAC_OVERRIDE)},

	/* No filter: it looks at all processes, and compares files with their manifest. */
	[ROLE_CHECK] = {.program = "keyhole-check",
			.layers = LAYER_BIT(capabilities) | LAYER_BIT(no_new_privs) |
				  LAYER_BIT(dumpable),
			.id = ROLE_ID_OF_CALLER,
			.capabilities = CAPABILITY(CAP_SYS_PTRACE) |
					CAPABILITY(CAP_DAC_READ_SEARCH)},
	/* A profile of a million samples takes a second or two. */
	[ROLE_REPORT] = {.program = "keyhole-report",
			 .layers = LAYERS_VIEWER,
			 .id = ROLE_ID_OF_CALLER,
			 .cpu_seconds = 120,
			 .limits = {{RLIMIT_CORE, 0}, {RLIMIT_NOFILE, 0}, {RLIMIT_AS, 4 * GIB}}},
	/*
	 * The memory holds the profile unpacked, the model of it, and an answer. RLIMIT_NOFILE
	 * bounds the descriptors that the process has sent and that nobody has received (unix(7)).
	 */
	[ROLE_PROFILE] = {.program = "keyhole-symbolize",
			  .layers = LAYERS_VIEWER,
			  .id = ROLE_ID_OF_CALLER,
			  .limits = {{RLIMIT_CORE, 0},
				     {RLIMIT_NOFILE, 64},
				     {RLIMIT_DATA, 4 * GIB}}},
	/* A million addresses of the largest programs need a tenth of each. */
	[ROLE_DEBUG] = {.program = "keyhole-debug-reader",
			.layers = LAYERS_VIEWER,
			.id = ROLE_ID_OF_CALLER,
			.cpu_seconds = 30,
			.limits = {{RLIMIT_CORE, 0},
				   {RLIMIT_NOFILE, 0},
				   {RLIMIT_FSIZE, 512 * MIB},
				   {RLIMIT_DATA, 2 * GIB}}},
	[ROLE_TERMINAL] = {.program = "keyhole-top",
			   .layers = LAYERS_VIEWER,
			   .id = ROLE_ID_OF_CALLER,
			   .limits = {{RLIMIT_CORE, 0}, {RLIMIT_NOFILE, 0}, {RLIMIT_AS, 1 * GIB}}},
};

#endif
