/* SPDX-License-Identifier: Apache-2.0 */
/* Code that no unwind information describes: leaf return address, then frame pointers. */
#include "tests/bpf/scene.h"

#define SP (scene.reg[REG_RSP])
#define BP (scene.reg[REG_RBP])

/* A frame-pointer frame at `at`: its caller's rbp and return address. */
static void frame(u64 at, u64 saved, u64 return_address)
{
	WORD(at) = saved;
	WORD(at + 8) = return_address;
}

static void test_fallback__chain_ends_with_zero(void **state)
{
	(void)state;
	BP = SP + 64;
	frame(SP + 64, SP + 128, RETURN(1));
	frame(SP + 128, SP + 800, RETURN(2));
	frame(SP + 800, 0, RETURN(3));
	EXPECT(end_frame_pointer, EXACT(scene.pc), RETURN(1), RETURN(2), RETURN(3));
	assert_int_equal(host.walk.fallbacks, 4);
}

static void test_fallback__chain_ends_with_two_zeros(void **state)
{
	(void)state;
	BP = SP + 64;
	frame(SP + 64, SP + 128, RETURN(1));
	frame(SP + 128, 0, 0);
	EXPECT(end_frame_pointer, EXACT(scene.pc), RETURN(1));
}

/* The rules of this code have no room. The walk tries nothing else. */
static void test_fallback__no_room_for_the_table(void **state)
{
	(void)state;
	scene.mapping.flags = MAPPING_NO_ROOM;
	EXPECT(cut_no_room, EXACT(scene.pc));
}

/* The function has pushed rbp and moved rsp to rbp a moment ago. */
static void test_fallback__frame_at_the_stack_pointer(void **state)
{
	(void)state;
	BP = SP;
	frame(SP, 0, RETURN(1));
	EXPECT(end_frame_pointer, EXACT(scene.pc), RETURN(1));
}

static void bad_frame_pointer(void **state, u64 bp, u64 saved, u64 return_address)
{
	scene_setup(state);
	BP = bp;
	frame(SP + 64, saved, return_address);
	EXPECT(cut_no_rule, EXACT(scene.pc));
	scene_teardown(state);
}

static void test_fallback__garbage_in_rbp(void **state)
{
	u64 sp = SCENE_STACK + 0x4000, good = sp + 64;

	bad_frame_pointer(state, 0, 0, RETURN(1));
	bad_frame_pointer(state, 0x12345, 0, RETURN(1));
	bad_frame_pointer(state, sp - 16, 0, RETURN(1));
	bad_frame_pointer(state, good + 1, 0, RETURN(1));
	bad_frame_pointer(state, good + 4, 0, RETURN(1));
	bad_frame_pointer(state, SCENE_STACK_END - 8, 0, RETURN(1));
	bad_frame_pointer(state, sp + WALK_REACH, 0, RETURN(1));
	bad_frame_pointer(state, ~0ull - 7, 0, RETURN(1));
	bad_frame_pointer(state, RETURN(1), 0, RETURN(1));
	/* the link does not rise */
	bad_frame_pointer(state, good, good, RETURN(1));
	bad_frame_pointer(state, good, good - 16, RETURN(1));
	bad_frame_pointer(state, good, 1, RETURN(1));
	/* not a return address */
	bad_frame_pointer(state, good, good + 64, 0);
	bad_frame_pointer(state, good, good + 64, 5);
	bad_frame_pointer(state, good, good + 64, FUNCTION(1) + 0x80);
	bad_frame_pointer(state, good, good + 64, SCENE_TEXT_END + 64);
	bad_frame_pointer(state, good, good + 64, 0xffffffff81000000ull);
	bad_frame_pointer(state, good, 0, good);
}

/* A leaf that has no frame: rbp is its caller's. */
static void test_fallback__leaf_return_address(void **state)
{
	(void)state;
	WORD(SP) = RETURN(1);
	BP = SP + 64;
	frame(SP + 64, SP + 128, RETURN(2));
	frame(SP + 128, 0, RETURN(3));
	EXPECT(end_frame_pointer, EXACT(scene.pc), RETURN(1), RETURN(2), RETURN(3));
}

/* Only a leaf's return address may lie at the stack pointer. */
static void test_fallback__no_leaf_above_the_leaf(void **state)
{
	(void)state;
	scene.rule[0] = RULE(SP, 0, 0, 8);
	WORD(SP) = RETURN(1);
	WORD(SP + 8) = RETURN(2);
	BP = SP + 64;
	frame(SP + 64, 0, RETURN(3));
	EXPECT(end_frame_pointer, EXACT(scene.pc), RETURN(1), RETURN(3));
}

static void test_fallback__misaligned_leaf_uses_the_frame_pointer(void **state)
{
	(void)state;
	BP = SP + 64;
	frame(SP + 64, 0, RETURN(1));
	SP += 4;
	EXPECT(end_frame_pointer, EXACT(scene.pc), RETURN(1));
}

static void test_fallback__unreadable_leaf(void **state)
{
	(void)state;
	SP = SCENE_STACK_END;
	EXPECT(cut_no_rule, EXACT(scene.pc));
}

/* Callee-saved registers survive a leaf, so rules above the leaf still work. */
static void test_fallback__rules_above_a_leaf(void **state)
{
	(void)state;
	WORD(SP) = RETURN(1);
	scene.rule[1] = RULE(REG, REG_RBX, SLOT(0, 1), 16);
	scene.rule[2] = RULE_LAST;
	scene.reg[REG_RBX] = SP + 400;
	WORD(SP + 400) = 0xb1;
	WORD(SP + 408) = RETURN(2);
	EXPECT(end_root, EXACT(scene.pc), RETURN(1), RETURN(2));
	assert_int_equal(host.walk.reg[REG_RBP], 0xb1);
}

/* Behind a frame pointer only rbp and rsp are known, until a rule restores more. */
static void test_fallback__rules_above_a_frame_pointer(void **state)
{
	(void)state;
	BP = SP + 64;
	frame(SP + 64, SP + 128, RETURN(1));
	scene.rule[1] = RULE(BP, 0, SLOT(0, 1), 16);
	scene.rule[2] = RULE(REG, REG_RBX, 0, 16);
	scene.reg[REG_RBX] = SP + 400;
	frame(SP + 128, 0xb1, RETURN(2));
	WORD(SP + 408) = RETURN(3);
	EXPECT(cut_unsupported, EXACT(scene.pc), RETURN(1), RETURN(2));
	scene.rule[1] = RULE(BP, 0, SLOT(0, 1) | SLOT(1, 2), 16);
	scene.rule[3] = RULE_LAST;
	WORD(SP + 120) = SP + 400;
	EXPECT(end_root, EXACT(scene.pc), RETURN(1), RETURN(2), RETURN(3));
	assert_int_equal(host.walk.reg[REG_RBP], 0xb1);
}

/* A zero ends a chain only as a link of a chain. */
static void test_fallback__zero_that_no_frame_saved(void **state)
{
	(void)state;
	BP = 0;
	scene.rule[0] = RULE(SP, 0, 0, 8);
	WORD(SP) = RETURN(1);
	EXPECT(cut_no_rule, EXACT(scene.pc), RETURN(1));
}

/* A C library without tables: main program with rules, _start has cleared rbp. */
static void test_fallback__library_without_tables_between_rules(void **state)
{
	(void)state;
	BP = SP + 64;
	frame(SP + 64, SP + 200, RETURN(10)); /* no rules: a library function with a frame */
	scene.rule[10] = RULE(BP, 0, SLOT(0, 1), 16);
	scene.rule[11] = RULE(SP, 0, SLOT(0, 1), 48);
	frame(SP + 200, 0xabc, RETURN(11));
	frame(SP + 216 + 32, 0, RETURN(12));
	scene.rule[12] = RULE_LAST;
	EXPECT(end_root, EXACT(scene.pc), RETURN(10), RETURN(11), RETURN(12));
}

static void test_fallback__mapping_without_table(void **state)
{
	(void)state;
	scene.mapping.flags = 0;
	scene.rule[0] = RULE_LAST; /* must not be read */
	BP = SP + 64;
	WORD(SP) = RETURN(1);
	frame(SP + 64, 0, RETURN(2));
	EXPECT(end_frame_pointer, EXACT(scene.pc), RETURN(1), RETURN(2));
}

static void test_fallback__call_in_the_first_bytes_of_a_mapping(void **state)
{
	(void)state;
	*scene_code(SCENE_TEXT + 4) = 0xe8;
	scene.pc = FUNCTION(3);
	WORD(SP) = SCENE_TEXT + 9;
	scene.rule[0] = RULE_LAST;
	EXPECT(end_root, EXACT(scene.pc), SCENE_TEXT + 9);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(test_fallback__##name, scene_setup, scene_teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(chain_ends_with_zero),
		TEST(chain_ends_with_two_zeros),
		TEST(no_room_for_the_table),
		TEST(frame_at_the_stack_pointer),
		TEST(garbage_in_rbp),
		TEST(leaf_return_address),
		TEST(no_leaf_above_the_leaf),
		TEST(misaligned_leaf_uses_the_frame_pointer),
		TEST(unreadable_leaf),
		TEST(rules_above_a_leaf),
		TEST(rules_above_a_frame_pointer),
		TEST(zero_that_no_frame_saved),
		TEST(library_without_tables_between_rules),
		TEST(mapping_without_table),
		TEST(call_in_the_first_bytes_of_a_mapping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
