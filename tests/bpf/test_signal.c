/* SPDX-License-Identifier: Apache-2.0 */
/* Signal frames: everything comes from the ucontext, and the stack pointer may fall. */
#include "tests/bpf/scene.h"

#define SP	   (scene.reg[REG_RSP])
#define TRAMPOLINE FUNCTION(20)

/* Where uc_mcontext.gregs are in the ucontext, by number (REG_R8 = 0 ... of sys/ucontext.h). */
#define GREG(ucontext, number) WORD((ucontext) + 40 + 8 * (number))
enum {
	GREG_RDI = 8,
	GREG_RBP = 10,
	GREG_RBX = 11,
	GREG_RSP = 15,
	GREG_RIP = 16
};

static int setup(void **state)
{
	scene_setup(state);
	/* mov $15, %rax; syscall; glibc's unwind information begins one byte before */
	memcpy(scene_code(TRAMPOLINE), "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05", 9);
	scene.rule[19] = scene.rule[20] = RULE_MAKE(RULE_SIGNAL, 0, 0, 0, RULE_FLAG_SIGNAL);
	scene.rule[0] = RULE(SP, 0, 0, 8);
	scene.rule[1] = RULE_LAST;
	host.executable = SCENE_TEXT;
	host.executable_end = SCENE_TEXT_END;
	return 0;
}

/* The context that a signal at pc and sp left at `ucontext`; other registers by number. */
static void interrupted(u64 ucontext, u64 pc, u64 sp)
{
	for (u32 i = 0; i < 15; i++)
		GREG(ucontext, i) = 0x2000 + i;
	GREG(ucontext, GREG_RSP) = sp;
	GREG(ucontext, GREG_RIP) = pc;
}

static void test_signal__frame(void **state)
{
	static const u32 order[15] = {REG_R8,  REG_R9,	REG_R10, REG_R11, REG_R12,
				      REG_R13, REG_R14, REG_R15, REG_RDI, REG_RSI,
				      REG_RBP, REG_RBX, REG_RDX, REG_RAX, REG_RCX};

	(void)state;
	WORD(SP) = TRAMPOLINE;
	interrupted(SP + 8, FUNCTION(1), SP + 1000);
	EXPECT(end_root, EXACT(scene.pc), TRAMPOLINE, EXACT(FUNCTION(1)));
	for (u32 i = 0; i < 15; i++)
		assert_int_equal(host.walk.reg[order[i]], 0x2000 + i);
	assert_int_equal(host.walk.reg[REG_RSP], SP + 1000);
}

/*
 * An interrupted function is a leaf again: any register, slots below its stack pointer, its own pc.
 */
static void test_signal__interrupted_frame_is_a_leaf(void **state)
{
	u64 sp = SP + 1024;

	(void)state;
	WORD(SP) = TRAMPOLINE;
	interrupted(SP + 8, FUNCTION(2), sp);
	GREG(SP + 8, GREG_RDI) = sp + 64;
	scene.rule[1] = RULE(SP, 0, 0, 800); /* of the byte before its pc */
	scene.rule[2] = RULE(REG, REG_RDI, SLOT(1, 12), 8);
	scene.rule[3] = RULE_LAST;
	WORD(sp + 64) = RETURN(3);
	WORD(sp + 64 - 96) = 0xb0b;
	EXPECT(end_root, EXACT(scene.pc), TRAMPOLINE, EXACT(FUNCTION(2)), RETURN(3));
	assert_int_equal(host.walk.reg[REG_RBX], 0xb0b);
}

static void test_signal__on_a_lower_alternate_stack(void **state)
{
	u64 sp = SCENE_STACK_END - 64;

	(void)state;
	SP = SCENE_STACK + 256;
	WORD(SP) = TRAMPOLINE;
	interrupted(SP + 8, FUNCTION(2), sp);
	scene.rule[2] = RULE(SP, 0, 0, 16);
	WORD(sp + 8) = RETURN(1);
	EXPECT(end_root, EXACT(scene.pc), TRAMPOLINE, EXACT(FUNCTION(2)), RETURN(1));
}

static void test_signal__on_a_higher_alternate_stack(void **state)
{
	u64 sp = SCENE_STACK + 64;

	(void)state;
	WORD(SP) = TRAMPOLINE;
	interrupted(SP + 8, FUNCTION(2), sp);
	scene.rule[2] = RULE(SP, 0, SLOT(1, 3), 16);
	WORD(sp - 16) = 0xb0b;
	WORD(sp + 8) = RETURN(1);
	EXPECT(end_root, EXACT(scene.pc), TRAMPOLINE, EXACT(FUNCTION(2)), RETURN(1));
	assert_int_equal(host.walk.reg[REG_RBX], 0xb0b);
}

/* `depth` handlers, each interrupted by the next; the innermost is the leaf. */
static void nest(u32 depth)
{
	u64 sp = SP;

	for (u32 i = 0; i < depth; i++) {
		WORD(sp) = TRAMPOLINE;
		interrupted(sp + 8, i + 1 == depth ? FUNCTION(1) : scene.pc, sp + 400);
		sp += 400;
	}
}

static void expect_nested(u32 depth, u32 signals, u32 reason)
{
	u64 frames[32];
	u32 count = 0;

	for (u32 i = 0; i < signals; i++) {
		frames[count++] = EXACT(scene.pc);
		frames[count++] = TRAMPOLINE;
	}
	frames[count++] = reason == REASON_end_root ? EXACT(FUNCTION(1)) : EXACT(scene.pc);
	if (reason != REASON_end_root)
		frames[count++] = TRAMPOLINE;
	nest(depth);
	scene_expect(__FILE__, __LINE__, reason, count, frames);
}

static void test_signal__nested(void **state)
{
	(void)state;
	expect_nested(2, 2, REASON_end_root);
	expect_nested(3, 3, REASON_end_root);
	expect_nested(WALK_SWITCHES, WALK_SWITCHES, REASON_end_root);
}

static void test_signal__limit(void **state)
{
	(void)state;
	expect_nested(WALK_SWITCHES + 1, WALK_SWITCHES, REASON_cut_stack_order);
}

/* The limit ends a walk through a context that leads back to itself. */
static void test_signal__loop(void **state)
{
	(void)state;
	WORD(SP) = TRAMPOLINE;
	interrupted(SP + 8, scene.pc, SP);
	scene_publish();
	scene_walk();
	assert_int_equal(host.walk.reason, REASON_cut_stack_order);
	assert_int_equal(host.walk.frames, 2 * WALK_SWITCHES + 2);
}

/* In the trampoline: before either instruction, and in the kernel behind the second. */
static void test_signal__leaf_in_the_trampoline(void **state)
{
	(void)state;
	interrupted(SP, FUNCTION(1), SP + 1000);
	scene.pc = TRAMPOLINE;
	EXPECT(end_root, EXACT(TRAMPOLINE), EXACT(FUNCTION(1)));
	scene.pc = TRAMPOLINE + 7;
	EXPECT(end_root, EXACT(TRAMPOLINE + 7), EXACT(FUNCTION(1)));
	scene.pc = TRAMPOLINE + 9;
	EXPECT(end_root, EXACT(TRAMPOLINE + 9), EXACT(FUNCTION(1)));
	scene.pc = TRAMPOLINE + 3;
	EXPECT(cut_not_a_call, EXACT(TRAMPOLINE + 3));
}

static void test_signal__leaf_behind_the_trampoline(void **state)
{
	u64 code = FUNCTION(21) - 9;

	(void)state;
	memcpy(scene_code(code), "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05", 9);
	scene.pc = FUNCTION(21);
	interrupted(SP, FUNCTION(1), SP + 1000);
	scene_publish();
	walk_init(&host.walk);
	memcpy(host.walk.reg, scene.reg, sizeof(scene.reg));
	host.walk.address = scene.pc;
	host.walk.in_sigreturn = 1;
	host_walk();
	assert_int_equal(host.walk.reason, REASON_end_root);
	assert_int_equal(host.frame[0], EXACT(scene.pc));
	assert_int_equal(host.frame[1], EXACT(FUNCTION(1)));
}

/* A table could call any code a trampoline, to have a stack read as registers. */
static void test_signal__other_code_is_refused(void **state)
{
	(void)state;
	WORD(SP) = RETURN(20);
	interrupted(SP + 8, FUNCTION(1), SP + 1000);
	EXPECT(cut_not_a_call, EXACT(scene.pc));
	WORD(SP) = TRAMPOLINE + 7;
	EXPECT(cut_not_a_call, EXACT(scene.pc));
}

static void test_signal__unreadable_context(void **state)
{
	(void)state;
	SP = SCENE_STACK_END - 64;
	WORD(SP) = TRAMPOLINE;
	EXPECT(cut_read, EXACT(scene.pc), TRAMPOLINE);
}

static void test_signal__interrupted_outside_of_user_space(void **state)
{
	(void)state;
	WORD(SP) = TRAMPOLINE;
	interrupted(SP + 8, 0xffffffff81000000ull, SP + 1000);
	EXPECT(cut_not_a_call, EXACT(scene.pc), TRAMPOLINE);
	interrupted(SP + 8, 0, SP + 1000); /* called through a null pointer */
	EXPECT(cut_not_a_call, EXACT(scene.pc), TRAMPOLINE);
}

/* The context is memory like any other: its pc is emitted only if it is an address of code. */
static void test_signal__interrupted_outside_of_code(void **state)
{
	(void)state;
	WORD(SP) = TRAMPOLINE;
	interrupted(SP + 8, 0x123456789abc, SP + 1000);
	EXPECT(cut_not_a_call, EXACT(scene.pc), TRAMPOLINE);
	interrupted(SP + 8, SCENE_STACK, SP + 1000);
	EXPECT(cut_not_a_call, EXACT(scene.pc), TRAMPOLINE);
	interrupted(SP + 8, SCENE_TEXT_END, SP + 1000);
	EXPECT(cut_not_a_call, EXACT(scene.pc), TRAMPOLINE);
	/* code without a known mapping */
	host.executable_end = SCENE_TEXT_END + 4096;
	EXPECT(cut_no_mapping, EXACT(scene.pc), TRAMPOLINE, EXACT(SCENE_TEXT_END));
}

/* A frame-pointer chain below a signal frame says nothing about the frames above. */
static void test_signal__ends_a_chain(void **state)
{
	u64 bp = SP + 64;

	(void)state;
	scene.rule[0] = 0;
	scene.reg[REG_RBP] = bp;
	WORD(bp) = 0;
	WORD(bp + 8) = RETURN(2);
	scene.rule[2] = RULE(SP, 0, 0, 8);
	WORD(bp + 16) = TRAMPOLINE;
	interrupted(bp + 24, FUNCTION(3), SP + 1000);
	GREG(bp + 24, GREG_RBP) = 0;
	WORD(SP + 1000) = 1;
	EXPECT(cut_no_rule, EXACT(scene.pc), RETURN(2), TRAMPOLINE, EXACT(FUNCTION(3)));
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_signal__##name, setup, scene_teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(frame),
		TEST(interrupted_frame_is_a_leaf),
		TEST(on_a_lower_alternate_stack),
		TEST(on_a_higher_alternate_stack),
		TEST(nested),
		TEST(limit),
		TEST(loop),
		TEST(leaf_in_the_trampoline),
		TEST(leaf_behind_the_trampoline),
		TEST(other_code_is_refused),
		TEST(unreadable_context),
		TEST(interrupted_outside_of_user_space),
		TEST(interrupted_outside_of_code),
		TEST(ends_a_chain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
