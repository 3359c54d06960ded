/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/otlp/buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define VARINT_BYTES 10u

void buffer_reset(struct buffer *buffer, size_t limit)
{
	buffer->size = 0;
	buffer->limit = limit;
	buffer->error = 0;
}

void buffer_release(struct buffer *buffer)
{
	free(buffer->bytes);
	*buffer = (struct buffer){0};
}

/* Returns where so many more bytes go, or NULL after an error. */
static uint8_t *reserve(struct buffer *buffer, size_t size)
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

void buffer_put(struct buffer *buffer, const void *bytes, size_t size)
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

void buffer_put_varint(struct buffer *buffer, uint64_t value)
{
	uint8_t bytes[VARINT_BYTES];

	buffer_put(buffer, bytes, encode_varint(value, bytes));
}

void buffer_put_tag(struct buffer *buffer, uint32_t number, enum wire_type type)
{
	buffer_put_varint(buffer, (uint64_t)number << 3 | type);
}

size_t buffer_open(struct buffer *buffer, uint32_t number)
{
	buffer_put_tag(buffer, number, WIRE_BYTES);
	return buffer->size;
}

void buffer_close(struct buffer *buffer, size_t start)
{
	const size_t size = buffer->size - start;
	uint8_t length[VARINT_BYTES];
	size_t length_size = encode_varint(size, length);

	if (!reserve(buffer, length_size))
		return;
	memmove(buffer->bytes + start + length_size, buffer->bytes + start, size);
	memcpy(buffer->bytes + start, length, length_size);
}
