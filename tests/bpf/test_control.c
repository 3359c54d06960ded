/* SPDX-License-Identifier: Apache-2.0 */
/* The walk over control frames, with a made-up Ruby. */
#define HEAP_WORDS 2048u
#include "tests/bpf/scene_list.h"

#define SP (scene.reg[REG_RSP])

/* The program's memory: a context, a stack of values with frames at its end, and objects. */
#define THREAD	    (HEAP + 0x80)
#define CONTEXT	    (HEAP + 0x100)
#define STACK	    (HEAP + 0x200)
#define STACK_WORDS 256u
#define STACK_END   (STACK + STACK_WORDS * 8)
#define FRAME_BYTES 56u
#define NODE(n)	    (STACK_END - (u64)FRAME_BYTES * (n)) /* the n-th from the outermost one */
#define SLOTS(n)    (STACK + 32 + 64 * (n))		 /* the environment of a frame */
#define OBJECT(n)   (HEAP + 0x1000 + (n)*0x20ull)
#define CODE(n)	    (HEAP + 0x1400 + (n)*0xc0ull)
#define TEXT(n)	    (HEAP + 0x2000 + (n)*0x40ull)
#define METHOD(n)   (HEAP + 0x2800 + (n)*0x40ull)
#define NAMES	    (HEAP + 0x2c00) /* the variable; the arrays follow */
#define CLASS(n)    (HEAP + 0x3000 + (n)*0x100ull)
#define PLACES	    0x700000000000ull /* instructions, which nobody reads */

#define ISEQ	   0x701aull
#define LABEL_AT   80u
#define PATH_AT	   64u
#define PARENT_AT  160u
#define CLASS_NAME 152u
#define METHOD_	   0x11110001u /* VM_FRAME_MAGIC_METHOD */
#define BLOCK	   0x22220001u

#define FRAME(code)  (RUNTIME_WORD_FRAME | (code))
#define NOWHERE	     (RUNTIME_WORD_BORDER | RUNTIME_BORDER_NOWHERE)
#define OFFSET(word) ((word) >> 32)
#define NONE	     RUNTIME_OFFSET_NONE

/* Makes frame n of an object, `offset` bytes into its instructions. */
static void frame(u32 n, u64 object, u64 offset, u32 flags)
{
	HEAP_WORD(NODE(n)) = PLACES + offset;
	HEAP_WORD(NODE(n) + 16) = object;
	HEAP_WORD(NODE(n) + 32) = SLOTS(n);
	HEAP_WORD(SLOTS(n)) = flags;
	HEAP_WORD(SLOTS(n) - 8) = 0;
	HEAP_WORD(SLOTS(n) - 16) = 0;
	HEAP_WORD(CONTEXT + 16) = NODE(n); /* the innermost one so far */
}

/* Makes an object with code, whose name and path are texts. */
static void code(u32 n)
{
	HEAP_WORD(OBJECT(n)) = ISEQ;
	HEAP_WORD(OBJECT(n) + 16) = CODE(n);
	HEAP_WORD(CODE(n)) = 1 | 100ull << 32;
	HEAP_WORD(CODE(n) + 8) = PLACES;
	HEAP_WORD(CODE(n) + LABEL_AT) = TEXT(n);
	HEAP_WORD(CODE(n) + PATH_AT) = TEXT(8);
	HEAP_WORD(TEXT(n)) = CONTROL_TEXT;
	HEAP_WORD(TEXT(8)) = CONTROL_TEXT;
}

static void frame_in_c(u32 n, u32 method, u32 flags)
{
	frame(n, 0, 0, CONTROL_C | flags);
	HEAP_WORD(SLOTS(n) - 16) = METHOD(method);
	HEAP_WORD(METHOD(method)) = CONTROL_METHOD;
	HEAP_WORD(METHOD(method) + 16) = METHOD(method) + 0x20; /* the definition */
	HEAP_WORD(METHOD(method) + 0x28) = (1000 + method) << 4 | 1;
	HEAP_WORD(METHOD(method) + 32) = CLASS(0);
}

/* Gives a number a name. */
static void name(u32 number, u64 text)
{
	const u64 outer = NAMES + 0x40, inner = NAMES + 0x80;

	HEAP_WORD(NAMES) = outer;
	HEAP_WORD(outer) = CONTROL_ARRAY | CONTROL_INSIDE;
	HEAP_WORD(outer + 16 + number / 512 * 8) = inner;
	HEAP_WORD(inner) = CONTROL_ARRAY;
	HEAP_WORD(inner + 32) = inner + 0x40 - number % 512 * 16;
	HEAP_WORD(inner + 0x40) = text;
}

/* Three native frames, of which the first two are the interpreter's; 64 bytes each. */
static int setup(void **state)
{
	int r = scene_list_setup(state);

	memset(host.leaf, 0, sizeof(host.leaf));
	host.thread = THREAD;
	host.told = host.told_name = host.told_before = 0;
	for (u32 i = 0; i < 3; i++) {
		scene.rule[i] = RULE_MAKE(RULE_SP, 0, 0, 64, i < 2 ? RULE_FLAG_RUNTIME : 0);
		WORD(SP + 64 * (i + 1) - 8) = RETURN(i + 1);
	}
	scene.rule[3] = RULE_LAST;
	config = (struct runtime_config){
		.root = {{.start = RUNTIME_AT_THREAD, .steps = 2, .offset = {-8, 16}}},
		.code_mask = ~0ull,
		.node_bytes = FRAME_BYTES,
		.code = 16,
		.flags = RUNTIME_CONTROL | RUNTIME_POINTED,
		.instructions = 8,
		.fingerprint = {0, 4, 88, 128},
		.name = 8,
		.part = {RUNTIME_CODE_ITSELF, LABEL_AT, PATH_AT, 112},
		.object_mask = 0xf01f,
		.object_value = ISEQ,
		.object_code = 16,
		.count = 4,
		.control = {.environment = 32,
			    .text_data = 24,
			    .definition = 16,
			    .owner = 32,
			    .name = 8,
			    .operators = 170,
			    .table = 136},
	};
	HEAP_WORD(THREAD - 8) = CONTEXT;
	HEAP_WORD(CONTEXT) = STACK;
	HEAP_WORD(CONTEXT + 8) = STACK_WORDS;
	frame(1, 0, 0, CONTROL_OUTERMOST | CONTROL_FINISH);
	return r;
}

/* Walks the stack and then the list. Returns the words. */
static u32 walk_list(void)
{
	publish_config();
	EXPECT(end_root, EXACT(scene.pc), RETURN(1), RETURN(2), RETURN(3));
	host.walk.list.told = 32;
	return take_list();
}

static void expect_words(u32 count, const u64 *words)
{
	assert_int_equal(walk_list(), count);
	assert_int_equal(host.walk.list.result, RUNTIME_WHOLE);
	for (u32 i = 0; i < count; i++) {
		if (words[i] & (RUNTIME_WORD_FRAME | RUNTIME_WORD_BORDER))
			assert_int_equal(host.word[i], words[i]);
		else
			assert_int_equal(OFFSET(host.word[i]), words[i]);
	}
}
#define EXPECT_WORDS(...) \
	expect_words(sizeof((const u64[]){__VA_ARGS__}) / 8, (const u64[]){__VA_ARGS__})

static void test_control__groups(void **state)
{
	(void)state;
	code(0);
	code(1);
	frame(2, OBJECT(0), 80, METHOD_ | CONTROL_FINISH | CONTROL_LOCAL);
	frame(3, OBJECT(1), 16, METHOD_ | CONTROL_LOCAL);
	frame_in_c(4, 0, CONTROL_LOCAL);
	frame(5, OBJECT(1), 24, BLOCK | CONTROL_FINISH);
	EXPECT_WORDS(FRAME(CODE(1)), 24, NOWHERE, FRAME(METHOD(0)), NONE, FRAME(CODE(1)), 16,
		     FRAME(CODE(0)), 80, NOWHERE);
}

static void test_control__frames_of_no_function(void **state)
{
	(void)state;
	code(0);
	frame(1, OBJECT(0), 0, CONTROL_OUTERMOST | CONTROL_FINISH); /* it has code all the same */
	frame(2, OBJECT(0), 80, METHOD_ | CONTROL_FINISH | CONTROL_LOCAL);
	frame(3, OBJECT(5), 0, CONTROL_CB); /* in place of code */
	frame(4, 0, 0, METHOD_);
	EXPECT_WORDS(FRAME(CODE(0)), 80, NOWHERE);
}

static void test_control__a_register_is_newer(void **state)
{
	(void)state;
	code(0);
	frame(2, OBJECT(0), 80, METHOD_ | CONTROL_FINISH);
	host.leaf[3] = PLACES + 96;
	EXPECT_WORDS(FRAME(CODE(0)), 96, NOWHERE);
	host.leaf[3] = PLACES + 100 * 8 + 8; /* beyond the code */
	EXPECT_WORDS(FRAME(CODE(0)), 80, NOWHERE);
	host.leaf[3] = PLACES + 96;
	frame_in_c(3, 0, 0);
	EXPECT_WORDS(FRAME(METHOD(0)), NONE, FRAME(CODE(0)), 80, NOWHERE);
}

static void test_control__another_thread_has_the_lock(void **state)
{
	(void)state;
	code(0);
	frame(2, OBJECT(0), 80, METHOD_ | CONTROL_FINISH);
	config.control.thread = 48;
	config.control.thread_id = 72;
	HEAP_WORD(CONTEXT + 48) = HEAP + 0x20;
	HEAP_WORD(HEAP + 0x20 + 72) = THREAD + 8;
	assert_int_equal(walk_list(), 0);
	assert_int_equal(host.walk.list.result, RUNTIME_NO_ROOT);
	HEAP_WORD(HEAP + 0x20 + 72) = THREAD;
	EXPECT_WORDS(FRAME(CODE(0)), 80, NOWHERE);
}

static void test_control__telling(void **state)
{
	struct runtime_list *list = &host.walk.list;

	(void)state;
	code(0);
	frame(2, OBJECT(0), 80, METHOD_ | CONTROL_FINISH);
	walk_list();
	assert_int_equal(host.told, CODE(0));
	assert_int_equal(list->label, TEXT(0) + 24);
	assert_int_equal(list->path, TEXT(8) + 24);
	/* the bytes are elsewhere; a path is the first text of an array */
	HEAP_WORD(TEXT(0)) = CONTROL_TEXT | CONTROL_OUTSIDE;
	HEAP_WORD(TEXT(0) + 24) = HEAP + 0x33;
	HEAP_WORD(TEXT(1)) = CONTROL_ARRAY | CONTROL_INSIDE;
	HEAP_WORD(TEXT(1) + 16) = TEXT(8);
	HEAP_WORD(CODE(0) + PATH_AT) = TEXT(1);
	walk_list();
	assert_int_equal(list->label, HEAP + 0x33);
	assert_int_equal(list->path, TEXT(8) + 24);
	/* no text */
	host.told = 0;
	HEAP_WORD(TEXT(0)) = CONTROL_CLASS;
	walk_list();
	assert_int_equal(host.told, 0);
	HEAP_WORD(TEXT(0)) = CONTROL_TEXT;
	host.told_before = CODE(0);
	walk_list();
	assert_int_equal(host.told, 0);
}

static void test_control__names_of_functions_in_c(void **state)
{
	(void)state;
	frame_in_c(2, 3, CONTROL_FINISH);
	walk_list();
	assert_int_equal(host.told, 0);
	config.control.names = (u32)(NAMES - SCENE_BIAS);
	/* the variable is in the image, whose bias the walk adds */
	name(1003, TEXT(0));
	HEAP_WORD(TEXT(0)) = CONTROL_TEXT;
	walk_list();
	host.walk.list.bias = NAMES - config.control.names;
	assert_int_equal(control_name(&host.walk.list, 1003 << 4 | 1), TEXT(0));
	name(43, TEXT(0)); /* of an operator, whose number it is */
	assert_int_equal(control_name(&host.walk.list, 43), TEXT(0));
	assert_int_equal(control_name(&host.walk.list, 1 << 30), 0);
}

/* From 3.4 on */
static void set_classes(void)
{
	config.control.class_name = CLASS_NAME;
	config.control.class_object = 128;
	config.control.class_flags = 148;
	config.control.class_mask = 256;
	config.control.single_mask = 8192;
	config.control.parent = PARENT_AT;
}

static void class(u32 n, u64 type, u64 name_at)
{
	HEAP_WORD(CLASS(n)) = type;
	HEAP_WORD(CLASS(n) + CLASS_NAME) = name_at;
	HEAP_WORD(CLASS(n) + 144) = 256ull << 32;
	HEAP_WORD(name_at) = CONTROL_TEXT;
}

static void method_of(u32 n, u32 owner)
{
	HEAP_WORD(METHOD(n)) = CONTROL_METHOD;
	HEAP_WORD(METHOD(n) + 32) = CLASS(owner);
}

static void test_control__classes(void **state)
{
	u64 first;

	(void)state;
	set_classes();
	code(0);
	class(1, CONTROL_CLASS, TEXT(4));
	class(2, CONTROL_CLASS, TEXT(5));
	method_of(0, 1);
	frame(2, OBJECT(0), 80, METHOD_ | CONTROL_FINISH | CONTROL_LOCAL);
	HEAP_WORD(SLOTS(2) - 16) = METHOD(0);
	assert_int_equal(walk_list(), 3);
	assert_int_equal(host.told_name, TEXT(4) + 24);
	assert_int_equal(host.walk.list.named, CONTROL_OF_OBJECTS);
	first = host.word[1];
	/* the same code, of another class, by variables */
	method_of(1, 2);
	HEAP_WORD(SLOTS(2) - 16) = METHOD(2);
	HEAP_WORD(METHOD(2)) = CONTROL_VARIABLES;
	HEAP_WORD(METHOD(2) + 8) = METHOD(1);
	walk_list();
	assert_int_equal(host.told_name, TEXT(5) + 24);
	assert_int_not_equal(host.word[1], first);
	/* the class of a class alone */
	HEAP_WORD(CLASS(2)) = CONTROL_CLASS | 8192;
	HEAP_WORD(CLASS(2) + 128) = CLASS(1);
	walk_list();
	assert_int_equal(host.told_name, TEXT(4) + 24);
	assert_int_equal(host.walk.list.named, CONTROL_OF_ITSELF);
	/* the name is not for good */
	HEAP_WORD(CLASS(1) + 144) = 0;
	walk_list();
	assert_int_equal(host.walk.list.named, CONTROL_NO_CLASS);
}

static void test_control__a_block_has_the_class_around_it(void **state)
{
	(void)state;
	set_classes();
	code(0);
	class(1, CONTROL_MODULE, TEXT(4));
	method_of(0, 1);
	frame(2, OBJECT(0), 80, METHOD_ | CONTROL_FINISH | CONTROL_LOCAL);
	HEAP_WORD(SLOTS(2) - 16) = METHOD(0);
	frame(3, OBJECT(0), 80, BLOCK | CONTROL_FINISH);
	HEAP_WORD(SLOTS(3) - 8) = SLOTS(2) | 1;
	walk_list();
	assert_int_equal(host.word[1], host.word[4]);
	/* the environment is around itself */
	HEAP_WORD(SLOTS(3) - 8) = SLOTS(3);
	walk_list();
	assert_int_equal(host.walk.list.result, RUNTIME_WHOLE);
	assert_int_not_equal(host.word[1], host.word[4]);
}

static void test_control__evaluated_code(void **state)
{
	(void)state;
	set_classes();
	code(0);
	code(1);
	frame(2, OBJECT(1), 80, METHOD_ | CONTROL_FINISH | CONTROL_LOCAL);
	HEAP_WORD(CODE(1)) = CONTROL_EVALUATED;
	HEAP_WORD(CODE(1) + PARENT_AT) = OBJECT(0);
	walk_list();
	assert_int_equal(host.walk.list.label, TEXT(0) + 24);
	host.told = 0;
	HEAP_WORD(CODE(1) + PARENT_AT) = OBJECT(1); /* around itself */
	walk_list();
	assert_int_equal(host.walk.list.label, TEXT(1) + 24);
	HEAP_WORD(CODE(1) + PARENT_AT) = 0;
	walk_list();
	assert_int_equal(host.walk.list.label, 0);
}

/* coroutine_initialize() gives a new stack this return address. */
static void test_control__a_fiber_starts_with_no_return_address(void **state)
{
	u32 word = build_words(&host.build, sizeof(config) / 4, 16);

	(void)state;
	WORD(SP + 64 * 2 - 8) = 0;
	memcpy(build_at(&host.build, word), &config, sizeof(config));
	EXPECT(cut_zero_return, EXACT(scene.pc), RETURN(1));
	scene.mapping.runtime = word;
	EXPECT(end_root, EXACT(scene.pc), RETURN(1));
	/* code of another runtime */
	config.flags = 0;
	memcpy(build_at(&host.build, word), &config, sizeof(config));
	EXPECT(cut_zero_return, EXACT(scene.pc), RETURN(1));
}

static void expect_cut(u32 result)
{
	walk_list();
	assert_int_equal(host.walk.list.result, result);
	assert_true(host.walk.list.reads < 2 * RECORD_RUNTIME_WORDS_MAX);
}

static void test_control__what_cannot_be(void **state)
{
	(void)state;
	code(0);
	frame(2, OBJECT(0), 80, METHOD_ | CONTROL_FINISH);
	HEAP_WORD(OBJECT(0)) = CONTROL_METHOD; /* an object of another type */
	expect_cut(RUNTIME_CUT_READ);
	HEAP_WORD(OBJECT(0)) = ISEQ;
	HEAP_WORD(OBJECT(0) + 16) = 8; /* no memory */
	expect_cut(RUNTIME_CUT_READ);
	HEAP_WORD(OBJECT(0) + 16) = CODE(0);
	HEAP_WORD(NODE(2) + 32) = SLOTS(2) + 4;
	expect_cut(RUNTIME_CUT_READ);
	HEAP_WORD(NODE(2) + 32) = SLOTS(2);
	frame(3, 0, 0, CONTROL_C);
	expect_cut(RUNTIME_CUT_READ); /* no method */
	HEAP_WORD(SLOTS(3) - 16) = OBJECT(0);
	expect_cut(RUNTIME_CUT_READ);	       /* another object */
	HEAP_WORD(CONTEXT + 16) = NODE(2) + 8; /* the frames do not end at the stack's end */
	expect_cut(RUNTIME_CUT_READ);
	HEAP_WORD(CONTEXT + 16) = STACK_END + 64;
	expect_cut(RUNTIME_CUT_READ);
}

/* All memory behind the frames is a stack, whose frames are none of a function. */
static void test_control__a_list_without_end(void **state)
{
	(void)state;
	HEAP_WORD(CONTEXT) = 0;
	HEAP_WORD(CONTEXT + 8) = ~0ull;
	expect_cut(RUNTIME_CUT_READ);
	HEAP_WORD(CONTEXT + 8) = 0;
	expect_cut(RUNTIME_CUT_READ);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_control__##name, setup, scene_teardown)
	const struct CMUnitTest tests[] = {
		TEST(groups),
		TEST(frames_of_no_function),
		TEST(a_register_is_newer),
		TEST(another_thread_has_the_lock),
		TEST(telling),
		TEST(names_of_functions_in_c),
		TEST(classes),
		TEST(a_block_has_the_class_around_it),
		TEST(evaluated_code),
		TEST(a_fiber_starts_with_no_return_address),
		TEST(what_cannot_be),
		TEST(a_list_without_end),
	};
#undef TEST

	return cmocka_run_group_tests(tests, NULL, NULL);
}
