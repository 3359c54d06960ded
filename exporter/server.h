/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server that the loader named, if it named one: messages of the loader make a shipper, and
 * keyhole-connector makes the shipper's sockets.
 */
#ifndef KEYHOLE_EXPORTER_SERVER_H
#define KEYHOLE_EXPORTER_SERVER_H

#include "exporter/shipper.h"
#include "ipc/channel.h"

struct server {
	struct event_base *base;
	void (*read)(void *owner); /* as the shipper's owner has them */
	void (*finished)(void *owner);
	void *owner;
	struct shipper *shipper; /* NULL: there is no server */
	struct channel connector;
	struct event *on_connector;
};

void server_init(struct server *ret_server, struct event_base *base, void (*read)(void *owner),
		 void (*finished)(void *owner), void *owner);
void server_release(struct server *server);

/*
 * Takes ENDPOINT, CREDENTIAL, CONNECTOR_PEER or KEEPER_PEER, with its descriptor. Returns 0, or
 * -EPROTO for another message, a wrong order or a file that the loader cannot have meant, or
 * -ENOMEM. A certificate that cannot be read is no error here: no connection will be made without
 * it, and the log says so.
 */
int server_take(struct server *server, struct message *message);

#endif
