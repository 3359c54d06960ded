/* SPDX-License-Identifier: Apache-2.0 */
/* When a walk looks at the clock, and when it may go on past its deadline. */
#include "tests/bpf/scene.h"

#define SP (scene.reg[REG_RSP])

static void walk_without_end(void)
{
	scene.rule[0] = RULE(SP, 0, 0, 16);
	for (u32 i = 0; i < 1000; i++)
		WORD(SP + 16 * i + 8) = RETURN(0);
	host.clock_step = 600; /* of 1000 */
	scene_publish();
}

static void test_budget__cached_frames(void **state)
{
	(void)state;
	walk_without_end();
	scene_walk();
	assert_int_equal(host.walk.reason, REASON_cut_budget);
	assert_int_equal(walk_work(&host.walk), 2 * WALK_CLOCK_FRAMES);
	assert_true(host.walk.frames > WALK_CLOCK_FRAMES);
}

/* Frames that are looked up are dear: the clock is read more often. */
static void test_budget__misses(void **state)
{
	(void)state;
	walk_without_end();
	scene.rule[0] = RULE(NONE, 0, 0, 0);
	for (u32 i = 0; i < 1000; i++) {
		WORD(SP + 16 * i) = SP + 16 * (i + 1);
		WORD(SP + 16 * i + 8) = RETURN(0);
	}
	scene.reg[REG_RBP] = SP;
	scene_publish();
	scene_walk();
	assert_int_equal(host.walk.reason, REASON_cut_budget);
	assert_in_range(host.walk.frames, 2, 4);
}

/* A few walks may take longer, then one in so much time. */
static void test_budget__extended(void **state)
{
	(void)state;
	walk_without_end();
	host.walk.extended_at = 0 - WALK_EXTENSIONS * WALK_EXTEND_EVERY_NS;
	for (u32 i = 0; i < WALK_EXTENSIONS + 2; i++) {
		host.walk.extension = 1500;
		scene_walk();
		assert_int_equal(host.walk.reason, REASON_cut_budget);
		assert_int_equal(walk_work(&host.walk),
				 (i < WALK_EXTENSIONS ? 5 : 2) * WALK_CLOCK_FRAMES);
	}
	host.walk.extended_at -= WALK_EXTEND_EVERY_NS;
	host.walk.extension = 1500;
	scene_walk();
	assert_int_equal(walk_work(&host.walk), 5 * WALK_CLOCK_FRAMES);
	host.walk.extension = 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_budget__##name, scene_setup, scene_teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(cached_frames),
		TEST(misses),
		TEST(extended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
