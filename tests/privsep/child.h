/* SPDX-License-Identifier: Apache-2.0 */
/* A child behind its spawner, as in the loader. Failures end the test. */
#ifndef KEYHOLE_TESTS_CHILD_H
#define KEYHOLE_TESTS_CHILD_H

#include <sys/types.h>

#include "ipc/channel.h"
#include "loader/spawner.h"

#define CHILD_WAIT_MS 5000

struct child {
	struct spawner spawner;
	struct channel loader; /* our end to the child */
	struct channel worker; /* our end to it as the worker */
	pid_t pid;
};

/* Until READY. */
void child_start(struct child *child, enum policy_role role);
/* Again, with the same spawner. */
void child_spawn(struct child *child);
void child_stop(struct child *child);

/* A message without payload; the descriptor stays the caller's. */
void child_give(struct child *child, enum message_type type, int fd);

/* Sends the child its socket to the worker and keeps the other end: both in PHASE_RUN. */
void child_give_peer(struct child *child, enum message_type type);

/* Returns the child's status, as from waitpid(). */
int child_wait_exit(struct child *child);

#endif
