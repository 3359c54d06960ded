/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "bpf/abi.h"
#include "tests/unit/build_cfi.h"
#include "object/unwind/rule.h"

#define RBP REGISTER_RBP
#define RSP REGISTER_RSP
#define R10 10

static struct frame_section section;
static struct build_cfi expressions;
static struct cfi_row row;
static struct rule_wide wide;

/* CFA = number + offset, return address at CFA - 8, nothing saved. */
static void start_row(uint64_t number, int64_t offset)
{
	memset(&row, 0, sizeof(row));
	row.cfa.how = CFI_REGISTER;
	row.cfa_register = number;
	row.cfa_offset = offset;
	row.column[COLUMN_RETURN] = (struct cfi_place){.how = CFI_OFFSET, .value = -8};
	build_cfi_release(&expressions);
}

static void set(enum cfi_column column, enum cfi_how how, int64_t value)
{
	row.column[column] = (struct cfi_place){.how = how, .value = value};
}

static void set_code(struct cfi_place *place, enum cfi_how how, struct build_cfi_code code)
{
	*place = (struct cfi_place){
		.how = how, .size = (uint32_t)code.size, .value = (int64_t)expressions.size};
	build_cfi_bytes(&expressions, code.bytes, code.size);
}

static void set_expression(enum cfi_column column, struct build_cfi_code code)
{
	set_code(&row.column[column], CFI_EXPRESSION, code);
}

static void start_expression_row(struct build_cfi_code cfa)
{
	start_row(0, 0);
	set_code(&row.cfa, CFI_EXPRESSION, cfa);
}

static u64 make(bool signal)
{
	memset(&wide, 0x55, sizeof(wide));
	frame_section_init(&section, expressions.bytes, expressions.size, 0);
	return rule_make(&row, &section, signal, &wide);
}

#define assert_rule(kind, reg, slots, offset) \
	assert_true(make(false) == RULE_MAKE(kind, reg, slots, offset, 0))
#define SLOT(index, value) ((u32)(value) << (index)*4)

static void assert_unsupported(void)
{
	assert_true(make(false) == RULE_UNSUPPORTED);
}

/* ---- what fits eight bytes ---- */

static void test_rule__a_register_and_an_offset(void **state)
{
	(void)state;
	start_row(RSP, 8);
	assert_rule(RULE_SP, 0, 0, 8);
	start_row(RBP, 16);
	assert_rule(RULE_BP, 0, 0, 16);
	for (u32 reg = 0; reg < 16; reg++) {
		start_row(reg, 24);
		if (reg != RSP && reg != RBP)
			assert_rule(RULE_REG, reg, 0, 24);
	}
	start_row(RSP, RULE_OFFSET_MAX);
	assert_rule(RULE_SP, 0, 0, RULE_OFFSET_MAX);
	start_row(RSP, RULE_OFFSET_MIN);
	assert_rule(RULE_SP, 0, 0, RULE_OFFSET_MIN);
	start_row(REGISTER_RIP, 8);
	assert_unsupported();
	start_row(0, 0);
	row.cfa.how = CFI_UNSET;
	assert_unsupported();
}

static void test_rule__save_slots(void **state)
{
	u32 slots = 0;

	(void)state;
	start_row(RSP, 64);
	for (u32 i = 0; i < RULE_SLOTS; i++) {
		set(i, CFI_OFFSET, -16 - 8 * (s64)i);
		slots |= SLOT(i, i + 1);
	}
	assert_rule(RULE_SP, 0, slots, 64);
	start_row(RSP, 64);
	set(COLUMN_R15, CFI_OFFSET, -8 - 8 * 15);
	set(COLUMN_RBX, CFI_SAME, 0);
	assert_rule(RULE_SP, 0, SLOT(5, 15), 64);
}

static void test_rule__saves_relative_to_the_register_of_the_cfa(void **state)
{
	(void)state;
	start_row(RSP, 64);
	set_expression(COLUMN_RBX, INSTRUCTIONS(0x77, 40));	       /* rsp + 40 = CFA - 24 */
	set_expression(COLUMN_R12, INSTRUCTIONS(0x23, 0, 0x48, 0x1c)); /* CFA + 0 - 24 */
	assert_rule(RULE_SP, 0, SLOT(1, 2) | SLOT(2, 2), 64);
}

static void test_rule__other_signal_frames_are_unsupported(void **state)
{
	(void)state;
	start_row(RSP, 8);
	assert_true(make(true) == RULE_UNSUPPORTED);
	start_row(RSP, RULE_OFFSET_MAX + 1);
	assert_true(make(true) == RULE_UNSUPPORTED);
}

static void test_rule__an_undefined_return_address_is_the_end(void **state)
{
	(void)state;
	start_row(RSP, 8);
	set(COLUMN_RETURN, CFI_UNDEFINED, 0);
	set(COLUMN_RBX, CFI_OFFSET, -16);
	assert_true(make(false) == RULE_MAKE(RULE_END, 0, 0, 0, RULE_FLAG_ENTRY));
	row.cfa.how = CFI_UNSET;
	assert_true(make(false) == RULE_MAKE(RULE_END, 0, 0, 0, RULE_FLAG_ENTRY));
}

static void test_rule__procedure_linkage_tables(void **state)
{
	(void)state;
	start_expression_row(
		INSTRUCTIONS(0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22));
	assert_rule(RULE_PLT, 11, 0, 0);
	start_expression_row(
		INSTRUCTIONS(0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3a, 0x2a, 0x33, 0x24, 0x22));
	assert_rule(RULE_PLT, 10, 0, 0);
	/* a literal that is no byte of a 16-byte entry; another multiple */
	start_expression_row(
		INSTRUCTIONS(0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x40, 0x2a, 0x33, 0x24, 0x22));
	assert_unsupported();
	start_expression_row(
		INSTRUCTIONS(0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x32, 0x24, 0x22));
	assert_unsupported();
	/* a wide rule cannot express anything around an entry */
	start_expression_row(
		INSTRUCTIONS(0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22));
	set(COLUMN_RBX, CFI_OFFSET, -1000);
	assert_unsupported();
}

static void test_rule__a_cfa_read_from_memory(void **state)
{
	(void)state;
	start_expression_row(INSTRUCTIONS(0x77, 0xa0, 4, 0x06, 0x23, 8)); /* *(rsp + 544) + 8 */
	set(COLUMN_RBP, CFI_OFFSET, -16);
	assert_rule(RULE_DEREF_SP, 1, SLOT(0, 1), 544);
	start_expression_row(INSTRUCTIONS(0x77, 0x78, 0x06, 0x23, 8)); /* *(rsp - 8) + 8 */
	assert_rule(RULE_DEREF_SP, 1, 0, -8);
	start_expression_row(INSTRUCTIONS(0x77, 16, 0x06, 0x08, 120, 0x22)); /* + const1u 120 */
	assert_rule(RULE_DEREF_SP, 15, 0, 16);
	start_expression_row(INSTRUCTIONS(0x76, 0x58, 0x06)); /* *(rbp - 40) */
	assert_rule(RULE_DEREF_BP, 0, 0, -40);
	start_expression_row(INSTRUCTIONS(0x77, 8, 0x38, 0x22, 0x06, 0x38, 0x22)); /* lit8, plus */
	assert_rule(RULE_DEREF_SP, 1, 0, 16);
	/* a multiple that is none of eight, or too large, goes into a wide rule */
	start_expression_row(INSTRUCTIONS(0x77, 8, 0x06, 0x23, 4));
	assert_rule(RULE_WIDE, 0, 0, 0);
	assert_int_equal(wide.cfa_add, 4);
	start_expression_row(INSTRUCTIONS(0x77, 8, 0x06, 0x23, 0x80, 1));
	assert_rule(RULE_WIDE, 0, 0, 0);
	assert_int_equal(wide.cfa_add, 128);
	assert_int_equal(wide.deref, 1);
	start_expression_row(INSTRUCTIONS(0x7a, 8, 0x06)); /* *(r10 + 8) */
	assert_rule(RULE_WIDE, 0, 0, 0);
	assert_int_equal(wide.base, R10);
}

static void test_rule__a_cfa_expression_without_memory(void **state)
{
	(void)state;
	start_expression_row(INSTRUCTIONS(0x77, 8, 0x23, 8, 0x96));
	assert_rule(RULE_SP, 0, 0, 16);
	start_expression_row(INSTRUCTIONS(0x92, 10, 8)); /* bregx */
	assert_rule(RULE_REG, R10, 0, 8);
	start_expression_row(
		INSTRUCTIONS(0x0d, 0xf8, 0xff, 0xff, 0xff, 0x7c, 0, 0x22)); /* const4s */
	assert_rule(RULE_REG, 12, 0, -8);
}

static void test_rule__every_constant(void **state)
{
	static const struct build_cfi_code constants[] = {
		{(const u8 *)"\x77\0\x08\x10\x22", 5},
		{(const u8 *)"\x77\x20\x09\xf0\x22", 5},
		{(const u8 *)"\x77\0\x0a\x10\0\x22", 6},
		{(const u8 *)"\x77\x20\x0b\xf0\xff\x22", 6},
		{(const u8 *)"\x77\0\x0c\x10\0\0\0\x22", 8},
		{(const u8 *)"\x77\x20\x0d\xf0\xff\xff\xff\x22", 8},
		{(const u8 *)"\x77\0\x0e\x10\0\0\0\0\0\0\0\x22", 12},
		{(const u8 *)"\x77\x20\x0f\xf0\xff\xff\xff\xff\xff\xff\xff\x22", 12},
		{(const u8 *)"\x77\0\x10\x10\x22", 5},
		{(const u8 *)"\x77\x20\x11\x70\x22", 5},
		{(const u8 *)"\x77\x20\x40\x1c", 4},
		{(const u8 *)"\x40\x77\0\x22", 4},
		{(const u8 *)"\x77\x10\x31\x13", 4},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(constants) / sizeof(*constants); i++) {
		start_expression_row(constants[i]);
		assert_rule(RULE_SP, 0, 0, 16);
	}
}

static void test_rule__realigned_frames(void **state)
{
	(void)state;
	start_expression_row(INSTRUCTIONS(0x76, 0x58, 0x06));
	set_expression(COLUMN_RBP, INSTRUCTIONS(0x76, 0));
	set_expression(COLUMN_R15, INSTRUCTIONS(0x76, 0x78));
	set_expression(COLUMN_RBX, INSTRUCTIONS(0x76, 0x50)); /* rbp - 48 */
	assert_rule(RULE_DRAP, 0, SLOT(0, 1) | SLOT(5, 2) | SLOT(1, 7), -40);
	/* r13 in place of r10: pushed before the stack was realigned */
	set(COLUMN_R13, CFI_OFFSET, -16);
	assert_rule(RULE_DRAP, 0, SLOT(0, 1) | SLOT(5, 2) | SLOT(1, 7) | SLOT(3, 1), -40);
	/* prologue and epilogue: the CFA is still in the register */
	start_row(R10, 0);
	set_expression(COLUMN_RBP, INSTRUCTIONS(0x76, 0));
	assert_rule(RULE_REALIGN, R10, SLOT(0, 1), 0);
	start_row(13, 0);
	set_expression(COLUMN_RBP, INSTRUCTIONS(0x76, 0));
	set(COLUMN_R13, CFI_OFFSET, -16);
	assert_rule(RULE_REALIGN, 13, SLOT(0, 1) | SLOT(3, 1), 0);
}

static void test_rule__realigned_frames_that_do_not_fit(void **state)
{
	(void)state;
	start_expression_row(INSTRUCTIONS(0x76, 0x58, 0x06));
	set_expression(COLUMN_RBP, INSTRUCTIONS(0x76, 0));
	set_expression(COLUMN_RBX, INSTRUCTIONS(0x76, 0x80, 0x7f)); /* rbp - 128 */
	assert_unsupported();
	set(COLUMN_RBX, CFI_OFFSET, -24);
	assert_unsupported();
	set_expression(COLUMN_RBX, INSTRUCTIONS(0x76, 0)); /* where rbp is */
	assert_unsupported();
}

static void test_rule__a_realigned_frame_that_is_left_again(void **state)
{
	(void)state;
	start_row(RSP, 16);
	set_expression(COLUMN_RBP, INSTRUCTIONS(0x76, 0));
	set_expression(COLUMN_RBX, INSTRUCTIONS(0x76, 0x78));
	set(COLUMN_R13, CFI_OFFSET, -16);
	assert_rule(RULE_SP, 0, SLOT(3, 1), 16);
}

static void start_signal_frame(void)
{
	start_expression_row(INSTRUCTIONS(0x77, 0xa0, 1, 0x06));
	set_expression(COLUMN_RETURN, INSTRUCTIONS(0x77, 0xa8, 1));
	set_expression(COLUMN_RBP, INSTRUCTIONS(0x77, 0xf8, 0));
	set_expression(COLUMN_RSP, INSTRUCTIONS(0x77, 0xa0, 1));
	set_expression(COLUMN_RBX, INSTRUCTIONS(0x77, 0x80, 1));
}

static void test_rule__the_kernels_signal_frame(void **state)
{
	(void)state;
	start_signal_frame();
	assert_true(make(true) == RULE_MAKE(RULE_SIGNAL, 0, 0, 0, RULE_FLAG_SIGNAL));
	/* without the augmentation, or with registers elsewhere, the frame is another kind */
	assert_unsupported();
	set_expression(COLUMN_RBP, INSTRUCTIONS(0x77, 0xf0, 0));
	assert_true(make(true) == RULE_UNSUPPORTED);
}

/* ---- wide rules ---- */

static void test_rule__far_saves_and_far_frames_are_wide(void **state)
{
	(void)state;
	start_row(RSP, RULE_OFFSET_MAX + 1ll);
	set(COLUMN_RBP, CFI_OFFSET, -16);
	assert_rule(RULE_WIDE, 0, 0, 0);
	assert_int_equal(wide.cfa_offset, RULE_OFFSET_MAX + 1);
	assert_int_equal(wide.base, RSP);
	assert_int_equal(wide.deref, 0);
	assert_int_equal(wide.ra_reg, 16);
	assert_int_equal(wide.ra_offset, -8);
	assert_int_equal(wide.save[0], -16);
	assert_int_equal(wide.save[1], RULE_WIDE_SAME);
	assert_int_equal(wide.pad[0], 0);
	start_row(RSP, 1000);
	set(COLUMN_R12, CFI_OFFSET, -8 - 8 * 16);
	assert_rule(RULE_WIDE, 0, 0, 0);
	assert_int_equal(wide.save[2], -136);
	start_row(RSP, 1000);
	set(COLUMN_R12, CFI_OFFSET, -20); /* no slot's place */
	assert_rule(RULE_WIDE, 0, 0, 0);
	assert_int_equal(wide.save[2], -20);
	start_row(RSP, 1ll << 31);
	assert_unsupported();
}

static void test_rule__a_return_address_elsewhere_is_wide(void **state)
{
	(void)state;
	start_row(RSP, 8);
	set(COLUMN_RETURN, CFI_REGISTER, 2);
	assert_rule(RULE_WIDE, 0, 0, 0);
	assert_int_equal(wide.ra_reg, 2);
	set(COLUMN_RETURN, CFI_OFFSET, 168);
	assert_rule(RULE_WIDE, 0, 0, 0);
	assert_int_equal(wide.ra_reg, 16);
	assert_int_equal(wide.ra_offset, 168);
	set_expression(COLUMN_RETURN, INSTRUCTIONS(0x77, 24)); /* rsp + 24 = CFA + 16 */
	assert_rule(RULE_WIDE, 0, 0, 0);
	assert_int_equal(wide.ra_offset, 16);
	set(COLUMN_RETURN, CFI_UNSET, 0);
	assert_unsupported();
	set(COLUMN_RETURN, CFI_VAL_OFFSET, 0);
	assert_unsupported();
}

static void test_rule__registers_in_registers(void **state)
{
	(void)state;
	start_row(RSP, 8);
	set(COLUMN_RBP, CFI_REGISTER, 11);
	assert_rule(RULE_WIDE, 0, 0, 0);
	assert_int_equal(wide.save[COLUMN_RBP], RULE_WIDE_IN(11));
	set(COLUMN_RBP, CFI_REGISTER, RBP);
	assert_rule(RULE_SP, 0, 0, 8);
	set(COLUMN_RBP, CFI_REGISTER, 17); /* an xmm register */
	assert_unsupported();
	start_row(RSP, 8);
	set_code(&row.column[COLUMN_RBX], CFI_VAL_EXPRESSION, INSTRUCTIONS(0x7b, 0)); /* r11 + 0 */
	assert_rule(RULE_WIDE, 0, 0, 0);
	assert_int_equal(wide.save[COLUMN_RBX], RULE_WIDE_IN(11));
}

static void test_rule__what_nobody_can_say_is_lost_but_not_rbp(void **state)
{
	static const struct build_cfi_code odd[] = {
		/* ((CFA - 8) & -32) - 96, an odd multiple, *(*(CFA)), nothing, two registers */
		{(const u8 *)"\x38\x1c\x0d\xe0\xff\xff\xff\x1a\x0d\xa0\xff\xff\xff\x22", 14},
		{(const u8 *)"\x38\x1e", 2},
		{(const u8 *)"\x06", 1},
		{(const u8 *)"\x13", 1},
		{(const u8 *)"\x77\0\x22", 3},
		{(const u8 *)"\x22", 1},
		{(const u8 *)"\x13\x13", 2},
		{(const u8 *)"\x77", 1},
		{(const u8 *)"\x38", 1},
		{(const u8 *)"\x38\x06", 2},
		{(const u8 *)"\x23\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10},
		{(const u8 *)"\x0e\0\0\0\0\0\0\0\x80\x1c", 10},
		{(const u8 *)"\x92\x86\x80\x80\x80\x10\0", 7},
		{(const u8 *)"\x30\x30\x30\x30\x30\x30\x30\x30\x30", 9},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
		start_row(RBP, 16);
		set(COLUMN_RBP, CFI_OFFSET, -16);
		set_expression(COLUMN_R12, odd[i]);
		assert_rule(RULE_WIDE, 0, 0, 0);
		assert_int_equal(wide.save[COLUMN_R12], RULE_WIDE_LOST);
		assert_int_equal(wide.save[COLUMN_RBP], -16);
		set_expression(COLUMN_RBP, odd[i]);
		assert_unsupported();
	}
	start_row(RSP, 8);
	set(COLUMN_R15, CFI_UNDEFINED, 0);
	assert_rule(RULE_WIDE, 0, 0, 0);
	assert_int_equal(wide.save[COLUMN_R15], RULE_WIDE_LOST);
	set(COLUMN_R15, CFI_VAL_OFFSET, 8);
	assert_rule(RULE_WIDE, 0, 0, 0);
	assert_int_equal(wide.save[COLUMN_R15], RULE_WIDE_LOST);
	set(COLUMN_R15, CFI_OFFSET, 1ll << 31);
	assert_rule(RULE_WIDE, 0, 0, 0);
	assert_int_equal(wide.save[COLUMN_R15], RULE_WIDE_LOST);
}

static void test_rule__endless_expressions(void **state)
{
	u8 nops[100];

	(void)state;
	memset(nops, 0x96, sizeof(nops));
	nops[0] = 0x77;
	nops[1] = 8;
	start_expression_row((struct build_cfi_code){nops, 60});
	assert_rule(RULE_SP, 0, 0, 8);
	start_expression_row((struct build_cfi_code){nops, sizeof(nops)});
	assert_unsupported();
}

/* ---- where the caller's stack pointer is not the CFA ---- */

static void test_rule__a_stack_pointer_beside_the_cfa(void **state)
{
	(void)state;
	/* Haskell's StgRun: the CFA is made up, rsp is given on its own */
	start_row(RSP, 0);
	set_code(&row.column[COLUMN_RSP], CFI_VAL_EXPRESSION, INSTRUCTIONS(0x77, 0xb8, 0x80, 1));
	set(COLUMN_RETURN, CFI_OFFSET, 16432);
	set(COLUMN_RBX, CFI_OFFSET, 16384);
	set(COLUMN_RBP, CFI_OFFSET, 16392);
	assert_rule(RULE_SP, 0, SLOT(0, 5) | SLOT(1, 6), 16440);
	start_row(RSP, 8);
	set(COLUMN_RSP, CFI_VAL_OFFSET, 0);
	assert_rule(RULE_SP, 0, 0, 8);
	set(COLUMN_RSP, CFI_VAL_OFFSET, 8);
	set(COLUMN_RETURN, CFI_OFFSET, 0);
	assert_rule(RULE_SP, 0, 0, 16);
}

static void test_rule__a_stack_pointer_from_elsewhere(void **state)
{
	(void)state;
	/* longjmp: everything from a buffer, rsp and the target in registers */
	start_row(5, 0);
	set(COLUMN_RSP, CFI_REGISTER, 8);
	set(COLUMN_RBP, CFI_REGISTER, 9);
	set(COLUMN_RETURN, CFI_REGISTER, 1);
	set(COLUMN_RBX, CFI_OFFSET, 0);
	assert_rule(RULE_WIDE, 0, 0, 0);
	assert_int_equal(wide.base, 8);
	assert_int_equal(wide.cfa_offset, 0);
	assert_int_equal(wide.ra_reg, 1);
	assert_int_equal(wide.save[COLUMN_RBP], RULE_WIDE_IN(9));
	assert_int_equal(wide.save[COLUMN_RBX], RULE_WIDE_LOST);
	/* setcontext: rsp in the buffer, and so is the return address, which no rule can say */
	set(COLUMN_RSP, CFI_OFFSET, 160);
	assert_rule(RULE_WIDE, 0, 0, 0);
	assert_int_equal(wide.base, 5);
	assert_int_equal(wide.deref, 1);
	assert_int_equal(wide.cfa_offset, 160);
	set(COLUMN_RETURN, CFI_OFFSET, 168);
	assert_unsupported();
	set(COLUMN_RSP, CFI_UNDEFINED, 0);
	assert_unsupported();
}

/* ---- the short cut ---- */

static u64 next_rule(struct rule_maker *maker, struct cfi *cfi)
{
	u64 rule = rule_maker_next(maker, cfi, &wide);

	assert_true(rule == rule_make(&cfi->row, &section, cfi->cie->signal, &wide));
	return rule;
}

static void test_rule__the_short_cut_gives_the_same_rules(void **state)
{
	static const struct frame_cie cie, signal_cie = {.signal = true};
	static struct cfi cfi;
	struct rule_maker maker = {.section = &section};

	(void)state;
	start_row(RSP, 8);
	cfi.row = row;
	cfi.cie = &cie;
	cfi.columns_changed = true;
	next_rule(&maker, &cfi);
	assert_false(cfi.columns_changed);
	cfi.row.cfa_offset = 16;
	assert_true(next_rule(&maker, &cfi) == RULE_MAKE(RULE_SP, 0, 0, 16, 0));
	for (s64 value = -400; value < 16; value += 4) {
		cfi.row.column[COLUMN_R14] = (struct cfi_place){.how = CFI_OFFSET, .value = value};
		cfi.columns_changed = true;
		next_rule(&maker, &cfi);
		cfi.row.cfa_register = RBP;
		next_rule(&maker, &cfi);
	}
	cfi.row.column[COLUMN_R14].value = -24;
	cfi.columns_changed = true;
	cfi.row.cfa_register = 17;
	assert_true(next_rule(&maker, &cfi) == RULE_UNSUPPORTED);
	cfi.row.cfa_register = RSP;
	cfi.row.cfa_offset = RULE_OFFSET_MAX + 1ll;
	assert_true(rule_kind(next_rule(&maker, &cfi)) == RULE_WIDE);
	cfi.row.cfa_offset = 16;
	cfi.cie = &signal_cie;
	assert_true(next_rule(&maker, &cfi) == RULE_UNSUPPORTED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rule__a_register_and_an_offset),
		cmocka_unit_test(test_rule__save_slots),
		cmocka_unit_test(test_rule__saves_relative_to_the_register_of_the_cfa),
		cmocka_unit_test(test_rule__other_signal_frames_are_unsupported),
		cmocka_unit_test(test_rule__an_undefined_return_address_is_the_end),
		cmocka_unit_test(test_rule__procedure_linkage_tables),
		cmocka_unit_test(test_rule__a_cfa_read_from_memory),
		cmocka_unit_test(test_rule__a_cfa_expression_without_memory),
		cmocka_unit_test(test_rule__every_constant),
		cmocka_unit_test(test_rule__realigned_frames),
		cmocka_unit_test(test_rule__realigned_frames_that_do_not_fit),
		cmocka_unit_test(test_rule__a_realigned_frame_that_is_left_again),
		cmocka_unit_test(test_rule__the_kernels_signal_frame),
		cmocka_unit_test(test_rule__far_saves_and_far_frames_are_wide),
		cmocka_unit_test(test_rule__a_return_address_elsewhere_is_wide),
		cmocka_unit_test(test_rule__registers_in_registers),
		cmocka_unit_test(test_rule__what_nobody_can_say_is_lost_but_not_rbp),
		cmocka_unit_test(test_rule__endless_expressions),
		cmocka_unit_test(test_rule__a_stack_pointer_beside_the_cfa),
		cmocka_unit_test(test_rule__a_stack_pointer_from_elsewhere),
		cmocka_unit_test(test_rule__the_short_cut_gives_the_same_rules),
	};

	return cmocka_run_group_tests_name("rule", tests, NULL, NULL);
}
