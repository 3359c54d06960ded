/* SPDX-License-Identifier: Apache-2.0 */
#include "base/reader.h"

void reader_init(struct reader *reader, const void *bytes, size_t size)
{
	*reader = (struct reader){.base = bytes, .position = bytes, .end = bytes};
	if (size > 0)
		reader->end += size;
}

void reader_fail(struct reader *reader)
{
	if (reader->bad)
		return;
	reader->bad = true;
	reader->bad_at = reader_offset(reader);
	reader->end = reader->position;
}

/* Fails where a number starts that is too large. */
static void fail_at(struct reader *reader, const unsigned char *start)
{
	if (!reader->bad)
		reader->position = start;
	reader_fail(reader);
}

/* Reads one group of seven bits. Returns false for a number's last group. */
static bool next_group(struct reader *reader, uint8_t *ret_bits)
{
	uint8_t byte = reader_u8(reader);

	*ret_bits = byte & 0x7f;
	return byte & 0x80;
}

uint64_t reader_uleb_long(struct reader *reader)
{
	const unsigned char *start = reader->position;
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t bits;
	bool more;

	do {
		more = next_group(reader, &bits);
		if ((shift >= 64 && bits != 0) || (shift == 63 && bits > 1))
			fail_at(reader, start);
		else if (shift < 64)
			value |= (uint64_t)bits << shift;
		if (shift < 64)
			shift += 7;
	} while (more && !reader->bad);
	if (reader->bad)
		return 0;
	return value;
}

int64_t reader_sleb(struct reader *reader)
{
	const unsigned char *start = reader->position;
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t bits, padding;
	bool more;

	do {
		more = next_group(reader, &bits);
		if (shift < 63) {
			value |= (uint64_t)bits << shift;
			shift += 7;
			continue;
		}
		if (shift == 63) {
			value |= (uint64_t)bits << 63;
			shift = 64;
		}
		padding = value >> 63 ? 0x7f : 0; /* the 64th bit and all padding repeat the sign */
		if (bits != padding)
			fail_at(reader, start);
	} while (more && !reader->bad);
	if (reader->bad)
		return 0;
	if (shift < 64 && bits & 0x40)
		value |= ~0ull << shift;
	return (int64_t)value;
}

const void *reader_bytes(struct reader *reader, size_t size)
{
	const unsigned char *bytes = reader->position;

	if (reader_left(reader) < size || reader->bad) {
		reader_fail(reader);
		return NULL;
	}
	if (size > 0)
		reader->position += size;
	return bytes;
}

const char *reader_string(struct reader *reader)
{
	size_t left = reader_left(reader);
	const unsigned char *nul = NULL;

	if (left > 0)
		nul = memchr(reader->position, 0, left);
	if (!nul) {
		reader_fail(reader);
		return NULL;
	}
	return reader_bytes(reader, (size_t)(nul - reader->position) + 1);
}

const char *reader_until(struct reader *reader, char stop, size_t *ret_length)
{
	size_t left = reader_left(reader), length = left, taken = left;
	const unsigned char *found = NULL;
	const char *bytes;

	if (left > 0)
		found = memchr(reader->position, stop, left);
	if (found) {
		length = (size_t)(found - reader->position);
		taken = length + 1;
	}
	*ret_length = 0;
	bytes = reader_bytes(reader, taken);
	if (bytes)
		*ret_length = length;
	return bytes;
}

void reader_skip(struct reader *reader, size_t size)
{
	reader_bytes(reader, size);
}

void reader_seek(struct reader *reader, size_t offset)
{
	if (offset > (size_t)(reader->end - reader->base))
		reader_fail(reader);
	else if (!reader->bad && offset > 0)
		reader->position = reader->base + offset;
	else if (!reader->bad)
		reader->position = reader->base;
}

struct reader reader_sub_failed(struct reader *reader)
{
	struct reader sub;

	reader_fail(reader);
	reader_init(&sub, NULL, 0);
	reader_fail(&sub);
	return sub;
}
