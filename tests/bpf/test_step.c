/* SPDX-License-Identifier: Apache-2.0 */
/* One frame by each kind of rule, and the refusals of a walk. */
#include "tests/bpf/scene.h"

static const u32 slot_register[RULE_SLOTS] = {REG_RBP, REG_RBX, REG_R12, REG_R13, REG_R14, REG_R15};

#define SP (scene.reg[REG_RSP])

/* ---- the CFA ---- */

static void test_step__sp(void **state)
{
	(void)state;
	scene.rule[0] = RULE(SP, 0, 0, 24);
	scene.rule[1] = RULE(SP, 0, 0, 8);
	scene.rule[2] = RULE_LAST;
	WORD(SP + 16) = RETURN(1);
	WORD(SP + 24) = RETURN(2);
	EXPECT(end_root, EXACT(scene.pc), RETURN(1), RETURN(2));
	assert_int_equal(host.walk.reg[REG_RSP], SP + 32);
}

static void test_step__sp_far_away(void **state)
{
	(void)state;
	scene.rule[0] = RULE(SP, 0, SLOT(1, 2), 12288 + 8);
	scene.rule[1] = RULE_LAST;
	WORD(SP + 12288) = RETURN(1);
	WORD(SP + 12288 - 16) = 0xb0b;
	EXPECT(end_root, EXACT(scene.pc), RETURN(1));
	assert_int_equal(host.walk.reg[REG_RBX], 0xb0b);
}

static void test_step__bp(void **state)
{
	(void)state;
	scene.rule[0] = RULE(BP, 0, SLOT(0, 1), 16);
	scene.rule[1] = RULE(BP, 0, SLOT(0, 1), 16);
	scene.rule[2] = RULE_LAST;
	scene.reg[REG_RBP] = SP + 80;
	WORD(SP + 80) = SP + 400;
	WORD(SP + 88) = RETURN(1);
	WORD(SP + 400) = 0x1234;
	WORD(SP + 408) = RETURN(2);
	EXPECT(end_root, EXACT(scene.pc), RETURN(1), RETURN(2));
	assert_int_equal(host.walk.reg[REG_RBP], 0x1234);
	assert_int_equal(host.walk.reg[REG_RSP], SP + 416);
}

static void test_step__any_register_in_the_leaf(void **state)
{
	for (u32 reg = 0; reg < 16; reg++) {
		scene_setup(state);
		scene.rule[0] = RULE(REG, reg, 0, 40 - (reg == REG_RSP ? 0 : 16));
		scene.rule[1] = RULE_LAST;
		scene.reg[reg] = reg == REG_RSP ? SP : SP + 16;
		WORD(SP + 32) = RETURN(1);
		EXPECT(end_root, EXACT(scene.pc), RETURN(1));
		scene_teardown(state);
	}
}

/* Above the leaf a call may have overwritten all but the callee-saved registers. */
static void test_step__scratch_register_above_the_leaf_is_refused(void **state)
{
	for (u32 reg = 0; reg < 16; reg++) {
		bool saved = WALK_CALLEE_SAVED >> reg & 1;

		scene_setup(state);
		scene.rule[0] = RULE(SP, 0, 0, 8);
		scene.rule[1] = RULE(REG, reg, 0, reg == REG_RSP ? 8 : 0);
		scene.rule[2] = RULE_LAST;
		if (reg != REG_RSP)
			scene.reg[reg] = SP + 16;
		WORD(SP) = RETURN(1);
		WORD(SP + 8) = RETURN(2);
		if (saved)
			EXPECT(end_root, EXACT(scene.pc), RETURN(1), RETURN(2));
		else
			EXPECT(cut_unsupported, EXACT(scene.pc), RETURN(1));
		scene_teardown(state);
	}
}

/* PLT: jmp *GOT; push n (at 6); jmp (at 11, the word is pushed). */
static void test_step__plt_both_halves(void **state)
{
	for (u32 at = 0; at < 16; at++) {
		u64 depth = at >= 11 ? 8 : 0;

		scene_setup(state);
		scene.rule[0] = RULE(PLT, 11, 0, 0);
		scene.rule[1] = RULE_LAST;
		scene.pc = FUNCTION(0) + 0x30 + at;
		WORD(SP + depth) = RETURN(1);
		EXPECT(end_root, EXACT(scene.pc), RETURN(1));
		assert_int_equal(host.walk.reg[REG_RSP], SP + depth + 8);
		scene_teardown(state);
	}
}

static void test_step__deref_sp(void **state)
{
	(void)state;
	scene.rule[0] = RULE(DEREF_SP, 1, SLOT(0, 1) | SLOT(1, 2), 160);
	scene.rule[1] = RULE(DEREF_SP, 8, 0, 0);
	scene.rule[2] = RULE_LAST;
	WORD(SP + 160) = SP + 400;
	WORD(SP + 400) = RETURN(1);
	WORD(SP + 392) = 0xb1;
	WORD(SP + 384) = 0xb2;
	WORD(SP + 408) = SP + 800;
	WORD(SP + 800 + 56) = RETURN(2);
	EXPECT(end_root, EXACT(scene.pc), RETURN(1), RETURN(2));
	assert_int_equal(host.walk.reg[REG_RBP], 0xb1);
	assert_int_equal(host.walk.reg[REG_RBX], 0xb2);
	assert_int_equal(host.walk.reg[REG_RSP], SP + 864);
}

/* Hand-written code keeps its caller's stack pointer in the red zone. */
static void test_step__deref_in_the_red_zone(void **state)
{
	(void)state;
	scene.rule[0] = RULE(DEREF_SP, 1, 0, -8);
	scene.rule[1] = RULE_LAST;
	WORD(SP - 8) = SP + 400;
	WORD(SP + 400) = RETURN(1);
	EXPECT(end_root, EXACT(scene.pc), RETURN(1));
	assert_int_equal(host.walk.reg[REG_RSP], SP + 408);
}

static void test_step__deref_bp(void **state)
{
	(void)state;
	scene.rule[0] = RULE(DEREF_BP, 1, SLOT(0, 1), -16);
	scene.rule[1] = RULE_LAST;
	scene.reg[REG_RBP] = SP + 96;
	WORD(SP + 80) = SP + 400;
	WORD(SP + 400) = RETURN(1);
	WORD(SP + 392) = 0xb1;
	EXPECT(end_root, EXACT(scene.pc), RETURN(1));
	assert_int_equal(host.walk.reg[REG_RBP], 0xb1);
}

/* ---- callee-saved registers ---- */

static void test_step__all_slots_of_all_registers(void **state)
{
	for (u32 i = 0; i < RULE_SLOTS; i++)
		for (u64 k = 1; k < 16; k++) {
			scene_setup(state);
			scene.rule[0] = RULE(SP, 0, SLOT(i, k), 136);
			scene.rule[1] = RULE_LAST;
			WORD(SP + 128) = RETURN(1);
			WORD(SP + 128 - 8 * k) = 0xabc0 + k;
			EXPECT(end_root, EXACT(scene.pc), RETURN(1));
			for (u32 r = 0; r < RULE_SLOTS; r++)
				assert_int_equal(host.walk.reg[slot_register[r]],
						 r == i ? 0xabc0 + k : 0x1000 + slot_register[r]);
			scene_teardown(state);
		}
}

/* The base of frame 2 was saved by the leaf, that of frame 3 by frame 1. */
static void test_step__restored_register_is_a_base(void **state)
{
	(void)state;
	scene.rule[0] = RULE(SP, 0, SLOT(1, 1) | SLOT(0, 2), 24);
	scene.rule[1] = RULE(SP, 0, SLOT(5, 1), 16);
	scene.rule[2] = RULE(REG, REG_RBX, 0, 16);
	scene.rule[3] = RULE(REG, REG_R15, 0, 8);
	scene.rule[4] = RULE(BP, 0, 0, 8);
	scene.rule[5] = RULE_LAST;
	WORD(SP) = SP + 1200;
	WORD(SP + 8) = SP + 100 * 8;
	WORD(SP + 16) = RETURN(1);
	WORD(SP + 24) = SP + 120 * 8;
	WORD(SP + 32) = RETURN(2);
	WORD(SP + 101 * 8) = RETURN(3);
	WORD(SP + 120 * 8) = RETURN(4);
	WORD(SP + 1200) = RETURN(5);
	EXPECT(end_root, EXACT(scene.pc), RETURN(1), RETURN(2), RETURN(3), RETURN(4), RETURN(5));
}

/* In an epilogue the rule still names slots that have been popped. */
static void test_step__slots_below_the_leafs_stack_pointer(void **state)
{
	(void)state;
	scene.rule[0] = RULE(SP, 0, SLOT(0, 1) | SLOT(1, 2), 8);
	scene.rule[1] = RULE_LAST;
	WORD(SP) = RETURN(1);
	WORD(SP - 8) = 0xb1;
	WORD(SP - 16) = 0xb2;
	EXPECT(end_root, EXACT(scene.pc), RETURN(1));
	assert_int_equal(host.walk.reg[REG_RBP], 0xb1);
	assert_int_equal(host.walk.reg[REG_RBX], 0xb2);
}

static void test_step__slots_below_a_callers_stack_pointer_are_refused(void **state)
{
	(void)state;
	scene.rule[0] = RULE(SP, 0, 0, 8);
	scene.rule[1] = RULE(SP, 0, SLOT(0, 1), 8);
	WORD(SP) = RETURN(1);
	WORD(SP + 8) = RETURN(2);
	EXPECT(cut_read, EXACT(scene.pc), RETURN(1));
}

/* The page below the stack pointer has never been touched. */
static void test_step__leaf_at_the_edge_of_its_stack(void **state)
{
	(void)state;
	SP = SCENE_STACK + 0x3000;
	host.region[1] = (struct host_region){SP, 0x1000, scene_word(SP)};
	scene.rule[0] = RULE(SP, 0, SLOT(0, 1) | SLOT(1, 2), 24);
	scene.rule[1] = RULE(SP, 0, 0, 8);
	scene.rule[2] = RULE_LAST;
	WORD(SP) = 0xb2;
	WORD(SP + 8) = 0xb1;
	WORD(SP + 16) = RETURN(1);
	WORD(SP + 24) = RETURN(2);
	EXPECT(end_root, EXACT(scene.pc), RETURN(1), RETURN(2));
	assert_int_equal(host.walk.reg[REG_RBP], 0xb1);
	assert_int_equal(host.walk.reg[REG_RBX], 0xb2);
}

/* ---- ends ---- */

static void test_step__end_in_the_leaf(void **state)
{
	(void)state;
	scene.rule[0] = RULE_LAST;
	EXPECT(end_root, EXACT(scene.pc));
}

/* A context's first address lies on its stack. Nothing called this address, but it is code. */
static void test_step__end_without_a_call(void **state)
{
	(void)state;
	scene.rule[0] = RULE(SP, 0, 0, 8);
	scene.rule[1] = RULE_LAST;
	WORD(SP) = FUNCTION(1) + 0x20;
	EXPECT(cut_not_a_call, EXACT(scene.pc));
	host.executable = SCENE_TEXT;
	host.executable_end = SCENE_TEXT + sizeof(scene.text);
	EXPECT(end_root, EXACT(scene.pc), FUNCTION(1) + 0x20);
	host.executable = host.executable_end = 0;
}

/* The proof of one address of a granule says nothing of the others, in any cache. */
static void test_step__proven_end_is_of_one_address(void **state)
{
	(void)state;
	scene.rule[0] = RULE(SP, 0, 0, 8);
	scene.rule[1] = RULE_LAST;
	WORD(SP) = RETURN(1);
	EXPECT(end_root, EXACT(scene.pc), RETURN(1));
	WORD(SP) = RETURN(1) + 8;
	scene_walk();
	assert_int_equal(host.walk.reason, REASON_cut_not_a_call);
	assert_int_equal(host.walk.frames, 1);
}

/* A leaf's pc needs no proof, so that the caches learn nothing from it. */
static void test_step__end_in_the_leaf_proves_nothing(void **state)
{
	(void)state;
	scene.rule[0] = RULE(SP, 0, 0, 8);
	scene.rule[1] = RULE_LAST;
	scene.pc = FUNCTION(1) + 0x20;
	EXPECT(end_root, EXACT(scene.pc));
	scene.pc = FUNCTION(0) + 8;
	WORD(SP) = FUNCTION(1) + 0x21;
	scene_walk();
	assert_int_equal(host.walk.reason, REASON_cut_not_a_call);
}

/* The walk of a copy reads that copy alone, and goes to addresses that were behind a call. */
static void test_step__copy_of_the_stack(void **state)
{
	(void)state;
	scene.rule[0] = scene.rule[1] = RULE(SP, 0, 0, 8);
	WORD(SP) = RETURN(1);
	WORD(SP + 8) = RETURN(2);
	scene_publish();
	walk_init(&host.walk);
	memcpy(host.walk.reg, scene.reg, sizeof(scene.reg));
	host.walk.address = scene.pc;
	host.walk.deadline = 1000;
	host.walk.copy[0].start = SP - 8;
	host.walk.copy[0].bytes = 64;
	host.called = RETURN(1);
	host_walk();
	assert_int_equal(host.walk.reason, REASON_cut_not_a_call);
	assert_int_equal(host.walk.frames, 2);
	assert_int_equal(host.frame[1], RETURN(1));
	host.called = 0;
}

static void test_step__zero_return(void **state)
{
	(void)state;
	scene.rule[0] = scene.rule[1] = RULE(SP, 0, 0, 8);
	WORD(SP) = RETURN(1);
	WORD(SP + 8) = 0;
	EXPECT(cut_zero_return, EXACT(scene.pc), RETURN(1));
}

static void test_step__unknown_kinds_are_unsupported(void **state)
{
	static const u32 kinds[] = {13, 14, RULE_UNSUPPORTED};

	for (u32 i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		scene_setup(state);
		scene.rule[0] = RULE(SP, 0, 0, 8);
		scene.rule[1] = RULE_MAKE(kinds[i], 0, 0, 8, 0);
		WORD(SP) = RETURN(1);
		EXPECT(cut_unsupported, EXACT(scene.pc), RETURN(1));
		scene_teardown(state);
	}
}

static void test_step__record_full(void **state)
{
	static u64 frames[RECORD_FRAMES_MAX];

	(void)state;
	scene.rule[0] = RULE(SP, 0, 0, 16);
	scene.rule[1] = RULE_LAST;
	SP = SCENE_STACK + 16;
	for (u32 i = 0; i <= 1100; i++)
		WORD(SP + 16 * i + 8) = RETURN(0);
	for (u32 i = 0; i < RECORD_FRAMES_MAX; i++)
		frames[i] = i ? RETURN(0) : EXACT(scene.pc);
	scene_expect(__FILE__, __LINE__, REASON_cut_depth, RECORD_FRAMES_MAX, frames);
	WORD(SP + 16 * (RECORD_FRAMES_MAX - 2) + 8) = frames[RECORD_FRAMES_MAX - 1] = RETURN(1);
	scene_expect(__FILE__, __LINE__, REASON_end_root, RECORD_FRAMES_MAX, frames);
}

/* ---- return address and table ---- */

/* A function may end in a call that never returns, so the rule is looked up one byte before. */
static void test_step__rule_is_that_of_the_call(void **state)
{
	(void)state;
	*scene_code(FUNCTION(2) - 5) = 0xe8;
	scene.rule[0] = RULE(SP, 0, 0, 8);
	scene.rule[1] = RULE(SP, 0, 0, 24);
	scene.rule[2] = RULE(SP, 0, 0, 40);
	scene.rule[3] = RULE_LAST;
	WORD(SP) = FUNCTION(2);
	WORD(SP + 8 + 16) = RETURN(3);
	EXPECT(end_root, EXACT(scene.pc), FUNCTION(2), RETURN(3));
}

static void test_step__rule_of_the_leaf_is_that_of_its_pc(void **state)
{
	(void)state;
	scene.pc = FUNCTION(2);
	scene.rule[1] = RULE(SP, 0, 0, 24);
	scene.rule[2] = RULE(SP, 0, 0, 40);
	scene.rule[3] = RULE_LAST;
	WORD(SP + 32) = RETURN(3);
	EXPECT(end_root, EXACT(FUNCTION(2)), RETURN(3));
}

static void call_encoding(void **state, const char *bytes, u32 size, bool good)
{
	scene_setup(state);
	scene.rule[0] = RULE(SP, 0, 0, 8);
	scene.rule[1] = RULE(SP, 0, 0, 8);
	scene.rule[2] = RULE_LAST;
	memset(scene_code(FUNCTION(1)), 0, 256);
	memcpy(scene_code(RETURN(1) - size), bytes, size);
	WORD(SP) = RETURN(1);
	WORD(SP + 8) = RETURN(2);
	if (good)
		EXPECT(end_root, EXACT(scene.pc), RETURN(1), RETURN(2));
	else
		EXPECT(cut_not_a_call, EXACT(scene.pc));
	scene_teardown(state);
}

static void test_step__every_call_is_accepted(void **state)
{
	call_encoding(state, "\xe8\x11\x22\x33\x44", 5, true);	       /* call rel32 */
	call_encoding(state, "\x67\xe8\x11\x22\x33\x44", 6, true);     /* addr32 call, padding */
	call_encoding(state, "\xff\xd0", 2, true);		       /* *%rax */
	call_encoding(state, "\x41\xff\xd7", 3, true);		       /* *%r15 */
	call_encoding(state, "\x3e\xff\xd0", 3, true);		       /* notrack *%rax */
	call_encoding(state, "\xff\x13", 2, true);		       /* *(%rbx) */
	call_encoding(state, "\x41\xff\x14\x24", 4, true);	       /* *(%r12) */
	call_encoding(state, "\xff\x14\xc3", 3, true);		       /* *(%rbx,%rax,8) */
	call_encoding(state, "\xff\x50\x18", 3, true);		       /* *0x18(%rax) */
	call_encoding(state, "\xff\x54\x24\x08", 4, true);	       /* *8(%rsp) */
	call_encoding(state, "\xff\x54\xc3\x08", 4, true);	       /* *8(%rbx,%rax,8) */
	call_encoding(state, "\xff\x15\x11\x22\x33\x44", 6, true);     /* *GOT(%rip) */
	call_encoding(state, "\xff\x90\x11\x22\x33\x44", 6, true);     /* *disp32(%rax) */
	call_encoding(state, "\xff\x94\x24\x11\x22\x33\x44", 7, true); /* *disp32(%rsp) */
	call_encoding(state, "\xff\x14\xc5\x11\x22\x33\x44", 7, true); /* *disp32(,%rax,8) */
}

static void test_step__what_is_no_call_is_refused(void **state)
{
	call_encoding(state, "\x90\x90\x90\x90\x90\x90\x90\x90", 8, false);
	call_encoding(state, "\xe9\x11\x22\x33\x44", 5, false); /* jmp rel32 */
	call_encoding(state, "\xff\xe0", 2, false);		/* jmp *%rax */
	call_encoding(state, "\xff\x60\x18", 3, false);		/* jmp *0x18(%rax) */
	call_encoding(state, "\xff\x30", 2, false);		/* push (%rax) */
	call_encoding(state, "\xff\xc0", 2, false);		/* inc %eax */
	call_encoding(state, "\xe8\x11\x22\x33", 4, false);
	call_encoding(state, "\xe8\x11\x22\x33\x44\x55", 6, false);
}

/* After a fork the text is not in the child's page tables; the kernel knows what is executable. */
static void test_step__text_that_cannot_be_read(void **state)
{
	(void)state;
	scene.rule[0] = scene.rule[1] = RULE(SP, 0, 0, 8);
	scene.rule[2] = RULE_LAST;
	WORD(SP) = RETURN(1);
	WORD(SP + 8) = RETURN(2);
	scene_publish();
	host.region[0].bytes = 0;
	scene_walk();
	assert_int_equal(host.walk.reason, REASON_cut_not_a_call);
	assert_int_equal(host.walk.frames, 1);
	host.executable = SCENE_TEXT;
	host.executable_end = SCENE_TEXT + sizeof(scene.text);
	scene_walk();
	assert_int_equal(host.walk.reason, REASON_end_root);
	assert_int_equal(host.walk.frames, 3);
	host.executable = host.executable_end = 0;
}

/* An address that was refused once must not pass as known the next time. */
static void test_step__refused_address_stays_refused(void **state)
{
	(void)state;
	scene.rule[0] = scene.rule[1] = RULE(SP, 0, 0, 8);
	WORD(SP) = FUNCTION(1) + 0x80;
	EXPECT(cut_not_a_call, EXACT(scene.pc));
	scene_walk();
	assert_int_equal(host.walk.frames, 1);
	assert_int_equal(host.walk.misses, 1);
}

static void refused_return(void **state, u64 address, u32 reason)
{
	u64 frame;

	scene_setup(state);
	frame = EXACT(scene.pc);
	scene.rule[0] = RULE(SP, 0, 0, 8);
	WORD(SP) = address;
	scene_expect(__FILE__, __LINE__, reason, 1, &frame);
	scene_teardown(state);
}

static void test_step__return_addresses_outside(void **state)
{
	refused_return(state, 1, REASON_cut_not_a_call);
	refused_return(state, 7, REASON_cut_not_a_call);
	refused_return(state, SCENE_TEXT, REASON_cut_not_a_call);
	refused_return(state, SCENE_TEXT_END + 1, REASON_cut_not_a_call);
	refused_return(state, SCENE_TEXT - 4096, REASON_cut_not_a_call);
	refused_return(state, WALK_ADDRESS_END - 1, REASON_cut_not_a_call);
	refused_return(state, WALK_ADDRESS_END, REASON_cut_not_a_call);
	refused_return(state, 1ull << 63, REASON_cut_not_a_call);
	refused_return(state, 0xffffffff81000000ull, REASON_cut_not_a_call);
	refused_return(state, ~0ull, REASON_cut_not_a_call);
}

/*
 * Tables and mappings may say anything about a word that is no address of code. The record does not
 * tell how the word compares with them.
 */
static void test_step__refused_word_is_compared_with_nothing(void **state)
{
	static const u32 flags[] = {0, MAPPING_HAS_TABLE, MAPPING_PENDING, MAPPING_NO_ROOM};
	struct mapping_entry entry[3];

	for (u32 lap = 0; lap < 64; lap++) {
		scene_setup(state);
		scene.rule[0] = RULE(SP, 0, 0, 8);
		WORD(SP) = 0x123456789abcull << (lap & 1 ? 1 : 0);
		scene_publish();
		entry[0] = entry[1] = entry[2] = scene.mapping;
		entry[0].start = 0;
		entry[0].end = entry[1].start = lap & 2 ? 0x123456789abdull : 0x123456789abcull;
		entry[0].flags = flags[lap >> 2 & 3];
		entry[1].end = entry[2].start = scene.mapping.start;
		entry[1].flags = flags[lap >> 4 & 3];
		host.walk.block = build_block(&host.build, entry, 3);
		host.walk.mappings = 3;
		host.walk.incomplete = lap & 1;
		scene_walk();
		assert_int_equal(host.walk.reason, REASON_cut_not_a_call);
		assert_int_equal(host.walk.frames, 1);
		scene_teardown(state);
	}
	host.walk.incomplete = 0;
}

static void test_step__leaf_outside(void **state)
{
	(void)state;
	scene.pc = SCENE_TEXT_END;
	EXPECT(cut_no_mapping, EXACT(SCENE_TEXT_END));
	scene.pc = WALK_ADDRESS_END;
	scene_expect(__FILE__, __LINE__, REASON_cut_no_mapping, 0, NULL);
	scene.pc = ~0ull;
	scene_expect(__FILE__, __LINE__, REASON_cut_no_mapping, 0, NULL);
}

/* Code that a runtime makes may have one rule, and no table. */
static void test_step__rule_of_a_mapping(void **state)
{
	(void)state;
	scene.mapping.flags = 0;
	scene.mapping.rule = RULE(SP, 0, SLOT(0, 1), 32);
	WORD(SP + 16) = 0x1234;
	WORD(SP + 24) = RETURN(1);
	WORD(SP + 48) = 0x5678;
	WORD(SP + 56) = 0;
	EXPECT(cut_zero_return, EXACT(scene.pc), RETURN(1));
	assert_int_equal(host.walk.reg[REG_RBP], 0x5678);
}

/* An option of the runtime decides whether all of the code has frame pointers. */
static void test_step__rule_of_a_mapping_with_frame_pointers(void **state)
{
	(void)state;
	scene.mapping.flags = 0;
	scene.mapping.rule = RULE(SP, 0, SLOT(0, 1), 32);
	scene.mapping.framed_rule = RULE(BP, 0, SLOT(0, 1) | SLOT(1, 3), 16);
	scene.reg[REG_RBP] = SP + 24;
	WORD(SP + 8) = 0x9abc;
	WORD(SP + 24) = SP + 56; /* an address of the stack */
	WORD(SP + 32) = RETURN(1);
	WORD(SP + 48) = 0x5678;
	WORD(SP + 56) = SP + 88;
	WORD(SP + 64) = RETURN(2);
	WORD(SP + 88) = SP + 120;
	WORD(SP + 96) = 0;
	EXPECT(cut_zero_return, EXACT(scene.pc), RETURN(1), RETURN(2));
	/* a return address */
	WORD(SP + 24) = RETURN(3);
	WORD(SP + 56) = 0;
	EXPECT(cut_zero_return, EXACT(scene.pc), RETURN(3));
}

static void test_step__pending_mapping(void **state)
{
	(void)state;
	scene.mapping.flags = MAPPING_PENDING;
	EXPECT(cut_not_ready, EXACT(scene.pc));
}

static void test_step__damaged_table(void **state)
{
	(void)state;
	scene.rule[0] = RULE(SP, 0, 0, 8);
	scene.rule[1] = RULE_LAST;
	scene_publish();
	*build_at(&host.build, scene.table.directory) = 77u << SEGMENT_WORD_BITS;
	scene_walk();
	assert_int_equal(host.walk.reason, REASON_cut_table);
	assert_int_equal(host.walk.frames, 1);
	assert_int_equal(host.frame[0], EXACT(scene.pc));
}

/* ---- the stack ---- */

static void bad_stack(void **state, u32 kind, u64 bp, s64 offset, u32 reason)
{
	u64 frame;

	scene_setup(state);
	frame = EXACT(scene.pc);
	scene.rule[0] = RULE_MAKE(kind, REG_RCX, 0, offset, 0);
	scene.rule[1] = RULE_LAST;
	scene.reg[REG_RBP] = scene.reg[REG_RCX] = bp;
	scene_expect(__FILE__, __LINE__, reason, 1, &frame);
	scene_teardown(state);
}

static void test_step__stack_has_to_rise(void **state)
{
	u64 sp = SCENE_STACK + 0x4000;

	bad_stack(state, RULE_SP, 0, 0, REASON_cut_stack_order);
	bad_stack(state, RULE_SP, 0, -8, REASON_cut_stack_order);
	bad_stack(state, RULE_SP, 0, 12, REASON_cut_stack_order);
	bad_stack(state, RULE_BP, sp - 16, 16, REASON_cut_stack_order);
	bad_stack(state, RULE_BP, 0, 16, REASON_cut_stack_order);
	bad_stack(state, RULE_BP, sp + 3, 16, REASON_cut_stack_order);
	bad_stack(state, RULE_BP, sp + WALK_REACH, 16, REASON_cut_stack_order);
	bad_stack(state, RULE_BP, ~0ull - 7, 8, REASON_cut_stack_order);
	bad_stack(state, RULE_REG, sp - 8, 0, REASON_cut_stack_order);
	bad_stack(state, RULE_REG, 0xffff800000000000ull, 0, REASON_cut_stack_order);
	bad_stack(state, RULE_REALIGN, sp, 0, REASON_cut_stack_order);
}

static void test_step__unreadable_stack(void **state)
{
	u64 sp = SCENE_STACK + 0x4000, end = SCENE_STACK_END;

	bad_stack(state, RULE_SP, 0, (s64)(end - sp) + 8, REASON_cut_read);
	bad_stack(state, RULE_SP, 0, RULE_OFFSET_MAX & ~7, REASON_cut_read);
	bad_stack(state, RULE_BP, end, 16, REASON_cut_read);
	bad_stack(state, RULE_DEREF_SP, 0, -8 - (s64)WALK_RED_ZONE, REASON_cut_read);
	bad_stack(state, RULE_DEREF_SP, 0, 4, REASON_cut_read); /* misaligned */
	bad_stack(state, RULE_DEREF_BP, end, 0, REASON_cut_read);
	bad_stack(state, RULE_DRAP, sp + WALK_REACH, 0, REASON_cut_read);
	bad_stack(state, RULE_DRAP, 0, 0, REASON_cut_read);
}

/* The frame that ends with the stack's very last word. */
static void test_step__last_word_of_the_stack(void **state)
{
	(void)state;
	SP = SCENE_STACK_END - 16;
	scene.rule[0] = RULE(SP, 0, SLOT(0, 1), 16);
	scene.rule[1] = RULE(SP, 0, 0, 8);
	WORD(SP) = 0xb1;
	WORD(SP + 8) = RETURN(1);
	EXPECT(cut_read, EXACT(scene.pc), RETURN(1));
	assert_int_equal(host.walk.reg[REG_RBP], 0xb1);
}

static void test_step__misaligned_leaf_by_bp(void **state)
{
	(void)state;
	scene.reg[REG_RBP] = SP + 64;
	WORD(SP + 64) = 0xb1;
	WORD(SP + 72) = RETURN(1);
	SP += 5;
	scene.rule[0] = RULE(BP, 0, SLOT(0, 1), 16);
	scene.rule[1] = RULE_LAST;
	EXPECT(end_root, EXACT(scene.pc), RETURN(1));
	assert_int_equal(host.walk.reg[REG_RBP], 0xb1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_step__##name, scene_setup, scene_teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sp),
		TEST(sp_far_away),
		TEST(bp),
		TEST(any_register_in_the_leaf),
		TEST(scratch_register_above_the_leaf_is_refused),
		TEST(plt_both_halves),
		TEST(deref_sp),
		TEST(deref_in_the_red_zone),
		TEST(deref_bp),
		TEST(all_slots_of_all_registers),
		TEST(restored_register_is_a_base),
		TEST(slots_below_the_leafs_stack_pointer),
		TEST(slots_below_a_callers_stack_pointer_are_refused),
		TEST(leaf_at_the_edge_of_its_stack),
		TEST(end_in_the_leaf),
		TEST(end_without_a_call),
		TEST(proven_end_is_of_one_address),
		TEST(end_in_the_leaf_proves_nothing),
		TEST(copy_of_the_stack),
		TEST(zero_return),
		TEST(unknown_kinds_are_unsupported),
		TEST(record_full),
		TEST(rule_is_that_of_the_call),
		TEST(rule_of_the_leaf_is_that_of_its_pc),
		TEST(every_call_is_accepted),
		TEST(what_is_no_call_is_refused),
		TEST(text_that_cannot_be_read),
		TEST(refused_address_stays_refused),
		TEST(return_addresses_outside),
		TEST(refused_word_is_compared_with_nothing),
		TEST(leaf_outside),
		TEST(rule_of_a_mapping),
		TEST(rule_of_a_mapping_with_frame_pointers),
		TEST(pending_mapping),
		TEST(damaged_table),
		TEST(stack_has_to_rise),
		TEST(unreadable_stack),
		TEST(last_word_of_the_stack),
		TEST(misaligned_leaf_by_bp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
