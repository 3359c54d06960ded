/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/wire.h"

#define NUMBERS 64 /* of each length in bits */

static size_t put_number(unsigned char *to, uint64_t value)
{
	size_t size = 0;

	for (; value >= 0x80; value >>= 7)
		to[size++] = (unsigned char)(value | 0x80);
	to[size++] = (unsigned char)value;
	return size;
}

/* The bytes lie in a buffer of their size, so that a sanitizer sees the end. */
static void test_wire__numbers_of_every_length(void **state)
{
	unsigned char bytes[NUMBERS * 10];
	struct reader reader;
	size_t size = 0;

	(void)state;
	for (unsigned int bits = 0; bits < NUMBERS; bits++)
		size += put_number(bytes + size, ~0ull >> bits);
	for (size_t cut = 0; cut < size; cut++) {
		unsigned char *copy = malloc(size - cut);
		unsigned int bits = 0;
		struct reader same;

		memcpy(copy, bytes + cut, size - cut);
		reader_init(&reader, copy, size - cut);
		reader_init(&same, copy, size - cut);
		while (reader_left(&reader) > 0) {
			uint64_t number = wire_varint(&reader);

			assert_int_equal(number, reader_uleb(&same));
			assert_int_equal(reader_offset(&reader), reader_offset(&same));
			assert_int_equal(reader_failed(&reader), reader_failed(&same));
			if (cut == 0)
				assert_int_equal(number, ~0ull >> bits++);
		}
		free(copy);
	}
}

static void test_wire__numbers_that_do_not_end(void **state)
{
	static const unsigned char bytes[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
					      0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
	struct reader reader;

	(void)state;
	for (size_t size = 1; size <= sizeof(bytes); size++) {
		reader_init(&reader, bytes, size);
		assert_int_equal(wire_varint(&reader), 0);
		assert_true(reader_failed(&reader));
		assert_int_equal(reader_left(&reader), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wire__numbers_of_every_length),
		cmocka_unit_test(test_wire__numbers_that_do_not_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
