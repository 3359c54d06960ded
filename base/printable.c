/* SPDX-License-Identifier: Apache-2.0 */
#include "base/printable.h"

/* First bytes of sequences, and the second bytes that may follow (RFC 3629, section 4). */
static const struct {
	unsigned char first, last, least, most;
	size_t length;
} sequences[] = {
	{0xc2, 0xc2, 0xa0, 0xbf, 2}, /* without the control characters U+0080 to U+009F */
	{0xc3, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
	{0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
	{0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
};

static bool is_plain(unsigned char byte)
{
	return (byte >= ' ' && byte < 0x7f) || byte == '\n' || byte == '\t';
}

/* Returns whether the byte may be at this place of a sequence, from 1 on. */
static bool may_follow(size_t row, size_t place, unsigned char byte)
{
	if (place == 1)
		return byte >= sequences[row].least && byte <= sequences[row].most;
	return byte >= 0x80 && byte <= 0xbf;
}

/*
 * Returns the bytes of the character that begins here, or 0 when none does. A length beyond `size`
 * means that the bytes so far may begin a character.
 */
static size_t length_of(const unsigned char *bytes, size_t size)
{
	for (size_t row = 0; row < sizeof(sequences) / sizeof(sequences[0]); row++) {
		if (bytes[0] < sequences[row].first || bytes[0] > sequences[row].last)
			continue;
		for (size_t i = 1; i < sequences[row].length && i < size; i++)
			if (!may_follow(row, i, bytes[i]))
				return 0;
		return sequences[row].length;
	}
	return is_plain(bytes[0]);
}

size_t printable_mask(unsigned char *bytes, size_t size, bool more)
{
	size_t at = 0;

	while (at < size) {
		const size_t length = length_of(bytes + at, size - at);
		const bool is_cut = length > size - at;

		if (is_cut && more)
			break;
		if (length == 0 || is_cut)
			bytes[at++] = '?';
		else
			at += length;
	}
	return at;
}
