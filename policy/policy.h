/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rights of every process, as constant tables in policy/roles.h and policy/syscalls.h, and the
 * functions that apply them. They return 0 or a negative errno; the caller logs and exits.
 */
#ifndef KEYHOLE_POLICY_POLICY_H
#define KEYHOLE_POLICY_POLICY_H

#include <stdbool.h>
#include <stddef.h>
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

/*
 * A kernel, or the rights given, may not allow these layers. Every kernel has the layers that are
 * not named here, and every process that may start can put them on.
 */
#define LAYERS_THAT_MAY_LACK \
	(LAYER_BIT(namespaces) | LAYER_BIT(pid) | LAYER_BIT(root) | LAYER_BIT(landlock))

/* Rows of policy/roles.h. Those before ROLE_SUPERVISED have the numbers of enum message_party. */
enum policy_role {
	ROLE_LOADER, /* after start: supervision */
	ROLE_WORKER,
	ROLE_EXPORTER,
	ROLE_BROKER,
	ROLE_SUPERVISED, /* how many: the loader and what a spawner starts for it */

	/* helpers, which the loader starts itself */
	ROLE_OPTIONS = ROLE_SUPERVISED,
	ROLE_KERNEL_SYMBOLS,
	ROLE_RULES,
	ROLE_AUDIT,
	ROLE_CONNECTOR,
	ROLE_OUTPUT,

	/* viewers, which anybody may start */
	ROLE_CHECK,
	ROLE_REPORT,   /* reads profiles, for keyhole report */
	ROLE_PROFILE,  /* the same for keyhole symbolize */
	ROLE_DEBUG,    /* reads the debug information of one object */
	ROLE_TERMINAL, /* reads a stream of profiles and draws, for keyhole top */
	ROLE_ALL       /* how many rows there are */
};

/* The layers of a process. A process must not go on if a layer of its role is in neither mask. */
struct policy_layers {
	uint32_t lacking; /* this kernel or these rights do not allow them */
	uint32_t proven;  /* seen to hold, or what they refuse was tried */
};

/*
 * Forks the spawner, in a pid namespace of its own if the role has one. The caller has one thread.
 */
pid_t policy_fork(enum policy_role role, struct policy_layers *ret_layers);

/*
 * Takes the other namespaces and the root, in the spawner, before policy_become(). The working
 * directory is where the role finds /proc.
 */
void policy_isolate(enum policy_role role, struct policy_layers *layers);

/*
 * Gives all other rights up, with privilege and before exec: no groups, the role's ids, its
 * capabilities, no_new_privs. The bounding set is empty, the securebits are locked. Exec keeps the
 * capabilities, as they are ambient. Irreversible; verified before it returns.
 */
int policy_become(enum policy_role role);

/* Puts on the filter that a spawner's children inherit: its last step. */
int policy_confine_spawner(enum policy_role role);

/*
 * Puts on limits, not dumpable, Landlock and the filter, for all threads: after exec, and in the
 * loader after its start. A step that fails leaves its layer unproven; the process's starter
 * decides what to do.
 */
void policy_confine(enum policy_role role, struct policy_layers *ret_layers);

/* Limits of one process below those of its role; 0: the role's own. */
struct policy_budget {
	uint64_t address_space; /* bytes, mapped files among them */
	uint64_t data;		/* bytes of memory that is its own */
	uint64_t file;		/* bytes of a file that it writes */
	unsigned int cpu_seconds;
};

/*
 * Confines a helper or viewer for good, before it reads what others wrote. After that the process
 * has its role's capabilities alone, the limits of its role and of the budget, no_new_privs and the
 * filter. It is not dumpable. budget may be NULL. Returns 0 or a negative errno: then nothing must
 * be read. -EPERM: a limit or flag does not hold, or a helper still has a capability, because the
 * loader's drop failed.
 */
int policy_confine_self(enum policy_role role, const struct policy_budget *budget);

/* Seconds of CPU time after which SIGXCPU ends the role's process; 0: no limit. */
unsigned int policy_cpu_seconds(enum policy_role role);

/*
 * Closes all descriptors but the standard ones and `fds`, because any others came from the
 * program's starter. Sorts fds; -1 stands for none.
 */
void policy_keep_descriptors(int *fds, size_t count);

/* The user who asked for the recording: the user behind sudo, or else the user who runs keyhole. */
struct policy_user {
	uid_t uid;
	gid_t gid;
	const char *name; /* login name for the groups, from the environment; NULL: keep them */
};

/* Returns 0, or -EINVAL when sudo's variables are not what sudo sets. */
int policy_user_read(struct policy_user *ret_user);

/*
 * Joins the groups of the user's login name, as nsswitch.conf names them. Only the loader can do
 * so, as static programs load no modules: in a forked child with privilege, before
 * policy_user_become().
 */
int policy_user_join_groups(const struct policy_user *user);

/* Takes the user's ids, and drops all capabilities unless the user is root. Groups stay. */
int policy_user_become(const struct policy_user *user);

/* Returns the layers of the role; 0 where there is no such role. */
uint32_t policy_layers_of(enum policy_role role);

/* Returns a layer's name, or NULL where there is no such layer. */
const char *policy_layer_name(unsigned int layer);

/*
 * Returns the folder of a procfs instance of our own, read-only, because the mounted /proc may hide
 * processes (hidepid=) or kallsyms (a systemd unit). Without CAP_SYS_ADMIN the folder is the
 * mounted /proc. The first call needs privilege; the folder stays open.
 */
int policy_proc(void);

/*
 * Returns the layers that do not hold by /proc/<pid>/status: some of ids, capabilities,
 * no_new_privs, pid and seccomp (as many filters more than our own). Returns all layers of the
 * role if the file cannot be read.
 */
uint32_t policy_verify(enum policy_role role, pid_t pid, unsigned int filters);

#endif
