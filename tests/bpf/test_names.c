/* SPDX-License-Identifier: Apache-2.0 */
/* The names that callers' code has for functions, with a made-up instruction set. */
#include "tests/bpf/scene_list.h"

#define SP (scene.reg[REG_RSP])

/* Memory of the interpreter: one state, frames, and code with its arrays. */
#define SHARED	      HEAP
#define STATE	      (HEAP + 0x200)
#define NODE(n)	      (HEAP + 0x400 + (n)*0x40ull)
#define CODE(n)	      (HEAP + 0x1000 + (n)*0x80ull)
#define FIRST(n)      (HEAP + 0x2000 + (n)*0x100ull)
#define CONSTANTS(n)  (HEAP + 0x4000 + (n)*0x100ull)
#define UPVALUES(n)   (HEAP + 0x5000 + (n)*0x100ull)
#define VARIABLES(n)  (HEAP + 0x6000 + (n)*0x800ull)
#define TEXT(n)	      (HEAP + 0x7000 + (n)*0x40ull)
#define AT_TAIL	      16
#define CALLER	      1u
#define CALLED	      2u
#define OP(opcode, a) ((opcode) | (a) << 8)
#define LOAD	      0u /* a constant */
#define MOVE	      2u /* a variable */
#define UPVALUE	      3u
#define FIELD	      4u /* a constant, if bit 31 is set */
#define CALL	      5u
#define JUMP	      6u
#define OTHER	      7u

static void node(u32 number, u32 function, u64 instruction, u64 previous)
{
	HEAP_WORD(NODE(number)) = CODE(function);
	HEAP_WORD(NODE(number) + 8) = FIRST(function) + 4 * instruction;
	HEAP_WORD(NODE(number) + AT_TAIL) = 0;
	HEAP_WORD(NODE(number) + 24) = previous;
	HEAP_WORD(CODE(function)) = FIRST(function);
	HEAP_WORD(CODE(function) + 8) = CONSTANTS(function);
	HEAP_WORD(CODE(function) + 16) = UPVALUES(function);
	HEAP_WORD(CODE(function) + 24) = VARIABLES(function);
	HEAP_WORD(CODE(function) + 32) = 3; /* variables */
}

static int setup(void **state)
{
	int r = scene_list_setup(state);

	scene.rule[0] = RULE_MAKE(RULE_SP, 0, 0, 256, RULE_FLAG_RUNTIME);
	scene.rule[1] = RULE_LAST;
	WORD(SP + 248) = RETURN(1);
	WORD(SP + 128) = 0;
	config = (struct runtime_config){
		.root = {{.start = RUNTIME_AT_SCAN}},
		.code_mask = ~0ull,
		.border_value = 1,
		.node_bytes = 32,
		.previous = 24,
		.instruction = 8,
		.flags = RUNTIME_POINTED | RUNTIME_NAMES | RUNTIME_BORDER_SHOW,
		.name = 40,
		.part = {RUNTIME_CODE_ITSELF, 40, 40, 40},
		.state = {.bytes = 64,
			  .type = 8,
			  .type_value = 7,
			  .shared = 16,
			  .handler = 24,
			  .frame = 32,
			  .main = 0},
		.names = {.tail = AT_TAIL,
			  .tail_mask = 1,
			  .constants = 8,
			  .upvalues = 16,
			  .upvalue_bytes = 8,
			  .variables = 24,
			  .variable_count = 32,
			  .opcode_bits = 8,
			  .call = CALL,
			  .jump = JUMP,
			  .form = {{.opcode = LOAD,
				    .source = RUNTIME_OF_CONSTANTS,
				    .shift = 16,
				    .bits = 8},
				   {.opcode = MOVE,
				    .source = RUNTIME_OF_VARIABLES,
				    .shift = 16,
				    .bits = 8},
				   {.opcode = UPVALUE,
				    .source = RUNTIME_OF_UPVALUES,
				    .shift = 16,
				    .bits = 8},
				   {.opcode = FIELD,
				    .source = RUNTIME_OF_CONSTANTS,
				    .shift = 16,
				    .bits = 8,
				    .needs = 31}}},
	};
	memset(host.leaf, 0x5a, sizeof(host.leaf));
	host.leaf[0] = STATE;
	host.leaf_stack = SP;
	host.told_before = 0;
	HEAP_WORD(SHARED) = STATE;
	HEAP_WORD(STATE + 8) = 7;
	HEAP_WORD(STATE + 16) = SHARED;
	HEAP_WORD(STATE + 24) = SP + 128;
	HEAP_WORD(STATE + 32) = NODE(0);
	node(0, CALLED, 0, NODE(1));
	for (u32 i = 0; i < 4; i++) {
		HEAP_WORD(CONSTANTS(CALLER) + 16 * i) = TEXT(i);
		HEAP_WORD(UPVALUES(CALLER) + 8 * i) = TEXT(10 + i);
		HEAP_WORD(VARIABLES(CALLER) + 16 * i) = TEXT(20 + i);
	}
	return r;
}

/* words: the caller's, of which the last one is the call. Returns the name of what it called. */
static u64 name_of(const u32 *words, u32 count)
{
	node(1, CALLER, count, 0);
	memcpy(heap_word(FIRST(CALLER)), words, count * 4);
	publish_config();
	EXPECT(end_root, EXACT(scene.pc), RETURN(1));
	host.told_before = CODE(CALLER);
	host.told = host.told_name = 0;
	assert_int_equal(runtime_begin(), 0);
	for (u32 i = 0; i <= RECORD_FRAMES_MAX; i++)
		if (walk_step())
			break;
	assert_int_equal(host.walk.list.words, 4);
	assert_int_equal(host.walk.list.result, RUNTIME_WHOLE);
	assert_int_equal(host.told, CODE(CALLED));
	return host.told_name;
}
#define NAME_OF(...) \
	name_of((const u32[]){__VA_ARGS__}, sizeof((const u32[]){__VA_ARGS__}) / sizeof(u32))

static void test_names__constants(void **state)
{
	(void)state;
	assert_int_equal(NAME_OF(OP(LOAD, 3) | 2 << 16, OP(CALL, 3)), TEXT(2));
	assert_int_equal(NAME_OF(OP(FIELD, 3) | 1u << 31 | 1 << 16, OP(CALL, 3)), TEXT(1));
	/* its number is that of a register */
	assert_int_equal(NAME_OF(OP(FIELD, 3) | 1 << 16, OP(CALL, 3)), 0);
}

static void test_names__upvalues(void **state)
{
	(void)state;
	assert_int_equal(NAME_OF(OP(UPVALUE, 0) | 3 << 16, OP(CALL, 0)), TEXT(13));
}

/* The second variable is gone before the third one comes; the index counts those that are there. */
static void test_names__variables(void **state)
{
	(void)state;
	HEAP_WORD(VARIABLES(CALLER) + 8) = 10ull << 32;
	HEAP_WORD(VARIABLES(CALLER) + 24) = 2ull << 32 | 1;
	HEAP_WORD(VARIABLES(CALLER) + 40) = 9ull << 32 | 2;
	assert_int_equal(NAME_OF(OP(OTHER, 9), OP(MOVE, 3) | 1 << 16, OP(CALL, 3)), TEXT(21));
	assert_int_equal(NAME_OF(OP(OTHER, 9), OP(OTHER, 9), OP(MOVE, 3) | 1 << 16, OP(CALL, 3)),
			 TEXT(22));
	assert_int_equal(NAME_OF(OP(OTHER, 9), OP(OTHER, 9), OP(MOVE, 3) | 2 << 16, OP(CALL, 3)),
			 0);
	/* no more variables than the code has */
	HEAP_WORD(VARIABLES(CALLER) + 56) = 9ull << 32;
	assert_int_equal(NAME_OF(OP(OTHER, 9), OP(OTHER, 9), OP(MOVE, 3) | 2 << 16, OP(CALL, 3)),
			 0);
}

/* More variables than one read has, up to the last one that is looked at. */
static void test_names__many_variables(void **state)
{
	const u32 far = 200;

	(void)state;
	config.name = 56;
	config.names.variables = 48;
	config.names.variable_count = 56;
	HEAP_WORD(CODE(CALLER) + 48) = VARIABLES(0);
	HEAP_WORD(CODE(CALLER) + 56) = far;
	for (u32 i = 0; i < far; i++)
		HEAP_WORD(VARIABLES(0) + 16 * i + 8) = 0;
	HEAP_WORD(VARIABLES(0) + 16 * 63) = TEXT(1);
	HEAP_WORD(VARIABLES(0) + 16 * 63 + 8) = 9ull << 32;
	HEAP_WORD(VARIABLES(0) + 16 * 64) = TEXT(2);
	HEAP_WORD(VARIABLES(0) + 16 * 64 + 8) = 9ull << 32;
	HEAP_WORD(VARIABLES(0) + 16 * (far - 1)) = TEXT(3);
	HEAP_WORD(VARIABLES(0) + 16 * (far - 1) + 8) = 9ull << 32;
	assert_int_equal(NAME_OF(OP(MOVE, 3), OP(CALL, 3)), TEXT(1));
	assert_int_equal(NAME_OF(OP(MOVE, 3) | 1 << 16, OP(CALL, 3)), TEXT(2));
	assert_int_equal(NAME_OF(OP(MOVE, 3) | 2 << 16, OP(CALL, 3)), TEXT(3));
	assert_int_equal(NAME_OF(OP(MOVE, 3) | 3 << 16, OP(CALL, 3)), 0);
}

/* A function is made between the function and the call, and captures variables of the caller. */
static void test_names__captures(void **state)
{
	const u32 makes = OP(OTHER, 1), captures = OP(UPVALUE, 0) | 3 << 16;

	(void)state;
	config.names.form[1] = config.names.form[2];
	assert_int_equal(NAME_OF(OP(LOAD, 0) | 2 << 16, makes, captures, captures, OP(CALL, 0)),
			 TEXT(13));
	config.names.form[RUNTIME_FORMS - 1] =
		(struct runtime_form){.opcode = OTHER, .source = RUNTIME_OF_CAPTURES};
	assert_int_equal(NAME_OF(OP(LOAD, 0) | 2 << 16, makes, captures, captures, OP(CALL, 0)),
			 TEXT(2));
	assert_int_equal(NAME_OF(OP(UPVALUE, 0) | 2 << 16, makes, captures, OP(CALL, 0)), TEXT(12));
	assert_int_equal(NAME_OF(OP(LOAD, 5), captures, OP(CALL, 0)), TEXT(13));
	assert_int_equal(NAME_OF(captures, OP(CALL, 0)), TEXT(13));
	assert_int_equal(NAME_OF(OP(OTHER, 0), OP(CALL, 0)), 0); /* it is called at once */
}

/* Arguments and jumps between the function and the call, and the call in front. */
static void test_names__of_the_last_one_that_sets_the_register(void **state)
{
	(void)state;
	assert_int_equal(NAME_OF(OP(LOAD, 3) | 1 << 16, OP(LOAD, 3) | 2 << 16, OP(LOAD, 4),
				 OP(JUMP, 3), OP(OTHER, 5), OP(CALL, 3)),
			 TEXT(2));
	assert_int_equal(NAME_OF(OP(LOAD, 3) | 1 << 16, OP(OTHER, 3), OP(CALL, 3)), 0);
	assert_int_equal(NAME_OF(OP(LOAD, 3) | 1 << 16, OP(CALL, 3), OP(CALL, 3)), 0);
	assert_int_equal(NAME_OF(OP(CALL, 3)), 0);
	assert_int_equal(NAME_OF(OP(LOAD, 3) | 1 << 16, OP(OTHER, 3)), 0); /* no call */
}

static void test_names__far_away(void **state)
{
	u32 words[40];

	(void)state;
	for (u32 i = 0; i < 40; i++)
		words[i] = OP(OTHER, 9);
	words[39] = OP(CALL, 3);
	words[8] = OP(LOAD, 3) | 1 << 16;
	assert_int_equal(name_of(words, 40), TEXT(1));
	words[8] = OP(OTHER, 9);
	words[7] = OP(LOAD, 3) | 1 << 16;
	assert_int_equal(name_of(words, 40), 0);
}

/* The caller called another function, whose place the frame's function took. */
static void test_names__of_tail_calls(void **state)
{
	(void)state;
	HEAP_WORD(NODE(0) + AT_TAIL) = 1;
	assert_int_equal(NAME_OF(OP(LOAD, 3) | 2 << 16, OP(CALL, 3)), 0);
}

static void test_names__without_a_caller(void **state)
{
	(void)state;
	HEAP_WORD(NODE(0) + 24) = 0;
	publish_config();
	EXPECT(end_root, EXACT(scene.pc), RETURN(1));
	host.told = 0;
	assert_int_equal(runtime_begin(), 0);
	while (!walk_step())
		;
	assert_int_equal(host.told, CODE(CALLED));
	assert_int_equal(host.told_name, 0);
	assert_int_equal(host.walk.list.words, 2);
}

/* An instruction that is no call, in a frame that has a status, called a function. */
static void test_names__of_other_instructions(void **state)
{
	(void)state;
	config.names.tail = 8; /* the low half of the place */
	assert_int_equal(NAME_OF(OP(LOAD, 3) | 1 << 16, OP(OTHER, 3) | 9 << 16), 0);
	assert_int_equal(host.told_call, OP(OTHER, 3) | 9 << 16);
	assert_int_equal(host.told_in, (u32)(FIRST(CALLER) + 8));
	/* nothing of it stays for a function that nobody called */
	config.names.tail = AT_TAIL;
	test_names__without_a_caller(state);
	assert_int_equal(host.told_call, 0);
	assert_int_equal(host.told_in, 0);
}

static void test_names__damage(void **state)
{
	(void)state;
	config.names.opcode_bits = 255;
	NAME_OF(OP(LOAD, 3) | 2 << 16, OP(CALL, 3));
	config.names.opcode_bits = 8;
	config.names.form[0].shift = config.names.form[0].bits = 255;
	NAME_OF(OP(LOAD, 3) | 2 << 16, OP(CALL, 3));
	config.names.variable_count = 40; /* any number, at any address */
	HEAP_WORD(CODE(CALLER) + 40) = ~0ull;
	NAME_OF(OP(MOVE, 3) | 2 << 16, OP(CALL, 3));
	config.names.variables = 40;
	NAME_OF(OP(MOVE, 3) | 2 << 16, OP(CALL, 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_names__constants, setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_names__upvalues, setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_names__variables, setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_names__of_the_last_one_that_sets_the_register,
						setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_names__far_away, setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_names__many_variables, setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_names__captures, setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_names__of_tail_calls, setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_names__without_a_caller, setup,
						scene_teardown),
		cmocka_unit_test_setup_teardown(test_names__of_other_instructions, setup,
						scene_teardown),
		cmocka_unit_test_setup_teardown(test_names__damage, setup, scene_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
