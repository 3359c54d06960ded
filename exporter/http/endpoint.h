/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where requests go and what they look like. The owner fills the fields in, and adds the headers of
 * the user by endpoint_add_header().
 */
#ifndef KEYHOLE_EXPORTER_HTTP_ENDPOINT_H
#define KEYHOLE_EXPORTER_HTTP_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exporter/http/codec.h"

#define ENDPOINT_HEADERS_MAX 64u
#define ENDPOINT_GRPC_PATH                                       \
	"/opentelemetry.proto.collector.profiles.v1development." \
	"ProfilesService/Export"

enum endpoint_protocol {
	ENDPOINT_GRPC,
	ENDPOINT_HTTP
};

struct endpoint_header {
	char *name; /* in lower case */
	char *value;
};

struct endpoint {
	enum endpoint_protocol protocol;
	enum codec compression;
	bool tls;
	uint64_t timeout_ns; /* of a call */
	char host[256];	     /* name or address that the certificate must have */
	char authority[272]; /* host and port, as in a URL */
	char path[512];	     /* of HTTP; gRPC has ENDPOINT_GRPC_PATH */
	struct endpoint_header headers[ENDPOINT_HEADERS_MAX];
	size_t header_count;
};

/*
 * Returns whether host, authority and path can stand in a request: they are not empty, printable ASCII
 * and end with a NUL.
 */
bool endpoint_is_valid(const struct endpoint *endpoint);
/*
 * Adds a header of the user. Returns 0, -EINVAL for a name or a value that HTTP does not allow, -EPERM
 * for a header that keyhole sets itself, -E2BIG or -ENOMEM.
 */
int endpoint_add_header(struct endpoint *endpoint, const char *name, const char *value);
void endpoint_release(struct endpoint *endpoint);

/* One request. The body is what is sent: compressed, and of gRPC with the length before it. */
struct request {
	const struct endpoint *endpoint;
	const uint8_t *body; /* the caller's, until the answer is there */
	size_t size;
};

struct request_header {
	const char *name, *value;
};
#define REQUEST_HEADERS_MAX (ENDPOINT_HEADERS_MAX + 8u)
#define REQUEST_TEXT_BYTES  32u
struct request_headers {
	struct request_header row[REQUEST_HEADERS_MAX];
	size_t count;
	char timeout[REQUEST_TEXT_BYTES];
};

/*
 * Lists the headers of a request but those that say where it goes (path, host) and how long it is. The
 * list points into itself and to the endpoint.
 */
void request_list_headers(const struct request *request, struct request_headers *ret_headers);
/* Returns the path of the request. */
const char *request_path(const struct request *request);

#endif
