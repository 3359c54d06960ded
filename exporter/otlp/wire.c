/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/otlp/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define NUMBER_MAX   ((1u << 29) - 1) /* of a field */
#define VARINT_BYTES 10u

static bool read_value(struct reader *reader, struct wire_field *field)
{
	switch (field->type) {
	case WIRE_VARINT:
		field->value = reader_uleb(reader);
		break;
	case WIRE_FIXED64:
		field->value = reader_u64(reader);
		break;
	case WIRE_FIXED32:
		field->value = reader_u32(reader);
		break;
	case WIRE_BYTES:
		reader_take(reader, reader_uleb(reader), &field->bytes);
		break;
	default:
		reader_fail(reader);
	}
	return !reader_failed(reader);
}

bool wire_next(struct reader *reader, struct wire_field *ret_field)
{
	uint64_t tag;

	if (reader_failed(reader) || reader_left(reader) == 0)
		return false;
	*ret_field = (struct wire_field){.start = reader->position};
	tag = reader_uleb(reader);
	ret_field->type = (enum wire_type)(tag & 7);
	if (tag >> 3 == 0 || tag >> 3 > NUMBER_MAX)
		reader_fail(reader);
	ret_field->number = (uint32_t)(tag >> 3);
	if (reader_failed(reader) || !read_value(reader, ret_field))
		return false;
	ret_field->size = (size_t)(reader->position - ret_field->start);
	return true;
}

void wire_reset(struct wire_buffer *buffer, size_t limit)
{
	buffer->size = 0;
	buffer->limit = limit;
	buffer->error = 0;
}

void wire_release(struct wire_buffer *buffer)
{
	free(buffer->bytes);
	*buffer = (struct wire_buffer){0};
}

/* Returns where so many more bytes go, or NULL after an error. */
static uint8_t *reserve(struct wire_buffer *buffer, size_t size)
{
	if (buffer->error)
		return NULL;
	if (size > buffer->limit - buffer->size) {
		buffer->error = -EFBIG;
		return NULL;
	}
	if (ARRAY_RESERVE(buffer->bytes, buffer->capacity, buffer->size + size) < 0) {
		buffer->error = -ENOMEM;
		return NULL;
	}
	buffer->size += size;
	return buffer->bytes + buffer->size - size;
}

void wire_put_bytes(struct wire_buffer *buffer, const void *bytes, size_t size)
{
	uint8_t *to;

	if (size == 0)
		return;
	to = reserve(buffer, size);
	if (to)
		memcpy(to, bytes, size);
}

static size_t encode_varint(uint64_t value, uint8_t ret_bytes[VARINT_BYTES])
{
	size_t size = 0;

	for (; value >= 0x80; value >>= 7)
		ret_bytes[size++] = (uint8_t)(value | 0x80);
	ret_bytes[size++] = (uint8_t)value;
	return size;
}

void wire_put_varint(struct wire_buffer *buffer, uint64_t value)
{
	uint8_t bytes[VARINT_BYTES];

	wire_put_bytes(buffer, bytes, encode_varint(value, bytes));
}

void wire_put_tag(struct wire_buffer *buffer, uint32_t number, enum wire_type type)
{
	wire_put_varint(buffer, (uint64_t)number << 3 | type);
}

size_t wire_open(struct wire_buffer *buffer, uint32_t number)
{
	wire_put_tag(buffer, number, WIRE_BYTES);
	return buffer->size;
}

void wire_close(struct wire_buffer *buffer, size_t start)
{
	const size_t size = buffer->size - start;
	uint8_t length[VARINT_BYTES];
	size_t length_size = encode_varint(size, length);

	if (!reserve(buffer, length_size))
		return;
	memmove(buffer->bytes + start + length_size, buffer->bytes + start, size);
	memcpy(buffer->bytes + start, length, length_size);
}
