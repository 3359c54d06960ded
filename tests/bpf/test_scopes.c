/* SPDX-License-Identifier: Apache-2.0 */
/* Scopes of an interpreter like Perl's, and what its functions are called. */
#define HEAP_WORDS 8192u
#include "tests/bpf/scene_list.h"

#define SP (scene.reg[REG_RSP])

/* Memory of the interpreter. */
#define INTERPRETER	 HEAP
#define INFO(n)		 (HEAP + 0x100 + (n)*0x40ull)
#define STATEMENT(n)	 (HEAP + 0x400 + (n)*0x40ull)
#define OPERATION(n)	 (HEAP + 0x800 + (n)*0x40ull)
#define FUNCTION_(n)	 (HEAP + 0xc00 + (n)*0x20ull)
#define BODY(n)		 (HEAP + 0x1000 + (n)*0x80ull)
#define ROOT(n)		 (HEAP + 0x2000 + (n)*0x40ull)
#define VARIABLE(n)	 (HEAP + 0x2400 + (n)*0x20ull)
#define VARIABLE_BODY(n) (HEAP + 0x2800 + (n)*0x40ull)
#define VALUES(n)	 (HEAP + 0x2c00 + (n)*0x40ull)
#define PACKAGE		 (HEAP + 0x3000)
#define PACKAGE_BODY	 (HEAP + 0x3040)
#define TEXT(n)		 (HEAP + 0x3400 + (n)*0x40ull)
#define FILE_(n)	 (HEAP + 0x3800 + (n)*0x40ull)
#define STACK(n)	 (HEAP + 0x4000 + (n)*0x1000ull)
#define SCOPE_BYTES	 104u
#define NO_SCOPE	 0xffffffffu
#define KIND		 195u /* of statements */

#define FRAME(code) (RUNTIME_WORD_FRAME | (code))
#define NOWHERE	    (RUNTIME_WORD_BORDER | RUNTIME_BORDER_NOWHERE)
#define LINE(word)  ((word) >> 32)

static u64 told_part[3], told_kind;
static u64 list_clock_step;

static void tell(u64 code)
{
	(void)code;
	memcpy(told_part, host.walk.list.memory, sizeof(told_part));
	told_kind = host.walk.list.named;
}

/* ---- what the interpreter has ---- */

static void put_info(u32 number, u64 previous, u32 last)
{
	HEAP_WORD(INFO(number) + 8) = STACK(number);
	HEAP_WORD(INFO(number) + 16) = previous;
	HEAP_WORD(INFO(number) + 32) = 0xaaaaaaaa00000000ull | last;
}

static void put_scope(u32 stack, u32 number, u32 type, u64 returns, u64 function, u32 called_in)
{
	const u64 scope = STACK(stack) + number * SCOPE_BYTES;

	HEAP_WORD(scope) = 0x123400ull << 16 | type;
	HEAP_WORD(scope + 16) = STATEMENT(called_in);
	HEAP_WORD(scope + 48) = returns;
	HEAP_WORD(scope + 72) = function;
}

static void put_statement(u32 number, u32 line)
{
	HEAP_WORD(STATEMENT(number) + 32) = (u64)line << 32 | 0xfe00 | KIND;
	HEAP_WORD(STATEMENT(number) + 48) = FILE_(0);
}

static void put_function(u32 number, u64 name, u32 flags)
{
	HEAP_WORD(FUNCTION_(number)) = BODY(number);
	HEAP_WORD(FUNCTION_(number) + 8) = (u64)(0x4500 | SCALAR_FUNCTION) << 32 | 7;
	HEAP_WORD(BODY(number) + 32) = PACKAGE;
	HEAP_WORD(BODY(number) + 40) = STATEMENT(8 + number);
	HEAP_WORD(BODY(number) + 48) = ROOT(number);
	HEAP_WORD(BODY(number) + 56) = name;
	HEAP_WORD(BODY(number) + 64) = FILE_(1);
	HEAP_WORD(BODY(number) + 88) = (u64)flags << 32 | 5;
	put_statement(8 + number, 100 + number);
}

static void put_variable(u32 number, u64 other)
{
	HEAP_WORD(VARIABLE(number)) = VARIABLE_BODY(number);
	HEAP_WORD(VARIABLE(number) + 8) = (u64)SCALAR_VARIABLE << 32;
	HEAP_WORD(VARIABLE(number) + 16) = VALUES(number);
	HEAP_WORD(VALUES(number) + 56) = other;
	HEAP_WORD(VARIABLE_BODY(number) + 32) = TEXT(number);
	HEAP_WORD(VARIABLE_BODY(number) + 40) = PACKAGE;
}

#define NATIVE 2u

static int setup(void **state)
{
	int r = scene_list_setup(state);

	for (u32 i = 0; i < NATIVE; i++) {
		scene.rule[i] =
			RULE_MAKE(RULE_SP, 0, 0, 256, i + 1 < NATIVE ? RULE_FLAG_RUNTIME : 0);
		WORD(SP + 256 * (i + 1) - 8) = RETURN(i + 1);
	}
	scene.rule[NATIVE] = RULE_LAST;
	config = (struct runtime_config){
		.root = {{.start = RUNTIME_AT_THREAD}},
		.node_bytes = SCOPE_BYTES,
		.flags = RUNTIME_SCOPES,
		.name = 88,
		.part = {0, 8, 16, 24},
		.scopes = {.statement = 208,
			   .stack = 224,
			   .operation = 8,
			   .first = 8,
			   .last = 32,
			   .previous = 16,
			   .called_in = 16,
			   .returns = 48,
			   .function = 72,
			   .line = 36,
			   .file = 48,
			   .kind = 32,
			   .kind_statement = KIND,
			   .kind_debugged = KIND + 1,
			   .start = 40,
			   .root = 48,
			   .name = 56,
			   .package = 32,
			   .code_file = 64,
			   .flags = 92,
			   .text = 32,
			   .package_of = 40,
			   .other = 56,
			   .last_bucket = 24,
			   .more = 32,
			   .texts = 0,
			   .texts_count = 28},
	};
	host.thread = INTERPRETER;
	host.tell = tell;
	HEAP_WORD(INTERPRETER + 208) = STATEMENT(0);
	HEAP_WORD(INTERPRETER + 224) = INFO(0);
	HEAP_WORD(PACKAGE) = PACKAGE_BODY;
	HEAP_WORD(PACKAGE_BODY + 32) = TEXT(7);
	for (u32 i = 0; i < 8; i++)
		put_statement(i, 10 + i);
	for (u32 i = 0; i < 8; i++)
		put_function(i, TEXT(i), FUNCTION_NAMED);
	memcpy(heap_word(FILE_(0)), "calls.pl", 9);
	return r;
}

static u32 walk_list(void)
{
	publish_config();
	EXPECT(end_root, EXACT(scene.pc), RETURN(1), RETURN(2));
	if (runtime_begin())
		return host.walk.list.words;
	host.clock_step = list_clock_step;
	for (u32 i = 0; i <= WALK_STEPS_MAX; i++)
		if (walk_step())
			break;
	host.clock_step = 0;
	return host.walk.list.words;
}

static void expect_frame(u32 at, u64 code, u32 line)
{
	assert_int_equal(host.word[at], FRAME(code));
	assert_int_equal(LINE(host.word[at + 1]), line);
}

/* ---- tests ---- */

/* A function in an eval in a function of the program; each has the line in which the next began. */
static void test_scopes__functions(void **state)
{
	(void)state;
	put_info(0, 0, 4);
	put_scope(0, 0, SCOPE_BLOCK, 0x77, 0x77, 7);
	put_scope(0, 1, SCOPE_SUB | 0x20, OPERATION(1), FUNCTION_(1), 1);
	put_scope(0, 2, 8, 0, 0, 5); /* a loop */
	put_scope(0, 3, SCOPE_EVAL | SCOPE_EVAL_BLOCK, OPERATION(2), 0, 2);
	put_scope(0, 4, SCOPE_SUB, OPERATION(3), FUNCTION_(2), 3);
	assert_int_equal(walk_list(), 9);
	assert_int_equal(host.walk.list.result, RUNTIME_WHOLE);
	expect_frame(0, ROOT(2), 10);
	expect_frame(2, OPERATION(2), 13);
	expect_frame(4, ROOT(1), 12);
	expect_frame(6, INTERPRETER, 11);
	assert_int_equal(host.word[8], NOWHERE);
}

/* Native code calls functions: each stack, and each scope that returns nowhere, ends a group. */
static void test_scopes__activations(void **state)
{
	(void)state;
	put_info(0, INFO(1), 0);
	put_scope(0, 0, SCOPE_SORT, 0, 0, 1);
	put_info(1, INFO(2), 2);
	put_scope(1, 0, SCOPE_EVAL | SCOPE_EVAL_BLOCK, 0, 0, 3);
	put_scope(1, 1, SCOPE_SUB, 0, FUNCTION_(1), 2);
	put_scope(1, 2, SCOPE_SUB, OPERATION(1), FUNCTION_(2), 2);
	put_info(2, 0, NO_SCOPE);
	assert_int_equal(walk_list(), 8);
	assert_int_equal(host.walk.list.result, RUNTIME_WHOLE);
	assert_int_equal(host.word[0], NOWHERE); /* the block of sort has no frame of its own */
	expect_frame(1, ROOT(2), 10);
	expect_frame(3, ROOT(1), 12);
	/* native code has put this eval around its call */
	expect_frame(5, INTERPRETER, 12);
	assert_int_equal(host.word[7], NOWHERE);
}

/* A function leaves a block with a deferred one, which calls a function in a loop of its own. */
static void test_scopes__deferred(void **state)
{
	(void)state;
	put_info(0, 0, 4);
	put_scope(0, 0, SCOPE_BLOCK, 0x77, 0x77, 7);
	put_scope(0, 1, SCOPE_SUB, OPERATION(1), FUNCTION_(1), 1);
	put_scope(0, 2, SCOPE_BLOCK, OPERATION(2), 0, 5);
	put_scope(0, 3, SCOPE_DEFER | 0x20, 0x77, 0x77, 2);
	put_scope(0, 4, SCOPE_SUB, OPERATION(3), FUNCTION_(2), 3);
	assert_int_equal(walk_list(), 8);
	assert_int_equal(host.walk.list.result, RUNTIME_WHOLE);
	expect_frame(0, ROOT(2), 10);
	assert_int_equal(host.word[2], NOWHERE); /* the deferred block has no frame of its own */
	expect_frame(3, ROOT(1), 13);
	expect_frame(5, INTERPRETER, 11);
	assert_int_equal(host.word[7], NOWHERE);
}

/* caller() says nothing of these: code in a pattern, and try. */
static void test_scopes__that_are_none(void **state)
{
	(void)state;
	put_info(0, INFO(1), 0);
	put_scope(0, 0, SCOPE_SUB | SCOPE_AGAIN, 0, FUNCTION_(1), 1);
	put_info(1, 0, 1);
	put_scope(1, 0, SCOPE_SUB, OPERATION(1), FUNCTION_(1), 2);
	put_scope(1, 1, SCOPE_EVAL | SCOPE_EVAL_BLOCK | SCOPE_AGAIN, OPERATION(2), 0, 3);
	assert_int_equal(walk_list(), 3);
	assert_int_equal(host.word[0], NOWHERE);
	expect_frame(1, ROOT(1), 10);
	/* within a stack that is not the outermost one, a block is not the program */
	put_info(0, INFO(1), 0);
	put_scope(0, 0, SCOPE_BLOCK, 0, 0, 1);
	assert_int_equal(walk_list(), 2);
}

/* A function that has just begun has the line of its first statement, not that of its caller. */
static void test_scopes__begun(void **state)
{
	(void)state;
	put_info(0, 0, 0);
	put_scope(0, 0, SCOPE_SUB, OPERATION(1), FUNCTION_(1), 0);
	HEAP_WORD(INTERPRETER + 8) = OPERATION(2); /* the call */
	HEAP_WORD(OPERATION(2)) = OPERATION(1);
	assert_int_equal(walk_list(), 2);
	expect_frame(0, ROOT(1), 101);
	HEAP_WORD(INTERPRETER + 8) = STATEMENT(9); /* the first statement */
	walk_list();
	expect_frame(0, ROOT(1), 101);
	HEAP_WORD(STATEMENT(9) + 32) = 101ull << 32 | (KIND + 7); /* which is none */
	walk_list();
	expect_frame(0, ROOT(1), RUNTIME_OFFSET_NONE);
	HEAP_WORD(INTERPRETER + 8) = OPERATION(3); /* it called itself in this very statement */
	walk_list();
	expect_frame(0, ROOT(1), 10);
}

static void expect_told(u64 text, u64 package, u64 file, u64 kind)
{
	host.told = 0;
	walk_list();
	assert_int_not_equal(host.told, 0);
	assert_int_equal(told_part[0], text);
	assert_int_equal(told_part[1], package);
	assert_int_equal(told_part[2], file);
	assert_int_equal(told_kind, kind);
}

static void test_scopes__names(void **state)
{
	(void)state;
	put_info(0, 0, 0);
	put_scope(0, 0, SCOPE_SUB, OPERATION(1), FUNCTION_(1), 1);
	expect_told(TEXT(1), TEXT(7), FILE_(1), SCOPE_OF_FUNCTION);
	put_function(1, TEXT(2), FUNCTION_NAMED | FUNCTION_LEXICAL);
	expect_told(TEXT(2), TEXT(7), FILE_(1), SCOPE_OF_LEXICAL);
	put_function(1, VARIABLE(3), 0);
	put_variable(3, 0);
	expect_told(TEXT(3), TEXT(7), FILE_(1), SCOPE_OF_FUNCTION);
	put_variable(4, 0);
	put_variable(3, VARIABLE(4));
	expect_told(TEXT(4), TEXT(7), FILE_(1), SCOPE_OF_FUNCTION);
	put_function(1, 0, 0);
	expect_told(0, TEXT(7), FILE_(1), SCOPE_OF_NAMELESS);
	put_scope(0, 0, SCOPE_EVAL, OPERATION(1), 0, 1);
	expect_told(0, 0, FILE_(0), SCOPE_OF_EVAL);
	put_scope(0, 0, SCOPE_BLOCK, 0, 0, 1);
	expect_told(0, 0, FILE_(0), SCOPE_OF_MAIN);
}

/* A package has its texts behind its buckets, or at hand, and perhaps several. */
static void test_scopes__packages(void **state)
{
	(void)state;
	put_info(0, 0, 0);
	put_scope(0, 0, SCOPE_SUB, OPERATION(1), FUNCTION_(1), 1);
	HEAP_WORD(PACKAGE_BODY + 32) = HEAP + 0x3100;
	HEAP_WORD(PACKAGE_BODY + 32 + 24) = 2ull << 32;
	HEAP_WORD(HEAP + 0x3100) = TEXT(5);
	expect_told(TEXT(1), TEXT(5), FILE_(1), SCOPE_OF_FUNCTION);
	config.scopes.more = 0;
	HEAP_WORD(PACKAGE_BODY + 24) = 7;
	HEAP_WORD(PACKAGE + 16) = HEAP + 0x3200;
	HEAP_WORD(HEAP + 0x3200 + 64) = TEXT(6);
	expect_told(TEXT(1), TEXT(6), FILE_(1), SCOPE_OF_FUNCTION);
}

/* The file of a statement may be a variable, whose text begins behind its length. */
static void test_scopes__files_of_variables(void **state)
{
	u32 print;

	(void)state;
	config.flags |= RUNTIME_FILE_NAMED;
	put_info(0, 0, 0);
	put_scope(0, 0, SCOPE_EVAL, OPERATION(1), 0, 1);
	HEAP_WORD(STATEMENT(0) + 48) = VARIABLE(1);
	put_variable(1, 0);
	memcpy(heap_word(TEXT(1) + 8), "_<a.pl", 7);
	expect_told(0, 0, TEXT(1) + 8, SCOPE_OF_EVAL);
	print = (u32)host.word[1];
	memcpy(heap_word(TEXT(1) + 8), "_<b.pl", 7);
	walk_list();
	assert_int_not_equal((u32)host.word[1], print);
	/* a function has the text itself */
	put_scope(0, 0, SCOPE_SUB, OPERATION(1), FUNCTION_(1), 1);
	expect_told(TEXT(1), TEXT(7), FILE_(1), SCOPE_OF_FUNCTION);
	put_scope(0, 0, SCOPE_EVAL, OPERATION(1), 0, 1);
	host.told = 0;
	HEAP_WORD(VARIABLE_BODY(1) + 32) = 0;
	assert_int_equal(walk_list(), 2);
	HEAP_WORD(STATEMENT(0) + 48) = HEAP - 0x4000; /* no memory */
	assert_int_equal(walk_list(), 2);
	assert_int_equal(host.told, 0);
}

/* Functions of one code are one, and files are told apart by their names' text. */
static void test_scopes__fingerprints(void **state)
{
	u64 print;

	(void)state;
	put_info(0, 0, 1);
	put_scope(0, 0, SCOPE_SUB, OPERATION(1), FUNCTION_(1), 1);
	put_scope(0, 1, SCOPE_SUB, OPERATION(1), FUNCTION_(2), 1);
	memcpy(heap_word(BODY(2)), heap_word(BODY(1)), 0x80);
	walk_list();
	assert_int_equal(host.word[0], host.word[2]);
	assert_int_equal((u32)host.word[1], (u32)host.word[3]);
	put_info(0, 0, 0);
	put_scope(0, 0, SCOPE_EVAL, OPERATION(1), 0, 1);
	walk_list();
	print = (u32)host.word[1];
	HEAP_WORD(FILE_(0) + 8) = 0xabcd00; /* behind the NUL */
	walk_list();
	assert_int_equal((u32)host.word[1], print);
	memcpy(heap_word(FILE_(0)), "calls.pm", 9);
	walk_list();
	assert_int_not_equal((u32)host.word[1], print);
}

/* The innermost scope may be half made. Any other one that is no function ends the list. */
static void test_scopes__torn(void **state)
{
	(void)state;
	put_info(0, 0, 2);
	put_scope(0, 0, SCOPE_SUB, OPERATION(1), FUNCTION_(0), 1);
	put_scope(0, 1, SCOPE_SUB, OPERATION(1), FUNCTION_(1), 2);
	put_scope(0, 2, SCOPE_SUB, OPERATION(1), TEXT(0), 3);
	assert_int_equal(walk_list(), 4);
	assert_int_equal(host.walk.list.result, RUNTIME_WHOLE);
	expect_frame(0, ROOT(1), 10);
	put_scope(0, 1, SCOPE_SUB, OPERATION(1), 0x1000, 2);
	assert_int_equal(walk_list(), 0);
	assert_int_equal(host.walk.list.result, RUNTIME_CUT_READ);
	put_scope(0, 1, SCOPE_SUB, OPERATION(1), 1, 2); /* as places of known code begin */
	assert_int_equal(walk_list(), 0);
	assert_int_equal(host.walk.list.result, RUNTIME_CUT_READ);
	HEAP_WORD(INFO(0) + 8) = HEAP - 0x4000; /* no memory */
	assert_int_equal(walk_list(), 0);
	assert_int_equal(host.walk.list.result, RUNTIME_CUT_READ);
	HEAP_WORD(INTERPRETER + 224) = 0x1001;
	assert_int_equal(walk_list(), 0);
	assert_int_equal(host.walk.list.result, RUNTIME_CUT_READ);
}

/* Stacks that lead to each other, and a stack of more scopes than there is memory. */
static void test_scopes__hostile(void **state)
{
	(void)state;
	put_info(0, INFO(1), 0);
	put_info(1, INFO(0), 0);
	put_scope(0, 0, SCOPE_SUB, 0, FUNCTION_(1), 1);
	put_scope(1, 0, SCOPE_SUB, 0, FUNCTION_(2), 2);
	assert_true(walk_list() <= RECORD_RUNTIME_WORDS_MAX);
	assert_int_equal(host.walk.list.result, RUNTIME_CUT_DEPTH);
	put_info(0, INFO(0), NO_SCOPE); /* without frames */
	assert_int_equal(walk_list(), 0);
	assert_int_equal(host.walk.list.result, RUNTIME_CUT_DEPTH);
	list_clock_step = 1000000;
	assert_int_equal(walk_list(), 0);
	assert_int_equal(host.walk.list.result, RUNTIME_CUT_BUDGET);
	list_clock_step = 0;
	put_info(0, 0, 0x7fffffff);
	assert_int_equal(walk_list(), 0);
	assert_int_equal(host.walk.list.result, RUNTIME_CUT_READ);
}

/* No config makes the walk take words behind the bytes of a scope. */
static void test_scopes__refused(void **state)
{
	(void)state;
	put_info(0, 0, 0);
	put_scope(0, 0, SCOPE_SUB, OPERATION(1), FUNCTION_(1), 1);
	config.scopes.function = SCOPE_BYTES - 8;
	config.scopes.returns = SCOPE_BYTES;
	assert_int_equal(walk_list(), 0);
	assert_int_equal(host.walk.list.result, RUNTIME_NONE_MET);
	config.scopes.returns = 48;
	config.node_bytes = RUNTIME_NODE_BYTES + 8;
	walk_list();
	assert_int_equal(host.walk.list.result, RUNTIME_NONE_MET);
	config.node_bytes = SCOPE_BYTES;
	config.name = 256;
	walk_list();
	assert_int_equal(host.walk.list.result, RUNTIME_NONE_MET);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_scopes__functions, setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_scopes__activations, setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_scopes__deferred, setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_scopes__that_are_none, setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_scopes__begun, setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_scopes__names, setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_scopes__packages, setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_scopes__files_of_variables, setup,
						scene_teardown),
		cmocka_unit_test_setup_teardown(test_scopes__fingerprints, setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_scopes__torn, setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_scopes__hostile, setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_scopes__refused, setup, scene_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
