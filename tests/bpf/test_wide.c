/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that do not fit eight bytes. */
#include "tests/bpf/scene.h"

#define SP (scene.reg[REG_RSP])

/* CFA = rsp + offset, return address below it, every register kept. */
static struct rule_wide plain(s32 offset)
{
	struct rule_wide wide = {
		.cfa_offset = offset, .base = REG_RSP, .ra_reg = 16, .ra_offset = -8};

	for (u32 i = 0; i < RULE_SLOTS; i++)
		wide.save[i] = RULE_WIDE_SAME;
	return wide;
}

static void use(const struct rule_wide *wide)
{
	scene.rule[0] = build_wide(&scene.table, wide);
	scene.rule[1] = RULE_LAST;
}

static void test_wide__far_slots(void **state)
{
	struct rule_wide wide = plain(4096);

	(void)state;
	for (u32 i = 0; i < RULE_SLOTS; i++) {
		wide.save[i] = -4096 + 512 * (s32)i;
		WORD(SP + 512 * i) = 0xb0 + i;
	}
	WORD(SP + 4088) = RETURN(1);
	use(&wide);
	EXPECT(end_root, EXACT(scene.pc), RETURN(1));
	assert_int_equal(host.walk.reg[REG_RBP], 0xb0);
	assert_int_equal(host.walk.reg[REG_RBX], 0xb1);
	assert_int_equal(host.walk.reg[REG_R12], 0xb2);
	assert_int_equal(host.walk.reg[REG_R13], 0xb3);
	assert_int_equal(host.walk.reg[REG_R14], 0xb4);
	assert_int_equal(host.walk.reg[REG_R15], 0xb5);
	assert_int_equal(host.walk.reg[REG_RSP], SP + 4096);
}

static void test_wide__kept_registers(void **state)
{
	struct rule_wide wide = plain(8);

	(void)state;
	WORD(SP) = RETURN(1);
	use(&wide);
	EXPECT(end_root, EXACT(scene.pc), RETURN(1));
	assert_int_equal(host.walk.reg[REG_RBP], 0x1000 + REG_RBP);
	assert_int_equal(host.walk.reg[REG_R15], 0x1000 + REG_R15);
	assert_int_equal(host.walk.valid, WALK_CALLEE_SAVED);
}

static void test_wide__not_the_first_of_its_dictionary(void **state)
{
	struct rule_wide other = plain(800), wide = plain(16);

	(void)state;
	build_wide(&scene.table, &other);
	build_rule(&scene.table, RULE(SP, 0, 0, 64));
	use(&wide);
	WORD(SP + 8) = RETURN(1);
	EXPECT(end_root, EXACT(scene.pc), RETURN(1));
}

static void test_wide__cfa_from_memory(void **state)
{
	struct rule_wide wide = plain(-24);

	(void)state;
	wide.base = REG_RBP;
	wide.deref = 1;
	wide.cfa_add = 1000;
	wide.save[0] = -1000;
	scene.reg[REG_RBP] = SP + 48;
	WORD(SP + 24) = SP + 400;
	WORD(SP + 400) = 0xb1;
	WORD(SP + 1392) = RETURN(1);
	use(&wide);
	EXPECT(end_root, EXACT(scene.pc), RETURN(1));
	assert_int_equal(host.walk.reg[REG_RBP], 0xb1);
	assert_int_equal(host.walk.reg[REG_RSP], SP + 1400);
}

static void test_wide__return_address_elsewhere(void **state)
{
	struct rule_wide wide = plain(64);

	(void)state;
	wide.ra_offset = -40;
	WORD(SP + 24) = RETURN(1);
	use(&wide);
	EXPECT(end_root, EXACT(scene.pc), RETURN(1));
	assert_int_equal(host.walk.reg[REG_RSP], SP + 64);
}

/* vfork() keeps its return address in rdi while the child is on the same stack. */
static void test_wide__return_address_in_a_register(void **state)
{
	struct rule_wide wide = plain(0);

	(void)state;
	wide.ra_reg = REG_RDI;
	scene.reg[REG_RDI] = RETURN(1);
	use(&wide);
	EXPECT(end_root, EXACT(scene.pc), RETURN(1));
	assert_int_equal(host.walk.reg[REG_RSP], SP);
}

static void test_wide__return_address_in_a_lost_register(void **state)
{
	struct rule_wide wide = plain(8);

	(void)state;
	wide.ra_reg = REG_RDI;
	scene.reg[REG_RDI] = RETURN(1);
	use(&wide);
	scene.rule[1] = scene.rule[0];
	scene.rule[0] = RULE(SP, 0, 0, 8);
	WORD(SP) = RETURN(1);
	EXPECT(cut_unsupported, EXACT(scene.pc), RETURN(1));
}

/* Only a leaf with its return address in a register leaves the stack pointer in place. */
static void test_wide__stack_has_to_rise(void **state)
{
	static const struct {
		s32 offset;
		u8 ra_reg;
	} rows[] = {{0, 16}, {-8, 16}, {-8, REG_RDI}, {4, 16}, {4, REG_RDI}, {WALK_REACH + 8, 16}};

	for (u32 i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rule_wide wide = plain(rows[i].offset);

		scene_setup(state);
		wide.ra_reg = rows[i].ra_reg;
		scene.reg[REG_RDI] = RETURN(1);
		use(&wide);
		EXPECT(cut_stack_order, EXACT(scene.pc));
		scene_teardown(state);
	}
}

static void test_wide__register_in_a_register(void **state)
{
	struct rule_wide wide = plain(8);

	(void)state;
	wide.save[0] = RULE_WIDE_IN(REG_RAX);
	wide.save[1] = RULE_WIDE_IN(REG_R12);
	wide.save[2] = RULE_WIDE_IN(REG_RBX);
	use(&wide);
	WORD(SP) = RETURN(1);
	EXPECT(end_root, EXACT(scene.pc), RETURN(1));
	assert_int_equal(host.walk.reg[REG_RBP], 0x1000 + REG_RAX);
	assert_int_equal(host.walk.reg[REG_RBX], 0x1000 + REG_R12);
	assert_int_equal(host.walk.reg[REG_R12], 0x1000 + REG_RBX);
}

static void test_wide__rbp_in_a_lost_register(void **state)
{
	struct rule_wide wide = plain(8);

	(void)state;
	wide.save[0] = RULE_WIDE_IN(REG_RAX);
	use(&wide);
	scene.rule[1] = scene.rule[0];
	scene.rule[0] = RULE(SP, 0, 0, 8);
	WORD(SP) = RETURN(1);
	WORD(SP + 8) = RETURN(2);
	EXPECT(cut_unsupported, EXACT(scene.pc), RETURN(1));
}

/* A lost register is no base any more, until a frame restores it. */
static void test_wide__lost_register(void **state)
{
	struct rule_wide wide = plain(8);

	(void)state;
	wide.save[1] = RULE_WIDE_LOST;
	use(&wide);
	scene.reg[REG_RBX] = SP + 64;
	scene.rule[1] = RULE(REG, REG_RBX, 0, 8);
	scene.rule[2] = RULE_LAST;
	WORD(SP) = RETURN(1);
	WORD(SP + 64) = RETURN(2);
	EXPECT(cut_unsupported, EXACT(scene.pc), RETURN(1));
	scene.rule[1] = RULE(SP, 0, SLOT(1, 1), 16);
	scene.rule[2] = RULE(REG, REG_RBX, 0, 8);
	scene.rule[3] = RULE_LAST;
	WORD(SP + 8) = SP + 64;
	WORD(SP + 16) = RETURN(2);
	WORD(SP + 64) = RETURN(3);
	EXPECT(end_root, EXACT(scene.pc), RETURN(1), RETURN(2), RETURN(3));
}

static void test_wide__zero_return(void **state)
{
	struct rule_wide wide = plain(8);

	(void)state;
	use(&wide);
	WORD(SP) = 0;
	EXPECT(cut_zero_return, EXACT(scene.pc));
}

static void unreadable(void **state, const struct rule_wide *wide)
{
	scene_setup(state);
	WORD(SP) = RETURN(1);
	use(wide);
	EXPECT(cut_read, EXACT(scene.pc));
	scene_teardown(state);
}

static void test_wide__unreadable(void **state)
{
	struct rule_wide wide = plain(SCENE_WORDS * 8);

	unreadable(state, &wide);
	wide = plain(8);
	wide.save[3] = 4; /* misaligned */
	unreadable(state, &wide);
	wide.save[3] = -800; /* below the stack pointer */
	unreadable(state, &wide);
	wide.save[3] = (s32)WALK_REACH;
	unreadable(state, &wide);
	wide = plain(8);
	wide.ra_offset = 0x10000;
	unreadable(state, &wide);
	wide = plain(-16 - (s32)WALK_RED_ZONE);
	wide.deref = 1;
	unreadable(state, &wide);
}

/*
 * A base is near the stack, and the added offset is small. Where a stack lies low, a rule could
 * otherwise compare words below 2^31, which are no addresses at all.
 */
static void test_wide__offset_from_afar(void **state)
{
	const s32 far = 64 << 20;
	struct rule_wide wide = plain(8);

	(void)state;
	wide.base = REG_RBX;
	wide.cfa_offset = far;
	scene.reg[REG_RBX] = SP + 8 - (u64)far;
	WORD(SP) = RETURN(1);
	use(&wide);
	EXPECT(cut_stack_order, EXACT(scene.pc));
	wide = plain(16);
	wide.deref = 1;
	wide.cfa_add = -far;
	WORD(SP + 16) = SP + 8 + (u64)far;
	use(&wide);
	EXPECT(cut_stack_order, EXACT(scene.pc));
}

/* An index that leads out of the dictionary, into nothing or over a segment's end. */
static void test_wide__damaged_index(void **state)
{
	static const s32 offsets[] = {-1, -9, RULE_OFFSET_MAX, RULE_OFFSET_MIN,
				      SEGMENT_WORDS / 2 - 8};

	(void)state;
	for (u32 i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		scene_setup(state);
		scene.rule[0] = RULE(WIDE, 0, 0, offsets[i]);
		scene_publish();
		scene_walk();
		assert_int_equal(host.walk.frames, 1);
		assert_int_not_equal(host.walk.reason, REASON_end_root);
		scene_teardown(state);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_wide__##name, scene_setup, scene_teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(far_slots),
		TEST(kept_registers),
		TEST(not_the_first_of_its_dictionary),
		TEST(cfa_from_memory),
		TEST(return_address_elsewhere),
		TEST(return_address_in_a_register),
		TEST(return_address_in_a_lost_register),
		TEST(stack_has_to_rise),
		TEST(register_in_a_register),
		TEST(rbp_in_a_lost_register),
		TEST(lost_register),
		TEST(zero_return),
		TEST(unreadable),
		TEST(offset_from_afar),
		TEST(damaged_index),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
