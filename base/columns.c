/* SPDX-License-Identifier: Apache-2.0 */
#include "base/columns.h"

#include <stdint.h>

/* Unicode 15, EastAsianWidth.txt: W and F in whole blocks. What is narrow there costs a column. */
static const struct {
	uint32_t first, last;
} wide[] = {
	{0x1100, 0x115f},   {0x231a, 0x23ff},	{0x25fd, 0x27bf}, {0x2b1b, 0x2b55},
	{0x2e80, 0xa4cf},   {0xa960, 0xa97c},	{0xac00, 0xd7a3}, {0xf900, 0xfaff},
	{0xfe10, 0xfe6f},   {0xff01, 0xff60},	{0xffe0, 0xffe6}, {0x16fe0, 0x1b2ff},
	{0x1f000, 0x1faff}, {0x20000, 0x3fffd},
};

/* Of one character, and its columns; text is valid UTF-8. */
static size_t character(const char *text, unsigned int *ret_columns)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t length = *at < 0x80 ? 1 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;
	uint32_t code = length == 1 ? *at : *at & (0x7fu >> length);

	for (size_t i = 1; i < length; i++) {
		if ((at[i] & 0xc0) != 0x80) {
			length = i;
			break;
		}
		code = code << 6 | (at[i] & 0x3f);
	}
	*ret_columns = 1;
	for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
		if (code >= wide[i].first && code <= wide[i].last)
			*ret_columns = 2;
	return length;
}

unsigned int columns_of(const char *text)
{
	unsigned int columns, sum = 0;

	for (; *text; sum += columns)
		text += character(text, &columns);
	return sum;
}

size_t columns_fit(const char *text, unsigned int room, unsigned int *ret_used)
{
	const char *end = text;
	unsigned int columns;

	*ret_used = 0;
	while (*end) {
		size_t length = character(end, &columns);

		if (columns > room - *ret_used)
			break;
		*ret_used += columns;
		end += length;
	}
	return (size_t)(end - text);
}
