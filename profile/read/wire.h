/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protobuf's wire format, a field at a time, over the bounded reader (protobuf's encoding guide).
 * Of a field that is not known only its size matters.
 */
#ifndef KEYHOLE_PROFILE_READ_WIRE_H
#define KEYHOLE_PROFILE_READ_WIRE_H

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
	uint64_t value;	     /* of a number, else 0 */
	struct reader bytes; /* of WIRE_BYTES: a message, string or packed numbers */
};

/* Most numbers of a profile have two or three bytes. */
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

/*
 * One of many, as in a packed list, where it cannot be foreseen how long each is: up to four bytes
 * without a branch that depends on it.
 */
static inline uint64_t wire_varint_of_list(struct reader *reader)
{
	uint32_t word, end, length;

	if (reader_left(reader) < sizeof(word))
		return reader_uleb(reader);
	memcpy(&word, reader->position, sizeof(word));
	end = ~word & 0x80808080u; /* of bytes that are the last one of a number */
	if (end == 0)
		return reader_uleb(reader);
	length = (uint32_t)__builtin_ctz(end) / 8 + 1;
	word &= end ^ (end - 1); /* the bytes behind it are others' */
	reader->position += length;
	return (word & 0x7fu) | (word >> 1 & 0x3f80u) | (word >> 2 & 0x1fc000u) |
	       (word >> 3 & 0xfe00000u);
}

/* The next field; false at the end of the message, or when it is not well-formed. */
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

/* Of a repeated number, packed or not: false after the last one of this field. */
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
