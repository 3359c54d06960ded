/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server that the loader named, if it named one: messages of the loader make a shipper, and
 * keyhole-connector makes the shipper's sockets.
 */
#ifndef KEYHOLE_EXPORTER_DESTINATION_H
#define KEYHOLE_EXPORTER_DESTINATION_H

#include "exporter/shipper.h"
#include "ipc/channel.h"

struct destination {
	struct event_base *base;
	void (*finished)(void *owner); /* shipper_finish() has come to its end */
	void *owner;
	struct shipper *shipper; /* NULL: there is no server */
	struct channel connector;
	struct event *on_connector;
};

void destination_init(struct destination *ret_destination, struct event_base *base,
		      void (*finished)(void *owner), void *owner);
void destination_release(struct destination *destination);

/*
 * Takes ENDPOINT, CREDENTIAL or CONNECTOR_PEER, with its descriptor. Returns 0, or -EPROTO for
 * another message, a wrong order or a file that the loader cannot have meant, or -ENOMEM. A
 * certificate that cannot be read is no error here: no connection will be made without it, and the
 * log says so.
 */
int destination_take(struct destination *destination, struct message *message);

#endif
