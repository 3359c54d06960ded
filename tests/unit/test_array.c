/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

static void test_array__items_survive_growth(void **state)
{
	uint32_t *items = NULL;
	size_t capacity = 0, grown = 0;

	(void)state;
	for (uint32_t i = 0; i < 10000; i++) {
		size_t before = capacity;

		assert_int_equal(ARRAY_RESERVE(items, capacity, i + 1), 0);
		grown += capacity != before;
		items[i] = i;
	}
	for (uint32_t i = 0; i < 10000; i++)
		assert_int_equal(items[i], i);
	assert_true(grown < 30);
	free(items);
}

static void test_array__room_for_all_that_was_asked(void **state)
{
	uint64_t *items = NULL;
	size_t capacity = 0;

	(void)state;
	assert_int_equal(ARRAY_RESERVE(items, capacity, 0), 0);
	assert_null(items);
	assert_int_equal(ARRAY_RESERVE(items, capacity, 5000), 0);
	assert_true(capacity >= 5000);
	items[4999] = 1;
	assert_int_equal(ARRAY_RESERVE(items, capacity, 10), 0);
	free(items);
}

static void test_array__too_much_changes_nothing(void **state)
{
	uint64_t *items = NULL, *before;
	size_t capacity = 0, same;

	(void)state;
	assert_int_equal(ARRAY_RESERVE(items, capacity, 4), 0);
	before = items;
	same = capacity;
	assert_int_equal(ARRAY_RESERVE(items, capacity, SIZE_MAX / 4), -EOVERFLOW);
	assert_int_equal(ARRAY_RESERVE(items, capacity, SIZE_MAX / 16 + 1), -EOVERFLOW);
	assert_ptr_equal(items, before);
	assert_int_equal(capacity, same);
	free(items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_array__items_survive_growth),
		cmocka_unit_test(test_array__room_for_all_that_was_asked),
		cmocka_unit_test(test_array__too_much_changes_nothing),
	};

	return cmocka_run_group_tests_name("array", tests, NULL, NULL);
}
