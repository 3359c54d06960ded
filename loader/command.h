/* SPDX-License-Identifier: Apache-2.0 */
/* `record -- CMD`: a child of the loader with the invoking user's rights, held before its exec. */
#ifndef KEYHOLE_LOADER_COMMAND_H
#define KEYHOLE_LOADER_COMMAND_H

#include <sys/types.h>

#include "policy/policy.h"

struct command {
	pid_t pid;  /* 0: none. The owner waits for it. */
	int hold;   /* a byte lets it exec, closing it ends it */
	int status; /* 0 until it was reaped */
};

/* Before umask, limits, signals or rights of the loader change: the command inherits them. */
int command_start(struct command *ret_command, char **argv, const struct policy_user *user);

/* Lets it run. Where it cannot, it says why and ends with status 127. */
void command_release(struct command *command);

/* Takes the exit status of one that has ended, as shells put it: 128 + the signal that ended it. */
void command_reap(struct command *command);

#endif
