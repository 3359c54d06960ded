/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One per role: a process that has that role's uid and rights already and can start its program
 * again and again, so that the loader need not stay privileged to replace a dead child.
 */
#ifndef KEYHOLE_LOADER_SPAWNER_H
#define KEYHOLE_LOADER_SPAWNER_H

#include <sys/types.h>

#include "ipc/channel.h"
#include "policy/policy.h"

struct spawner {
	enum policy_role role;
	pid_t pid;		/* of the spawner */
	pid_t child;		/* last one started, 0 when it is known to have exited */
	struct channel channel; /* carries EXITED at any time */
};

/* Finds the role's program and forks. As early as possible: the fork has the loader's memory. */
int spawner_start(struct spawner *ret_spawner, enum policy_role role);

/* Starts the program; a child that still runs is killed first. Its exec's errno comes back. */
int spawner_spawn(struct spawner *spawner, struct channel *ret_channel, pid_t *ret_pid);

/* One EXITED when spawner->channel is readable: 1 with status as from waitpid(), 0, or an error. */
int spawner_exited(struct spawner *spawner, int *ret_status);

/* Ends the spawner, which kills its child. */
void spawner_stop(struct spawner *spawner);

#endif
