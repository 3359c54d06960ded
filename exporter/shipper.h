/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brings windows to an receiver: queue, connection, requests, answers, log lines. The owner of the
 * loop hands windows in, and gets a connected socket whenever the shipper asks for one. The
 * shipper opens no socket and no file.
 */
#ifndef KEYHOLE_EXPORTER_SHIPPER_H
#define KEYHOLE_EXPORTER_SHIPPER_H

#include <stdbool.h>
#include <stdint.h>

#include "exporter/delivery/delivery.h"
#include "exporter/http/receiver.h"
#include "exporter/net/credentials.h"

#define SHIPPER_CONNECT_MS 20000u /* for a socket and for the handshake, each (gRPC's least) */

struct event_base;
struct shipper;

struct shipper_owner {
	/*
	 * Asks for a socket. shipper_connected() is to follow once, from the loop. Returns 0 or a
	 * negative errno: nobody can be asked now.
	 */
	int (*connect)(void *connector);
	/* Tells that the queue is empty, or that the time that shipper_finish() gave is over. */
	void (*finished)(void *owner);
	void *connector, *owner;
};

/*
 * Takes over the receiver with its headers, with an error, too. Returns 0, -EINVAL for an receiver
 * that no request can name, or -ENOMEM.
 */
int shipper_new(struct event_base *base, struct receiver *receiver,
		const struct delivery_limits *limits, const struct shipper_owner *owner,
		struct shipper **ret_shipper);
void shipper_free(struct shipper *shipper); /* NULL is fine */

/*
 * Reads a file of PEM; the descriptor stays the caller's. A connection that is there is closed
 * when its request is answered, so that the next one has the new certificates. Returns
 * credentials_read()'s.
 */
int shipper_credential(struct shipper *shipper, enum credential_kind kind, int fd);

/*
 * Queues the first `size` bytes of a file as a window; the descriptor stays the caller's. Never
 * waits for a server. Returns 0 or why the window was dropped: delivery_add()'s, -EFBIG (larger
 * than the queue), or that of a read.
 */
int shipper_window(struct shipper *shipper, int fd, uint64_t size);

/* Takes a connected, non-blocking socket, or the errno for which there is none (fd -1). */
void shipper_connected(struct shipper *shipper, int error, int fd);

/*
 * Sends what is queued without waiting for a better time. finished() follows, from the loop, when
 * the queue is empty or the time has passed. Windows that are left then are dropped.
 */
void shipper_finish(struct shipper *shipper, uint64_t milliseconds);

/* Returns whether the last request or connection failed. */
bool shipper_is_failing(const struct shipper *shipper);
/* Borrowed, for other connections to the same server. */
struct credentials *shipper_credentials(struct shipper *shipper);
/* Returns the ns that the oldest window in the queue waits by now; 0: none waits. */
uint64_t shipper_queue_age(const struct shipper *shipper, uint64_t now);
const struct delivery_counts *shipper_counts(struct shipper *shipper);

#endif
