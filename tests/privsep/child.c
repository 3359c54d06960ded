/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/privsep/child.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "tests/privsep/privsep.h"

void child_spawn(struct child *child)
{
	struct message message;

	assert_int_equal(spawner_spawn(&child->spawner, &child->loader, &child->pid), 0);
	assert_int_equal(channel_expect(&child->loader, MESSAGE_READY, CHILD_WAIT_MS, &message), 0);
	assert_int_equal(message.READY.role, child->loader.peer);
	assert_int_equal(message.READY.failed, 0);
	assert_string_equal(message.READY.build, KEYHOLE_VERSION);
}

void child_start(struct child *child, enum policy_role role)
{
	int r = spawner_start(&child->spawner, role);

	child->worker.fd = -1;
	if (r)
		fail_msg("spawner_start: %s", strerror(-r));
	child_spawn(child);
}

void child_stop(struct child *child)
{
	channel_release(&child->loader);
	channel_release(&child->worker);
	spawner_stop(&child->spawner);
}

void child_give(struct child *child, enum message_type type, int fd)
{
	const struct message_none none = {0};

	assert_int_equal(channel_send(&child->loader, type, &none, sizeof(none), fd), 0);
}

void child_give_peer(struct child *child, enum message_type type)
{
	int fds[2];

	assert_int_equal(channel_pair(fds), 0);
	child_give(child, type, fds[1]);
	close(fds[1]);
	channel_init(&child->worker, fds[0], PARTY_WORKER, child->loader.peer);
	child->loader.phase = child->worker.phase = PHASE_RUN;
}

int child_wait_exit(struct child *child)
{
	struct pollfd poll_fd = {.fd = child->spawner.channel.fd, .events = POLLIN};
	int status = -1, r = 0;

	while (r == 0 && poll(&poll_fd, 1, CHILD_WAIT_MS) == 1)
		r = spawner_exited(&child->spawner, &status);
	assert_int_equal(r, 1);
	return status;
}
