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
	pid_t pid;
	struct policy_layers layers; /* of its child, as far as they are its own */
	struct channel channel;	     /* carries EXITED when the child has ended */
};

/* One of ours, O_PATH, to execute it; or a negative errno. */
int spawner_open_program(const char *name);

/* As early as possible: the fork has the loader's memory. */
int spawner_start(struct spawner *spawner, enum policy_role role);

/* Has the program started, after a child that still runs was killed. Waits for nothing. */
int spawner_spawn(struct spawner *spawner, struct channel *ret_channel);

/* Waits for the answer: the child's pid, or why the spawner, its fork or its exec failed. */
pid_t spawner_started(struct spawner *spawner);

/* Ends the spawner, which kills its child. */
void spawner_stop(struct spawner *spawner);

#endif
