/* SPDX-License-Identifier: Apache-2.0 */
/* The ways of Go's runtime from stack to stack, over structures as Go 1.26 has them. */
#include "tests/bpf/scene.h"

#define SP     (scene.reg[REG_RSP]) /* the thread's stack: the upper half of the scene's */
#define THREAD 0x7f0000001000ull
#define M      0xc000100000ull
#define G0     0xc000200000ull
#define G      0xc000300000ull
#define LOW    SCENE_STACK /* the goroutine's stack */
#define HIGH   (SCENE_STACK + 0x2000)
#define LEFT   (SCENE_STACK + 0x1000) /* where the goroutine left it */

#define GO_RULE(kind, words, operand, saved)                                                       \
	RULE_MAKE(RULE_SWITCH, GO_SWITCH_##kind, GO_SWITCH_OPERANDS(words, 1, operand, saved), -8, \
		  0)

static struct {
	u64 local[2], m[25], system[14], goroutine[14];
} go;

static void region(u32 number, u64 start, const void *data, u64 bytes)
{
	host.region[number] = (struct host_region){start, bytes, data};
}

static int setup(void **state)
{
	scene_setup(state);
	memset(&go, 0, sizeof(go));
	host.thread = THREAD;
	host.no_switches = false;
	host.executable = SCENE_TEXT;
	host.executable_end = SCENE_TEXT_END;
	region(2, THREAD - 8, go.local, sizeof(go.local));
	region(3, M, go.m, sizeof(go.m));
	region(4, G0, go.system, sizeof(go.system));
	region(5, G, go.goroutine, sizeof(go.goroutine));
	go.local[0] = G0;
	go.m[0] = G0;
	go.m[GO_CURRENT_125 / 8] = G;
	go.system[48 / 8] = go.goroutine[48 / 8] = M;
	go.goroutine[0] = LOW;
	go.goroutine[1] = HIGH;
	go.goroutine[56 / 8] = LEFT;
	go.goroutine[64 / 8] = RETURN(9);
	go.goroutine[72 / 8] = G;
	go.goroutine[96 / 8] = 0xb00;
	/* the leaf is called by the runtime's function 1, whose caller is 2 */
	scene.rule[0] = RULE(SP, 0, 0, 8);
	WORD(SP) = RETURN(1);
	scene.rule[2] = RULE_LAST;
	return 0;
}

#define EXPECT_CROSSED() EXPECT(end_root, EXACT(scene.pc), RETURN(1), RETURN(2))
#define EXPECT_REFUSED() EXPECT(cut_stack_order, EXACT(scene.pc), RETURN(1))
#define EXPECT_ROOT()	 EXPECT(end_root, EXACT(scene.pc), RETURN(1))

static void test_go__systemstack(void **state)
{
	(void)state;
	scene.rule[1] = GO_RULE(SYSTEM, 1, 0, 1);
	WORD(LEFT) = 0xb0b;
	WORD(LEFT + 8) = RETURN(2);
	EXPECT_CROSSED();
	assert_int_equal(host.walk.reg[REG_RSP], LEFT + 16);
	assert_int_equal(host.walk.reg[REG_RBP], 0xb0b);
	scene.rule[1] = GO_RULE(SYSTEM, 0, 0, 0);
	WORD(LEFT) = RETURN(2);
	EXPECT_CROSSED();
	assert_int_equal(host.walk.reg[REG_RBP], 0xb00);
}

/* Go 1.24 has two offsets more by 8. */
static void test_go__the_older_layout(void **state)
{
	(void)state;
	scene.rule[1] =
		RULE_MAKE(RULE_SWITCH, GO_SWITCH_SYSTEM, GO_SWITCH_OPERANDS(0, 0, 0, 0), -8, 0);
	WORD(LEFT) = RETURN(2);
	EXPECT_REFUSED();
	go.m[GO_CURRENT_116 / 8] = G;
	go.goroutine[104 / 8] = 0xb01;
	EXPECT_CROSSED();
	assert_int_equal(host.walk.reg[REG_RBP], 0xb01);
}

/* Any word that does not agree, wherever the worker leads the walk, has the same outcome. */
static void test_go__structures_must_agree(void **state)
{
	static u64 *const words[] = {
		&go.local[0],	  &go.m[0],	    &go.system[48 / 8],	  &go.m[GO_CURRENT_125 / 8],
		&go.goroutine[6], &go.goroutine[9], &go.goroutine[56 / 8]};
	static const u64 others[] = {0, 1, M, G, THREAD - 8, LEFT, SCENE_TEXT};

	scene.rule[1] = GO_RULE(SYSTEM, 0, 0, 0);
	for (u32 i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		for (u32 j = 0; j < sizeof(others) / sizeof(others[0]); j++) {
			scene_teardown(state);
			setup(state);
			scene.rule[1] = GO_RULE(SYSTEM, 0, 0, 0);
			WORD(LEFT) = RETURN(2);
			EXPECT_CROSSED();
			if (*words[i] == others[j] || (i < 2 && others[j] == G))
				continue; /* any goroutine of the thread leads to it and agrees */
			*words[i] = others[j];
			EXPECT_REFUSED();
		}
	}
}

static void test_go__thread_local_offsets_are_bounded(void **state)
{
	static const s64 offsets[] = {0, 8, -4, -4104, -(1 << 23), 1 << 22};

	(void)state;
	for (u32 i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		scene.rule[1] = RULE_MAKE(RULE_SWITCH, GO_SWITCH_SYSTEM,
					  GO_SWITCH_OPERANDS(0, 1, 0, 0), offsets[i], 0);
		region(2, THREAD + (u64)offsets[i], go.local, sizeof(go.local));
		WORD(LEFT) = RETURN(2);
		EXPECT_REFUSED();
	}
}

#define LIBRARY_WORD 0x1000ull /* number of a word of the object */

/* The dynamic linker has told a library the offset, in a word of its data. */
static void test_go__a_library(void **state)
{
	static u64 word;
	static const u64 others[] = {0,		8, (u64)-4, (u64)-4104, 1ull << 32 | 0xfffffff8,
				     SCENE_TEXT};

	(void)state;
	region(6, SCENE_BIAS + LIBRARY_WORD * 8, &word, sizeof(word));
	scene.rule[1] =
		RULE_MAKE(RULE_SWITCH, GO_SWITCH_SYSTEM,
			  GO_SWITCH_OPERANDS(0, 1, 0, 0) | GO_SWITCH_IN_WORD, LIBRARY_WORD, 0);
	WORD(LEFT) = RETURN(2);
	word = (u64)-8;
	EXPECT_CROSSED();
	for (u32 i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		word = others[i];
		EXPECT_REFUSED();
	}
	word = (u64)-8;
	region(6, 0, NULL, 0);
	EXPECT_REFUSED();
}

/* The stack pointer that a goroutine has saved is one of its own stack. */
static void test_go__the_stack_is_the_goroutines(void **state)
{
	(void)state;
	scene.rule[1] = GO_RULE(SYSTEM, 0, 0, 0);
	for (u32 i = 0; i < 3; i++) {
		go.goroutine[56 / 8] = (u64[]){LOW - 8, HIGH, LEFT + 4}[i];
		EXPECT_REFUSED();
	}
}

static void test_go__morestack(void **state)
{
	s32 back = (s32)(FUNCTION(1) - RETURN(9));

	(void)state;
	scene.rule[1] = GO_RULE(GROW, 0, 0, 0);
	scene.rule[9] = RULE(SP, 0, 0, 8);
	memcpy(scene_code(RETURN(9) - 4), &back, 4);
	WORD(LEFT) = RETURN(2);
	EXPECT(end_root, EXACT(scene.pc), RETURN(1), RETURN(9), RETURN(2));
	/* a goroutine that waits elsewhere is not the one that began this stack */
	back += 0x100000;
	memcpy(scene_code(RETURN(9) - 4), &back, 4);
	EXPECT_ROOT();
	go.m[GO_CURRENT_125 / 8] = 0;
	EXPECT_ROOT();
}

static void test_go__mcall(void **state)
{
	(void)state;
	scene.rule[1] = GO_RULE(LEAVE, 0, 0, 0);
	scene.rule[9] = RULE(SP, 0, 0, 8);
	WORD(SP + 8) = G;
	WORD(LEFT) = RETURN(2);
	EXPECT(end_root, EXACT(scene.pc), RETURN(1), RETURN(9), RETURN(2));
	WORD(SP + 8) = G + 0x1000; /* the thread is about to go on with another one */
	EXPECT_ROOT();
	WORD(SP + 8) = G;
	go.goroutine[48 / 8] = 0; /* no thread runs it any more */
	EXPECT_ROOT();
}

static void test_go__c_called_from_go(void **state)
{
	(void)state;
	scene.rule[1] = GO_RULE(CGO, 1, 5, 1);
	WORD(SP + 8 + 40) = G;
	WORD(SP + 8 + 32) = HIGH - LEFT;
	go.goroutine[56 / 8] = 0; /* a callback left its own */
	WORD(LEFT) = 0xb0b;
	WORD(LEFT + 8) = RETURN(2);
	EXPECT_CROSSED();
	WORD(SP + 8 + 32) = 0;
	EXPECT_REFUSED();
	WORD(SP + 8 + 32) = HIGH - LOW + 8;
	EXPECT_REFUSED();
	WORD(SP + 8 + 32) = HIGH - LEFT;
	WORD(SP + 8 + 40) = G0;
	EXPECT_REFUSED();
}

/* Two callbacks, and C between them. */
static void test_go__go_called_from_c(void **state)
{
	u64 first = SCENE_STACK + 0x6000, second = SCENE_STACK + 0x7000;

	(void)state;
	scene.rule[1] = GO_RULE(CALLBACK, 4, 0, 1);
	scene.rule[3] = RULE(SP, 0, 0, 8);
	go.system[56 / 8] = first;
	WORD(first) = second;
	WORD(first + 24) = 0xb0b;
	WORD(first + 32) = RETURN(3);
	WORD(first + 40) = RETURN(1);
	WORD(second) = 0;
	WORD(second + 24) = 0xb0c;
	WORD(second + 32) = RETURN(2);
	EXPECT(end_root, EXACT(scene.pc), RETURN(1), RETURN(3), RETURN(1), RETURN(2));
	assert_int_equal(host.walk.reg[REG_RBP], 0xb0c);
	/* no callback before lies below, or far away */
	WORD(first) = first - 8;
	EXPECT_REFUSED();
	WORD(first) = first + WALK_REACH;
	EXPECT_REFUSED();
	go.system[56 / 8] = first + 4;
	EXPECT_REFUSED();
}

static void test_go__clocks(void **state)
{
	(void)state;
	scene.reg[REG_R12] = LEFT;
	scene.rule[1] = GO_RULE(KEPT, 3, REG_R12, 1);
	WORD(LEFT + 16) = 0xb0b;
	WORD(LEFT + 24) = RETURN(2);
	EXPECT_CROSSED();
	scene.reg[REG_R12] = SP + 64; /* no switch: the function ran on this stack */
	WORD(SP + 64 + 24) = RETURN(2);
	EXPECT_CROSSED();
	scene.reg[REG_R12] = HIGH + 8;
	EXPECT_REFUSED();
	scene.rule[1] = GO_RULE(KEPT, 3, REG_RAX, 1);
	EXPECT(cut_unsupported, EXACT(scene.pc), RETURN(1));
}

static void test_go__asynchronous_preemption(void **state)
{
	(void)state;
	scene.rule[1] = GO_RULE(INTERRUPTED, 2, 0, 1);
	WORD(SP + 16) = 0xb0b;
	WORD(SP + 24) = FUNCTION(2) + 3; /* behind no call */
	EXPECT(end_root, EXACT(scene.pc), RETURN(1), EXACT(FUNCTION(2) + 3));
	go.system[48 / 8] = 0;
	EXPECT_REFUSED();
}

static void test_go__entering_a_goroutine(void **state)
{
	(void)state;
	go.local[0] = G;
	scene.rule[0] = GO_RULE(ENTER, 0, 0, 0);
	scene.rule[9] = RULE(SP, 0, 0, 8);
	SP = LEFT;
	WORD(LEFT) = RETURN(2);
	EXPECT(end_root, EXACT(scene.pc), EXACT(RETURN(9)), RETURN(2));
	SP = HIGH;
	EXPECT(cut_stack_order, EXACT(scene.pc));
}

/* Without an end: the switches are counted. */
static void test_go__switches_are_bounded(void **state)
{
	u64 frames[2 + WALK_SWITCHES];

	(void)state;
	scene.rule[1] = GO_RULE(SYSTEM, 0, 0, 0);
	WORD(LEFT) = RETURN(1);
	frames[0] = EXACT(scene.pc);
	for (u32 i = 1; i < 2 + WALK_SWITCHES; i++)
		frames[i] = RETURN(1);
	scene_expect(__FILE__, __LINE__, REASON_cut_stack_order, 2 + WALK_SWITCHES, frames);
}

static void test_go__the_policy_forbids(void **state)
{
	(void)state;
	scene.rule[1] = GO_RULE(SYSTEM, 0, 0, 0);
	WORD(LEFT) = RETURN(2);
	host.no_switches = true;
	EXPECT(cut_no_rule, EXACT(scene.pc), RETURN(1));
}

/* Walks a copy of both stacks, whose thread has gone on. Function 1 alone has called. */
static u32 walk_copies(u64 left_bytes, u64 layouts)
{
	scene_publish();
	walk_init(&host.walk);
	memcpy(host.walk.reg, scene.reg, sizeof(scene.reg));
	host.walk.address = scene.pc;
	host.walk.deadline = 1000;
	host.walk.copy[0] = (struct stack_copy){.start = SP, .bytes = 64};
	host.walk.copy[1] = (struct stack_copy){.start = LEFT, .bytes = left_bytes};
	host.walk.go = (struct walk_go){.system = G0,
					.goroutine = G,
					.low = LOW,
					.high = HIGH,
					.sp = LEFT,
					.pc = RETURN(9),
					.layouts = layouts};
	memset(&go, 0, sizeof(go));
	host.called = RETURN(1);
	host_walk();
	host.called = 0;
	return host.walk.reason;
}

static void test_go__copies_of_both_stacks(void **state)
{
	(void)state;
	scene.rule[1] = GO_RULE(SYSTEM, 0, 0, 0);
	WORD(LEFT) = RETURN(2);
	assert_int_equal(walk_copies(64, 2), REASON_end_root);
	assert_int_equal(host.frame[2], RETURN(2));
	assert_int_equal(walk_copies(64, 3), REASON_end_root);
	/* another layout, no goroutine's stack, no structures of Go */
	assert_int_equal(walk_copies(64, 1), REASON_cut_read);
	assert_int_equal(walk_copies(0, 2), REASON_cut_read);
	assert_int_equal(walk_copies(64, 0), REASON_cut_read);
	/* the goroutine is elsewhere, or a word has its place */
	scene.rule[1] = RULE_MAKE(RULE_SWITCH, GO_SWITCH_SYSTEM,
				  GO_SWITCH_OPERANDS(0, 1, 0, 0) | GO_SWITCH_IN_WORD, 0, 0);
	assert_int_equal(walk_copies(64, 2), REASON_cut_read);
	scene.rule[1] = RULE_MAKE(RULE_SWITCH, GO_SWITCH_SYSTEM, GO_SWITCH_OPERANDS(0, 1, 0, 0),
				  GO_THREAD_LOCAL - 8, 0);
	assert_int_equal(walk_copies(64, 2), REASON_cut_read);
	/* C is on a third stack */
	scene.rule[1] = GO_RULE(CALLBACK, 4, 0, 1);
	assert_int_equal(walk_copies(64, 2), REASON_cut_read);
}

/* The copy has the call before the pc that the goroutine has saved. */
static void test_go__copies_of_a_stack_that_grows(void **state)
{
	(void)state;
	scene.rule[1] = GO_RULE(GROW, 0, 0, 0);
	assert_int_equal(walk_copies(64, 2), REASON_end_root);
	assert_int_equal(host.walk.frames, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, scene_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_go__systemstack),
		TEST(test_go__the_older_layout),
		TEST(test_go__structures_must_agree),
		TEST(test_go__thread_local_offsets_are_bounded),
		TEST(test_go__a_library),
		TEST(test_go__the_stack_is_the_goroutines),
		TEST(test_go__morestack),
		TEST(test_go__mcall),
		TEST(test_go__c_called_from_go),
		TEST(test_go__go_called_from_c),
		TEST(test_go__clocks),
		TEST(test_go__asynchronous_preemption),
		TEST(test_go__entering_a_goroutine),
		TEST(test_go__switches_are_bounded),
		TEST(test_go__the_policy_forbids),
		TEST(test_go__copies_of_both_stacks),
		TEST(test_go__copies_of_a_stack_that_grows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
