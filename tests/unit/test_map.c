/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/map.h"

#define MANY 20000u

static char values[MANY];

static void test_map__any_key_can_be_put_got_and_replaced(void **state)
{
	static const uint64_t keys[] = {0, 1, 16, ~0ull, 1ull << 63};
	struct map *map = map_new();

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		assert_null(map_get(map, keys[i]));
		assert_int_equal(map_put(map, keys[i], &values[i]), 0);
		assert_ptr_equal(map_get(map, keys[i]), &values[i]);
	}
	assert_int_equal(map_put(map, 0, &values[9]), 0);
	assert_ptr_equal(map_get(map, 0), &values[9]);
	assert_int_equal(map_count(map), 5);
	map_free(map);
}

static void test_map__removed_keys_are_gone_and_others_stay(void **state)
{
	struct map *map = map_new();

	(void)state;
	assert_null(map_remove(map, 5));
	for (uint64_t key = 0; key < MANY; key++)
		assert_int_equal(map_put(map, key, &values[key]), 0);
	for (uint64_t key = 0; key < MANY; key += 2)
		assert_ptr_equal(map_remove(map, key), &values[key]);
	assert_null(map_remove(map, 0));
	for (uint64_t key = 0; key < MANY; key++)
		assert_ptr_equal(map_get(map, key), key % 2 ? &values[key] : NULL);
	assert_int_equal(map_count(map), MANY / 2);
	map_free(map);
}

/* Tombstones must neither fill the table nor make it grow. */
static void test_map__a_few_keys_that_come_and_go_for_long(void **state)
{
	struct map *map = map_new();

	(void)state;
	for (uint64_t key = 0; key < 50 * MANY; key++) {
		assert_int_equal(map_put(map, key, &values[0]), 0);
		if (key >= 7)
			assert_non_null(map_remove(map, key - 7));
	}
	assert_int_equal(map_count(map), 7);
	map_free(map);
}

static void test_map__a_walk_sees_each_entry_once_and_may_remove_it(void **state)
{
	struct map *map = map_new();
	size_t cursor = 0, seen = 0;
	uint64_t key, sum = 0;
	void *value;

	(void)state;
	assert_false(map_next(map, &cursor, &key, &value));
	for (uint64_t i = 0; i < 1000; i++)
		map_put(map, i, &values[i]);
	cursor = 0;
	while (map_next(map, &cursor, &key, &value)) {
		assert_ptr_equal(value, &values[key]);
		sum += key;
		seen++;
		if (key % 3 == 0)
			assert_ptr_equal(map_remove(map, key), value);
	}
	assert_int_equal(seen, 1000);
	assert_int_equal(sum, 999 * 1000 / 2);
	assert_int_equal(map_count(map), 666);
	map_free(map);
}

static void test_map__free_accepts_null(void **state)
{
	(void)state;
	map_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_map__any_key_can_be_put_got_and_replaced),
		cmocka_unit_test(test_map__removed_keys_are_gone_and_others_stay),
		cmocka_unit_test(test_map__a_few_keys_that_come_and_go_for_long),
		cmocka_unit_test(test_map__a_walk_sees_each_entry_once_and_may_remove_it),
		cmocka_unit_test(test_map__free_accepts_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
