/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/destination.h"

#include <errno.h>
#include <event2/event.h>
#include <string.h>
#include <unistd.h>

#include "ipc/guard.h"

/* Bounds of a request: the least that can be split to, and the most that OTLP allows. */
#define REQUEST_BYTES_MIN DELIVERY_PART_MIN
#define REQUEST_BYTES_MAX (64u << 20)

void destination_init(struct destination *ret_destination, struct event_base *base,
		      void (*finished)(void *owner), void *owner)
{
	*ret_destination = (struct destination){
		.base = base, .finished = finished, .owner = owner, .connector = {.fd = -1}};
}

void destination_release(struct destination *destination)
{
	if (destination->on_connector)
		event_free(destination->on_connector);
	shipper_free(destination->shipper);
	channel_release(&destination->connector);
}

/* ---- sockets ---- */

static void lose_connector(struct destination *destination)
{
	event_free(destination->on_connector);
	destination->on_connector = NULL;
	channel_release(&destination->connector);
	shipper_connected(destination->shipper, -EPIPE, -1);
}

static void on_connector(int fd, short what, void *argument)
{
	struct destination *destination = argument;
	struct message message;
	int r = channel_receive(&destination->connector, &message);

	(void)fd;
	(void)what;
	if (r > 0)
		shipper_connected(destination->shipper, message.CONNECTED.error, message.fd);
	else if (r < 0)
		lose_connector(destination);
}

static int ask(void *owner)
{
	struct destination *destination = owner;

	if (!destination->on_connector)
		return -EPIPE;
	return channel_send_bare(&destination->connector, MESSAGE_CONNECT, -1);
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

static int new_shipper(struct destination *destination, const struct endpoint *endpoint)
{
	const struct shipper_owner owner = {ask, destination->finished, destination,
					    destination->owner};
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
	return shipper_new(destination->base, &receiver, &limits, &owner, &destination->shipper);
}

/* The file holds headers, and so maybe a secret. */
static int take_endpoint(struct destination *destination, int fd)
{
	static struct endpoint endpoint;
	int r = -EPROTO;

	if (pread(fd, &endpoint, sizeof(endpoint), 0) == sizeof(endpoint))
		r = new_shipper(destination, &endpoint);
	explicit_bzero(&endpoint, sizeof(endpoint));
	return r;
}

static int take_credential(struct destination *destination, const struct message *message)
{
	static const enum credential_kind kinds[WANTED_FILES] = {
		[FILE_AUTHORITIES] = CREDENTIAL_CA,
		[FILE_CERTIFICATE] = CREDENTIAL_CERTIFICATE,
		[FILE_KEY] = CREDENTIAL_KEY,
	};
	const uint32_t file = message->CREDENTIAL.file;

	if (file < FILE_AUTHORITIES || file >= WANTED_FILES)
		return -EPROTO;
	shipper_credential(destination->shipper, kinds[file], message->fd);
	return 0;
}

static int take_connector(struct destination *destination, struct message *message)
{
	channel_init(&destination->connector, take_fd(&message->fd), PARTY_EXPORTER,
		     PARTY_CONNECTOR);
	destination->connector.phase = PHASE_RUN;
	destination->on_connector = event_new(destination->base, destination->connector.fd,
					      EV_READ | EV_PERSIST, on_connector, destination);
	if (!destination->on_connector || event_add(destination->on_connector, NULL) < 0)
		return -ENOMEM;
	return 0;
}

static int take(struct destination *destination, struct message *message)
{
	if (message->head.type == MESSAGE_ENDPOINT && !destination->shipper)
		return take_endpoint(destination, message->fd);
	if (!destination->shipper)
		return -EPROTO;
	if (message->head.type == MESSAGE_CREDENTIAL)
		return take_credential(destination, message);
	if (message->head.type == MESSAGE_CONNECTOR_PEER)
		return take_connector(destination, message);
	return -EPROTO;
}

int destination_take(struct destination *destination, struct message *message)
{
	int r = take(destination, message);

	message_release(message);
	return r;
}
