/* SPDX-License-Identifier: Apache-2.0 */
/* A walk's looks at the clock, and walks that go on past the deadline. */
#include "tests/bpf/scene.h"

#define SP (scene.reg[REG_RSP])

static void walk_without_end(u32 frame_bytes)
{
	scene.rule[0] = RULE(SP, 0, 0, frame_bytes);
	for (u64 at = SP + frame_bytes; at <= SCENE_STACK_END; at += frame_bytes)
		WORD(at - 8) = RETURN(0);
	host.clock_step = 600; /* of 1000 */
	scene_publish();
}

/* Expects so many looks. The work between two looks may end with a read. */
static void expect_looks(u32 looks)
{
	assert_int_equal(host.walk.reason, REASON_cut_budget);
	assert_in_range(walk_work(&host.walk), looks * WALK_CLOCK_FRAMES,
			looks * (WALK_CLOCK_FRAMES + WALK_READ_FRAMES));
}

static void test_budget__cached_frames(void **state)
{
	(void)state;
	walk_without_end(16);
	scene_walk();
	scene_walk();
	expect_looks(2);
	assert_true(host.walk.frames > WALK_CLOCK_FRAMES);
}

/* Frames with a cached rule, but each far from the one before: the stack is read anew. */
static void test_budget__frames_far_apart(void **state)
{
	(void)state;
	walk_without_end(WALK_WINDOW_BYTES);
	scene_walk();
	scene_walk();
	expect_looks(2);
	assert_int_equal(host.walk.misses, 0);
	assert_in_range(host.walk.frames, 2, 5);
}

/* Frames from the tables are dear: the walk looks at the clock more often. */
static void test_budget__misses(void **state)
{
	(void)state;
	walk_without_end(16);
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
	walk_without_end(16);
	host.walk.extended_at = 0 - WALK_EXTENSIONS * WALK_EXTEND_EVERY_NS;
	for (u32 i = 0; i < WALK_EXTENSIONS + 2; i++) {
		host.walk.extension = 1500;
		scene_walk();
		expect_looks(i < WALK_EXTENSIONS ? 5 : 2);
	}
	host.walk.extended_at -= WALK_EXTEND_EVERY_NS;
	host.walk.extension = 1500;
	scene_walk();
	expect_looks(5);
	host.walk.extension = 0;
}

/* A hypervisor's time is not the walk's work: the walk is forgiven so many times. */
static void test_budget__stall(void **state)
{
	(void)state;
	walk_without_end(16);
	scene_walk();
	host.clock_step = WALK_STALL_NS + 1;
	scene_walk();
	expect_looks(1);
	scene.forgiving = WALK_STALLS;
	scene_walk();
	expect_looks(1 + WALK_STALLS);
	scene.forgiving = 0;
	host.clock_step = WALK_STALL_NS / 2;
	scene_walk();
	expect_looks(1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_budget__##name, scene_setup, scene_teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(cached_frames), TEST(frames_far_apart), TEST(misses), TEST(extended),
		TEST(stall),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
