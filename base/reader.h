/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one cursor through which every untrusted byte is read. Failure is sticky: after the first
 * overrun all getters return 0 and stand still. A caller therefore decodes a record straight
 * through and asks reader_failed() once. Numbers are little endian. The caller owns the bytes.
 */
#ifndef KEYHOLE_BASE_READER_H
#define KEYHOLE_BASE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct reader {
	const unsigned char *base, *position;
	const unsigned char *end; /* = position after a failure, so that every later read fails */
	bool bad;
	size_t bad_at; /* offset from base of the first failed read */
};

void reader_init(struct reader *reader, const void *bytes, size_t size);
void reader_fail(struct reader *reader);

static inline bool reader_failed(const struct reader *reader)
{
	return reader->bad;
}

static inline size_t reader_offset(const struct reader *reader)
{
	return (size_t)(reader->position - reader->base);
}

static inline size_t reader_left(const struct reader *reader)
{
	return (size_t)(reader->end - reader->position);
}

#define READER_GETTER(name, type)                                \
	static inline type name(struct reader *reader)           \
	{                                                        \
		type value;                                      \
                                                                 \
		if (reader_left(reader) < sizeof(value)) {       \
			reader_fail(reader);                     \
			return 0;                                \
		}                                                \
		memcpy(&value, reader->position, sizeof(value)); \
		reader->position += sizeof(value);               \
		return value;                                    \
	}
READER_GETTER(reader_u8, uint8_t)
READER_GETTER(reader_u16, uint16_t)
READER_GETTER(reader_u32, uint32_t)
READER_GETTER(reader_u64, uint64_t)
#undef READER_GETTER

/* LEB128: a value of more than 64 bits fails. */
uint64_t reader_uleb_long(struct reader *reader);
int64_t reader_sleb(struct reader *reader);

static inline uint64_t reader_uleb(struct reader *reader)
{
	if (reader_left(reader) > 0 && *reader->position < 0x80)
		return *reader->position++;
	return reader_uleb_long(reader);
}

/* Returns the next bytes in place, or NULL when fewer are left. */
const void *reader_bytes(struct reader *reader, size_t size);
/* Returns the NUL-terminated string that begins here, or NULL when no NUL follows. */
const char *reader_string(struct reader *reader);
/* Returns the bytes before `stop` or the end, whichever comes first, and moves past the stop. */
const char *reader_until(struct reader *reader, char stop, size_t *ret_length);
void reader_skip(struct reader *reader, size_t size);
void reader_seek(struct reader *reader, size_t offset); /* from base; beyond the end fails */
/* Fails the reader, and returns a failed reader of no bytes. */
struct reader reader_sub_failed(struct reader *reader);

/* Makes *ret_sub a reader of the next `size` bytes, with offsets of its own; moves past them. */
static inline void reader_take(struct reader *reader, size_t size, struct reader *ret_sub)
{
	if (reader_failed(reader) || size > reader_left(reader)) {
		*ret_sub = reader_sub_failed(reader);
		return;
	}
	ret_sub->base = ret_sub->position = reader->position;
	reader->position += size;
	ret_sub->end = reader->position;
	ret_sub->bad = false;
	ret_sub->bad_at = 0;
}

/* Does as reader_take(), and returns the new reader. */
static inline struct reader reader_sub(struct reader *reader, size_t size)
{
	struct reader sub;

	reader_take(reader, size, &sub);
	return sub;
}

#endif
