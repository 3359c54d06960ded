/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A spawner is a process per role: it has the role's uid and rights already, and starts the role's
 * program again and again. So the loader need not stay privileged to replace a dead child.
 */
#ifndef KEYHOLE_LOADER_SPAWNER_H
#define KEYHOLE_LOADER_SPAWNER_H

#include <sys/types.h>

#include "ipc/channel.h"
#include "policy/policy.h"

struct spawner {
	enum policy_role role;
	pid_t pid;
	struct policy_layers layers; /* of its child, as far as the child inherits layers */
	struct channel channel;	     /* carries EXITED when the child has ended */
};

/*
 * Opens (O_PATH) a program that lies beside our own, or else where programs get installed. Returns
 * the descriptor or a negative errno. With a descriptor, the uid of the later process need not be
 * able to reach the program's folder.
 */
int spawner_open_program(const char *name);

/*
 * Starts a spawner. Call it as early as possible: the fork has the loader's memory. Returns 0 or a
 * negative errno.
 */
int spawner_start(struct spawner *spawner, enum policy_role role);

/*
 * Asks the spawner to kill a child that still runs, and to start the program. Waits for nothing.
 * Returns 0 with the loader's end of the new child's channel, or a negative errno.
 */
int spawner_spawn(struct spawner *spawner, struct channel *ret_channel);

/*
 * Waits for the spawner's answer. Returns the child's pid, or the negative errno with which the
 * spawner, its fork or its exec failed.
 */
pid_t spawner_started(struct spawner *spawner);

/* Ends the spawner, which kills its child, and waits for the spawner's end. */
void spawner_stop(struct spawner *spawner);

#endif
