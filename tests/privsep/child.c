/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/privsep/child.h"

#include <string.h>
#include <unistd.h>

#include "generated/version.h"
#include "tests/privsep/privsep.h"

void child_spawn(struct child *child)
{
	struct message message;
	uint32_t layers;

	assert_int_equal(spawner_spawn(&child->spawner, &child->loader), 0);
	child->pid = spawner_started(&child->spawner);
	if (child->pid < 0)
		fail_msg("spawner_started: %s", strerror(-child->pid));
	assert_int_equal(channel_expect(&child->loader, MESSAGE_READY, CHILD_WAIT_MS, &message), 0);
	assert_int_equal(message.READY.role, child->loader.peer);
	layers = (message.READY.proven | child->spawner.layers.proven) |
		 (message.READY.lacking | child->spawner.layers.lacking);
	assert_int_equal(layers, policy_layers_of(child->spawner.role));
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
	assert_int_equal(channel_send_bare(&child->loader, type, fd), 0);
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
	struct message message;

	assert_int_equal(
		channel_expect(&child->spawner.channel, MESSAGE_EXITED, CHILD_WAIT_MS, &message),
		0);
	return message.EXITED.status;
}
