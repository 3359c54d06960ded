/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client's side of HTTP over some connection: bytes go in, bytes come out, nothing is read,
 * written or waited for. One request is under way at a time. A kind has one row of functions; h1.c
 * and h2.c have one each.
 */
#ifndef KEYHOLE_EXPORTER_HTTP_SESSION_H
#define KEYHOLE_EXPORTER_HTTP_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exporter/http/answer.h"
#include "exporter/http/receiver.h"

/* Bytes that a server may send for one answer, in frames, headers and all. */
#define SESSION_INPUT_MAX (16u << 20)

struct session_kind {
	const char *name;
	void *(*open)(void); /* NULL: no memory */
	void (*close)(void *session);
	/*
	 * Begins a request. Request and answer stay the caller's until is_done(), or close().
	 * Returns 0 or a negative errno.
	 */
	int (*submit)(void *session, const struct request *request, struct answer *answer);
	/*
	 * Gives the next bytes to send, 0 of them when there are none for now. They hold until the
	 * next call of output(), and are all to be sent before. Returns 0 or a negative errno: the
	 * connection is of no use any more.
	 */
	int (*output)(void *session, const uint8_t **ret_bytes, size_t *ret_size);
	/* Takes what the server sent. Returns as output(). */
	int (*input)(void *session, const uint8_t *bytes, size_t size);
	/* Takes that the server sends no more. */
	void (*end)(void *session);
	/* Returns whether the answer is there, whole or with an error. */
	bool (*is_done)(const void *session);
	/* Returns whether another request may follow on this connection. */
	bool (*is_reusable)(const void *session);
};

extern const struct session_kind session_h1, session_h2;

#endif
