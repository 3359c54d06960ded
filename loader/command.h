/* SPDX-License-Identifier: Apache-2.0 */
/* `record -- CMD`: a child of the loader with the invoking user's rights, held before its exec. */
#ifndef KEYHOLE_LOADER_COMMAND_H
#define KEYHOLE_LOADER_COMMAND_H

#include <sys/types.h>

#include "loader/identity.h"

struct command {
	pid_t pid;  /* 0: none. The owner waits for it. */
	int socket; /* a byte lets it exec, closing it ends it; an errno comes back, or EOF */
};

/* Before umask, limits, signals or rights of the loader change: the command inherits them. */
int command_start(struct command *ret_command, char **argv, const struct identity *identity);

/* Lets it run. 0, or the negative errno of its exec (-ENOENT: no such program); it is gone then. */
int command_release(struct command *command);

/* Ends a command that was never released; leaves a running one alone. */
void command_abandon(struct command *command);

#endif
