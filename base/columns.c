/* SPDX-License-Identifier: Apache-2.0 */
#include "base/columns.h"

#include <stdint.h>

/*
 * Unicode 15, EastAsianWidth.txt: W and F, rounded up to whole blocks. A narrow character of such a
 * block costs a column too many.
 */
static const struct {
	uint32_t first, last;
} wide[] = {
	{0x1100, 0x115f},   {0x231a, 0x23ff},	{0x25fd, 0x27bf}, {0x2b1b, 0x2b55},
	{0x2e80, 0xa4cf},   {0xa960, 0xa97c},	{0xac00, 0xd7a3}, {0xf900, 0xfaff},
	{0xfe10, 0xfe6f},   {0xff01, 0xff60},	{0xffe0, 0xffe6}, {0x16fe0, 0x1b2ff},
	{0x1f000, 0x1faff}, {0x20000, 0x3fffd},
};

/* Returns the bytes of a character of valid UTF-8, by its first byte. */
static size_t character_length(unsigned char first)
{
	if (first < 0x80)
		return 1;
	if (first < 0xe0)
		return 2;
	if (first < 0xf0)
		return 3;
	return 4;
}

static unsigned int code_columns(uint32_t code)
{
	for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
		if (code >= wide[i].first && code <= wide[i].last)
			return 2;
	return 1;
}

/* Returns the bytes of the character that text begins with; text is valid UTF-8. */
static size_t measure_character(const char *text, unsigned int *ret_columns)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t length = character_length(*at);
	uint32_t code = *at;

	if (length > 1)
		code &= 0x7fu >> length;
	for (size_t i = 1; i < length; i++) {
		if ((at[i] & 0xc0) != 0x80) {
			length = i;
			break;
		}
		code = code << 6 | (at[i] & 0x3f);
	}
	*ret_columns = code_columns(code);
	return length;
}

unsigned int columns_of(const char *text)
{
	unsigned int columns, sum = 0;

	while (*text) {
		text += measure_character(text, &columns);
		sum += columns;
	}
	return sum;
}

size_t columns_fit(const char *text, unsigned int room, unsigned int *ret_used)
{
	const char *end = text;
	unsigned int columns;

	*ret_used = 0;
	while (*end) {
		size_t length = measure_character(end, &columns);

		if (columns > room - *ret_used)
			break;
		*ret_used += columns;
		end += length;
	}
	return (size_t)(end - text);
}
