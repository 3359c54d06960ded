/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "tests/unit/build_cfi.h"
#include "object/unwind/cfi.h"

#define START 0x1000ull
#define SIZE  0x100ull

static struct frame_section section;
static struct build_cfi bytes;
static struct cfi_row initial;
static struct cfi cfi;
static struct frame_fde fde;

/* Starts the program of an FDE at START, behind the usual CIE. */
static void start_program(struct build_cfi_code code)
{
	build_cfi_release(&bytes);
	build_cfi_fde(&bytes, build_cfi_usual_cie(&bytes), START, SIZE, code);
	frame_section_init(&section, bytes.bytes, bytes.size, 0);
	assert_true(frame_next(&section, &fde));
	assert_int_equal(cfi_initial(&section, fde.cie, &initial), 0);
	cfi_init(&cfi, &section, &fde, &initial, UINT64_MAX);
}

static void expect_row(uint64_t start, uint64_t end)
{
	assert_true(cfi_next(&cfi));
	assert_int_equal(cfi.start, START + start);
	assert_int_equal(cfi.end, START + end);
}

static void expect_last_row(uint64_t start)
{
	expect_row(start, SIZE);
	assert_false(cfi_next(&cfi));
	assert_false(cfi.damaged);
}

static void expect_cfa(uint64_t number, int64_t offset)
{
	assert_int_equal(cfi.row.cfa.how, CFI_REGISTER);
	assert_int_equal(cfi.row.cfa_register, number);
	assert_int_equal(cfi.row.cfa_offset, offset);
}

static void expect_place(enum cfi_column column, enum cfi_how how, int64_t value)
{
	assert_int_equal(cfi.row.column[column].how, how);
	assert_int_equal(cfi.row.column[column].value, value);
}

/* Runs one program of one row. */
static void run(struct build_cfi_code code)
{
	start_program(code);
	expect_last_row(0);
}

static void test_cfi__the_cie_gives_the_first_row(void **state)
{
	(void)state;
	run((struct build_cfi_code){NULL, 0});
	expect_cfa(REGISTER_RSP, 8);
	expect_place(COLUMN_RETURN, CFI_OFFSET, -8);
	expect_place(COLUMN_RBX, CFI_UNSET, 0);
	assert_true(cfi.columns_changed);
}

static void test_cfi__advances_make_rows(void **state)
{
	(void)state;
	/* advance_loc 1, 1: 4, 2: 0x10, 4: 0x20, set_loc, each with a new CFA offset */
	start_program(INSTRUCTIONS(0x41, 0x0e, 16, 0x02, 4, 0x0e, 24, 0x03, 0x10, 0, 0x0e, 32, 0x04,
				   0x20, 0, 0, 0, 0x0e, 40, 0x01, 0x80, 0x10, 0, 0, 0, 0, 0, 0,
				   0x0e, 48));
	expect_row(0, 1);
	expect_cfa(REGISTER_RSP, 8);
	expect_row(1, 5);
	expect_cfa(REGISTER_RSP, 16);
	expect_row(5, 0x15);
	expect_cfa(REGISTER_RSP, 24);
	expect_row(0x15, 0x35);
	expect_cfa(REGISTER_RSP, 32);
	expect_row(0x35, 0x80);
	expect_cfa(REGISTER_RSP, 40);
	expect_last_row(0x80);
	expect_cfa(REGISTER_RSP, 48);
}

static void test_cfi__rows_end_where_the_function_ends(void **state)
{
	(void)state;
	/* an advance of nothing gives no row, nor does one behind the end */
	start_program(INSTRUCTIONS(0x40, 0x0e, 16, 0x03, 0, 1, 0x0e, 24));
	expect_last_row(0);
	expect_cfa(REGISTER_RSP, 16);
	start_program(INSTRUCTIONS(0x03, 0xff, 0xff, 0x0e, 24));
	expect_last_row(0);
	expect_cfa(REGISTER_RSP, 8);
	start_program(INSTRUCTIONS(0x4f, 0x0e, 16, 0x4f, 0x0e, 24));
	cfi.limit = START + 20;
	expect_row(0, 15);
	expect_row(15, 20);
	assert_false(cfi_next(&cfi));
	assert_false(cfi.damaged);
}

static void test_cfi__ways_to_define_the_cfa(void **state)
{
	(void)state;
	run(INSTRUCTIONS(0x0c, 6, 0x90, 1)); /* def_cfa */
	expect_cfa(REGISTER_RBP, 144);
	run(INSTRUCTIONS(0x0d, 10)); /* def_cfa_register */
	expect_cfa(10, 8);
	run(INSTRUCTIONS(0x0e, 0x80, 2)); /* def_cfa_offset */
	expect_cfa(REGISTER_RSP, 256);
	run(INSTRUCTIONS(0x12, 3, 0x7e)); /* def_cfa_sf: -2 * -8 */
	expect_cfa(REGISTER_RBX, 16);
	run(INSTRUCTIONS(0x13, 2)); /* def_cfa_offset_sf: 2 * -8 */
	expect_cfa(REGISTER_RSP, -16);
	run(INSTRUCTIONS(0x0c, 100, 8));
	expect_cfa(100, 8);
}

static void test_cfi__a_cfa_expression(void **state)
{
	(void)state;
	run(INSTRUCTIONS(0x0f, 2, 0x77, 8));
	assert_int_equal(cfi.row.cfa.how, CFI_EXPRESSION);
	assert_int_equal(cfi.row.cfa.size, 2);
	assert_int_equal(section.bytes[cfi.row.cfa.value], 0x77);
	/* the earlier half comes back with the one that is named */
	run(INSTRUCTIONS(0x0e, 56, 0x0f, 2, 0x77, 8, 0x0d, 6));
	expect_cfa(REGISTER_RBP, 56);
}

static void test_cfi__ways_to_save_a_register(void **state)
{
	(void)state;
	run(INSTRUCTIONS(0x86, 2)); /* offset: 2 * -8 */
	expect_place(COLUMN_RBP, CFI_OFFSET, -16);
	run(INSTRUCTIONS(0x05, 12, 0x81, 1)); /* offset_extended */
	expect_place(COLUMN_R12, CFI_OFFSET, -129 * 8);
	run(INSTRUCTIONS(0x11, 13, 0x7d)); /* offset_extended_sf: -3 * -8 */
	expect_place(COLUMN_R13, CFI_OFFSET, 24);
	run(INSTRUCTIONS(0x2f, 14, 2)); /* GNU_negative_offset_extended: -2 * -8 */
	expect_place(COLUMN_R14, CFI_OFFSET, 16);
	run(INSTRUCTIONS(0x14, 7, 1)); /* val_offset */
	expect_place(COLUMN_RSP, CFI_VAL_OFFSET, -8);
	run(INSTRUCTIONS(0x15, 7, 0x7f)); /* val_offset_sf */
	expect_place(COLUMN_RSP, CFI_VAL_OFFSET, 8);
	run(INSTRUCTIONS(0x09, 3, 11)); /* register */
	expect_place(COLUMN_RBX, CFI_REGISTER, 11);
	run(INSTRUCTIONS(0x07, 16)); /* undefined */
	expect_place(COLUMN_RETURN, CFI_UNDEFINED, 0);
	run(INSTRUCTIONS(0x86, 2, 0x08, 6)); /* same_value */
	expect_place(COLUMN_RBP, CFI_SAME, 0);
	run(INSTRUCTIONS(0x10, 15, 2, 0x76, 0x78)); /* expression */
	assert_int_equal(cfi.row.column[COLUMN_R15].how, CFI_EXPRESSION);
	assert_int_equal(cfi.row.column[COLUMN_R15].size, 2);
	assert_int_equal(section.bytes[cfi.row.column[COLUMN_R15].value], 0x76);
	run(INSTRUCTIONS(0x16, 15, 1, 0x50)); /* val_expression */
	assert_int_equal(cfi.row.column[COLUMN_R15].how, CFI_VAL_EXPRESSION);
	assert_int_equal(cfi.row.column[COLUMN_R15].size, 1);
}

static void test_cfi__restored_registers_are_as_in_the_cie(void **state)
{
	(void)state;
	run(INSTRUCTIONS(0x86, 2, 0x90, 5, 0xc6, 0xd0));
	expect_place(COLUMN_RBP, CFI_UNSET, 0);
	expect_place(COLUMN_RETURN, CFI_OFFSET, -8);
	run(INSTRUCTIONS(0x83, 2, 0x06, 3)); /* restore_extended */
	expect_place(COLUMN_RBX, CFI_UNSET, 0);
}

static void test_cfi__other_registers_leave_no_trace(void **state)
{
	struct cfi_row before;

	(void)state;
	start_program(INSTRUCTIONS(0x41, 0x80, 2, 0x05, 40, 1, 0x07, 1, 0x08, 2, 0x09, 4, 5, 0x10,
				   8, 1, 0x50, 0x16, 9, 1, 0x50, 0xca, 0x06, 0xff, 0xff, 3));
	expect_row(0, 1);
	before = cfi.row;
	cfi.columns_changed = false;
	expect_last_row(1);
	assert_memory_equal(&cfi.row, &before, sizeof(before));
	assert_false(cfi.columns_changed);
}

static void test_cfi__remembered_states_are_a_stack(void **state)
{
	(void)state;
	start_program(INSTRUCTIONS(0x0e, 16, 0x86, 2, 0x0a, 0x41, 0x0e, 24, 0x0a, 0x41, 0x0c, 6, 32,
				   0xc6, 0x41, 0x0b, 0x41, 0x0b));
	expect_row(0, 1);
	expect_row(1, 2);
	expect_cfa(REGISTER_RSP, 24);
	expect_row(2, 3);
	expect_cfa(REGISTER_RBP, 32);
	expect_place(COLUMN_RBP, CFI_UNSET, 0);
	cfi.columns_changed = false;
	expect_row(3, 4);
	expect_cfa(REGISTER_RSP, 24);
	expect_place(COLUMN_RBP, CFI_OFFSET, -16);
	assert_true(cfi.columns_changed);
	expect_last_row(4);
	expect_cfa(REGISTER_RSP, 16);
}

static void test_cfi__instructions_without_effect(void **state)
{
	(void)state;
	run(INSTRUCTIONS(0x00, 0x2e, 0xff, 1, 0x2d, 0x00));
	expect_cfa(REGISTER_RSP, 8);
}

static void expect_damaged(struct build_cfi_code code)
{
	start_program(code);
	assert_false(cfi_next(&cfi));
	assert_true(cfi.damaged);
	assert_int_equal(cfi.end, START);
	assert_false(cfi_next(&cfi));
}

static void test_cfi__damaged_programs(void **state)
{
	(void)state;
	for (uint8_t opcode = 0x17; opcode < 0x40; opcode++) {
		if (opcode < 0x2d || opcode > 0x2f)
			expect_damaged(INSTRUCTIONS(opcode, 1, 1));
	}
	expect_damaged(INSTRUCTIONS(0x0e));			    /* operand missing */
	expect_damaged(INSTRUCTIONS(0x03, 1));			    /* operand cut */
	expect_damaged(INSTRUCTIONS(0x0f, 5, 0x77, 8));		    /* expression cut */
	expect_damaged(INSTRUCTIONS(0x0b));			    /* nothing remembered */
	expect_damaged(INSTRUCTIONS(0x01, 0, 0, 0, 0, 0, 0, 0, 0)); /* backwards */
	expect_damaged(INSTRUCTIONS(0x05, 6, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f));
}

static void test_cfi__rows_before_the_damage_stay(void **state)
{
	(void)state;
	start_program(INSTRUCTIONS(0x41, 0x0e, 16, 0x44, 0x3f));
	expect_row(0, 1);
	expect_row(1, 5);
	expect_cfa(REGISTER_RSP, 16);
	assert_false(cfi_next(&cfi));
	assert_true(cfi.damaged);
	assert_int_equal(cfi.end, START + 5);
}

static void test_cfi__remembering_is_bounded(void **state)
{
	unsigned char code[CFI_STATES_MAX + 1];

	(void)state;
	memset(code, 0x0a, sizeof(code));
	start_program((struct build_cfi_code){code, CFI_STATES_MAX});
	expect_last_row(0);
	expect_damaged((struct build_cfi_code){code, sizeof(code)});
}

static int initial_of(struct build_cfi_code code)
{
	struct cfi_row row;

	build_cfi_release(&bytes);
	build_cfi_fde(&bytes, build_cfi_cie(&bytes, "", code), START, SIZE,
		      (struct build_cfi_code){NULL, 0});
	frame_section_init(&section, bytes.bytes, bytes.size, 0);
	assert_true(frame_next(&section, &fde));
	return cfi_initial(&section, fde.cie, &row);
}

static void test_cfi__damaged_cies(void **state)
{
	(void)state;
	assert_int_equal(initial_of(INSTRUCTIONS(0x0c, 7, 8)), 0);
	assert_int_equal(initial_of(INSTRUCTIONS(0x41)), -EBADMSG);
	assert_int_equal(initial_of(INSTRUCTIONS(0x0e, 8)), -EBADMSG); /* of which register? */
	assert_int_equal(initial_of(INSTRUCTIONS(0x3f)), -EBADMSG);
	assert_int_equal(initial_of(INSTRUCTIONS(0x0c, 7)), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cfi__the_cie_gives_the_first_row),
		cmocka_unit_test(test_cfi__advances_make_rows),
		cmocka_unit_test(test_cfi__rows_end_where_the_function_ends),
		cmocka_unit_test(test_cfi__ways_to_define_the_cfa),
		cmocka_unit_test(test_cfi__a_cfa_expression),
		cmocka_unit_test(test_cfi__ways_to_save_a_register),
		cmocka_unit_test(test_cfi__restored_registers_are_as_in_the_cie),
		cmocka_unit_test(test_cfi__other_registers_leave_no_trace),
		cmocka_unit_test(test_cfi__remembered_states_are_a_stack),
		cmocka_unit_test(test_cfi__instructions_without_effect),
		cmocka_unit_test(test_cfi__damaged_programs),
		cmocka_unit_test(test_cfi__rows_before_the_damage_stay),
		cmocka_unit_test(test_cfi__remembering_is_bounded),
		cmocka_unit_test(test_cfi__damaged_cies),
	};

	return cmocka_run_group_tests_name("cfi", tests, NULL, NULL);
}
