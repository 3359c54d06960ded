/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protobuf's wire format, a field at a time, over the bounded reader (protobuf's encoding guide).
 * A caller skips a field that it does not know.
 */
#ifndef KEYHOLE_BASE_WIRE_H
#define KEYHOLE_BASE_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/reader.h"

enum wire_type {
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_BYTES = 2,
	WIRE_FIXED32 = 5
};

struct wire {
	uint32_t field;
	enum wire_type type;
	uint64_t value;	     /* a number; 0 for WIRE_BYTES */
	struct reader bytes; /* for WIRE_BYTES: a message, string or packed numbers */
};

/* Reads one number. Most numbers of a profile have two or three bytes. */
static inline uint64_t wire_varint(struct reader *reader)
{
	const unsigned char *at = reader->position;

	if (reader_left(reader) < 3 || at[0] < 0x80)
		return reader_uleb(reader);
	if (at[1] < 0x80) {
		reader->position += 2;
		return (at[0] & 0x7fu) | (uint32_t)at[1] << 7;
	}
	if (at[2] < 0x80) {
		reader->position += 3;
		return (at[0] & 0x7fu) | (at[1] & 0x7fu) << 7 | (uint32_t)at[2] << 14;
	}
	return reader_uleb(reader);
}

/* Reads the next field. Returns false at the end of the message, and for a malformed field. */
__attribute__((always_inline)) static inline bool wire_next(struct reader *reader,
							    struct wire *ret_field)
{
	uint64_t tag;

	if (reader_left(reader) == 0)
		return false;
	tag = wire_varint(reader);
	ret_field->field = (uint32_t)(tag >> 3);
	ret_field->type = (enum wire_type)(tag & 7);
	ret_field->value = 0;
	if (tag >> 3 == 0 || tag > UINT32_MAX)
		reader_fail(reader);
	if (ret_field->type == WIRE_VARINT)
		ret_field->value = wire_varint(reader);
	else if (ret_field->type == WIRE_BYTES)
		reader_take(reader, wire_varint(reader), &ret_field->bytes);
	else if (ret_field->type == WIRE_FIXED64)
		ret_field->value = reader_u64(reader);
	else if (ret_field->type == WIRE_FIXED32)
		ret_field->value = reader_u32(reader);
	else
		reader_fail(reader); /* groups, which proto3 does not have */
	return !reader_failed(reader);
}

/*
 * Reads the numbers of a message by field, 0 for a missing one, and skips all else. ret_numbers has
 * room for fields below `limit`. Returns false for a malformed message.
 */
static inline bool wire_numbers(struct reader *message, uint64_t *ret_numbers, uint32_t limit)
{
	struct wire field;

	for (uint32_t i = 0; i < limit; i++)
		ret_numbers[i] = 0;
	while (wire_next(message, &field))
		if (field.type == WIRE_VARINT && field.field < limit)
			ret_numbers[field.field] = field.value;
	return !reader_failed(message);
}

/*
 * Takes one of a field's repeated numbers, packed or not. Returns false after the last number of
 * this field.
 */
static inline bool wire_number(struct reader *reader, struct wire *field, uint64_t *ret_value)
{
	if (field->type == WIRE_VARINT) {
		field->type = WIRE_FIXED32; /* taken */
		*ret_value = field->value;
		return true;
	}
	if (field->type != WIRE_BYTES || reader_left(&field->bytes) == 0)
		return false;
	*ret_value = wire_varint(&field->bytes);
	if (reader_failed(&field->bytes))
		reader_fail(reader);
	return !reader_failed(reader);
}

#endif
