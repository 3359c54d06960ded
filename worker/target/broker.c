/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/target/broker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/channel.h"
#include "ipc/guard.h"
#include "ipc/messages.h"
#include "ipc/time.h"
#include "base/array.h"

struct broker {
	struct target target; /* first: a target is its broker */
	struct channel channel;
	struct target_request *queue; /* queue[first] is under way if sequence is not 0 */
	size_t first, count, capacity;
	uint32_t sequence;
	uint64_t asked; /* time of the request under way, monotonic */
	bool gone;	/* the channel stays open until the next one, because events refer to it */
	uint64_t requests[TARGET_KIND_COUNT], refused; /* times */
	bool full;   /* a request was refused since the last answer */
	bool paused; /* the request was refused for now, and is repeated at the next turn */
};

static int send_maps(struct broker *broker, const struct target_request *request)
{
	const struct message_maps maps = {.pid = request->process.pid,
					  .thread = request->process.thread};

	return channel_send(&broker->channel, MESSAGE_MAPS, &maps, sizeof(maps), -1);
}

static int send_object(struct broker *broker, const struct target_request *request)
{
	const struct message_object object = {
		.start = request->start,
		.end = request->end,
		.pid = request->process.pid,
		.thread = request->process.thread,
		.flags = request->want_fd ? OBJECT_WANT_FD : 0,
	};

	return channel_send(&broker->channel, MESSAGE_OBJECT, &object, sizeof(object), -1);
}

static int send_segment(struct broker *broker, const struct target_request *request)
{
	const struct message_segment segment = {.index = request->index};

	return channel_send(&broker->channel, MESSAGE_SEGMENT, &segment, sizeof(segment), -1);
}

static void read_reply(const struct message *message, struct target_reply *ret_reply)
{
	ret_reply->error = message->MAPS_REPLY.error;
}

static void read_object(const struct message *message, struct target_reply *ret_reply)
{
	const struct message_object_reply *reply = &message->OBJECT_REPLY;

	ret_reply->error = reply->error;
	ret_reply->identity = (struct target_identity){
		.device = reply->device,
		.inode = reply->inode,
		.size = reply->size,
		.change_time = reply->change_seconds * NS_PER_SECOND + reply->change_nanoseconds,
	};
}

static const struct exchange {
	int (*send)(struct broker *broker, const struct target_request *request);
	enum message_type request;
	void (*read)(const struct message *message, struct target_reply *ret_reply);
} exchanges[TARGET_KIND_COUNT] = {
	[TARGET_MAPS] = {send_maps, MESSAGE_MAPS, read_reply},
	[TARGET_OBJECT] = {send_object, MESSAGE_OBJECT, read_object},
	[TARGET_SEGMENT] = {send_segment, MESSAGE_SEGMENT, read_reply},
};

static void answer(struct broker *broker, struct target_reply *reply)
{
	const struct target_request request = broker->queue[broker->first];

	broker->first++;
	broker->count--;
	broker->sequence = 0;
	broker->full = false;
	request.done(request.context, request.key, reply);
	if (reply->fd >= 0)
		close(reply->fd);
}

/*
 * Marks the broker as gone and answers the request under way with the error. The request is not
 * repeated, because the request itself may have ended the broker.
 */
static int lose(struct broker *broker, int error)
{
	struct target_reply reply = {.error = error, .fd = -1};

	broker->gone = true;
	if (broker->sequence != 0)
		answer(broker, &reply);
	return error;
}

static int send_next(struct broker *broker)
{
	const struct target_request *request;
	int r;

	if (broker->gone || broker->sequence != 0 || broker->paused || broker->count == 0)
		return 0;
	request = &broker->queue[broker->first];
	r = exchanges[request->kind].send(broker, request);
	if (r < 0)
		return r;
	broker->sequence = broker->channel.sent;
	broker->requests[request->kind]++;
	broker->asked = time_now();
	return 0;
}

static int broker_ask(struct target *target, const struct target_request *request)
{
	struct broker *broker = (struct broker *)target;
	int r;

	if (broker->count >= BROKER_QUEUE_MAX) {
		broker->refused += !broker->full;
		broker->full = true;
		return -EAGAIN;
	}
	if (broker->first > 0 && broker->first + broker->count == broker->capacity) {
		memmove(broker->queue, broker->queue + broker->first,
			broker->count * sizeof(*broker->queue));
		broker->first = 0;
	}
	r = ARRAY_RESERVE(broker->queue, broker->capacity, broker->first + broker->count + 1);
	if (r < 0)
		return r;
	broker->queue[broker->first + broker->count++] = *request;
	/* A failure to send shows again, and is handled, in broker_receive(). */
	send_next(broker);
	return 0;
}

static void connect_to(struct broker *broker, int fd)
{
	channel_init(&broker->channel, fd, PARTY_WORKER, PARTY_BROKER);
	broker->channel.phase = PHASE_RUN;
	broker->gone = false;
	broker->paused = false;
}

struct broker *broker_new(int fd)
{
	struct broker *broker = calloc(1, sizeof(*broker));

	if (!broker) {
		close(fd);
		return NULL;
	}
	broker->target = (struct target){broker_ask};
	connect_to(broker, fd);
	return broker;
}

void broker_free(struct broker *broker)
{
	if (!broker)
		return;
	channel_release(&broker->channel);
	free(broker->queue);
	free(broker);
}

struct target *broker_target(struct broker *broker)
{
	return &broker->target;
}

int broker_fd(const struct broker *broker)
{
	return broker->channel.fd;
}

uint64_t broker_refused(const struct broker *broker)
{
	return broker->refused;
}

uint64_t broker_asked(const struct broker *broker, enum target_kind kind)
{
	return broker->requests[kind];
}

static int take_answer(struct broker *broker, struct message *message)
{
	const struct exchange *exchange;
	struct target_reply reply = {.fd = -1};

	if (broker->sequence == 0 || message->head.reply_to != broker->sequence)
		return -EPROTO;
	exchange = &exchanges[broker->queue[broker->first].kind];
	if (message->head.type != message_rule(exchange->request)->reply)
		return -EPROTO;
	exchange->read(message, &reply);
	if (reply.error > 0)
		return -EPROTO;
	if (reply.error == -EAGAIN) {
		broker->sequence = 0;
		broker->paused = true;
		broker->refused += !broker->full;
		broker->full = true;
		return 0;
	}
	reply.fd = take_fd(&message->fd);
	answer(broker, &reply);
	return 0;
}

void broker_turn(struct broker *broker)
{
	broker->paused = false;
	/* A failure to send is handled in broker_receive(). */
	send_next(broker);
}

int broker_receive(struct broker *broker)
{
	int r = 0;

	while (r >= 0 && !broker->gone) {
		struct message message;

		r = send_next(broker);
		if (r < 0)
			break;
		r = channel_receive(&broker->channel, &message);
		if (r <= 0)
			break;
		r = take_answer(broker, &message);
		message_release(&message);
	}
	return r < 0 ? lose(broker, r) : r;
}

bool broker_is_asked(const struct broker *broker)
{
	return broker->sequence != 0;
}

bool broker_give_up(struct broker *broker, uint64_t now)
{
	if (broker->sequence == 0 || now < broker->asked + BROKER_DEADLINE)
		return false;
	lose(broker, -ETIMEDOUT);
	return true;
}

void broker_replace(struct broker *broker, int fd)
{
	lose(broker, -EPIPE);
	channel_release(&broker->channel);
	connect_to(broker, fd);
	send_next(broker);
}
