/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/net/connection.h"

#include <errno.h>
#include <event2/event.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exporter/http/session.h"
#include "exporter/net/credentials.h"
#include "exporter/net/transport.h"

#define READ_BYTES 16384u
#define TURN_READS 64u /* of one turn of the loop: other events wait no longer */

enum state {
	STATE_HANDSHAKE,
	STATE_IDLE,
	STATE_BUSY,
	STATE_CLOSED
};

struct connection {
	const struct receiver *receiver;
	struct transport transport;
	const struct session_kind *kind; /* NULL before STATE_IDLE */
	void *session;
	struct event *on_read, *on_write;
	void (*tell)(void *owner, enum connection_news news);
	void *owner;
	enum state state;
	struct answer *answer;
	unsigned int requests;
	const uint8_t *pending; /* to be written before more is asked for */
	size_t pending_size;
	bool write_failed; /* the answer may be there all the same */
	const char *reason;
};

static void on_event(int fd, short what, void *argument);

int connection_new(struct event_base *base, const struct receiver *receiver,
		   struct credentials *credentials, int fd,
		   void (*tell)(void *owner, enum connection_news news), void *owner,
		   struct connection **ret_connection)
{
	struct connection *connection;
	struct ssl_st *tls = NULL;
	int r = 0;

	if (receiver->tls)
		r = credentials_connect(credentials, receiver, &tls);
	if (r < 0) {
		close(fd);
		return r;
	}
	connection = calloc(1, sizeof(*connection));
	if (!connection || transport_begin(&connection->transport, fd, tls) < 0) {
		free(connection);
		SSL_free(tls);
		close(fd);
		return -ENOMEM;
	}
	connection->receiver = receiver;
	connection->tell = tell;
	connection->owner = owner;
	connection->on_read = event_new(base, fd, EV_READ | EV_PERSIST, on_event, connection);
	connection->on_write = event_new(base, fd, EV_WRITE, on_event, connection);
	if (!connection->on_read || !connection->on_write ||
	    event_add(connection->on_read, NULL) < 0) {
		connection_free(connection);
		return -ENOMEM;
	}
	event_active(connection->on_write, EV_WRITE, 0);
	*ret_connection = connection;
	return 0;
}

void connection_free(struct connection *connection)
{
	if (!connection)
		return;
	if (connection->on_read)
		event_free(connection->on_read);
	if (connection->on_write)
		event_free(connection->on_write);
	if (connection->kind)
		connection->kind->close(connection->session);
	transport_release(&connection->transport);
	free(connection);
}

const char *connection_reason(const struct connection *connection)
{
	if (connection->transport.reason[0])
		return connection->transport.reason;
	if (connection->reason)
		return connection->reason;
	return "closed by the server";
}

const char *connection_protocol(const struct connection *connection)
{
	if (connection->kind)
		return connection->kind->name;
	return "";
}

bool connection_is_reusable(const struct connection *connection)
{
	return connection->state == STATE_IDLE && !connection->write_failed &&
	       connection->pending_size == 0 && connection->kind->is_reusable(connection->session);
}

bool connection_was_used(const struct connection *connection)
{
	return connection->requests > 1;
}

/* Ends the connection. A request that is under way gets its answer: the error. */
static void fail(struct connection *connection, int error)
{
	if (!connection->reason && error != -EPROTO)
		connection->reason = strerror(-error);
	if (connection->state == STATE_BUSY && !connection->kind->is_done(connection->session))
		connection->answer->error = error;
	event_del(connection->on_read);
	event_del(connection->on_write);
	if (connection->state != STATE_BUSY)
		connection->state = STATE_CLOSED;
	connection->write_failed = true;
}

/* ---- handshake ---- */

static const struct session_kind *choose_kind(const struct connection *connection)
{
	if (transport_speaks(&connection->transport, "h2"))
		return &session_h2;
	if (connection->receiver->protocol == ENDPOINT_HTTP)
		return &session_h1;
	if (connection->receiver->tls)
		return NULL;
	return &session_h2;
}

/* Returns whether the connection is through, ready or at its end. */
static bool shake_hands(struct connection *connection)
{
	int r = transport_handshake(&connection->transport);

	if (r == -EAGAIN)
		return false;
	if (r < 0) {
		fail(connection, r);
		return true;
	}
	connection->kind = choose_kind(connection);
	if (!connection->kind) {
		connection->reason = "TLS: the server offers no HTTP/2 (ALPN)";
		fail(connection, -EPROTO);
		return true;
	}
	connection->session = connection->kind->open();
	if (!connection->session) {
		connection->kind = NULL;
		fail(connection, -ENOMEM);
		return true;
	}
	connection->state = STATE_IDLE;
	return true;
}

/* ---- bytes ---- */

static int next_pending(struct connection *connection)
{
	if (connection->pending_size > 0)
		return 0;
	return connection->kind->output(connection->session, &connection->pending,
					&connection->pending_size);
}

/* A server may close its side after an early answer, which is then still to be read. */
static void write_some(struct connection *connection)
{
	ssize_t r;

	while (!connection->write_failed) {
		r = next_pending(connection);
		if (r < 0) {
			fail(connection, (int)r);
			return;
		}
		if (connection->pending_size == 0)
			return;
		r = transport_write(&connection->transport, connection->pending,
				    connection->pending_size);
		if (r == -EAGAIN)
			return;
		if (r < 0) {
			connection->write_failed = true;
			connection->reason = strerror((int)-r);
			return;
		}
		connection->pending += r;
		connection->pending_size -= (size_t)r;
	}
}

static void end_of_input(struct connection *connection, int error)
{
	connection->kind->end(connection->session);
	fail(connection, error);
}

static void read_some(struct connection *connection)
{
	uint8_t bytes[READ_BYTES];
	int r;

	for (unsigned int i = 0; i < TURN_READS; i++) {
		ssize_t got = transport_read(&connection->transport, bytes, sizeof(bytes));

		if (got == -EAGAIN)
			return;
		if (got <= 0) {
			end_of_input(connection, got < 0 ? (int)got : -ECONNRESET);
			return;
		}
		r = connection->kind->input(connection->session, bytes, (size_t)got);
		if (r < 0) {
			connection->reason = "the server broke the rules of HTTP";
			end_of_input(connection, r);
			return;
		}
	}
	event_active(connection->on_read, EV_READ, 0);
}

static void wait_more(struct connection *connection)
{
	if (connection->pending_size > 0 && !connection->write_failed)
		event_add(connection->on_write, NULL);
	else if (connection->transport.want_write)
		event_add(connection->on_write, NULL);
}

/* ---- turns ---- */

static void handshake_turn(struct connection *connection)
{
	if (!shake_hands(connection)) {
		if (connection->transport.want_write)
			event_add(connection->on_write, NULL);
		return;
	}
	if (connection->state == STATE_CLOSED) {
		connection->tell(connection->owner, CONNECTION_CLOSED);
		return;
	}
	write_some(connection);
	wait_more(connection);
	connection->tell(connection->owner, CONNECTION_READY);
}

static bool is_answered(const struct connection *connection)
{
	if (connection->state != STATE_BUSY)
		return false;
	return connection->answer->error || connection->kind->is_done(connection->session);
}

static void on_event(int fd, short what, void *argument)
{
	struct connection *connection = argument;

	(void)fd;
	(void)what;
	if (connection->state == STATE_HANDSHAKE) {
		handshake_turn(connection);
		return;
	}
	write_some(connection);
	if (connection->state != STATE_CLOSED)
		read_some(connection);
	if (connection->state != STATE_CLOSED)
		write_some(connection);
	wait_more(connection);
	if (is_answered(connection)) {
		connection->state = STATE_IDLE;
		if (connection->answer->error)
			connection->write_failed = true; /* the session may still be busy with it */
		connection->tell(connection->owner, CONNECTION_ANSWERED);
	} else if (connection->state == STATE_CLOSED ||
		   (connection->state == STATE_IDLE && !connection_is_reusable(connection))) {
		connection->tell(connection->owner, CONNECTION_CLOSED);
	}
}

int connection_submit(struct connection *connection, const struct request *request,
		      struct answer *answer)
{
	int r = connection->kind->submit(connection->session, request, answer);

	if (r < 0)
		return r;
	connection->requests++;
	connection->answer = answer;
	connection->state = STATE_BUSY;
	event_active(connection->on_write, EV_WRITE, 0);
	return 0;
}
