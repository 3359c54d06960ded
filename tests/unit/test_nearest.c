/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "base/nearest.h"

static const char *const names[] = {"record", "report", "check", "check-config", "help", NULL};

static void test_nearest__one_letter_is_wrong(void **state)
{
	(void)state;
	assert_string_equal(nearest("recrd", names), "record");
	assert_string_equal(nearest("recordd", names), "record");
	assert_string_equal(nearest("rwcord", names), "record");
	assert_string_equal(nearest("ercord", names), "record");
	assert_string_equal(nearest("hlep", names), "help");
	assert_string_equal(nearest("repot", names), "report");
	assert_string_equal(nearest("check-cfg", names), "check-config");
	assert_string_equal(nearest("record", names), "record");
}

static void test_nearest__what_is_far_is_none(void **state)
{
	char text[64] = {0};

	(void)state;
	assert_null(nearest("", names));
	assert_null(nearest("x", names));
	assert_null(nearest("flamegraph", names));
	assert_null(nearest("--", names));
	/* at the greatest length, and above */
	for (size_t length = 28; length < sizeof(text); length++) {
		memset(text, 'r', length);
		assert_null(nearest(text, names));
	}
}

static void test_nearest__a_long_name_is_left_out(void **state)
{
	static const char *const long_one[] = {"abcdefghijklmnopqrstuvwxyzabcdefghij", "abc", NULL};

	(void)state;
	assert_string_equal(nearest("abd", long_one), "abc");
	assert_null(nearest("abcdefghijklmnopqrstuvwxyzabcdefghij", long_one));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nearest__one_letter_is_wrong),
		cmocka_unit_test(test_nearest__what_is_far_is_none),
		cmocka_unit_test(test_nearest__a_long_name_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
