/* SPDX-License-Identifier: Apache-2.0 */
/* Decoding the instructions of tiny functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "worker/runtime/instruction.h"

#define PC 0x1000u

static const struct {
	unsigned char bytes[INSTRUCTION_BYTES_MAX];
	struct instruction expected; /* at PC */
} known[] = {
	/* endbr64 */
	{{0xf3, 0x0f, 0x1e, 0xfa}, {.kind = INSTRUCTION_OTHER, .size = 4}},
	/* push %r12; pop %r12; pop %rax */
	{{0x41, 0x54}, {.kind = INSTRUCTION_OTHER, .size = 2}},
	{{0x41, 0x5c}, {.kind = INSTRUCTION_LOSE, .reg = 12, .size = 2}},
	{{0x58}, {.kind = INSTRUCTION_LOSE, .reg = 0, .size = 1}},
	/* data16 lea 0x100(%rip),%rdi */
	{{0x66, 0x48, 0x8d, 0x3d, 0, 1, 0, 0},
	 {INSTRUCTION_MOVE, 7, true, false, {0xff, false, 0x1108}, 0, 8}},
	/* lea 0x608(%rbx),%rdi; lea 8(%rsp),%rax; lea (%rax,%rcx,1),%rdx */
	{{0x48, 0x8d, 0xbb, 8, 6, 0, 0},
	 {INSTRUCTION_MOVE, 7, true, false, {3, false, 0x608}, 0, 7}},
	{{0x48, 0x8d, 0x44, 0x24, 8}, {INSTRUCTION_MOVE, 0, true, false, {4, false, 8}, 0, 5}},
	{{0x48, 0x8d, 0x14, 0x08}, {INSTRUCTION_MOVE, 2, true, false, {0, true, 0}, 0, 4}},
	/* mov -0x10(%rip),%rax; mov (%rax),%rax; mov 4(%rdi),%edi; mov (%r12),%rax */
	{{0x48, 0x8b, 0x05, 0xf0, 0xff, 0xff, 0xff},
	 {INSTRUCTION_LOAD, 0, true, false, {0xff, false, 0xff7}, 0, 7}},
	{{0x48, 0x8b, 0x00}, {INSTRUCTION_LOAD, 0, true, false, {0, false, 0}, 0, 3}},
	{{0x8b, 0x7f, 4}, {INSTRUCTION_LOAD, 7, false, false, {7, false, 4}, 0, 3}},
	{{0x49, 0x8b, 0x04, 0x24}, {INSTRUCTION_LOAD, 0, true, false, {12, false, 0}, 0, 4}},
	/* mov %fs:-24,%rax; mov %fs:(%rax),%rax */
	{{0x64, 0x48, 0x8b, 0x04, 0x25, 0xe8, 0xff, 0xff, 0xff},
	 {INSTRUCTION_LOAD, 0, true, true, {0xff, false, -24ull}, 0, 9}},
	{{0x64, 0x48, 0x8b, 0x00}, {INSTRUCTION_LOAD, 0, true, true, {0, false, 0}, 0, 4}},
	/* mov %rbx,%rdi, both ways; mov %r8,%rax; mov %rax,8(%rsp) */
	{{0x48, 0x89, 0xdf}, {INSTRUCTION_MOVE, 7, true, false, {3, false, 0}, 0, 3}},
	{{0x48, 0x8b, 0xfb}, {INSTRUCTION_MOVE, 7, true, false, {3, false, 0}, 0, 3}},
	{{0x4c, 0x89, 0xc0}, {INSTRUCTION_MOVE, 0, true, false, {8, false, 0}, 0, 3}},
	{{0x48, 0x89, 0x44, 0x24, 8}, {.kind = INSTRUCTION_OTHER, .size = 5}},
	/* mov $0x6d26fe,%edx; mov $-24,%rax; movl $1,(%rip); xor %eax,%eax; xor %ecx,%eax */
	{{0xba, 0xfe, 0x26, 0x6d, 0},
	 {INSTRUCTION_MOVE, 2, false, false, {0xff, false, 0x6d26fe}, 0, 5}},
	{{0x48, 0xc7, 0xc0, 0xe8, 0xff, 0xff, 0xff},
	 {INSTRUCTION_MOVE, 0, true, false, {0xff, false, -24ull}, 0, 7}},
	{{0xc7, 0x05, 0, 0, 0, 0, 1, 0, 0, 0}, {.kind = INSTRUCTION_OTHER, .size = 10}},
	{{0x31, 0xc0}, {INSTRUCTION_MOVE, 0, false, false, {0xff, false, 0}, 0, 2}},
	{{0x31, 0xc8}, {.kind = INSTRUCTION_LOSE, .reg = 0, .size = 2}},
	{{0x33, 0xc1}, {.kind = INSTRUCTION_LOSE, .reg = 0, .size = 2}},
	/* sub $8,%rsp; add $0x10,%rax; add 0x100(%rip),%rax */
	{{0x48, 0x83, 0xec, 8}, {.kind = INSTRUCTION_LOSE, .reg = 4, .size = 4}},
	{{0x48, 0x83, 0xc0, 0x10}, {INSTRUCTION_ADD, 0, true, false, {0xff, false, 16}, 0, 4}},
	{{0x48, 0x03, 0x05, 0, 1, 0, 0},
	 {INSTRUCTION_ADD_FROM, 0, true, false, {0xff, false, 0x1107}, 0, 7}},
	/* add %rdx,%rax; add %edx,%eax; add %rdx,(%rax); cmpq $0,0x248(%rax); test %eax,%eax */
	{{0x48, 0x01, 0xd0}, {INSTRUCTION_ADD, 0, true, false, {2, false, 0}, 0, 3}},
	{{0x01, 0xd0}, {.kind = INSTRUCTION_LOSE, .reg = 0, .size = 2}},
	{{0x48, 0x01, 0x10}, {.kind = INSTRUCTION_OTHER, .size = 3}},
	{{0x48, 0x83, 0xb8, 0x48, 2, 0, 0, 0}, {.kind = INSTRUCTION_OTHER, .size = 8}},
	{{0x85, 0xc0}, {.kind = INSTRUCTION_OTHER, .size = 2}},
	/* je; je; jmp; jmp; call; call * of three sorts; jmp *; ret */
	{{0x74, 0x10}, {.kind = INSTRUCTION_BRANCH, .target = 0x1012, .size = 2}},
	{{0x0f, 0x84, 0, 1, 0, 0}, {.kind = INSTRUCTION_BRANCH, .target = 0x1106, .size = 6}},
	{{0xeb, 0xfe}, {.kind = INSTRUCTION_JUMP, .target = 0x1000, .size = 2}},
	{{0xe9, 0, 1, 0, 0}, {.kind = INSTRUCTION_JUMP, .target = 0x1105, .size = 5}},
	{{0x66, 0x66, 0x48, 0xe8, 0, 1, 0, 0},
	 {.kind = INSTRUCTION_CALL, .target = 0x1108, .size = 8}},
	{{0xff, 0x15, 0, 0, 0, 0},
	 {INSTRUCTION_CALL_AT, 2, false, false, {0xff, false, 0x1006}, 0, 6}},
	{{0xff, 0x10}, {INSTRUCTION_CALL_AT, 2, false, false, {0, false, 0}, 0, 2}},
	{{0xff, 0xd0}, {.kind = INSTRUCTION_CALL, .size = 2}},
	{{0xff, 0x25, 0, 0, 0, 0}, {.kind = INSTRUCTION_JUMP, .size = 6}},
	{{0xc3}, {.kind = INSTRUCTION_RETURN, .size = 1}},
};

static bool has_target(enum instruction_kind kind)
{
	return kind == INSTRUCTION_CALL || kind == INSTRUCTION_JUMP || kind == INSTRUCTION_BRANCH;
}

static bool has_operand(enum instruction_kind kind)
{
	return kind == INSTRUCTION_MOVE || kind == INSTRUCTION_LOAD || kind == INSTRUCTION_ADD ||
	       kind == INSTRUCTION_ADD_FROM || kind == INSTRUCTION_CALL_AT;
}

static void compare(const struct instruction *found, const struct instruction *expected)
{
	assert_true(found->reg < 16);
	assert_int_equal(found->kind, expected->kind);
	assert_int_equal(found->size, expected->size);
	if (has_target(found->kind))
		assert_int_equal(found->target, expected->target);
	if (found->kind == INSTRUCTION_LOSE || has_operand(found->kind))
		assert_int_equal(found->reg, expected->reg);
	if (!has_operand(found->kind))
		return;
	assert_int_equal(found->wide, expected->wide);
	assert_int_equal(found->segment, expected->segment);
	assert_int_equal(found->operand.unknown, expected->operand.unknown);
	if (found->operand.unknown)
		return;
	assert_int_equal(found->operand.base, expected->operand.base);
	assert_int_equal(found->operand.number, expected->operand.number);
}

static void test_instruction__those_that_are_known(void **state)
{
	struct instruction found;

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const struct instruction *expected = &known[i].expected;

		assert_int_equal(
			instruction_decode(known[i].bytes, INSTRUCTION_BYTES_MAX, PC, &found), 0);
		compare(&found, expected);
		for (size_t size = 0; size < expected->size; size++)
			assert_true(instruction_decode(known[i].bytes, size, PC, &found) < 0);
	}
}

/* int3, syscall, a shift, a test with a number, vector code */
static void test_instruction__others_are_not(void **state)
{
	static const unsigned char others[][INSTRUCTION_BYTES_MAX] = {
		{0xcc},	      {0x0f, 0x05},    {0xc1, 0xe0, 4}, {0xf7, 0xc0}, {0xc5, 0xf8, 0x77},
		{0xff, 0xf0}, {0x80, 0xc0, 1}, {0x8d, 0xc0},
	};
	struct instruction found;

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_int_equal(instruction_decode(others[i], INSTRUCTION_BYTES_MAX, PC, &found),
				 -ENOTSUP);
}

/* Nothing but prefixes. */
static void test_instruction__has_an_end(void **state)
{
	unsigned char bytes[64];
	struct instruction found;

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = 0x66;
	assert_true(instruction_decode(bytes, sizeof(bytes), PC, &found) < 0);
	bytes[14] = 0xc3;
	assert_int_equal(instruction_decode(bytes, sizeof(bytes), PC, &found), 0);
	assert_int_equal(found.size, 15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_instruction__those_that_are_known),
		cmocka_unit_test(test_instruction__others_are_not),
		cmocka_unit_test(test_instruction__has_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
