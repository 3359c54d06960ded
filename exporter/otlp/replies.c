/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/otlp/replies.h"

#include <errno.h>
#include <string.h>

#include "exporter/otlp/buffer.h"
#include "ipc/time.h"

#define RETRY_INFO_NAME "google.rpc.RetryInfo"

/* Status of google/rpc/status.proto, and Any and Duration of google/protobuf/. */
#define STATUS_CODE	 1u
#define STATUS_MESSAGE	 2u
#define STATUS_DETAILS	 3u
#define ANY_TYPE	 1u
#define ANY_VALUE	 2u
#define RETRY_DELAY	 1u
#define DURATION_SECONDS 1u
#define DURATION_NANOS	 2u
/* ExportProfilesServiceResponse and ExportProfilesPartialSuccess */
#define RESPONSE_PARTIAL 1u
#define PARTIAL_REJECTED 1u
#define PARTIAL_MESSAGE	 2u

void reply_text(char ret_text[REPLY_TEXT_BYTES], const void *text, size_t size)
{
	const unsigned char *from = text;
	size_t length = size;

	if (length > REPLY_TEXT_BYTES - 1)
		length = REPLY_TEXT_BYTES - 1;
	for (size_t i = 0; i < length; i++) {
		ret_text[i] = (char)from[i];
		if (from[i] < ' ' || from[i] > '~')
			ret_text[i] = '?';
	}
	ret_text[length] = '\0';
}

static bool is_bytes(const struct wire *field, uint32_t number)
{
	return field->field == number && field->type == WIRE_BYTES;
}

static bool is_number(const struct wire *field, uint32_t number)
{
	return field->field == number && field->type == WIRE_VARINT;
}

static int end_of(const struct reader *reader)
{
	if (reader_failed(reader))
		return -EBADMSG;
	return 0;
}

static void keep_text(char ret_text[REPLY_TEXT_BYTES], const struct wire *field)
{
	reply_text(ret_text, field->bytes.position, reader_left(&field->bytes));
}

/* ---- response ---- */

static int read_partial(struct reader reader, struct reply_partial *partial)
{
	struct wire field;

	while (wire_next(&reader, &field)) {
		if (is_number(&field, PARTIAL_REJECTED))
			partial->rejected = field.value;
		else if (is_bytes(&field, PARTIAL_MESSAGE))
			keep_text(partial->text, &field);
	}
	return end_of(&reader);
}

int reply_read_response(const void *bytes, size_t size, struct reply_partial *ret_partial)
{
	struct reader reader;
	struct wire field;
	int r = 0;

	*ret_partial = (struct reply_partial){0};
	reader_init(&reader, bytes, size);
	while (r == 0 && wire_next(&reader, &field))
		if (is_bytes(&field, RESPONSE_PARTIAL))
			r = read_partial(field.bytes, ret_partial);
	if (r == 0)
		r = end_of(&reader);
	/* Collectors send an empty message for full success. */
	ret_partial->present = ret_partial->rejected > 0 || ret_partial->text[0] != '\0';
	return r;
}

/* ---- status ---- */

static uint64_t duration_ns(int64_t seconds, int64_t nanos)
{
	if (seconds < 0 || nanos < 0)
		return 0;
	if ((uint64_t)seconds >= UINT64_MAX / NS_PER_SECOND - 1)
		return UINT64_MAX;
	if ((uint64_t)nanos >= NS_PER_SECOND)
		nanos = NS_PER_SECOND - 1;
	return (uint64_t)seconds * NS_PER_SECOND + (uint64_t)nanos;
}

static int read_duration(struct reader reader, struct reply_status *status)
{
	struct wire field;
	int64_t seconds = 0, nanos = 0;

	while (wire_next(&reader, &field)) {
		if (is_number(&field, DURATION_SECONDS))
			seconds = (int64_t)field.value;
		else if (is_number(&field, DURATION_NANOS))
			nanos = (int64_t)field.value;
	}
	status->has_retry = true;
	status->retry_ns = duration_ns(seconds, nanos);
	return end_of(&reader);
}

static int read_retry_info(struct reader reader, struct reply_status *status)
{
	struct wire field;
	int r = 0;

	status->has_retry = true; /* a wait of 0 needs no duration */
	while (r == 0 && wire_next(&reader, &field))
		if (is_bytes(&field, RETRY_DELAY))
			r = read_duration(field.bytes, status);
	if (r == 0)
		r = end_of(&reader);
	return r;
}

/* Types are named "type.googleapis.com/google.rpc.RetryInfo" or with another prefix. */
static bool is_retry_info(const struct reader *type)
{
	const size_t size = reader_left(type), name_size = strlen(RETRY_INFO_NAME);
	const uint8_t *name;

	if (size < name_size + 1)
		return false;
	name = type->position + size - name_size;
	return name[-1] == '/' && memcmp(name, RETRY_INFO_NAME, name_size) == 0;
}

static int read_detail(struct reader reader, struct reply_status *status)
{
	struct reader value = {0};
	struct wire field;
	bool retry_info = false;

	reader_init(&value, NULL, 0);
	while (wire_next(&reader, &field)) {
		if (is_bytes(&field, ANY_TYPE))
			retry_info = is_retry_info(&field.bytes);
		else if (is_bytes(&field, ANY_VALUE))
			value = field.bytes;
	}
	if (reader_failed(&reader))
		return -EBADMSG;
	if (!retry_info || status->has_retry)
		return 0;
	return read_retry_info(value, status);
}

int reply_read_status(const void *bytes, size_t size, struct reply_status *ret_status)
{
	struct reader reader;
	struct wire field;
	int r = 0;

	*ret_status = (struct reply_status){0};
	reader_init(&reader, bytes, size);
	while (r == 0 && wire_next(&reader, &field)) {
		if (is_number(&field, STATUS_CODE))
			ret_status->code = (uint32_t)field.value;
		else if (is_bytes(&field, STATUS_MESSAGE))
			keep_text(ret_status->text, &field);
		else if (is_bytes(&field, STATUS_DETAILS))
			r = read_detail(field.bytes, ret_status);
	}
	if (r == 0)
		r = end_of(&reader);
	return r;
}

/* ---- base64 ---- */

static int digit_value(char digit)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *found;

	if (digit == '\0')
		return -1;
	found = strchr(digits, digit);
	if (!found)
		return -1;
	return (int)(found - digits);
}

int64_t reply_decode_base64(const char *text, size_t size, uint8_t *bytes, size_t room)
{
	uint32_t bits = 0;
	unsigned int count = 0;
	size_t used = 0;

	while (size > 0 && text[size - 1] == '=')
		size--;
	for (size_t i = 0; i < size; i++) {
		int value = digit_value(text[i]);

		if (value < 0)
			return -EBADMSG;
		bits = bits << 6 | (uint32_t)value;
		count += 6;
		if (count < 8)
			continue;
		if (used == room)
			return -EFBIG;
		count -= 8;
		bytes[used++] = (uint8_t)(bits >> count);
	}
	return (int64_t)used;
}
