/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/columns.h"

#define JAPANESE "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e"
#define FACE	 "\xf0\x9f\x98\x80"

static void test_columns__of(void **state)
{
	(void)state;
	assert_int_equal(columns_of(""), 0);
	assert_int_equal(columns_of("nginx"), 5);
	assert_int_equal(columns_of("\xc3\xa4\xc3\xb6"), 2);
	assert_int_equal(columns_of(JAPANESE), 6);
	assert_int_equal(columns_of("a" FACE "b"), 4);
}

static void test_columns__fit(void **state)
{
	unsigned int used;

	(void)state;
	assert_int_equal(columns_fit("nginx", 3, &used), 3);
	assert_int_equal(used, 3);
	assert_int_equal(columns_fit("nginx", 9, &used), 5);
	assert_int_equal(used, 5);
	assert_int_equal(columns_fit(JAPANESE, 5, &used), 6);
	assert_int_equal(used, 4);
	assert_int_equal(columns_fit(FACE, 1, &used), 0);
	assert_int_equal(used, 0);
}

/* Names arrive here as valid UTF-8. An invalid name is never read beyond its end. */
static void test_columns__of_what_is_cut(void **state)
{
	unsigned int used;

	(void)state;
	assert_int_equal(columns_of("\xf0"), 1);
	assert_int_equal(columns_fit("\xe6\x97", 9, &used), 2);
	assert_int_equal(columns_fit("\xe6"
				     "a",
				     9, &used),
			 2);
	assert_int_equal(used, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns__of),
		cmocka_unit_test(test_columns__fit),
		cmocka_unit_test(test_columns__of_what_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
