/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ipc/messages.h"
#include "ipc/time.h"
#include "loader/chance.h"

#define DRAWS 20000u

static void test_chance__none_is_left_without_a_threshold(void **state)
{
	const struct message_chance given = {.interval = 60};
	struct chance chance = {0};

	(void)state;
	assert_false(chance_turn(&chance, &given, 1));
	assert_false(chance.resting);
	assert_int_equal(chance.until, UINT64_MAX);
	assert_false(chance_turn(&chance, &given, UINT64_MAX));
}

static void test_chance__one_draw_an_interval(void **state)
{
	const struct message_chance given = {.threshold = 50, .interval = 2};
	struct chance chance = {0};
	const uint64_t now = NS_PER_SECOND;

	(void)state;
	assert_true(chance_turn(&chance, &given, now));
	assert_int_equal(chance.until, now + 2 * NS_PER_SECOND);
	assert_false(chance_turn(&chance, &given, chance.until - 1));
	assert_true(chance_turn(&chance, &given, chance.until));
}

/* Beyond five standard deviations, which are 1.8 % at most, no run in a million is. */
static void test_chance__draws_have_the_share_of_the_threshold(void **state)
{
	static const uint32_t thresholds[] = {1, 25, 50, 99};

	(void)state;
	for (size_t i = 0; i < sizeof(thresholds) / sizeof(thresholds[0]); i++) {
		const struct message_chance given = {.threshold = thresholds[i], .interval = 1};
		struct chance chance = {0};
		unsigned int sampled = 0;

		for (unsigned int draw = 0; draw < DRAWS; draw++) {
			assert_true(chance_turn(&chance, &given, chance.until));
			sampled += !chance.resting;
		}
		assert_in_range(sampled * 1000 + 18 * DRAWS, thresholds[i] * 10 * DRAWS,
				(thresholds[i] * 10 + 36) * DRAWS);
		assert_in_range(sampled, 1, DRAWS - 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chance__none_is_left_without_a_threshold),
		cmocka_unit_test(test_chance__one_draw_an_interval),
		cmocka_unit_test(test_chance__draws_have_the_share_of_the_threshold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
