/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/http/answer.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#define GRPC_STATUS_MAX 99

void answer_begin(struct answer *answer)
{
	struct buffer body = answer->body;

	*answer = (struct answer){.grpc_status = -1, .body = body};
	buffer_reset(&answer->body, ANSWER_BYTES_MAX + RECEIVER_GRPC_PREFIX);
}

void answer_release(struct answer *answer)
{
	buffer_release(&answer->body);
}

/* ---- headers ---- */

static void take_status(struct answer *answer, const char *value, size_t size)
{
	int status = -1;

	for (size_t i = 0; i < size; i++) {
		if (value[i] < '0' || value[i] > '9' || status > GRPC_STATUS_MAX)
			return;
		if (status < 0)
			status = 0;
		status = status * 10 + value[i] - '0';
	}
	answer->grpc_status = status;
}

static int hex_value(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	if (digit >= 'A' && digit <= 'F')
		return digit - 'A' + 10;
	return -1;
}

static void take_message(struct answer *answer, const char *value, size_t size)
{
	char text[REPLY_TEXT_BYTES];
	size_t used = 0;

	for (size_t i = 0; i < size && used < sizeof(text); i++) {
		text[used] = value[i];
		if (value[i] == '%' && size - i > 2 && hex_value(value[i + 1]) >= 0 &&
		    hex_value(value[i + 2]) >= 0) {
			text[used] = (char)(hex_value(value[i + 1]) << 4 | hex_value(value[i + 2]));
			i += 2;
		}
		used++;
	}
	reply_text(answer->grpc_message, text, used);
}

/* Leaves details out that are too large or no base64: the status code says enough. */
static void take_details(struct answer *answer, const char *value, size_t size)
{
	int64_t r = reply_decode_base64(value, size, answer->details, sizeof(answer->details));

	answer->details_size = 0;
	if (r > 0)
		answer->details_size = (size_t)r;
}

static void take_date(char ret_date[ANSWER_DATE_BYTES], const char *value, size_t size)
{
	if (size >= ANSWER_DATE_BYTES || memchr(value, '\0', size))
		return;
	memcpy(ret_date, value, size);
	ret_date[size] = '\0';
}

static void take_retry_after(struct answer *answer, const char *value, size_t size)
{
	take_date(answer->retry_after, value, size);
}

static void take_server_date(struct answer *answer, const char *value, size_t size)
{
	take_date(answer->date, value, size);
}

static bool begins_with(const char *value, size_t size, const char *name)
{
	return size >= strlen(name) && strncasecmp(value, name, strlen(name)) == 0;
}

static void take_type(struct answer *answer, const char *value, size_t size)
{
	answer->is_protobuf = begins_with(value, size, "application/x-protobuf");
	answer->is_page = begins_with(value, size, "text/html");
}

static void take_codec(struct answer *answer, const char *value, size_t size)
{
	answer->codec = codec_find(value, size);
}

static const struct {
	const char *name;
	void (*take)(struct answer *answer, const char *value, size_t size);
} headers[] = {
	{"grpc-status", take_status},
	{"grpc-message", take_message},
	{"grpc-status-details-bin", take_details},
	{"grpc-encoding", take_codec},
	{"content-encoding", take_codec},
	{"content-type", take_type},
	{"retry-after", take_retry_after},
	{"date", take_server_date},
};

void answer_header(struct answer *answer, const char *name, size_t name_size, const char *value,
		   size_t value_size)
{
	for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++)
		if (strlen(headers[i].name) == name_size &&
		    strncasecmp(headers[i].name, name, name_size) == 0)
			headers[i].take(answer, value, value_size);
}

/* ---- body ---- */

int answer_body(struct answer *answer, const void *bytes, size_t size)
{
	buffer_put(&answer->body, bytes, size);
	return answer->body.error;
}

static int unpack_grpc(const struct answer *answer, struct buffer *buffer)
{
	const uint8_t *bytes = answer->body.bytes;
	enum codec codec = CODEC_IDENTITY;
	size_t size;

	if (answer->body.size < RECEIVER_GRPC_PREFIX || bytes[0] > 1)
		return -EBADMSG;
	size = (size_t)bytes[1] << 24 | (size_t)bytes[2] << 16 | (size_t)bytes[3] << 8 | bytes[4];
	if (size != answer->body.size - RECEIVER_GRPC_PREFIX)
		return -EBADMSG;
	if (bytes[0] == 1)
		codec = answer->codec;
	return codec_unpack(codec, bytes + RECEIVER_GRPC_PREFIX, size, buffer);
}

int answer_unpack(const struct answer *answer, enum endpoint_protocol protocol,
		  struct buffer *buffer)
{
	buffer_reset(buffer, ANSWER_BYTES_MAX);
	if (answer->body.size == 0)
		return 0;
	if (protocol == ENDPOINT_GRPC)
		return unpack_grpc(answer, buffer);
	return codec_unpack(answer->codec, answer->body.bytes, answer->body.size, buffer);
}
