/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server that the loader named, if it named one: messages of the loader make a shipper, and
 * keyhole-connector makes the shipper's sockets.
 */
#ifndef KEYHOLE_EXPORTER_SERVER_H
#define KEYHOLE_EXPORTER_SERVER_H

#include "exporter/pusher.h"
#include "exporter/shipper.h"
#include "ipc/channel.h"

struct server {
	struct event_base *base;
	struct figures *(*figures)(void *self); /* server_tell(); NULL: no numbers are told */
	void *self;
	struct pusher *pusher;	       /* NULL: no numbers are sent */
	uint32_t pusher_asked;	       /* sequence of its request for a socket; 0: none */
	void (*finished)(void *owner); /* shipper_finish() has come to its end */
	void *owner;
	struct shipper *shipper; /* NULL: there is no server */
	struct channel connector;
	struct event *on_connector;
};

void server_init(struct server *ret_server, struct event_base *base, void (*finished)(void *owner),
		 void *owner);
/* Says where the numbers come from that the server gets, before server_take(). */
void server_tell(struct server *server, struct figures *(*figures)(void *self), void *self);
void server_release(struct server *server);

/*
 * Takes ENDPOINT, CREDENTIAL or CONNECTOR_PEER, with its descriptor. Returns 0, or -EPROTO for
 * another message, a wrong order or a file that the loader cannot have meant, or -ENOMEM. A
 * certificate that cannot be read is no error here: no connection will be made without it, and the
 * log says so.
 */
int server_take(struct server *server, struct message *message);

#endif
