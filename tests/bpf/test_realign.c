/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of functions that align their stack. The saves lie at rbp, apart from the CFA. */
#include "tests/bpf/scene.h"

#define SP (scene.reg[REG_RSP])

static void realigned_frame(void)
{
	scene.rule[1] = RULE_LAST;
	scene.reg[REG_RBP] = SP + 256;
	WORD(SP + 256) = 0xb0;
	WORD(SP + 248) = 0xb2;
	WORD(SP + 240) = 0xb3;
	WORD(SP + 224) = SP + 600; /* the caller's stack pointer before the call */
	WORD(SP + 592) = RETURN(1);
}

static void expect_realigned_frame(void)
{
	EXPECT(end_root, EXACT(scene.pc), RETURN(1));
	assert_int_equal(host.walk.reg[REG_RBP], 0xb0);
	assert_int_equal(host.walk.reg[REG_R12], 0xb2);
	assert_int_equal(host.walk.reg[REG_R13], 0xb3);
	assert_int_equal(host.walk.reg[REG_RBX], 0x1000 + REG_RBX);
	assert_int_equal(host.walk.reg[REG_RSP], SP + 600);
}

static void test_realign__frame_by_memory(void **state)
{
	(void)state;
	realigned_frame();
	scene.rule[0] = RULE(DRAP, 0, SLOT(0, 1) | SLOT(2, 2) | SLOT(3, 3), -32);
	expect_realigned_frame();
}

static void test_realign__frame_by_register(void **state)
{
	(void)state;
	realigned_frame();
	scene.rule[0] = RULE(REALIGN, REG_R10, SLOT(0, 1) | SLOT(2, 2) | SLOT(3, 3), 0);
	scene.reg[REG_R10] = SP + 600;
	expect_realigned_frame();
}

/* Slot 1 belongs to a register other than rbp, which was pushed before realigning. */
static void test_realign__push_before(void **state)
{
	(void)state;
	realigned_frame();
	WORD(SP + 584) = 0xb1;
	scene.rule[0] = RULE(DRAP, 0, SLOT(0, 1) | SLOT(1, 1) | SLOT(2, 2), -32);
	EXPECT(end_root, EXACT(scene.pc), RETURN(1));
	assert_int_equal(host.walk.reg[REG_RBP], 0xb0);
	assert_int_equal(host.walk.reg[REG_RBX], 0xb1);
	assert_int_equal(host.walk.reg[REG_R12], 0xb2);
}

/* Above the leaf all slots must still be on the stack. */
static void test_realign__slots_below_a_callers_stack_pointer_are_refused(void **state)
{
	(void)state;
	scene.rule[0] = RULE(SP, 0, 0, 8);
	scene.rule[1] = RULE(DRAP, 0, SLOT(2, 9), -8);
	scene.reg[REG_RBP] = SP + 64;
	WORD(SP) = RETURN(1);
	WORD(SP + 56) = SP + 600;
	EXPECT(cut_read, EXACT(scene.pc), RETURN(1));
}

/* The epilogue pops one register after the other, under the same rule. */
static void test_realign__leaf_that_has_popped(void **state)
{
	(void)state;
	realigned_frame();
	scene.rule[0] = RULE(REALIGN, REG_R10, SLOT(0, 1) | SLOT(2, 2) | SLOT(3, 3), 0);
	scene.reg[REG_R10] = SP + 600;
	SP += 256;
	EXPECT(end_root, EXACT(scene.pc), RETURN(1));
	assert_int_equal(host.walk.reg[REG_RBP], 0xb0);
	assert_int_equal(host.walk.reg[REG_R12], 0xb2);
	assert_int_equal(host.walk.reg[REG_R13], 0xb3);
}

/* Behind `leave` rbp is the caller's, which GCC's unwind information does not say. */
static void test_realign__leaf_behind_leave(void **state)
{
	static const u64 callers[] = {0x3333, 0, SCENE_STACK + 0x8000 - 8,
				      SCENE_STACK + 0x4000 + 600};

	for (u32 i = 0; i < sizeof(callers) / sizeof(callers[0]); i++) {
		scene_setup(state);
		realigned_frame();
		scene.rule[0] = RULE(REALIGN, REG_R10, SLOT(0, 1) | SLOT(2, 2) | SLOT(3, 3), 0);
		scene.reg[REG_R10] = SP + 600;
		scene.reg[REG_RBP] = callers[i];
		SP += 264;
		EXPECT(end_root, EXACT(scene.pc), RETURN(1));
		assert_int_equal(host.walk.reg[REG_RBP], callers[i]);
		assert_int_equal(host.walk.reg[REG_R12], 0x1000 + REG_R12);
		scene_teardown(state);
	}
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(test_realign__##name, scene_setup, scene_teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(frame_by_memory),	    TEST(frame_by_register),
		TEST(push_before),	    TEST(slots_below_a_callers_stack_pointer_are_refused),
		TEST(leaf_that_has_popped), TEST(leaf_behind_leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
