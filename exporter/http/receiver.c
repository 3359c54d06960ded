/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/http/receiver.h"

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

bool receiver_is_valid(const struct receiver *receiver)
{
	return is_visible(receiver->host, sizeof(receiver->host)) &&
	       is_visible(receiver->authority, sizeof(receiver->authority)) &&
	       is_visible(receiver->path, sizeof(receiver->path)) && receiver->path[0] == '/' &&
	       receiver->timeout_ns > 0;
}

static void lower(char *name)
{
	for (; *name; name++)
		if (*name >= 'A' && *name <= 'Z')
			*name = (char)(*name - 'A' + 'a');
}

int receiver_add_header(struct receiver *receiver, const char *name, const char *value)
{
	struct receiver_header header;

	if (receiver->header_count == RECEIVER_HEADERS_MAX)
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
	receiver->headers[receiver->header_count++] = header;
	return 0;
}

/* ---- what the user wanted ---- */

/* Takes the next text of the list, or returns NULL where its NUL is missing. */
static const char *next_text(const struct endpoint *endpoint, size_t *at)
{
	const char *text = endpoint->headers + *at;
	size_t room = sizeof(endpoint->headers) - *at, length = strnlen(text, room);

	if (length == room)
		return NULL;
	*at += length + 1;
	return text;
}

static int take_headers(struct receiver *receiver, const struct endpoint *endpoint)
{
	const char *name, *value;
	size_t at = 0;
	int r;

	for (;;) {
		name = next_text(endpoint, &at);
		if (!name)
			return -EBADMSG;
		if (*name == '\0')
			return 0;
		value = next_text(endpoint, &at);
		if (!value)
			return -EBADMSG;
		r = receiver_add_header(receiver, name, value);
		if (r < 0)
			return r;
	}
}

static int take_compression(enum codec *ret_codec, uint32_t compression)
{
	static const enum codec codecs[] = {
		[ENDPOINT_PLAIN] = CODEC_IDENTITY,
		[ENDPOINT_GZIP] = CODEC_GZIP,
		[ENDPOINT_ZSTD] = CODEC_ZSTD,
	};

	if (compression >= sizeof(codecs) / sizeof(*codecs))
		return -EBADMSG;
	*ret_codec = codecs[compression];
	return 0;
}

int receiver_take(struct receiver *ret_receiver, const struct endpoint *endpoint)
{
	int r;

	_Static_assert(sizeof(ret_receiver->path) == sizeof(endpoint->path), "paths fit");
	*ret_receiver = (struct receiver){.protocol = (enum endpoint_protocol)endpoint->protocol};
	if (endpoint->protocol > ENDPOINT_HTTP)
		return -EBADMSG;
	r = take_compression(&ret_receiver->compression, endpoint->compression);
	if (r < 0)
		return r;
	ret_receiver->tls = endpoint->is_tls;
	ret_receiver->timeout_ns = endpoint->timeout_ms * NS_PER_MS;
	memcpy(ret_receiver->host, endpoint->host, sizeof(endpoint->host));
	memcpy(ret_receiver->authority, endpoint->authority, sizeof(endpoint->authority));
	memcpy(ret_receiver->path, endpoint->path, sizeof(endpoint->path));
	if (!receiver_is_valid(ret_receiver))
		return -EBADMSG;
	return take_headers(ret_receiver, endpoint);
}

/* Headers hold secrets, such as tokens. */
static void wipe(char *text)
{
	explicit_bzero(text, strlen(text));
	free(text);
}

void receiver_release(struct receiver *receiver)
{
	for (size_t i = 0; i < receiver->header_count; i++) {
		free(receiver->headers[i].name);
		wipe(receiver->headers[i].value);
	}
	receiver->header_count = 0;
}

/* ---- requests ---- */

static void add(struct request_headers *headers, const char *name, const char *value)
{
	headers->row[headers->count++] = (struct request_header){name, value};
}

static void add_grpc(const struct receiver *receiver, struct request_headers *headers)
{
	add(headers, "te", "trailers");
	add(headers, "content-type", CONTENT_GRPC);
	if (receiver->compression != CODEC_IDENTITY)
		add(headers, "grpc-encoding", codec_name(receiver->compression));
	add(headers, "grpc-accept-encoding", "identity,gzip,zstd");
	/* At most eight digits. */
	snprintf(headers->timeout, sizeof(headers->timeout), "%" PRIu64 "m",
		 (uint64_t)(receiver->timeout_ns / NS_PER_MS % 100000000));
	add(headers, "grpc-timeout", headers->timeout);
}

static void add_http(const struct receiver *receiver, struct request_headers *headers)
{
	add(headers, "content-type", CONTENT_PROTOBUF);
	if (receiver->compression != CODEC_IDENTITY)
		add(headers, "content-encoding", codec_name(receiver->compression));
	add(headers, "accept-encoding", "gzip");
}

static bool has_user_agent(const struct receiver *receiver)
{
	for (size_t i = 0; i < receiver->header_count; i++)
		if (strcmp(receiver->headers[i].name, "user-agent") == 0)
			return true;
	return false;
}

void request_list_headers(const struct request *request, struct request_headers *ret_headers)
{
	const struct receiver *receiver = request->receiver;

	ret_headers->count = 0;
	if (receiver->protocol == ENDPOINT_GRPC)
		add_grpc(receiver, ret_headers);
	else
		add_http(receiver, ret_headers);
	if (!has_user_agent(receiver))
		add(ret_headers, "user-agent", USER_AGENT);
	for (size_t i = 0; i < receiver->header_count; i++)
		add(ret_headers, receiver->headers[i].name, receiver->headers[i].value);
}

/* ---- bodies ---- */

static void put_prefix(const struct receiver *receiver, struct buffer *buffer)
{
	uint8_t prefix[RECEIVER_GRPC_PREFIX] = {0};

	prefix[0] = receiver->compression != CODEC_IDENTITY;
	buffer_put(buffer, prefix, sizeof(prefix));
}

static void set_length(struct buffer *buffer)
{
	size_t size = buffer->size - RECEIVER_GRPC_PREFIX;

	for (unsigned int i = 0; i < 4; i++)
		buffer->bytes[4 - i] = (uint8_t)(size >> 8 * i);
}

int request_pack(const struct receiver *receiver, const void *message, size_t size,
		 struct buffer *buffer)
{
	int r;

	if (receiver->protocol == ENDPOINT_GRPC)
		put_prefix(receiver, buffer);
	r = codec_pack(receiver->compression, message, size, buffer);
	if (r == 0 && receiver->protocol == ENDPOINT_GRPC)
		set_length(buffer);
	return r;
}
