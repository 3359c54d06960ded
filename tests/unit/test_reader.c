/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/reader.h"

#define READER(...)                                                  \
	({                                                           \
		static const unsigned char bytes_[] = {__VA_ARGS__}; \
		struct reader reader_;                               \
		reader_init(&reader_, bytes_, sizeof(bytes_));       \
		reader_;                                             \
	})

static void test_reader__numbers_are_little_endian(void **state)
{
	struct reader reader = READER(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);

	(void)state;
	assert_int_equal(reader_u8(&reader), 1);
	assert_int_equal(reader_u16(&reader), 0x0302);
	assert_int_equal(reader_u32(&reader), 0x07060504);
	assert_true(reader_u64(&reader) == 0x0f0e0d0c0b0a0908);
	assert_int_equal(reader_left(&reader), 0);
	assert_false(reader_failed(&reader));
}

static void test_reader__a_failure_sticks_and_nothing_moves(void **state)
{
	struct reader reader = READER(1, 2, 3);

	(void)state;
	reader_u8(&reader);
	assert_int_equal(reader_u32(&reader), 0);
	assert_true(reader_failed(&reader));
	assert_int_equal(reader.bad_at, 1);
	assert_int_equal(reader_u8(&reader), 0);
	assert_int_equal(reader_u16(&reader), 0);
	assert_true(reader_u64(&reader) == 0);
	assert_true(reader_uleb(&reader) == 0);
	assert_true(reader_sleb(&reader) == 0);
	assert_null(reader_bytes(&reader, 0));
	assert_null(reader_string(&reader));
	reader_seek(&reader, 0);
	reader_skip(&reader, 1);
	assert_int_equal(reader_offset(&reader), 1);
	assert_int_equal(reader.bad_at, 1);
}

static void test_reader__no_bytes_at_all(void **state)
{
	struct reader reader;
	size_t length;

	(void)state;
	reader_init(&reader, NULL, 0);
	assert_int_equal(reader_left(&reader), 0);
	reader_seek(&reader, 0);
	reader_skip(&reader, 0);
	reader_until(&reader, 'x', &length);
	assert_int_equal(length, 0);
	assert_false(reader_failed(&reader));
	assert_null(reader_string(&reader));
	assert_true(reader_failed(&reader));
}

static void test_reader__unsigned_leb(void **state)
{
	struct reader reader = READER(0, 0x7f, 0x80, 1, 0xe5, 0x8e, 0x26, 0x80, 0x80, 0);
	struct reader most = READER(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1);
	struct reader padded =
		READER(0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0);

	(void)state;
	assert_true(reader_uleb(&reader) == 0);
	assert_true(reader_uleb(&reader) == 127);
	assert_true(reader_uleb(&reader) == 128);
	assert_true(reader_uleb(&reader) == 624485);
	assert_true(reader_uleb(&reader) == 0);
	assert_false(reader_failed(&reader));
	assert_true(reader_uleb(&most) == UINT64_MAX);
	assert_true(reader_uleb(&padded) == 1);
	assert_false(reader_failed(&padded));
}

static void test_reader__unsigned_leb_too_long_or_cut(void **state)
{
	struct reader big = READER(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2);
	struct reader bigger =
		READER(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x81, 1);
	struct reader cut = READER(0x80, 0x80);

	(void)state;
	assert_true(reader_uleb(&big) == 0);
	assert_true(reader_failed(&big));
	assert_int_equal(big.bad_at, 0);
	assert_true(reader_uleb(&bigger) == 0);
	assert_true(reader_failed(&bigger));
	assert_true(reader_uleb(&cut) == 0);
	assert_true(reader_failed(&cut));
}

static void test_reader__signed_leb(void **state)
{
	struct reader reader = READER(0, 0x3f, 0x40, 0x7f, 0x80, 1, 0x80, 0x7f, 0xff, 0x7f);
	struct reader least = READER(0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f);
	struct reader most = READER(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0);
	struct reader big = READER(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1);
	struct reader padded =
		READER(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f);
	struct reader cut = READER(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff);

	(void)state;
	assert_true(reader_sleb(&reader) == 0);
	assert_true(reader_sleb(&reader) == 63);
	assert_true(reader_sleb(&reader) == -64);
	assert_true(reader_sleb(&reader) == -1);
	assert_true(reader_sleb(&reader) == 128);
	assert_true(reader_sleb(&reader) == -128);
	assert_true(reader_sleb(&reader) == -1);
	assert_false(reader_failed(&reader));
	assert_true(reader_sleb(&least) == INT64_MIN);
	assert_true(reader_sleb(&most) == INT64_MAX);
	assert_true(reader_sleb(&big) == 0);
	assert_true(reader_failed(&big));
	assert_true(reader_sleb(&padded) == -1);
	assert_false(reader_failed(&padded));
	assert_true(reader_sleb(&cut) == 0);
	assert_true(reader_failed(&cut));
	assert_int_equal(reader_left(&cut), 0);
}

static void test_reader__strings_end_in_nul_within_the_bytes(void **state)
{
	struct reader reader = READER('a', 'b', 0, 0, 'c');

	(void)state;
	assert_string_equal(reader_string(&reader), "ab");
	assert_string_equal(reader_string(&reader), "");
	assert_null(reader_string(&reader));
	assert_true(reader_failed(&reader));
	assert_int_equal(reader.bad_at, 4);
}

static void test_reader__until_a_stop_or_the_end(void **state)
{
	struct reader reader = READER('a', 'b', '\n', '\n', 'c');
	size_t length;

	(void)state;
	assert_memory_equal(reader_until(&reader, '\n', &length), "ab", 2);
	assert_int_equal(length, 2);
	assert_non_null(reader_until(&reader, '\n', &length));
	assert_int_equal(length, 0);
	assert_memory_equal(reader_until(&reader, '\n', &length), "c", 1);
	assert_int_equal(length, 1);
	assert_int_equal(reader_left(&reader), 0);
	assert_false(reader_failed(&reader));
}

static void test_reader__seek_goes_anywhere_inside(void **state)
{
	struct reader reader = READER(1, 2, 3);

	(void)state;
	reader_seek(&reader, 2);
	assert_int_equal(reader_u8(&reader), 3);
	reader_seek(&reader, 0);
	assert_int_equal(reader_u8(&reader), 1);
	reader_seek(&reader, 3);
	assert_false(reader_failed(&reader));
	reader_seek(&reader, 4);
	assert_true(reader_failed(&reader));
}

static void test_reader__sub_readers_are_bounded(void **state)
{
	struct reader reader = READER(1, 2, 3, 4);
	struct reader sub, failed;

	(void)state;
	reader_u8(&reader);
	sub = reader_sub(&reader, 2);
	assert_int_equal(reader_offset(&sub), 0);
	assert_int_equal(reader_u16(&sub), 0x0302);
	assert_int_equal(reader_u8(&sub), 0);
	assert_true(reader_failed(&sub));
	assert_int_equal(reader_u8(&reader), 4);
	failed = reader_sub(&reader, 1);
	assert_true(reader_failed(&failed));
	assert_true(reader_failed(&reader));
}

static void test_reader__sizes_near_the_limit_do_not_wrap(void **state)
{
	struct reader reader = READER(1, 2, 3);

	(void)state;
	reader_u8(&reader);
	assert_null(reader_bytes(&reader, SIZE_MAX));
	assert_true(reader_failed(&reader));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reader__numbers_are_little_endian),
		cmocka_unit_test(test_reader__a_failure_sticks_and_nothing_moves),
		cmocka_unit_test(test_reader__no_bytes_at_all),
		cmocka_unit_test(test_reader__unsigned_leb),
		cmocka_unit_test(test_reader__unsigned_leb_too_long_or_cut),
		cmocka_unit_test(test_reader__signed_leb),
		cmocka_unit_test(test_reader__strings_end_in_nul_within_the_bytes),
		cmocka_unit_test(test_reader__until_a_stop_or_the_end),
		cmocka_unit_test(test_reader__seek_goes_anywhere_inside),
		cmocka_unit_test(test_reader__sub_readers_are_bounded),
		cmocka_unit_test(test_reader__sizes_near_the_limit_do_not_wrap),
	};

	return cmocka_run_group_tests_name("reader", tests, NULL, NULL);
}
