/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"

static void test_intern__equal_bytes_have_equal_ids(void **state)
{
	struct intern *intern = intern_new();

	(void)state;
	assert_int_equal(intern_count(intern), 1);
	assert_int_equal(intern_find(intern, "a", 1), 0);
	assert_int_equal(intern_string(intern, ""), 0);
	assert_int_equal(intern_string(intern, "a"), 1);
	assert_int_equal(intern_string(intern, "b"), 2);
	assert_int_equal(intern_add(intern, "a\0", 2), 3);
	assert_int_equal(intern_string(intern, "a"), 1);
	assert_int_equal(intern_add(intern, "a\0", 2), 3);
	assert_int_equal(intern_count(intern), 4);
	assert_int_equal(intern_find(intern, "b", 1), 2);
	assert_int_equal(intern_find(intern, "", 0), 0);
	assert_int_equal(intern_find(intern, "c", 1), 0);
	assert_int_equal(intern_count(intern), 4);
	intern_free(intern);
}

static void test_intern__bytes_come_back_terminated_and_aligned(void **state)
{
	struct intern *intern = intern_new();
	const unsigned char *bytes;
	size_t size;

	(void)state;
	intern_string(intern, "x");
	bytes = intern_get(intern, intern_add(intern, "\1\2\0\3", 4), &size);
	assert_int_equal(size, 4);
	assert_memory_equal(bytes, "\1\2\0\3\0", 5);
	assert_int_equal((uintptr_t)bytes % 8, 0);
	intern_free(intern);
}

static void test_intern__unknown_ids_are_the_empty_string(void **state)
{
	struct intern *intern = intern_new();
	size_t size = 1;

	(void)state;
	assert_string_equal(intern_get(intern, 0, &size), "");
	assert_int_equal(size, 0);
	assert_string_equal(intern_get(intern, 77, NULL), "");
	assert_string_equal(intern_get(intern, INTERN_FAILED, NULL), "");
	intern_free(intern);
}

static void test_intern__what_was_returned_never_moves(void **state)
{
	struct intern *intern = intern_new();
	const char *first = intern_get(intern, intern_string(intern, "first"), NULL);
	char text[32];

	(void)state;
	for (uint32_t i = 0; i < 100000; i++) {
		snprintf(text, sizeof(text), "name %u", i);
		assert_int_equal(intern_string(intern, text), i + 2);
	}
	for (uint32_t i = 0; i < 100000; i++) {
		snprintf(text, sizeof(text), "name %u", i);
		assert_int_equal(intern_string(intern, text), i + 2);
		assert_string_equal(intern_get(intern, i + 2, NULL), text);
	}
	assert_ptr_equal(intern_get(intern, 1, NULL), first);
	assert_string_equal(first, "first");
	intern_free(intern);
}

static void test_intern__large_items_among_small_ones(void **state)
{
	struct intern *intern = intern_new();
	size_t large = 200000, size;
	char *bytes = malloc(large);

	(void)state;
	for (uint32_t i = 0; i < 20; i++) {
		memset(bytes, 'a' + (int)i, large);
		assert_int_equal(intern_add(intern, bytes, large), 2 * i + 1);
		assert_int_equal(intern_add(intern, bytes, 10), 2 * i + 2);
		assert_memory_equal(intern_get(intern, 2 * i + 1, &size), bytes, large);
		assert_int_equal(size, large);
	}
	free(bytes);
	intern_free(intern);
}

static void test_intern__free_accepts_null(void **state)
{
	(void)state;
	intern_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_intern__equal_bytes_have_equal_ids),
		cmocka_unit_test(test_intern__bytes_come_back_terminated_and_aligned),
		cmocka_unit_test(test_intern__unknown_ids_are_the_empty_string),
		cmocka_unit_test(test_intern__what_was_returned_never_moves),
		cmocka_unit_test(test_intern__large_items_among_small_ones),
		cmocka_unit_test(test_intern__free_accepts_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
