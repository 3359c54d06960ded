/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection to a server in the event loop: handshake, then one request after another. The owner
 * bounds each wait by a time of its own, and frees the connection when that is over.
 */
#ifndef KEYHOLE_EXPORTER_NET_CONNECTION_H
#define KEYHOLE_EXPORTER_NET_CONNECTION_H

#include <stdbool.h>

#include "exporter/http/answer.h"
#include "exporter/http/receiver.h"

struct connection;
struct credentials;
struct event_base;

enum connection_news {
	CONNECTION_READY,    /* a request may begin */
	CONNECTION_ANSWERED, /* the answer is there, maybe with an error */
	CONNECTION_CLOSED    /* without a request under way; connection_reason() tells */
};

/*
 * Takes over the socket, which is connected and non-blocking, with an error, too. The credentials
 * serve a receiver with TLS. Tells its news from the loop alone, and touches nothing after that,
 * so that the owner may free the connection. Returns 0, -ENOMEM or an error of
 * credentials_connect().
 */
int connection_new(struct event_base *base, const struct receiver *receiver,
		   struct credentials *credentials, int fd,
		   void (*tell)(void *owner, enum connection_news news), void *owner,
		   struct connection **ret_connection);
/* Closes the socket at once, whatever is under way. NULL is fine. */
void connection_free(struct connection *connection);

/* Request and answer stay the caller's until CONNECTION_ANSWERED. Returns 0 or a negative errno. */
int connection_submit(struct connection *connection, const struct request *request,
		      struct answer *answer);
/* Returns whether another request may follow. */
bool connection_is_reusable(const struct connection *connection);
/* Returns whether this is not the first request of the connection. */
bool connection_was_used(const struct connection *connection);
/* Returns why the connection or its last request failed, for a log line. */
const char *connection_reason(const struct connection *connection);
/* Returns the version of HTTP, or "" before CONNECTION_READY. */
const char *connection_protocol(const struct connection *connection);

#endif
