/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keyhole-broker: opens for the worker what it may not open itself. The one process that keeps
 * capabilities while sampling goes on. Nobody waits for it: what hangs here holds up the worker's
 * requests only, and another one is started in its place when that lasts.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>

#include "ipc/channel.h"
#include "ipc/guard.h"
#include "ipc/log.h"
#include "ipc/time.h"
#include "loader/broker/answers.h"
#include "loader/broker/limits.h"
#include "loader/broker/mounts.h"
#include "policy/policy.h"

#define START_MS INT_MAX /* however long loading takes; the end of the loader is seen */

struct broker {
	struct channel loader, worker;
	struct segments segments;
	struct limits limits;
	int followed; /* map of BPF's, only to read */
};

/* Sends the descriptor or the negative errno in r, and closes the descriptor. */
static int reply_fd(struct broker *broker, const struct message *request, enum message_type type,
		    int r)
{
	struct message_reply reply = {.error = r < 0 ? r : 0};
	guard_fd int fd = r < 0 ? -1 : r;

	return channel_reply(&broker->worker, request, type, &reply, sizeof(reply), fd);
}

/* r < 0: refused already. */
static int on_maps(struct broker *broker, const struct message *request, int r)
{
	return reply_fd(broker, request, MESSAGE_MAPS_REPLY,
			r ? r : answer_maps(broker->followed, &request->MAPS));
}

static int on_object(struct broker *broker, const struct message *request, int r)
{
	struct message_object_reply reply = {0};
	guard_fd int fd = -1;

	if (r == 0)
		r = answer_object(broker->followed, &broker->limits, &request->OBJECT, &reply, &fd);
	if (r < 0)
		reply = (struct message_object_reply){.error = r};
	return channel_reply(&broker->worker, request, MESSAGE_OBJECT_REPLY, &reply, sizeof(reply),
			     fd);
}

static int on_segment(struct broker *broker, const struct message *request, int r)
{
	return reply_fd(broker, request, MESSAGE_SEGMENT_REPLY,
			r ? r : answer_segment(&broker->segments, &request->SEGMENT));
}

static int (*const handlers[MESSAGE_COUNT])(struct broker *, const struct message *, int) = {
	[MESSAGE_MAPS] = on_maps,
	[MESSAGE_OBJECT] = on_object,
	[MESSAGE_SEGMENT] = on_segment,
};

static int start(struct broker *broker)
{
	struct policy_layers layers;
	struct message map, processes, peer;
	int r;

	channel_init(&broker->loader, CHANNEL_FD, PARTY_BROKER, PARTY_LOADER);
	log_init(message_party_name(PARTY_BROKER), LOG_LEVEL_INFO);
	log_to_channel(&broker->loader);
	r = mounts_init();
	policy_confine(ROLE_BROKER, &layers);
	r = r ? r : channel_send_ready(&broker->loader, layers.lacking, layers.proven);
	if (r || (r = channel_expect(&broker->loader, MESSAGE_SEGMENT_MAP, START_MS, &map)))
		return r;
	r = segments_init(&broker->segments, map.fd, map.SEGMENT_MAP.index);
	r = r ? r : channel_expect(&broker->loader, MESSAGE_PROCESS_MAP, START_MS, &processes);
	if (r || (r = channel_expect(&broker->loader, MESSAGE_REQUEST_PEER, START_MS, &peer)))
		return r;
	broker->followed = processes.fd;
	channel_init(&broker->worker, peer.fd, PARTY_BROKER, PARTY_WORKER);
	broker->loader.phase = broker->worker.phase = PHASE_RUN;
	return limits_init(&broker->limits, time_now());
}

/* Until the worker or the loader is gone, -EPIPE. The loader has nothing more to say. */
static int serve(struct broker *broker)
{
	struct pollfd fds[] = {{.fd = broker->worker.fd, .events = POLLIN},
			       {.fd = broker->loader.fd, .events = POLLIN}};
	struct message message;
	int r = 0;

	while (r == 0) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return -errno;
		r = channel_receive(&broker->loader, &message);
		if (r == 0)
			r = channel_receive(&broker->worker, &message);
		if (r == 1)
			r = handlers[message.head.type](
				broker, &message, limits_request(&broker->limits, time_now()));
	}
	return r;
}

int main(void)
{
	static struct broker broker; /* zero */
	int r = start(&broker);

	if (r == 0)
		r = serve(&broker);
	if (r < 0 && r != -EPIPE)
		log_error("broker: %s", strerror(-r));
	return r < 0 && r != -EPIPE;
}
