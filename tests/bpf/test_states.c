/* SPDX-License-Identifier: Apache-2.0 */
/* The search for the states of a program, and their frames, with a made-up interpreter. */
#define HEAP_WORDS 2048u
#include "tests/bpf/scene_list.h"

#define SP (scene.reg[REG_RSP])

/* Memory of the interpreter: what states share, states, frames, slots, objects and code. */
#define SHARED	     HEAP
#define STATE(n)     (HEAP + 0x200 + (n)*0x80ull)
#define NODE(n)	     (HEAP + 0x800 + (n)*0x40ull)
#define SLOT_OF(n)   (HEAP + 0x1000 + (n)*0x10ull)
#define OBJECT(n)    (HEAP + 0x1800 + (n)*0x20ull)
#define CODE(n)	     (HEAP + 0x2000 + (n)*0x80ull)
#define FIRST(n)     (HEAP + 0x3000 + (n)*0x40ull)
#define AT_MAIN	     0x18 /* in SHARED */
#define AT_TYPE	     8	  /* in a state, and so on */
#define AT_SHARED    16
#define AT_FRAME     24
#define AT_HANDLER   32
#define AT_LAST	     40
#define AT_PLACE     48
#define STATE_TYPE   7
#define AT_SLOT	     0 /* in a frame */
#define AT_PREVIOUS  8
#define AT_PC	     16
#define AT_KIND	     24
#define KIND_PROGRAM 1u
#define KIND_BORDER  2u
#define OBJECT_TYPE  0x55
#define CALL	     0x77 /* the first byte of an instruction */
#define FRAME(code)  (RUNTIME_WORD_FRAME | (code))
#define BORDER(n)    (RUNTIME_WORD_BORDER | (n))
#define NOWHERE	     BORDER(RUNTIME_BORDER_NOWHERE)
#define OFFSET(word) ((word) >> 32)

/* A frame of function n, or of other code: 0. */
static void node(u32 number, u32 function, u64 offset, u32 kind, u64 previous)
{
	HEAP_WORD(NODE(number) + AT_SLOT) = SLOT_OF(number);
	HEAP_WORD(NODE(number) + AT_PREVIOUS) = previous;
	HEAP_WORD(NODE(number) + AT_PC) = FIRST(function) + offset;
	HEAP_WORD(NODE(number) + AT_KIND) = kind;
	HEAP_WORD(SLOT_OF(number)) = OBJECT(function);
	HEAP_WORD(OBJECT(function) + 8) = function ? OBJECT_TYPE : 0x66;
	HEAP_WORD(OBJECT(function) + 16) = CODE(function);
	HEAP_WORD(CODE(function) + 24) = FIRST(function);
	HEAP_WORD(CODE(function) + 32) = 10; /* instructions */
}

static void put_state(u64 state, u64 frame, u64 handler)
{
	HEAP_WORD(state + AT_TYPE) = 0xab00 | STATE_TYPE;
	HEAP_WORD(state + AT_SHARED) = SHARED;
	HEAP_WORD(state + AT_FRAME) = frame;
	HEAP_WORD(state + AT_HANDLER) = handler;
}

/* Native frames of 256 bytes, all but the last one of the interpreter. */
#define NATIVE	   4u
#define IN_SP(n)   (SP + 256 * (n))
#define HANDLER(n) (IN_SP(n) + 128)

static int setup(void **state)
{
	int r = scene_list_setup(state);

	for (u32 i = 0; i < NATIVE; i++) {
		scene.rule[i] =
			RULE_MAKE(RULE_SP, 0, 0, 256, i + 1 < NATIVE ? RULE_FLAG_RUNTIME : 0);
		WORD(IN_SP(i + 1) - 8) = RETURN(i + 1);
	}
	scene.rule[NATIVE] = RULE_LAST;
	config = (struct runtime_config){
		.root = {{.start = RUNTIME_AT_SCAN}},
		.code_mask = ~0ull,
		.border_mask = KIND_BORDER,
		.border_value = KIND_BORDER,
		.node_bytes = 32,
		.previous = AT_PREVIOUS,
		.code = AT_SLOT,
		.instruction = AT_PC,
		.border = AT_KIND,
		.flags = RUNTIME_BORDER_SHOW | RUNTIME_POINTED | RUNTIME_OBJECT,
		.instructions = 24,
		.name = 40,
		.part = {RUNTIME_CODE_ITSELF, 40, 40, 40},
		.object_type = 8,
		.object_code = 16,
		.object_mask = 0xff,
		.object_value = OBJECT_TYPE,
		.shown_mask = KIND_PROGRAM,
		.shown_value = KIND_PROGRAM,
		.shown = AT_KIND,
		.count = 32,
		.state = {.bytes = 64,
			  .type = AT_TYPE,
			  .type_value = STATE_TYPE,
			  .shared = AT_SHARED,
			  .handler = AT_HANDLER,
			  .frame = AT_FRAME,
			  .instruction = AT_PLACE,
			  .end = AT_LAST,
			  .main = AT_MAIN},
	};
	memset(host.leaf, 0x5a, sizeof(host.leaf));
	host.leaf_stack = SP;
	HEAP_WORD(SHARED + AT_MAIN) = STATE(0);
	WORD(HANDLER(2)) = 0;
	put_state(STATE(0), NODE(0), HANDLER(2));
	return r;
}

static u32 walk_list(void)
{
	publish_config();
	EXPECT(end_root, EXACT(scene.pc), RETURN(1), RETURN(2), RETURN(3), RETURN(4));
	return take_list();
}

/* Three functions in two activations, with other code between them and behind them. */
static void put_frames(void)
{
	node(0, 1, 12, KIND_PROGRAM, NODE(1));
	node(1, 2, 8, KIND_PROGRAM | KIND_BORDER, NODE(2));
	node(2, 0, 0, 0, NODE(3));
	node(3, 3, 4, KIND_PROGRAM | KIND_BORDER, NODE(4));
	node(4, 0, 0, 0, 0);
}

static void expect_frames(void)
{
	assert_int_equal(host.word[0], FRAME(CODE(1)));
	assert_int_equal(OFFSET(host.word[1]), 12);
	assert_int_equal(host.word[2], FRAME(CODE(2)));
	assert_int_equal(OFFSET(host.word[3]), 8);
	assert_int_equal(host.word[4], NOWHERE);
	assert_int_equal(host.word[5], FRAME(CODE(3)));
	assert_int_equal(host.word[7], NOWHERE);
}

static void test_states__in_a_register(void **state)
{
	(void)state;
	put_frames();
	host.leaf[5] = STATE(0);
	assert_int_equal(walk_list(), 8);
	assert_int_equal(host.walk.list.result, RUNTIME_WHOLE);
	expect_frames();
}

static void test_states__on_the_stack(void **state)
{
	(void)state;
	put_frames();
	WORD(IN_SP(2) + 40) = STATE(0);
	assert_int_equal(walk_list(), 8);
	expect_frames();
	/* the search begins near the innermost frame of the interpreter */
	host.leaf_stack = SP - 0x2000;
	assert_int_equal(walk_list(), 8);
	WORD(IN_SP(2) + 40) = 0;
	WORD(SP - 0x1000) = STATE(0);
	assert_int_equal(walk_list(), 0);
	assert_int_equal(host.walk.list.result, RUNTIME_NO_ROOT);
}

static void test_states__that_do_not_run(void **state)
{
	(void)state;
	put_frames();
	for (u32 i = 0; i < 4; i++)
		WORD(SP + 8 * i) = STATE(1 + i);
	put_state(STATE(1), NODE(3), 0);       /* not resumed, or suspended */
	put_state(STATE(2), NODE(3), SP - 64); /* of another thread */
	put_state(STATE(3), NODE(3), HANDLER(0));
	HEAP_WORD(STATE(3) + AT_TYPE) = 0x1007; /* of another type */
	HEAP_WORD(STATE(3) + AT_TYPE) = 0x0b;
	put_state(STATE(4), NODE(3), HANDLER(0));
	HEAP_WORD(STATE(4) + AT_SHARED) = HEAP + 0x100; /* of no program */
	assert_int_equal(walk_list(), 0);
	assert_int_equal(host.walk.list.result, RUNTIME_NO_ROOT);
	WORD(SP + 8 * 9) = STATE(0);
	assert_int_equal(walk_list(), 8);
}

/* State 1 has two handlers, the outer one in frame 1; the main state goes on behind it. */
static void put_resumed(void)
{
	HEAP_WORD(SHARED + AT_MAIN) = STATE(0);
	node(5, 4, 0, KIND_PROGRAM | KIND_BORDER, 0);
	put_state(STATE(1), NODE(5), HANDLER(0));
	WORD(HANDLER(0)) = HANDLER(1);
	WORD(HANDLER(1)) = 0;
	put_frames();
	WORD(SP + 16) = STATE(1);
	WORD(HANDLER(1) + 32) = STATE(1);
	WORD(HANDLER(1) + 40) = STATE(0);
}

/* Returns how many reads the list took: the main state resumed state 1. */
static u32 expect_resumed(void)
{
	assert_int_equal(walk_list(), 12);
	assert_int_equal(host.walk.list.result, RUNTIME_WHOLE);
	assert_int_equal(host.word[0], FRAME(CODE(4)));
	assert_int_equal(host.word[2], NOWHERE);
	assert_int_equal(host.word[3], BORDER(1));
	assert_int_equal(host.word[4], FRAME(CODE(1)));
	assert_int_equal(host.word[8], NOWHERE);
	assert_int_equal(host.word[11], NOWHERE);
	return host.walk.list.reads;
}

static void test_states__that_resumed_others(void **state)
{
	(void)state;
	put_resumed();
	/* a pointer to an outer state counts behind the inner one's handlers alone */
	expect_resumed();
	/* the program resumed it itself */
	WORD(HANDLER(1) + 40) = 0;
	assert_int_equal(walk_list(), 4);
	assert_int_equal(host.walk.list.result, RUNTIME_WHOLE);
}

/* Each native frame of the interpreter is one of its loop, and has a border. */
static void test_states__with_a_loop(void **state)
{
	u32 all, first;

	(void)state;
	put_resumed();
	for (u32 i = 0; i < 8; i++)
		WORD(SP + 64 + 8 * i) = STATE(2) + 8 * i;
	host.leaf[5] = STATE(1);
	all = expect_resumed();
	config.loop = FUNCTION(0) - SCENE_BIAS;
	config.loop_bytes = NATIVE * 256;
	first = expect_resumed();
	assert_true(first + 8 <= all);
	/* the state found first has resumed the one that runs, so the search begins anew */
	host.leaf[5] = STATE(0);
	assert_true(expect_resumed() > all);
}

static void test_states__with_handlers_that_lead_nowhere(void **state)
{
	static const u64 wrong[] = {0, 8, 0x4000, 4};

	(void)state;
	for (u32 i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		put_resumed();
		WORD(HANDLER(0)) = HANDLER(0) - wrong[i];
		if (wrong[i] == 4)
			WORD(HANDLER(0)) = HANDLER(1) + 4;
		assert_int_equal(walk_list(), 3);
		assert_int_equal(host.walk.list.result, RUNTIME_CUT_READ);
	}
}

/* A program that calls its functions without a handler. */
static void test_states__unprotected(void **state)
{
	(void)state;
	put_frames();
	put_state(STATE(0), NODE(0), 0);
	host.leaf[3] = STATE(0);
	assert_int_equal(walk_list(), 8);
	expect_frames();
	put_resumed();
	put_state(STATE(0), NODE(0), 0);
	assert_int_equal(walk_list(), 12);
	assert_int_equal(host.word[3], BORDER(1));
}

static void test_states__whose_main_one_is_within(void **state)
{
	(void)state;
	put_frames();
	config.flags |= RUNTIME_MAIN_WITHIN;
	config.state.main = STATE(0) - SHARED;
	host.leaf[5] = STATE(0);
	assert_int_equal(walk_list(), 8);
	config.state.main = STATE(1) - SHARED;
	assert_int_equal(walk_list(), 0);
}

/* As Lua 5.1 has them: the caller's frame is in front, and no frame says that it is a border. */
static void test_states__with_arrays(void **state)
{
	(void)state;
	config.flags |= RUNTIME_ARRAY | RUNTIME_BORDER_CALLER;
	config.node_bytes = 0x40;
	config.border_mask = 0;
	config.border_value = 1;
	config.shown_mask = config.shown_value = 0;
	config.call_mask = 0xff;
	config.call_value = CALL;
	HEAP_WORD(STATE(0) + AT_FRAME) = NODE(5);
	HEAP_WORD(STATE(0) + AT_LAST) = NODE(0);
	HEAP_WORD(STATE(0) + AT_PLACE) = FIRST(4) + 16;
	host.leaf[0] = STATE(0);
	node(0, 5, 0, 0, 0); /* the outermost frame counts for none, whatever it has */
	node(1, 1, 8, 0, 0);
	node(2, 0, 0, 0, 0);
	node(3, 2, 8, 0, 0);
	node(4, 3, 12, 0, 0);
	node(5, 4, 0, 0, 0);
	HEAP_WORD(FIRST(3) + 8) = 0xbeef;	      /* 3 did not call 4: an operator did */
	HEAP_WORD(FIRST(2)) = (u64)CALL << 32 | 0xff; /* 2 called 3 */
	assert_int_equal(walk_list(), 11);
	assert_int_equal(host.word[0], FRAME(CODE(4)));
	assert_int_equal(OFFSET(host.word[1]), 16); /* the state has the newest place */
	assert_int_equal(host.word[2], NOWHERE);
	assert_int_equal(host.word[3], FRAME(CODE(3)));
	assert_int_equal(host.word[5], FRAME(CODE(2)));
	assert_int_equal(OFFSET(host.word[6]), 8);
	assert_int_equal(host.word[7], NOWHERE);
	assert_int_equal(host.word[8], FRAME(CODE(1)));
	assert_int_equal(host.word[10], NOWHERE);
	assert_int_equal(host.walk.list.result, RUNTIME_WHOLE);
}

static void test_states__at_a_leaf(void **state)
{
	(void)state;
	put_frames();
	host.leaf[5] = STATE(0);
	host.leaf[9] = FIRST(1) + 40; /* behind the last instruction: it has been fetched */
	assert_int_equal(walk_list(), 8);
	assert_int_equal(OFFSET(host.word[1]), 40);
	assert_int_equal(OFFSET(host.word[3]), 8);
	host.leaf[9] = FIRST(1) + 41;
	assert_int_equal(walk_list(), 8);
	assert_int_equal(OFFSET(host.word[1]), 12);
	host.leaf[9] = FIRST(1);
	assert_int_equal(walk_list(), 8);
	assert_int_equal(OFFSET(host.word[1]), 12);
}

/* The list ends where an object cannot be read. A word that is no address is a function in C. */
static void test_states__with_objects_that_cannot_be_read(void **state)
{
	(void)state;
	put_frames();
	host.leaf[5] = STATE(0);
	HEAP_WORD(SLOT_OF(3)) = HEAP + sizeof(heap);
	assert_int_equal(walk_list(), 5);
	assert_int_equal(host.walk.list.result, RUNTIME_CUT_READ);
	HEAP_WORD(SLOT_OF(3)) = OBJECT(3) + 1;
	assert_int_equal(walk_list(), 5);
	assert_int_equal(host.walk.list.result, RUNTIME_WHOLE);
	HEAP_WORD(SLOT_OF(3)) = OBJECT(3);
	HEAP_WORD(NODE(3) + AT_SLOT) = HEAP + sizeof(heap);
	assert_int_equal(walk_list(), 5);
	assert_int_equal(host.walk.list.result, RUNTIME_CUT_READ);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_states__in_a_register, setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_states__on_the_stack, setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_states__that_do_not_run, setup,
						scene_teardown),
		cmocka_unit_test_setup_teardown(test_states__that_resumed_others, setup,
						scene_teardown),
		cmocka_unit_test_setup_teardown(test_states__with_a_loop, setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_states__with_handlers_that_lead_nowhere, setup,
						scene_teardown),
		cmocka_unit_test_setup_teardown(test_states__unprotected, setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_states__whose_main_one_is_within, setup,
						scene_teardown),
		cmocka_unit_test_setup_teardown(test_states__with_arrays, setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_states__at_a_leaf, setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_states__with_objects_that_cannot_be_read,
						setup, scene_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
