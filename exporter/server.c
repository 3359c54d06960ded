/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/server.h"

#include <errno.h>
#include <event2/event.h>
#include <string.h>
#include <unistd.h>

#include "ipc/guard.h"

/* Bounds of a request: the least that can be split to, and the most that OTLP allows. */
#define REQUEST_BYTES_MIN DELIVERY_PART_MIN
#define REQUEST_BYTES_MAX (64u << 20)

void server_init(struct server *ret_server, struct event_base *base, void (*finished)(void *owner),
		 void *owner)
{
	*ret_server = (struct server){
		.base = base, .finished = finished, .owner = owner, .connector = {.fd = -1}};
}

void server_tell(struct server *server, struct figures *(*figures)(void *self), void *self)
{
	server->figures = figures;
	server->self = self;
}

void server_release(struct server *server)
{
	pusher_free(server->pusher);
	if (server->on_connector)
		event_free(server->on_connector);
	shipper_free(server->shipper);
	channel_release(&server->connector);
}

/* ---- sockets ---- */

static void lose_connector(struct server *server)
{
	event_free(server->on_connector);
	server->on_connector = NULL;
	channel_release(&server->connector);
	if (server->pusher_asked)
		pusher_connected(server->pusher, -EPIPE, -1);
	shipper_connected(server->shipper, -EPIPE, -1);
}

static void hand_over(struct server *server, const struct message *message)
{
	const struct message_reply *reply = &message->CONNECTED;

	if (server->pusher_asked && message->head.reply_to == server->pusher_asked) {
		server->pusher_asked = 0;
		pusher_connected(server->pusher, reply->error, message->fd);
	} else {
		shipper_connected(server->shipper, reply->error, message->fd);
	}
}

static void on_connector(int fd, short what, void *argument)
{
	struct server *server = argument;
	struct message message;
	int r = channel_receive(&server->connector, &message);

	(void)fd;
	(void)what;
	if (r > 0)
		hand_over(server, &message);
	else if (r < 0)
		lose_connector(server);
}

static int ask(void *owner)
{
	struct server *server = owner;

	if (!server->on_connector)
		return -EPIPE;
	return channel_send_bare(&server->connector, MESSAGE_CONNECT, -1);
}

/* ---- numbers ---- */

static struct figures *figures(void *owner)
{
	struct server *server = owner;

	return server->figures(server->self);
}

static bool is_away(void *owner)
{
	struct server *server = owner;

	return shipper_is_failing(server->shipper);
}

static int ask_for_pusher(void *owner)
{
	struct server *server = owner;
	int r = ask(server);

	if (r == 0)
		server->pusher_asked = server->connector.sent;
	return r;
}

/* Has numbers sent, if that was wanted. They go by the same way, but for their path. */
static int new_pusher(struct server *server, struct endpoint *endpoint)
{
	const struct pusher_owner owner = {figures, is_away, ask_for_pusher, server};
	struct receiver receiver;
	int r;

	if (endpoint->metrics_ms == 0 || !server->figures)
		return 0;
	memcpy(endpoint->path, endpoint->metrics_path, sizeof(endpoint->path));
	r = receiver_take(&receiver, endpoint);
	if (r < 0) {
		receiver_release(&receiver);
		return -EPROTO;
	}
	return pusher_new(server->base, &receiver, shipper_credentials(server->shipper),
			  endpoint->metrics_ms, &owner, &server->pusher);
}

/* ---- messages of the loader ---- */

static uint64_t within(uint64_t value, uint64_t least, uint64_t most)
{
	if (value < least)
		return least;
	if (value > most)
		return most;
	return value;
}

static int new_shipper(struct server *server, const struct endpoint *endpoint)
{
	const struct shipper_owner owner = {ask, server->finished, server, server->owner};
	const struct delivery_limits limits = {
		.queue_bytes = endpoint->queue_bytes,
		.queue_ns = endpoint->queue_ns,
		.request_bytes =
			within(endpoint->request_bytes, REQUEST_BYTES_MIN, REQUEST_BYTES_MAX),
	};
	struct receiver receiver;
	int r = receiver_take(&receiver, endpoint);

	if (r < 0) {
		receiver_release(&receiver);
		return -EPROTO;
	}
	return shipper_new(server->base, &receiver, &limits, &owner, &server->shipper);
}

/* The file holds headers, and so maybe a secret. */
static int take_endpoint(struct server *server, int fd)
{
	static struct endpoint endpoint;
	int r = -EPROTO;

	if (pread(fd, &endpoint, sizeof(endpoint), 0) == sizeof(endpoint))
		r = new_shipper(server, &endpoint);
	if (r == 0)
		r = new_pusher(server, &endpoint);
	explicit_bzero(&endpoint, sizeof(endpoint));
	return r;
}

static int take_credential(struct server *server, const struct message *message)
{
	static const enum credential_kind kinds[WANTED_FILES] = {
		[FILE_AUTHORITIES] = CREDENTIAL_CA,
		[FILE_CERTIFICATE] = CREDENTIAL_CERTIFICATE,
		[FILE_KEY] = CREDENTIAL_KEY,
	};
	const uint32_t file = message->CREDENTIAL.file;

	if (file < FILE_AUTHORITIES || file >= WANTED_FILES)
		return -EPROTO;
	shipper_credential(server->shipper, kinds[file], message->fd);
	return 0;
}

static int take_connector(struct server *server, struct message *message)
{
	channel_init(&server->connector, take_fd(&message->fd), PARTY_EXPORTER, PARTY_CONNECTOR);
	server->connector.phase = PHASE_RUN;
	server->on_connector = event_new(server->base, server->connector.fd, EV_READ | EV_PERSIST,
					 on_connector, server);
	if (!server->on_connector || event_add(server->on_connector, NULL) < 0)
		return -ENOMEM;
	return 0;
}

static int take(struct server *server, struct message *message)
{
	if (message->head.type == MESSAGE_ENDPOINT && !server->shipper)
		return take_endpoint(server, message->fd);
	if (!server->shipper)
		return -EPROTO;
	if (message->head.type == MESSAGE_CREDENTIAL)
		return take_credential(server, message);
	if (message->head.type == MESSAGE_CONNECTOR_PEER)
		return take_connector(server, message);
	return -EPROTO;
}

int server_take(struct server *server, struct message *message)
{
	int r = take(server, message);

	message_release(message);
	return r;
}
