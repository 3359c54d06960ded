/* SPDX-License-Identifier: Apache-2.0 */
/* Code made at run time without a frame pointer, whose return address is found in its frame. */
#include "tests/bpf/scene.h"

#define SP	 (scene.reg[REG_RSP])
#define GUESS(a) ((a) | FRAME_GUESSED)
#define NATIVE	 32u /* the first function that is not made at run time */
#define CALLER	 40u /* calls the code, and has a rule */

static struct mapping_entry entries[2];

static int setup(void **state)
{
	scene_setup(state);
	/* call *%rax */
	memcpy(scene_code(RETURN(CALLER) - 5), "\x90\x90\x90\xff\xd0", 5);
	scene.rule[CALLER] = RULE(SP, 0, 0, 32);
	scene.rule[CALLER + 1] = RULE_LAST;
	return 0;
}

/* The caller has called the code, whose frame has so many words. */
static void call_with(u32 words)
{
	WORD(SP + words * 8ull) = RETURN(CALLER);
	WORD(SP + words * 8ull + 32) = RETURN(CALLER + 1);
}

/* Publishes the first functions as code made at run time, and the others as an object's. */
static void publish(void)
{
	scene_publish();
	entries[0] = entries[1] = scene.mapping;
	entries[0].end = entries[1].start = FUNCTION(NATIVE);
	entries[0].flags = 0;
	host.walk.block = build_block(&host.build, entries, 2);
	host.walk.mappings = 2;
}

static void expect(u32 reason, u32 count, const u64 *frames)
{
	publish();
	for (u32 lap = 0; lap < 2; lap++) {
		scene_walk();
		assert_int_equal(walk_result(&host.walk), reason);
		assert_int_equal(host.walk.frames, count);
		for (u32 i = 0; i < count; i++)
			assert_int_equal(host.frame[i], frames[i]);
	}
}

#define FOUND                        \
	expect(REASON_guess_root, 3, \
	       (const u64[]){EXACT(scene.pc), GUESS(RETURN(CALLER)), RETURN(CALLER + 1)})
#define CUT expect(REASON_cut_no_rule, 1, (const u64[]){EXACT(scene.pc)})

/* sljit's frame: variables with pointers into texts, and five registers. */
static void test_found__behind_variables(void **state)
{
	(void)state;
	for (u32 i = 0; i < 26; i++)
		WORD(SP + i * 8ull) = 0x7fa1e7879b00ull + i;
	WORD(SP + 8) = 3;
	WORD(SP + 24) = SP + 0x200;
	WORD(SP + 32) = ~0ull;
	call_with(26);
	FOUND;
}

static void test_found__without_a_variable(void **state)
{
	(void)state;
	call_with(0);
	FOUND;
}

static void test_found__at_the_end_of_what_is_read(void **state)
{
	(void)state;
	call_with(127);
	FOUND;
}

/* The pointer to the code's arguments, at which no frame is. */
static void test_found__rbp_points_into_the_stack(void **state)
{
	(void)state;
	scene.reg[REG_RBP] = SP + 0x108;
	call_with(26);
	FOUND;
}

/* Direct calls lead elsewhere. Code made at run time has its own calls. */
static void test_found__other_addresses_are_none(void **state)
{
	(void)state;
	WORD(SP + 8) = RETURN(CALLER + 2);
	WORD(SP + 16) = FUNCTION(CALLER) + 8;
	WORD(SP + 24) = RETURN(3);
	memcpy(scene_code(RETURN(3) - 5), "\x90\x90\x90\xff\xd0", 5);
	call_with(20);
	FOUND;
}

static void test_found__too_far(void **state)
{
	(void)state;
	call_with(128);
	CUT;
}

static void test_found__too_many_addresses(void **state)
{
	(void)state;
	for (u32 i = 0; i < 64; i++)
		WORD(SP + i * 8ull) = 0x7fa1e7879b00ull + i;
	call_with(64);
	CUT;
}

static void test_found__nothing(void **state)
{
	(void)state;
	CUT;
}

static void test_found__stack_that_is_not_aligned(void **state)
{
	(void)state;
	call_with(4);
	SP += 4;
	CUT;
}

static void test_found__stack_that_cannot_be_read(void **state)
{
	(void)state;
	SP = SCENE_STACK_END - 64;
	WORD(SP + 8) = RETURN(CALLER);
	CUT;
}

/* An object's code without rules has rules around it: nothing is looked for. */
static void test_found__code_of_an_object(void **state)
{
	(void)state;
	scene.pc = FUNCTION(NATIVE) + 8;
	call_with(4);
	CUT;
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_found__##name, setup, scene_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(behind_variables),		  TEST(without_a_variable),
		TEST(at_the_end_of_what_is_read), TEST(rbp_points_into_the_stack),
		TEST(other_addresses_are_none),	  TEST(too_far),
		TEST(too_many_addresses),	  TEST(nothing),
		TEST(stack_that_is_not_aligned),  TEST(stack_that_cannot_be_read),
		TEST(code_of_an_object),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
