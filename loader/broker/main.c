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
	struct channel loader, worker, audit;
	struct segments segments;
	struct limits limits;
	int followed; /* map of BPF's, only to read */
};

/* 0 or a negative errno. */
static int answer(struct broker *broker, const struct message *request,
		  struct message_object_reply *ret_reply, int *ret_fd)
{
	int r = limits_request(&broker->limits, time_now());

	if (r < 0)
		return r;
	if (request->head.type == MESSAGE_OBJECT)
		return answer_object(broker->followed, &broker->limits, &request->OBJECT, ret_reply,
				     ret_fd);
	*ret_fd = request->head.type == MESSAGE_MAPS
			  ? answer_maps(broker->followed, &request->MAPS)
			  : answer_segment(&broker->segments, &request->SEGMENT);
	return *ret_fd < 0 ? *ret_fd : 0;
}

static int reply(struct broker *broker, const struct message *request,
		 const struct message_object_reply *object, int fd)
{
	const struct message_reply plain = {.error = object->error};

	if (request->head.type == MESSAGE_OBJECT)
		return channel_reply(&broker->worker, request, object, sizeof(*object), fd);
	return channel_reply(&broker->worker, request, &plain, sizeof(plain), fd);
}

/* Gives nothing that is not in the audit stream, however long the stream takes. */
static int on_request(struct broker *broker, const struct message *request)
{
	const uint16_t type = request->head.type;
	/* what a SEGMENT has no field for is 0 */
	struct message_audit audit = {
		.pid = type == MESSAGE_MAPS ? request->MAPS.pid : request->OBJECT.pid,
		.request = type,
	};
	guard_fd int fd = -1;
	int error = answer(broker, request, &audit.answer, &fd), r;

	audit.answer.error = error;
	audit.granted = fd >= 0;
	for (r = broker->audit.fd < 0 ? 0 : -EAGAIN; r == -EAGAIN;)
		r = channel_send(&broker->audit, MESSAGE_AUDIT, &audit, sizeof(audit), -1);
	if (error)
		audit.answer = (struct message_object_reply){.error = error};
	if (r < 0)
		return r;
	return reply(broker, request, &audit.answer, fd);
}

static int start(struct broker *broker)
{
	struct policy_layers layers;
	struct message map, processes, peer;
	int r;

	broker->audit.fd = -1;
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
	r = r ? r : channel_wait(&broker->loader, START_MS, &peer);
	if (r == 1 && peer.head.type == MESSAGE_AUDIT_PEER) {
		channel_init(&broker->audit, peer.fd, PARTY_BROKER, PARTY_AUDITOR);
		r = channel_wait(&broker->loader, START_MS, &peer);
	}
	if (r < 0 || peer.head.type != MESSAGE_REQUEST_PEER)
		return r < 0 ? r : -EPROTO;
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
			r = on_request(broker, &message);
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
