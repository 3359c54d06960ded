/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/chain.h"
#include "base/map.h"

#define KEY 7

struct item {
	struct chain chain;
	unsigned int bit;
};

static struct item items[3] = {{.bit = 1}, {.bit = 2}, {.bit = 4}};

static int setup(void **state)
{
	*state = map_new();
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(chain_add(*state, KEY, &items[i].chain), 0);
	return 0;
}

static int teardown(void **state)
{
	map_free(*state);
	return 0;
}

/* Returns the members of the chain, as the sum of their bits. */
static unsigned int there(const struct map *map)
{
	unsigned int sum = 0;

	for (const struct chain *at = map_get(map, KEY); at; at = at->next)
		sum += ((const struct item *)at)->bit;
	return sum;
}

static void test_chain__all_of_a_key_are_found(void **state)
{
	struct map *map = *state;

	assert_int_equal(there(map), 7);
	assert_int_equal(map_count(map), 1);
	assert_null(map_get(map, KEY + 1));
}

static void test_chain__removed_from_any_place(void **state)
{
	static const size_t orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
					   {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
	struct map *map = *state;

	for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
		unsigned int left = 7;

		for (size_t k = 0; k < 3; k++) {
			struct item *item = &items[orders[i][k]];

			chain_remove(map, KEY, &item->chain);
			left -= item->bit;
			assert_int_equal(there(map), left);
		}
		assert_int_equal(map_count(map), 0);
		for (size_t k = 0; k < 3; k++)
			assert_int_equal(chain_add(map, KEY, &items[k].chain), 0);
	}
}

static void test_chain__what_is_not_there_changes_nothing(void **state)
{
	struct item other = {.bit = 8};
	struct map *map = *state;

	chain_remove(map, KEY, &other.chain);
	chain_remove(map, KEY + 1, &items[0].chain);
	assert_int_equal(there(map), 7);
	chain_remove(map, KEY, &items[1].chain);
	chain_remove(map, KEY, &items[1].chain);
	assert_int_equal(there(map), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_chain__all_of_a_key_are_found, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_chain__removed_from_any_place, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_chain__what_is_not_there_changes_nothing,
						setup, teardown),
	};

	return cmocka_run_group_tests_name("chain", tests, NULL, NULL);
}
