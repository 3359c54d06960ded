/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where requests go and what they look like. The owner fills the fields in, and adds the headers of
 * the user by receiver_add_header().
 */
#ifndef KEYHOLE_EXPORTER_HTTP_RECEIVER_H
#define KEYHOLE_EXPORTER_HTTP_RECEIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exporter/http/codec.h"
#include "ipc/destination.h"

#define RECEIVER_HEADERS_MAX 64u
#define RECEIVER_GRPC_PREFIX 5u /* before a message: a flag, and the length in big endian */

struct receiver_header {
	char *name; /* in lower case */
	char *value;
};

struct receiver {
	enum endpoint_protocol protocol;
	enum codec compression;
	bool tls;
	uint64_t timeout_ns;		/* of a call */
	char host[ENDPOINT_HOST_BYTES]; /* name or address that the certificate must have */
	char authority[ENDPOINT_HOST_BYTES + 16]; /* host and port, as in a URL */
	char path[1024];			  /* from "/" on */
	struct receiver_header headers[RECEIVER_HEADERS_MAX];
	size_t header_count;
};

/*
 * Takes what the user wanted. Returns 0, -EBADMSG for what keyhole-options cannot have made, or
 * receiver_add_header()'s. After an error, receiver_release() is still to follow.
 */
int receiver_take(struct receiver *ret_receiver, const struct endpoint *endpoint);
/*
 * Returns whether host, authority and path can stand in a request: they are not empty, printable
 * ASCII and end with a NUL.
 */
bool receiver_is_valid(const struct receiver *receiver);
/*
 * Adds a header of the user. Returns 0, -EINVAL for a name or a value that HTTP does not allow,
 * -EPERM for a header that keyhole sets itself, -E2BIG or -ENOMEM.
 */
int receiver_add_header(struct receiver *receiver, const char *name, const char *value);
void receiver_release(struct receiver *receiver);

/* One request. The body is what is sent: compressed, and of gRPC with the length before it. */
struct request {
	const struct receiver *receiver;
	const uint8_t *body; /* the caller's, until the answer is there */
	size_t size;
};

/*
 * Makes the body of a request, for an empty buffer: compresses the message, and puts gRPC's length
 * before it. Returns 0, -EFBIG (the buffer's limit) or -ENOMEM.
 */
int request_pack(const struct receiver *receiver, const void *message, size_t size,
		 struct buffer *buffer);

struct request_header {
	const char *name, *value;
};
#define REQUEST_HEADERS_MAX (RECEIVER_HEADERS_MAX + 8u)
#define REQUEST_TEXT_BYTES  32u
struct request_headers {
	struct request_header row[REQUEST_HEADERS_MAX];
	size_t count;
	char timeout[REQUEST_TEXT_BYTES];
};

/*
 * Lists the headers of a request but those that say where it goes (path, host) and how long it is.
 * The list points into itself and to the receiver.
 */
void request_list_headers(const struct request *request, struct request_headers *ret_headers);

#endif
