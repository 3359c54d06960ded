/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends the numbers of an agent to its server, again and again, on connections of their own.
 * Windows never wait for them. A push that fails is counted and told, and not repeated: the next
 * one has the same counts and more.
 */
#ifndef KEYHOLE_EXPORTER_PUSHER_H
#define KEYHOLE_EXPORTER_PUSHER_H

#include <stdbool.h>
#include <stdint.h>

#include "exporter/http/receiver.h"

struct credentials;
struct event_base;
struct figures;
struct pusher;

struct pusher_owner {
	/* Brings the numbers up to date and returns them. */
	struct figures *(*figures)(void *owner);
	/* Returns whether the server is away, so that nothing is tried. */
	bool (*is_away)(void *owner);
	/* Asks for a socket. pusher_connected() is to follow. Returns 0 or a negative errno. */
	int (*connect)(void *owner);
	void *owner;
};

/*
 * Takes over the receiver with its headers, with an error, too. The credentials stay the owner's.
 * Pushes each so many ms. Returns 0, -EINVAL for a receiver that no request can name, or -ENOMEM.
 */
int pusher_new(struct event_base *base, struct receiver *receiver, struct credentials *credentials,
	       uint32_t milliseconds, const struct pusher_owner *owner, struct pusher **ret_pusher);
void pusher_free(struct pusher *pusher); /* NULL is fine */

/* Takes a connected, non-blocking socket, or the errno for which there is none (fd -1). */
void pusher_connected(struct pusher *pusher, int error, int fd);

#endif
