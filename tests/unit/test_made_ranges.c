/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of made code: a later one takes the addresses of earlier ones, in any order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "worker/made/ranges.h"

#define SPACE 4096u

static int add(struct made_ranges *ranges, uint64_t start, uint32_t size, uint32_t place)
{
	const struct made_range range = {start, size, place};

	return made_ranges_add(ranges, &range);
}

/* Returns the place of the range at an address, or 0. */
static uint32_t find(const struct made_ranges *ranges, uint64_t address)
{
	struct made_range range;

	if (!made_ranges_find(ranges, address, &range))
		return 0;
	assert_true(address >= range.start && address - range.start < range.size);
	return range.place;
}

static void test_made_ranges__later_wins(void **state)
{
	size_t all = 0;
	struct made_ranges *ranges = made_ranges_new(100, &all);

	(void)state;
	assert_int_equal(find(ranges, 5), 0);
	assert_int_equal(add(ranges, 0x1000, 0x100, 1), 0);
	assert_int_equal(add(ranges, 0x1040, 0x40, 2), 0); /* within the first */
	assert_int_equal(made_ranges_count(ranges), 3);
	assert_int_equal(find(ranges, 0x103f), 1);
	assert_int_equal(find(ranges, 0x1040), 2);
	assert_int_equal(find(ranges, 0x1080), 1);
	assert_int_equal(find(ranges, 0x1100), 0);
	assert_int_equal(add(ranges, 0xff0, 0x20, 3), 0); /* the start of the first */
	assert_int_equal(find(ranges, 0x100f), 3);
	assert_int_equal(find(ranges, 0x1010), 1);
	assert_int_equal(add(ranges, 0x900, 0x1000, 4), 0); /* all of them */
	assert_int_equal(made_ranges_count(ranges), 1);
	assert_int_equal(all, 1);
	assert_int_equal(find(ranges, 0x1050), 4);
	made_ranges_clear(ranges);
	assert_int_equal(find(ranges, 0x1050), 0);
	assert_int_equal(all, 0);
	made_ranges_free(ranges);
}

static void test_made_ranges__bounds(void **state)
{
	size_t all = 0;
	struct made_ranges *ranges = made_ranges_new(4, &all);

	(void)state;
	assert_int_equal(add(ranges, 0x1000, 0, 1), -EINVAL);
	assert_int_equal(add(ranges, 0x1000, MADE_SIZE_MAX + 1, 1), -EINVAL);
	assert_int_equal(add(ranges, MADE_ADDRESS_END, 1, 1), -EINVAL);
	assert_int_equal(add(ranges, MADE_ADDRESS_END - 1, 2, 1), -EINVAL);
	assert_int_equal(add(ranges, UINT64_MAX, 2, 1), -EINVAL);
	assert_int_equal(add(ranges, MADE_ADDRESS_END - 1, 1, 7), 0);
	assert_int_equal(find(ranges, MADE_ADDRESS_END - 1), 7);
	assert_int_equal(add(ranges, 1, 1, 1), 0);
	assert_int_equal(add(ranges, 3, 1, 1), 0);
	assert_int_equal(add(ranges, 5, 1, 1), -E2BIG); /* room for a cut is kept */
	assert_int_equal(made_ranges_count(ranges), 3);
	made_ranges_free(ranges);
	assert_int_equal(all, 0);
}

/* Compares with an array that has an entry for each address. */
static void test_made_ranges__as_an_array(void **state)
{
	static uint32_t array[SPACE];
	size_t all = 0;
	struct made_ranges *ranges = made_ranges_new(100000, &all);

	(void)state;
	srand(7);
	for (uint32_t place = 1; place <= 20000; place++) {
		const uint32_t start = (uint32_t)rand() % SPACE;
		uint32_t size = 1 + (uint32_t)rand() % (place % 50 ? 4 : 300);

		if (size > SPACE - start)
			size = SPACE - start;
		assert_int_equal(add(ranges, start, size, place), 0);
		for (uint32_t i = start; i < start + size; i++)
			array[i] = place;
		if (place % 500 == 0)
			for (uint32_t i = 0; i < SPACE; i++)
				assert_int_equal(find(ranges, i), array[i]);
	}
	assert_int_equal(made_ranges_count(ranges), all);
	assert_true(all > 512); /* several pages */
	made_ranges_free(ranges);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_made_ranges__later_wins),
		cmocka_unit_test(test_made_ranges__bounds),
		cmocka_unit_test(test_made_ranges__as_an_array),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
