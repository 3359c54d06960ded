/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/http/endpoint.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generated/version.h"
#include "ipc/time.h"

#define USER_AGENT	 "keyhole/" KEYHOLE_VERSION " OTel-OTLP-Exporter-C/" KEYHOLE_VERSION
#define CONTENT_GRPC	 "application/grpc+proto"
#define CONTENT_PROTOBUF "application/x-protobuf"

/* Headers by which a user would change the framing, or of which there would be two. */
static const char *const own_headers[] = {
	"host",		"connection",	    "content-length",	    "content-type",
	"te",		"trailer",	    "transfer-encoding",    "upgrade",
	"keep-alive",	"proxy-connection", "content-encoding",	    "accept-encoding",
	"grpc-timeout", "grpc-encoding",    "grpc-accept-encoding", "expect",
};

static bool is_token(char byte)
{
	if ((byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
	    (byte >= 'A' && byte <= 'Z'))
		return true;
	return byte != '\0' && strchr("!#$%&'*+-.^_`|~", byte);
}

static bool is_name(const char *name)
{
	if (*name == '\0')
		return false;
	for (; *name; name++)
		if (!is_token(*name))
			return false;
	return true;
}

static bool is_value(const char *value)
{
	for (; *value; value++)
		if ((unsigned char)*value < ' ' || *value == 0x7f)
			return false;
	return true;
}

static bool is_own(const char *name)
{
	for (size_t i = 0; i < sizeof(own_headers) / sizeof(*own_headers); i++)
		if (strcmp(own_headers[i], name) == 0)
			return true;
	return false;
}

static bool is_visible(const char *text, size_t room)
{
	size_t length = strnlen(text, room);

	if (length == 0 || length == room)
		return false;
	for (size_t i = 0; i < length; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return false;
	return true;
}

bool endpoint_is_valid(const struct endpoint *endpoint)
{
	return is_visible(endpoint->host, sizeof(endpoint->host)) &&
	       is_visible(endpoint->authority, sizeof(endpoint->authority)) &&
	       is_visible(endpoint->path, sizeof(endpoint->path)) && endpoint->path[0] == '/' &&
	       endpoint->timeout_ns > 0;
}

static void lower(char *name)
{
	for (; *name; name++)
		if (*name >= 'A' && *name <= 'Z')
			*name = (char)(*name - 'A' + 'a');
}

int endpoint_add_header(struct endpoint *endpoint, const char *name, const char *value)
{
	struct endpoint_header header;

	if (endpoint->header_count == ENDPOINT_HEADERS_MAX)
		return -E2BIG;
	if (!is_name(name) || !is_value(value))
		return -EINVAL;
	header.name = strdup(name);
	header.value = strdup(value);
	if (!header.name || !header.value) {
		free(header.name);
		free(header.value);
		return -ENOMEM;
	}
	lower(header.name);
	if (is_own(header.name)) {
		free(header.name);
		free(header.value);
		return -EPERM;
	}
	endpoint->headers[endpoint->header_count++] = header;
	return 0;
}

/* Headers hold secrets, such as tokens. */
static void wipe(char *text)
{
	explicit_bzero(text, strlen(text));
	free(text);
}

void endpoint_release(struct endpoint *endpoint)
{
	for (size_t i = 0; i < endpoint->header_count; i++) {
		free(endpoint->headers[i].name);
		wipe(endpoint->headers[i].value);
	}
	endpoint->header_count = 0;
}

/* ---- requests ---- */

static void add(struct request_headers *headers, const char *name, const char *value)
{
	headers->row[headers->count++] = (struct request_header){name, value};
}

static void add_grpc(const struct endpoint *endpoint, struct request_headers *headers)
{
	add(headers, "te", "trailers");
	add(headers, "content-type", CONTENT_GRPC);
	if (endpoint->compression != CODEC_IDENTITY)
		add(headers, "grpc-encoding", codec_name(endpoint->compression));
	add(headers, "grpc-accept-encoding", "identity,gzip,zstd");
	/* At most eight digits. */
	snprintf(headers->timeout, sizeof(headers->timeout), "%" PRIu64 "m",
		 (uint64_t)(endpoint->timeout_ns / NS_PER_MS % 100000000));
	add(headers, "grpc-timeout", headers->timeout);
}

static void add_http(const struct endpoint *endpoint, struct request_headers *headers)
{
	add(headers, "content-type", CONTENT_PROTOBUF);
	if (endpoint->compression != CODEC_IDENTITY)
		add(headers, "content-encoding", codec_name(endpoint->compression));
	add(headers, "accept-encoding", "gzip");
}

static bool has_user_agent(const struct endpoint *endpoint)
{
	for (size_t i = 0; i < endpoint->header_count; i++)
		if (strcmp(endpoint->headers[i].name, "user-agent") == 0)
			return true;
	return false;
}

void request_list_headers(const struct request *request, struct request_headers *ret_headers)
{
	const struct endpoint *endpoint = request->endpoint;

	ret_headers->count = 0;
	if (endpoint->protocol == ENDPOINT_GRPC)
		add_grpc(endpoint, ret_headers);
	else
		add_http(endpoint, ret_headers);
	if (!has_user_agent(endpoint))
		add(ret_headers, "user-agent", USER_AGENT);
	for (size_t i = 0; i < endpoint->header_count; i++)
		add(ret_headers, endpoint->headers[i].name, endpoint->headers[i].value);
}

const char *request_path(const struct request *request)
{
	if (request->endpoint->protocol == ENDPOINT_GRPC)
		return ENDPOINT_GRPC_PATH;
	return request->endpoint->path;
}
