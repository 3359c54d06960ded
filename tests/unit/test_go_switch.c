/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "object/unwind/go_switch.h"

/* instructions of the functions, as the assemblers of Go 1.16 to 1.26 write them */
#define NOP		  0x90, 0x90, 0x90, 0x90, 0x90
#define LOAD_LOCAL	  0x64, 0x48, 0x8b, 0x04, 0x25, 0xf8, 0xff, 0xff, 0xff /* %fs:-8 */
#define LOAD_LOCAL_PIE	  0x48, 0xc7, 0xc1, 0xf0, 0xff, 0xff, 0xff, 0x64, 0x48, 0x8b, 0x01
#define LOAD_FROM_GOT(at) 0x48, 0x8b, 0x0d, at, 0, 0, 0, 0x64, 0x48, 0x8b, 0x01
#define COMPARE(curg)	  0x48, 0x3b, 0x83, curg, 0, 0, 0 /* cmp curg(%rbx), %rax */
#define TO_RDX_STACK	  0x48, 0x8b, 0x62, 0x38	  /* mov 0x38(%rdx), %rsp */
#define TO_RAX_STACK	  0x48, 0x8b, 0x60, 0x38
#define TO_RSI_STACK	  0x48, 0x8b, 0x66, 0x38
#define TO_R14_STACK	  0x49, 0x8b, 0x66, 0x38
#define RBX_TO_RSP	  0x48, 0x89, 0xdc
#define RSI_TO_RSP	  0x48, 0x89, 0xf4
#define RDI_TO_RSP	  0x48, 0x89, 0xfc
#define RSP_TO_RDX	  0x48, 0x89, 0xe2
#define RSP_TO_R12	  0x49, 0x89, 0xe4
#define R12_TO_RSP	  0x4c, 0x89, 0xe4
#define ROOM		  0x48, 0x83, 0xec, 0x40, 0x48, 0x83, 0xe4, 0xf0
#define STORE_RDI(disp)	  0x48, 0x89, 0x7c, 0x24, disp
#define STORE_RDI_AT_SP	  0x48, 0x89, 0x3c, 0x24
#define STORE_RDX(disp)	  0x48, 0x89, 0x54, 0x24, disp
#define PUSH_FRAME	  0x55, 0x48, 0x89, 0xe5 /* push %rbp; mov %rsp, %rbp */
#define BYTES(...) \
	(const unsigned char[]){__VA_ARGS__}, sizeof((const unsigned char[]){__VA_ARGS__})

static const struct go_layout layout = {.thread_local_at = -8, .number = 1};

struct expected {
	u32 start, end;
	u64 rule; /* at a distance of 8 with rbp saved */
};

#define SWITCH(kind, operand) \
	RULE_MAKE(RULE_SWITCH, GO_SWITCH_##kind, GO_SWITCH_OPERANDS(1, 1, operand, 1), -8, 0)

static void check(const char *name, const unsigned char *code, size_t size,
		  const struct expected *expected, size_t count)
{
	struct go_ranges ranges;

	go_switch_find(name, true, code, size, &ranges);
	assert_int_equal(ranges.count, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(ranges.range[i].start, expected[i].start);
		assert_int_equal(ranges.range[i].end, expected[i].end);
		assert_true(go_switch_rule(&ranges.range[i], &layout, 8, true) == expected[i].rule);
	}
}

#define CHECK(name, code, ...)                                    \
	check(name, code, (const struct expected[]){__VA_ARGS__}, \
	      sizeof((const struct expected[]){__VA_ARGS__}) / sizeof(struct expected))
#define CHECK_NOTHING(name, code) check(name, code, NULL, 0)

static void test_go_switch__systemstack(void **state)
{
	(void)state;
	CHECK("runtime.systemstack", BYTES(PUSH_FRAME, TO_RDX_STACK, NOP, TO_RAX_STACK, NOP),
	      {8, 17, SWITCH(SYSTEM, 0)});
	CHECK("runtime.systemstack", BYTES(RBX_TO_RSP, NOP, TO_RAX_STACK, NOP),
	      {3, 12, SWITCH(SYSTEM, 0)});
	CHECK_NOTHING("runtime.systemstack", BYTES(TO_RDX_STACK, NOP));
	CHECK_NOTHING("runtime.systemstack", BYTES(TO_RDX_STACK, TO_RAX_STACK, NOP, TO_RAX_STACK));
}

static void test_go_switch__functions_that_leave(void **state)
{
	(void)state;
	CHECK("runtime.morestack", BYTES(NOP, TO_RDX_STACK, NOP), {9, 14, SWITCH(GROW, 0)});
	CHECK("runtime.mcall", BYTES(NOP, TO_R14_STACK, NOP), {9, 14, SWITCH(LEAVE, 0)});
	CHECK("gogo", BYTES(0x48, 0x8b, 0x23, NOP), {3, 8, SWITCH(ENTER, 0)});
	CHECK_NOTHING("runtime.mcall", BYTES(NOP));
}

static void test_go_switch__cgocallback(void **state)
{
	(void)state;
	CHECK("runtime.cgocallback", BYTES(PUSH_FRAME, RDI_TO_RSP, NOP, TO_RSI_STACK, NOP),
	      {7, 16, SWITCH(CALLBACK, 0)});
}

static void test_go_switch__asmcgocall(void **state)
{
	(void)state;
	CHECK("runtime.asmcgocall",
	      BYTES(RSP_TO_RDX, TO_RSI_STACK, ROOM, STORE_RDI(8), STORE_RDI_AT_SP, NOP, RSI_TO_RSP,
		    NOP, ROOM, STORE_RDX(0x28), NOP, RSI_TO_RSP, NOP),
	      {7, 24, SWITCH(SYSTEM, 0)}, {24, 32, SWITCH(CGO, 1)},
	      {37, 50, RULE_MAKE(RULE_REG, 1, 1, 16, 0)},
	      {50, 58, RULE_MAKE(RULE_DEREF_SP, 2, 1, 0x28, 0)});
	/* the two words are side by side */
	CHECK_NOTHING("runtime.asmcgocall",
		      BYTES(TO_RSI_STACK, STORE_RDI(0x10), STORE_RDI_AT_SP, NOP, RSI_TO_RSP));
}

static void test_go_switch__a_register_keeps_the_stack(void **state)
{
	const unsigned char code[] = {PUSH_FRAME, RSP_TO_R12, TO_RDX_STACK, ROOM,
				      NOP,	  R12_TO_RSP, NOP};
	struct go_ranges ranges;

	(void)state;
	CHECK("time.now", BYTES(PUSH_FRAME, RSP_TO_R12, TO_RDX_STACK, ROOM, NOP, R12_TO_RSP, NOP),
	      {7, 27, SWITCH(KEPT, 12)});
	CHECK_NOTHING("time.now", BYTES(PUSH_FRAME, RSP_TO_R12, NOP));
	go_switch_find("time.now", false, code, sizeof(code), &ranges);
	assert_int_equal(ranges.count, 0);
}

/* mov of rbx, r12 to r15 at rsp + 0 to 32, where the return address is 56 bytes above rsp */
static void test_go_switch__registers_of_c(void **state)
{
	const unsigned char code[] = {PUSH_FRAME, 0x48, 0x89, 0x1c, 0x24, 0x4c, 0x89, 0x64, 0x24,
				      8,	  0x4c, 0x89, 0x6c, 0x24, 16,	0x4c, 0x89, 0x74,
				      0x24,	  24,	0x4c, 0x89, 0x7c, 0x24, 32,   NOP};
	struct go_ranges ranges;

	(void)state;
	go_switch_find("crosscall2", false, code, sizeof(code), &ranges);
	assert_int_equal(ranges.count, 1);
	assert_int_equal(ranges.range[0].start, 28);
	assert_true(go_switch_rule(&ranges.range[0], &layout, 56, true) ==
		    RULE_MAKE(RULE_SP, 0, 0x345671, 64, 0));
	assert_true(go_switch_rule(&ranges.range[0], &layout, 80, true) ==
		    RULE_MAKE(RULE_SP, 0, 0x345671, 88, 0));
	assert_true(go_switch_rule(&ranges.range[0], &layout, 8, true) ==
		    RULE_MAKE(RULE_SP, 0, 1, 16, 0));
}

#define CODE_AT 0x1000u

static void test_go_switch__layouts(void **state)
{
	static const struct {
		unsigned char code[32];
		s32 at;
		u32 number;
		bool in_word;
	} known[] = {
		{{LOAD_LOCAL, COMPARE(192)}, -8, 0, false},
		{{LOAD_LOCAL, COMPARE(184)}, -8, 1, false},
		{{LOAD_LOCAL_PIE, COMPARE(184)}, -16, 1, false},
		{{LOAD_FROM_GOT(0x19), COMPARE(184)}, (CODE_AT + 7 + 0x19) / 8, 1, true},
	};
	static const unsigned char others[][32] = {
		{LOAD_LOCAL, COMPARE(176)}, /* an unknown layout */
		{COMPARE(184)},
		{LOAD_FROM_GOT(0x18), COMPARE(184)}, /* no whole word */
		{LOAD_FROM_GOT(0x19), COMPARE(176)},
		{LOAD_LOCAL},
		{0x64, 0x48, 0x8b, 0x04, 0x25, 8, 0, 0, 0, COMPARE(184)},
		{0x64, 0x48, 0x8b, 0x04, 0x25, 0xf9, 0xff, 0xff, 0xff, COMPARE(184)},
	};
	struct go_layout found;

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		assert_true(
			go_switch_layout(CODE_AT, known[i].code, sizeof(known[i].code), &found));
		assert_int_equal(found.in_word, known[i].in_word);
		assert_int_equal(found.thread_local_at, known[i].at);
		assert_int_equal(found.number, known[i].number);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(go_switch_layout(CODE_AT, others[i], sizeof(others[i]), &found));
	for (size_t size = 0; size < 16; size++) {
		assert_false(go_switch_layout(CODE_AT, known[0].code, size, &found));
		assert_false(go_switch_layout(CODE_AT, known[3].code, size, &found));
	}
	/* further than a rule can say */
	assert_false(go_switch_layout(64ull << 20, known[3].code, sizeof(known[3].code), &found));
}

static void test_go_switch__a_library(void **state)
{
	const struct go_layout library = {.thread_local_at = 516, .in_word = true, .number = 1};
	struct go_ranges ranges;

	(void)state;
	go_switch_find("runtime.mcall", true, BYTES(NOP, TO_R14_STACK, NOP), &ranges);
	assert_true(go_switch_rule(&ranges.range[0], &library, 8, false) ==
		    RULE_MAKE(RULE_SWITCH, GO_SWITCH_LEAVE,
			      GO_SWITCH_OPERANDS(1, 1, 0, 0) | GO_SWITCH_IN_WORD, 516, 0));
}

/* A distance that no rule can say, and a program whose layout is not known. */
static void test_go_switch__no_rule(void **state)
{
	static const s32 distances[] = {-8, 4, 2048};
	const struct go_layout unknown = {0};
	struct go_ranges ranges;

	(void)state;
	go_switch_find("runtime.mcall", true, BYTES(NOP, TO_R14_STACK, NOP), &ranges);
	for (size_t i = 0; i < sizeof(distances) / sizeof(distances[0]); i++)
		assert_int_equal(
			rule_kind(go_switch_rule(&ranges.range[0], &layout, distances[i], false)),
			RULE_UNSUPPORTED);
	assert_true(go_switch_rule(&ranges.range[0], &unknown, 8, false) == RULE_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_go_switch__systemstack),
		cmocka_unit_test(test_go_switch__functions_that_leave),
		cmocka_unit_test(test_go_switch__cgocallback),
		cmocka_unit_test(test_go_switch__asmcgocall),
		cmocka_unit_test(test_go_switch__a_register_keeps_the_stack),
		cmocka_unit_test(test_go_switch__registers_of_c),
		cmocka_unit_test(test_go_switch__layouts),
		cmocka_unit_test(test_go_switch__a_library),
		cmocka_unit_test(test_go_switch__no_rule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
