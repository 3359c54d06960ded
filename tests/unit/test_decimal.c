/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/decimal.h"

static void test_decimal__reads(void **state)
{
	uint64_t value;
	uint32_t small;

	(void)state;
	assert_true(decimal_read("0", 0, 0, &value));
	assert_int_equal(value, 0);
	assert_true(decimal_read("007", 7, 7, &value));
	assert_int_equal(value, 7);
	assert_true(decimal_read("18446744073709551614", 0, UINT64_MAX - 1, &value));
	assert_true(value == UINT64_MAX - 1);
	assert_true(decimal_read32("4294967295", 1, UINT32_MAX, &small));
	assert_true(small == UINT32_MAX);
}

static void test_decimal__refuses(void **state)
{
	static const char *const bad[] = {
		"",
		" 1",
		"1 ",
		"+1",
		"-1",
		"0x1",
		"1.0",
		"one",
		"4294967296",
		"4294967297",
		"18446744073709551615",
		"18446744073709551617",
		"99999999999999999999999",
	};
	uint64_t value = 4711;
	uint32_t small = 4711;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_false(decimal_read(bad[i], 0, UINT32_MAX, &value));
		assert_false(decimal_read32(bad[i], 0, UINT32_MAX, &small));
	}
	assert_false(decimal_read("1", 2, 3, &value));
	assert_false(decimal_read32("4", 2, 3, &small));
	assert_int_equal(value, 4711);
	assert_int_equal(small, 4711);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decimal__reads),
		cmocka_unit_test(test_decimal__refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
