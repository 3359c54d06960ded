/* SPDX-License-Identifier: Apache-2.0 */
/* The first half says which getters are called, the second half is read. */
#include <stdint.h>
#include <stdlib.h>

#include "base/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void call(struct reader *reader, uint8_t what)
{
	struct reader sub = reader_sub(reader, what % 8 == 7 ? what / 8 : 0);
	size_t length;

	reader_u16(&sub);
	if (what % 8 == 1)
		reader_uleb(reader);
	else if (what % 8 == 2)
		reader_sleb(reader);
	else if (what % 8 == 3)
		reader_string(reader);
	else if (what % 8 == 4)
		reader_until(reader, (char)(what / 8), &length);
	else if (what % 8 == 5)
		reader_skip(reader, what / 8);
	else if (what % 8 == 6)
		reader_seek(reader, what / 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reader reader;

	reader_init(&reader, data + size / 2, size - size / 2);
	for (size_t i = 0; i < size / 2; i++)
		call(&reader, data[i]);
	return reader_offset(&reader) > size ? abort(), 0 : 0;
}
