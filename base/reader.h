/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one cursor through which every untrusted byte is read. Sticky failure: after the first
 * overrun all getters return 0 and do not move, so a record is decoded straight through and
 * reader_failed() is asked once. Little endian. Does not own the bytes.
 */
#ifndef KEYHOLE_BASE_READER_H
#define KEYHOLE_BASE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct reader {
	const unsigned char *base, *position;
	const unsigned char *end; /* = position after a failure: every later read fails by itself */
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

/* LEB128; more than 64 bits of value fail. */
uint64_t reader_uleb_long(struct reader *reader);
int64_t reader_sleb(struct reader *reader);

static inline uint64_t reader_uleb(struct reader *reader)
{
	if (reader_left(reader) > 0 && *reader->position < 0x80)
		return *reader->position++;
	return reader_uleb_long(reader);
}

/* The bytes themselves, or NULL. */
const void *reader_bytes(struct reader *reader, size_t size);
/* A NUL-terminated string within the rest, or NULL. */
const char *reader_string(struct reader *reader);
/* Up to but not including `stop` or the end; moves past the stop. */
const char *reader_until(struct reader *reader, char stop, size_t *ret_length);
void reader_skip(struct reader *reader, size_t size);
void reader_seek(struct reader *reader, size_t offset);
struct reader reader_sub_failed(struct reader *reader);

/* *ret_sub reads the next `size` bytes with offsets of its own; moves past them. */
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

static inline struct reader reader_sub(struct reader *reader, size_t size)
{
	struct reader sub;

	reader_take(reader, size, &sub);
	return sub;
}

#endif
