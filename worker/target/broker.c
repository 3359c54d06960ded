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
	struct channel channel;
	struct target_request *queue; /* queue[first] is under way if sequence is not 0 */
	size_t first, count, capacity, most;
	uint32_t sequence;
	uint64_t asked; /* time of the request under way, monotonic */
	bool gone;	/* the channel stays open until the next one, because events refer to it */
	uint64_t requests[TARGET_KIND_COUNT], refused; /* times */
	uint64_t refusals[REFUSALS];
	bool given_up; /* and the request under way is to be taken back */
	bool full;     /* a request was refused since the last answer */
	bool paused;   /* the request was refused for now, and is repeated at the next turn */
	uint64_t (*clock)(void);
	void (*on_answer)(void *context); /* or NULL */
	void *context;			  /* borrowed */
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

static int send_grant(struct broker *broker, const struct target_request *request)
{
	const struct message_grant grant = {
		.generation = request->generation,
		.start = request->start,
		.end = request->end,
		.pid = request->process.pid,
		.thread = request->process.thread,
	};

	return channel_send(&broker->channel, MESSAGE_GRANT, &grant, sizeof(grant), -1);
}

static int send_code_file(struct broker *broker, const struct target_request *request)
{
	const struct message_code_file file = {
		.generation = request->generation,
		.start = request->start,
		.end = request->end,
		.pid = request->process.pid,
		.thread = request->process.thread,
	};

	return channel_send(&broker->channel, MESSAGE_CODE_FILE, &file, sizeof(file), -1);
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
	[TARGET_GRANT] = {send_grant, MESSAGE_GRANT, read_reply},
	[TARGET_CODE] = {send_code_file, MESSAGE_CODE_FILE, read_reply},
};

/* The errors of ipc/PROTOCOL, and those of a channel whose broker is gone. */
static enum work_refusal refusal_of(int error)
{
	switch (error) {
	case -ENOENT:
	case -ESRCH:
	case -ESTALE:
		return REFUSAL_gone;
	case -EACCES:
	case -EPERM:
		return REFUSAL_denied;
	case -EOPNOTSUPP:
		return REFUSAL_unnamed;
	case -EAGAIN:
	case -EBUSY:
	case -EDQUOT:
	case -ENOSPC:
	case -E2BIG:
		return REFUSAL_busy;
	case -EPIPE:
	case -ETIMEDOUT:
		return REFUSAL_lost;
	default:
		return REFUSAL_other;
	}
}

static void answer(struct broker *broker, struct target_reply *reply)
{
	const struct target_request request = broker->queue[broker->first];

	if (reply->error)
		broker->refusals[refusal_of(reply->error)]++;
	broker->first++;
	broker->count--;
	broker->sequence = 0;
	broker->full = false;
	request.done(request.context, request.key, reply);
	if (reply->fd >= 0)
		close(reply->fd);
}

/*
 * Marks the broker as gone and answers the request under way with the error, unless the broker was
 * given up. The request is not repeated, because the request itself may have ended the broker.
 */
static int lose(struct broker *broker, int error)
{
	struct target_reply reply = {.error = error, .fd = -1};

	broker->gone = true;
	if (broker->sequence != 0 && !broker->given_up)
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
	broker->asked = broker->clock();
	return 0;
}

/* Appends a request to the queue. Returns 0 or -ENOMEM. */
static int append(struct broker *broker, const struct target_request *request)
{
	int r;

	if (broker->first > 0 && broker->first + broker->count == broker->capacity) {
		memmove(broker->queue, broker->queue + broker->first,
			broker->count * sizeof(*broker->queue));
		broker->first = 0;
	}
	r = ARRAY_RESERVE(broker->queue, broker->capacity, broker->first + broker->count + 1);
	if (r < 0)
		return r;
	broker->queue[broker->first + broker->count++] = *request;
	return 0;
}

int broker_ask(struct broker *broker, const struct target_request *request)
{
	int r;

	if (broker->count >= broker->most) {
		broker->refused += !broker->full;
		broker->full = true;
		return -EAGAIN;
	}
	r = append(broker, request);
	if (r < 0)
		return r;
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
	broker->given_up = false;
}

struct broker *broker_new(size_t most, uint64_t (*clock)(void))
{
	struct broker *broker = calloc(1, sizeof(*broker));

	if (!broker)
		return NULL;
	broker->most = most;
	broker->clock = clock;
	broker->channel.fd = -1;
	broker->gone = true;
	return broker;
}

void broker_watch(struct broker *broker, void (*on_answer)(void *context), void *context)
{
	broker->on_answer = on_answer;
	broker->context = context;
}

void broker_free(struct broker *broker)
{
	if (!broker)
		return;
	channel_release(&broker->channel);
	free(broker->queue);
	free(broker);
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

uint64_t broker_refusals(const struct broker *broker, enum work_refusal reason)
{
	return broker->refusals[reason];
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
	if (broker->on_answer)
		broker->on_answer(broker->context);
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

const struct target_request *broker_under_way(const struct broker *broker)
{
	if (broker->sequence == 0)
		return NULL;
	return &broker->queue[broker->first];
}

uint64_t broker_asked_at(const struct broker *broker)
{
	return broker->asked;
}

size_t broker_waiting(const struct broker *broker)
{
	return broker->count;
}

bool broker_is_gone(const struct broker *broker)
{
	return broker->gone;
}

bool broker_delays(const struct broker *broker,
		   bool (*matters)(const struct target_request *under_way,
				   const struct target_request *request))
{
	const size_t end = broker->first + broker->count;

	for (size_t i = broker->first + 1; broker->sequence != 0 && i < end; i++)
		if (matters(&broker->queue[broker->first], &broker->queue[i]))
			return true;
	return false;
}

void broker_give_up(struct broker *broker)
{
	broker->given_up = true;
}

bool broker_is_given_up(const struct broker *broker)
{
	return broker->given_up;
}

bool broker_take(struct broker *broker, struct target_request *ret_request)
{
	if (broker->sequence == 0)
		return false;
	*ret_request = broker->queue[broker->first++];
	broker->count--;
	broker->sequence = 0;
	return true;
}

void broker_replace(struct broker *broker, int fd)
{
	broker->given_up = false;
	lose(broker, -EPIPE);
	channel_release(&broker->channel);
	connect_to(broker, fd);
	send_next(broker);
}

/* Puts a request before all others of the queue. Returns 0 or -ENOMEM. */
static int prepend(struct broker *broker, const struct target_request *request)
{
	int r = append(broker, request);

	if (r < 0)
		return r;
	memmove(broker->queue + broker->first + 1, broker->queue + broker->first,
		(broker->count - 1) * sizeof(*broker->queue));
	broker->queue[broker->first] = *request;
	return 0;
}

void broker_adopt(struct broker *broker, struct broker *from)
{
	const uint32_t sequence = from->sequence;
	struct target_request request;

	broker->given_up = false;
	lose(broker, -EPIPE);
	channel_release(&broker->channel);
	broker->channel = from->channel;
	broker->gone = from->gone;
	broker->given_up = from->given_up;
	broker->paused = from->paused;
	from->channel.fd = -1;
	from->gone = true;
	if (broker_take(from, &request)) {
		if (prepend(broker, &request) == 0)
			broker->sequence = sequence;
		else
			broker->gone = true; /* nobody would know the answer */
		broker->asked = from->asked;
	}
	send_next(broker);
}

void broker_move(struct broker *broker, struct broker *from,
		 bool (*moves)(void *context, const struct target_request *request), void *context)
{
	const size_t end = from->first + from->count;
	size_t kept = from->first + (from->sequence != 0);

	for (size_t i = kept; i < end; i++) {
		const struct target_request request = from->queue[i];

		if (!moves(context, &request) || append(broker, &request) < 0)
			from->queue[kept++] = request;
	}
	from->count = kept - from->first;
	send_next(broker);
}
