/* SPDX-License-Identifier: Apache-2.0 */
/* Frames on a stack of values and in traces, and the native frames of a made-up runtime. */
#include "tests/bpf/scene_list.h"

#define SP (scene.reg[REG_RSP])

/* Memory of the runtime: what states share, a state, values, functions, code, a trace. */
#define SHARED	    HEAP
#define STATE	    (HEAP + 0x400)
#define OTHER_STATE (HEAP + 0x500)
#define VALUES	    (HEAP + 0x800)
#define FUNC(n)	    (HEAP + 0x1000 + (n)*0x40ull)
#define CODE(n)	    (HEAP + 0x2000 + (n)*0x100ull)
#define FIRST(n)    (CODE(n) + CODE_HEAD)
#define TRACES	    (HEAP + 0x4000)
#define TRACE(n)    (HEAP + 0x4200 + (n)*0x80ull)
#define SNAPSHOTS   (HEAP + 0x5000)
#define ENTRIES	    (HEAP + 0x5400)
#define CONSTANTS   (HEAP + 0x6000)
#define MADE	    0x700000000000ull /* code made at run time */
#define MADE_BYTES  4096u

#define AT_MAIN	      192 /* in SHARED */
#define AT_TRACE_BASE 376
#define AT_RUNNING    184
#define AT_TRACES     400
#define AT_SHARED     16 /* in a state, and so on */
#define AT_BASE	      32
#define AT_VALUES     56
#define AT_NATIVE     80
#define AT_PLACE      32 /* in a function */
#define CODE_HEAD     104
#define AT_COUNT      12 /* in code */
#define HEAD	      32 /* of a frame */
#define SLOTS	      2

/* Native frames of 80 bytes: 0 and 2 are the interpreter's. */
#define NATIVE(n) (SP + 80 * (n))

#define FRAME(n)     (RUNTIME_WORD_FRAME | CODE(n))
#define BORDER(n)    (RUNTIME_WORD_BORDER | (n))
#define PLACE(word)  ((word) >> 32)
#define BEHIND(n, i) (FIRST(n) + 4 * (i)) /* so many instructions of function n */

static u8 made[MADE_BYTES];

static void heap_u32(u64 address, u32 value)
{
	memcpy((u8 *)heap + (address - HEAP), &value, sizeof(value));
}

/* Function n in the language; 0 is one of native code. */
static void put_function(u32 n)
{
	HEAP_WORD(FUNC(n) + 8) = n ? 0x800 : 0x10800;
	HEAP_WORD(FUNC(n) + AT_PLACE) = FIRST(n);
	heap_u32(CODE(n) + AT_COUNT, 20);
}

/* The call before a place takes a register, so many slots above its function's base. */
static void put_call(u64 place, u32 reg)
{
	heap_u32(place - 4, 66 | reg << 8);
}

/* A frame with its base at a slot of the values. */
static u64 put_frame(u32 slot, u32 function, u64 link)
{
	u64 base = VALUES + 8 * slot;

	HEAP_WORD(base - 16) = FUNC(function) | 0xfff8ull << 47;
	HEAP_WORD(base - 8) = link;
	return base;
}

static void put_state(u64 state, u64 base, u64 native)
{
	HEAP_WORD(state + 8) = 0x611;
	HEAP_WORD(state + AT_SHARED) = SHARED;
	HEAP_WORD(state + AT_BASE) = base;
	HEAP_WORD(state + AT_VALUES) = VALUES;
	HEAP_WORD(state + AT_NATIVE) = native;
}

static void put_native(u32 number, u64 state, u64 place, u64 previous)
{
	WORD(NATIVE(number) + 16) = state;
	WORD(NATIVE(number) + 24) = place;
	WORD(NATIVE(number) + 32) = previous;
}

/*
 * Functions 1 and 2 run in native frame 2. Function 2 has called one of native code, which has
 * called function 3 in native frame 0.
 */
static void put_frames(void)
{
	u64 base;

	for (u32 i = 0; i < 8; i++)
		put_function(i);
	put_call(BEHIND(1, 7), 3);
	put_call(BEHIND(2, 5), 2);
	put_frame(6, 1, 32 | LINK_NATIVE);
	put_frame(11, 2, BEHIND(1, 7));
	put_frame(15, 0, BEHIND(2, 5));
	base = put_frame(20, 3, 40 | LINK_NATIVE | 4);
	put_state(STATE, base, NATIVE(0) | 1);
	put_native(0, STATE, BEHIND(3, 2), NATIVE(2));
	put_native(2, STATE, BEHIND(2, 5), 0);
	HEAP_WORD(SHARED + AT_MAIN) = STATE;
}

static int setup(void **state)
{
	int r = scene_list_setup(state);

	memset(made, 0x90, sizeof(made));
	host.region[3] = (struct host_region){MADE, sizeof(made), made};
	for (u32 i = 0; i < 3; i++) {
		scene.rule[i] = RULE_MAKE(RULE_SP, 0, 0, 80, i == 1 ? 0 : RULE_FLAG_RUNTIME);
		WORD(NATIVE(i) + 72) = RETURN(i + 1);
	}
	scene.rule[3] = RULE_LAST;
	config = (struct runtime_config){
		.root = {{.start = RUNTIME_AT_SCAN}},
		.code_mask = (1ull << 47) - 1,
		.border_value = 1,
		.node_bytes = HEAD,
		.previous = 24,
		.code = 16,
		.anchor_previous = 32,
		.flags = RUNTIME_STACKED | RUNTIME_OBJECT | RUNTIME_ANCHOR_LIST,
		.instructions = CODE_HEAD,
		.name = 64,
		.part = {RUNTIME_CODE_ITSELF, 64, 64, 64},
		.object_type = 8,
		.object_code = AT_PLACE,
		.object_mask = 0xffff00,
		.object_value = 0x800,
		.count = AT_COUNT,
		.state = {.bytes = 88,
			  .type = 9,
			  .type_value = 6,
			  .shared = AT_SHARED,
			  .handler = AT_NATIVE,
			  .handler_bytes = 8,
			  .frame = AT_BASE,
			  .end = AT_VALUES,
			  .main = AT_MAIN},
		.stack = {.inside = RETURN(2) - SCENE_BIAS,
			  .head = HEAD,
			  .continued = 8,
			  .slots = SLOTS,
			  .code_head = CODE_HEAD,
			  .anchor_state = 16,
			  .anchor_place = 24,
			  .anchor_return = 72,
			  .trace_base = AT_TRACE_BASE,
			  .leaf_base = 12,
			  .leaf_place = 5},
		.trace = {.bytes = 96,
			  .number = AT_RUNNING,
			  .traces = AT_TRACES,
			  .constants = 32,
			  .snapshots = 48,
			  .snapshots_count = 10,
			  .entries = 56,
			  .code = 88,
			  .code_bytes = 84,
			  .snapshot_bytes = 12,
			  .snapshot_code = 6,
			  .snapshot_count = 10},
	};
	memset(host.leaf, 0x5a, sizeof(host.leaf));
	host.leaf_stack = SP;
	host.may_list = true;
	put_frames();
	return r;
}

static u32 walk_list(void)
{
	publish_config();
	EXPECT(end_root, EXACT(scene.pc), RETURN(1), RETURN(2), RETURN(3));
	return take_list();
}

/* ---- frames ---- */

static void expect_outer(u32 at)
{
	assert_int_equal(host.word[at], FRAME(2));
	assert_int_equal(PLACE(host.word[at + 1]), 4 * 5);
	assert_int_equal(host.word[at + 2], FRAME(1));
	assert_int_equal(PLACE(host.word[at + 3]), 4 * 7);
	assert_int_equal(host.word[at + 4], BORDER(2));
}

static void test_stacked__frames(void **state)
{
	(void)state;
	assert_int_equal(walk_list(), 8);
	assert_int_equal(host.walk.list.result, RUNTIME_WHOLE);
	assert_int_equal(host.word[0], FRAME(3));
	assert_int_equal(PLACE(host.word[1]), 4 * 2); /* the native frame has it */
	assert_int_equal(host.word[2], BORDER(0));
	expect_outer(3);
}

/* The leaf is the interpreter's own code: its registers have a newer base and a newer place. */
static void test_stacked__a_leaf_of_the_interpreter(void **state)
{
	(void)state;
	put_call(BEHIND(3, 9), 4);
	host.leaf[12] = put_frame(26, 4, BEHIND(3, 9));
	host.leaf[5] = BEHIND(4, 3);
	assert_int_equal(walk_list(), 10);
	assert_int_equal(host.word[0], FRAME(4));
	assert_int_equal(PLACE(host.word[1]), 4 * 3);
	assert_int_equal(host.word[2], FRAME(3));
	assert_int_equal(PLACE(host.word[3]), 4 * 9);
	/* the function has just begun: the register has the caller's place */
	host.leaf[5] = BEHIND(3, 9);
	assert_int_equal(walk_list(), 10);
	assert_int_equal(PLACE(host.word[1]), 0);
	/* a base that is none */
	host.leaf[12] = VALUES + (2 << 20);
	assert_int_equal(walk_list(), 8);
	host.leaf[12] = VALUES + 8 * 26 + 4;
	assert_int_equal(walk_list(), 8);
}

/* Function 4 calls itself from one place. A tail call may leave another function there. */
static void test_stacked__recursion(void **state)
{
	(void)state;
	put_call(BEHIND(3, 9), 4);
	put_call(BEHIND(4, 9), 2);
	put_frame(26, 4, BEHIND(3, 9));
	for (u32 slot = 30; slot <= 42; slot += 4)
		host.leaf[12] = put_frame(slot, 4, BEHIND(4, 9));
	host.leaf[5] = BEHIND(4, 3);
	assert_int_equal(walk_list(), 18);
	assert_int_equal(PLACE(host.word[1]), 4 * 3);
	for (u32 i = 0; i < 5; i++)
		assert_int_equal(host.word[2 * i], FRAME(4));
	for (u32 i = 1; i < 6; i++)
		assert_int_equal(PLACE(host.word[2 * i + 1]), 4 * 9);
	assert_int_equal(host.word[10], FRAME(3));
	expect_outer(13);
	put_frame(34, 5, BEHIND(4, 9));
	assert_int_equal(walk_list(), 18);
	for (u32 i = 0; i < 5; i++)
		assert_int_equal(host.word[2 * i], FRAME(i == 2 ? 5 : 4));
}

static void test_stacked__arguments_and_continuations(void **state)
{
	u64 base;

	(void)state;
	/* function 4 with its arguments copied, which an operator of function 3 calls */
	base = put_frame(26, 4, 48 | LINK_CONTINUES);
	HEAP_WORD(base - 24) = BEHIND(3, 6);
	HEAP_WORD(base - 32) = HEAP + 0x7000; /* what goes on */
	HEAP_WORD(STATE + AT_BASE) = put_frame(31, 4, 40 | LINK_ARGUMENTS);
	WORD(NATIVE(0) + 24) = BEHIND(4, 1);
	assert_int_equal(walk_list(), 10);
	assert_int_equal(host.word[0], FRAME(4));
	assert_int_equal(PLACE(host.word[1]), 4);
	assert_int_equal(host.word[2], FRAME(3));
	assert_int_equal(PLACE(host.word[3]), 4 * 6);
	assert_int_equal(host.word[4], BORDER(0));
	expect_outer(5);
	/* native code has called function 4 back */
	HEAP_WORD(base - 32) = 1;
	assert_int_equal(walk_list(), 11);
	assert_int_equal(host.word[2], BORDER(0));
	assert_int_equal(host.word[3], FRAME(3));
	assert_int_equal(host.word[5], BORDER(2));
}

static u32 call_of[8]; /* the callers' instructions, as events have them */

static void note_call(u64 code)
{
	for (u32 i = 0; i < 8; i++)
		if (code == CODE(i))
			call_of[i] = host.told_call;
}

/* The list ends where a function cannot be read. */
static void test_stacked__functions_that_cannot_be_read(void **state)
{
	(void)state;
	HEAP_WORD(VALUES + 8 * 11 - 16) = HEAP + sizeof(heap);
	assert_int_equal(walk_list(), 3);
	assert_int_equal(host.word[0], FRAME(3));
	assert_int_equal(host.walk.list.result, RUNTIME_CUT_READ);
}

/* The caller's instruction comes with code that an operator has called, or with arguments. */
static void test_stacked__instructions_of_callers(void **state)
{
	const u32 add = 0x03020120;
	u64 base;

	(void)state;
	config.flags |= RUNTIME_NAMES;
	config.names.opcode_bits = 8;
	config.names.call = config.names.other_call = 66;
	host.told_before = CODE(3);
	put_call(BEHIND(3, 6), 6);
	heap_u32(BEHIND(3, 6) - 4, add);
	base = put_frame(26, 4, 48 | LINK_CONTINUES);
	HEAP_WORD(base - 24) = BEHIND(3, 6);
	HEAP_WORD(base - 32) = HEAP + 0x7000;
	HEAP_WORD(STATE + AT_BASE) = put_frame(31, 4, 40 | LINK_ARGUMENTS);
	host.tell = note_call;
	memset(call_of, 0, sizeof(call_of));
	assert_int_equal(walk_list(), 10);
	assert_int_equal(call_of[4], add);
	/* the one that native code has called has no name */
	assert_int_equal(call_of[1], 0);
	host.tell = NULL;
}

/* References of 4 bytes: a function and its link are in one slot. */
static void test_stacked__short_references(void **state)
{
	static u32 low[64];
	const u64 values = 0x41000000, shared = 0x41000080;

	(void)state;
	memset(low, 0, sizeof(low));
	host.region[4] = (struct host_region){values, sizeof(low), low};
	config.code_mask = 0xffffffff;
	config.node_bytes = config.stack.head = 16;
	config.code = 8;
	config.previous = 12;
	config.stack.continued = 4;
	config.stack.slots = 1;
	config.state = (struct runtime_state){
		.bytes = 56,
		.type = 5,
		.type_value = 6,
		.shared = 8,
		.handler = 48,
		.handler_bytes = 8,
		.frame = 16,
		.end = 36,
		.main = 4,
	};
	config.stack.trace_base = 12;
	/* the state at 0xc0, and its values from 0x40 on, of no function */
	low[0x81 / 4 + 1] = values + 0xc0;
	low[0xc4 / 4] = 6 << 8;
	low[0xc8 / 4] = shared;
	low[0xd0 / 4] = values + 0x58;
	low[0xe4 / 4] = values + 0x40;
	low[0xf0 / 4] = (u32)NATIVE(2);
	low[0xf4 / 4] = NATIVE(2) >> 32;
	low[0x50 / 4] = values + 0xc0;
	low[0x54 / 4] = 16 | LINK_NATIVE;
	WORD(NATIVE(2) + 16) = (values + 0xc0) | 77ull << 32;
	assert_int_equal(walk_list(), 0);
	assert_int_equal(host.walk.list.result, RUNTIME_WHOLE);
	assert_int_equal(host.walk.list.state, values + 0xc0);
	low[0x54 / 4] = 12 | LINK_NATIVE; /* to no frame */
	assert_int_equal(walk_list(), 0);
	assert_int_equal(host.walk.list.result, RUNTIME_CUT_READ);
}

static void test_stacked__links_that_lead_nowhere(void **state)
{
	static const u64 wrong[] = {0,
				    8,
				    0x7f0000000000,
				    LINK_NATIVE,
				    LINK_CONTINUES,
				    0xfff8 | LINK_NATIVE,
				    ~7ull | LINK_ARGUMENTS};

	(void)state;
	for (u32 i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		put_frame(20, 3, wrong[i]);
		walk_list();
		assert_int_equal(host.walk.list.result, RUNTIME_CUT_READ);
		assert_true(host.walk.list.words <= 3);
	}
	/* a function that is none */
	put_frames();
	HEAP_WORD(VALUES + 8 * 20 - 16) = STATE;
	assert_int_equal(walk_list(), 5);
	expect_outer(0);
}

/* A state was resumed in native frame 0, by one that runs in native frame 2. */
static void test_stacked__resumed_states(void **state)
{
	(void)state;
	HEAP_WORD(SHARED + AT_MAIN) = OTHER_STATE;
	put_state(OTHER_STATE, put_frame(15, 0, BEHIND(2, 5)), NATIVE(2));
	put_native(0, STATE, BEHIND(3, 2), 0);
	put_native(2, OTHER_STATE, BEHIND(2, 5), 0);
	HEAP_WORD(STATE + AT_VALUES) = VALUES + 8 * 13;
	put_frame(20, 3, 40 | LINK_NATIVE | 4);
	assert_int_equal(walk_list(), 9);
	assert_int_equal(host.walk.list.result, RUNTIME_WHOLE);
	assert_int_equal(host.word[0], FRAME(3));
	assert_int_equal(host.word[2], BORDER(0));
	assert_int_equal(host.word[3], BORDER(0)); /* the end of the state */
	expect_outer(4);
}

/* ---- native frames ---- */

/* Walks with code made at run time beside the functions. */
static void walk_made(void)
{
	struct mapping_entry entries[2];

	publish_config();
	scene_publish();
	entries[0] = scene.mapping;
	entries[1] = (struct mapping_entry){.start = MADE,
					    .end = MADE + MADE_BYTES,
					    .bias = SCENE_BIAS,
					    .runtime = scene.mapping.runtime};
	host.walk.block = build_block(&host.build, entries, 2);
	host.walk.mappings = 2;
	scene_walk();
}

static void leave_made(void)
{
	scene.pc = MADE + 100;
	SP -= 48; /* of values in the trace */
	host.leaf_stack = SP;
	/* the native frames stay where they are */
}
#define STAYS(n) (NATIVE(n) + 48)

static void test_stacked__code_made_at_run_time(void **state)
{
	(void)state;
	leave_made();
	walk_made();
	assert_int_equal(host.walk.reason, REASON_end_root);
	assert_int_equal(host.walk.frames, 5);
	assert_int_equal(host.frame[0], EXACT(MADE + 100));
	assert_int_equal(host.frame[1], RETURN(2)); /* the interpreter's, which runs the code */
	assert_int_equal(host.frame[2], RETURN(1));
	assert_int_equal(host.frame[4], RETURN(3));
	assert_int_equal(host.walk.marks, 2);
	assert_int_equal(host.walk.mark[0], STAYS(1) | 1ull << MARK_FRAME_SHIFT);
}

static void test_stacked__code_made_at_run_time_without_a_way(void **state)
{
	(void)state;
	leave_made();
	host.may_list = false;
	walk_made();
	assert_int_equal(host.walk.frames, 1);
	host.may_list = true;
	WORD(STAYS(0) + 16) = OTHER_STATE; /* which runs elsewhere */
	put_state(OTHER_STATE, VALUES + 64, STAYS(0) + 16);
	WORD(STAYS(2) + 16) = 0;
	walk_made();
	assert_int_equal(host.walk.frames, 1);
	WORD(STAYS(0) + 16) = STATE;
	config.flags &= ~RUNTIME_STACKED;
	walk_made();
	assert_int_equal(host.walk.frames, 1);
}

/* The interpreter's own code has called a part of itself, which its rules do not describe. */
static void test_stacked__a_part_of_the_interpreter(void **state)
{
	static const u64 wrong[] = {0, 5, 1ull << 50, SCENE_STACK};

	(void)state;
	SP -= 16;
	host.leaf_stack = SP;
	for (u32 i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		WORD(SP + 72) = wrong[i]; /* in the frame that runs */
		publish_config();
		EXPECT(end_root, EXACT(scene.pc), RETURN(2), RETURN(1), RETURN(2), RETURN(3));
		assert_int_equal(host.walk.is_part, 1);
	}
	/* a register has the base all the same */
	put_call(BEHIND(3, 9), 4);
	host.leaf[12] = put_frame(26, 4, BEHIND(3, 9));
	assert_int_equal(take_list(), 10);
	assert_int_equal(host.word[0], FRAME(4));
}

/* ---- traces ---- */

#define SNAPSHOT(n, code, first, count)                                          \
	do {                                                                     \
		heap_u32(SNAPSHOTS + 12 * (n), first);                           \
		heap_u32(SNAPSHOTS + 12 * (n) + 4, (u32)(code) << 16 | 0x8123);  \
		heap_u32(SNAPSHOTS + 12 * (n) + 8, (u32)(count) << 16 | 0x0909); \
	} while (0)
#define ENTRY(n, slot, flags, number) \
	heap_u32(ENTRIES + 4 * (n), (u32)(slot) << 24 | (flags) | (number))
#define CONSTANT(number) HEAP_WORD(CONSTANTS + 8ull * ((number) + 1))

static void put_place(u32 at, u64 place, u32 depth)
{
	heap_u32(ENTRIES + 4 * at, (u32)(place << 8 | depth));
	heap_u32(ENTRIES + 4 * at + 4, (u32)(place >> 24));
}

/*
 * Trace 2 has begun in function 3. From its byte 50 on it is in function 5, which function 4 has
 * called; an operator of function 3 has called function 4.
 */
static void put_trace(void)
{
	const u64 trace = TRACE(2);

	leave_made();
	for (u32 i = 0; i < 3; i++)
		WORD(STAYS(i) + 72) = RETURN(i + 1);
	HEAP_WORD(SHARED + AT_TRACE_BASE) = VALUES + 8 * 20;
	HEAP_WORD(STATE + AT_BASE) = VALUES + 8 * 6;
	heap_u32(SHARED + AT_RUNNING, 2);
	HEAP_WORD(SHARED + AT_TRACES) = TRACES;
	HEAP_WORD(TRACES + 16) = trace;
	heap_u32(trace + 8, 3u << 16);
	HEAP_WORD(trace + 32) = CONSTANTS;
	HEAP_WORD(trace + 48) = SNAPSHOTS;
	HEAP_WORD(trace + 56) = ENTRIES;
	heap_u32(trace + 84, 200);
	HEAP_WORD(trace + 88) = MADE + 40;
	SNAPSHOT(0, 0, 0, 1);
	ENTRY(0, 2, 0, 0x8001);
	put_place(1, BEHIND(3, 4), 0);
	SNAPSHOT(1, 50, 3, 8);
	ENTRY(3, 2, 0, 0x8001);
	ENTRY(4, 5, 0, 10); /* what goes on */
	ENTRY(5, 6, 0, 12); /* the instruction of the operator */
	ENTRY(6, 7, 0, 14);
	ENTRY(7, 8, RUNTIME_ENTRY_FRAME, 16);
	ENTRY(8, 12, 0, 18);
	ENTRY(9, 13, RUNTIME_ENTRY_FRAME, 20);
	ENTRY(10, 15, 0, 0x8003);
	put_place(11, BEHIND(5, 2), 12);
	SNAPSHOT(2, 120, 0, 1);
	CONSTANT(12) = BEHIND(3, 6);
	CONSTANT(14) = FUNC(4);
	CONSTANT(16) = (7 * 8) | LINK_CONTINUES;
	CONSTANT(18) = FUNC(5);
	CONSTANT(20) = BEHIND(4, 8);
	put_call(BEHIND(4, 8), 3);
}

static void test_stacked__frames_of_a_trace(void **state)
{
	(void)state;
	put_trace();
	walk_made();
	assert_int_equal(take_list(), 12);
	assert_int_equal(host.walk.list.result, RUNTIME_WHOLE);
	assert_int_equal(host.word[0], FRAME(5));
	assert_int_equal(PLACE(host.word[1]), 4 * 3); /* behind the snapshot's instruction */
	assert_int_equal(host.word[2], FRAME(4));
	assert_int_equal(PLACE(host.word[3]), 4 * 8);
	assert_int_equal(host.word[4], FRAME(3));
	assert_int_equal(PLACE(host.word[5]), 4 * 6);
	assert_int_equal(host.word[6], BORDER(1));
	/* the function of native frame 1 is shown between them */
	assert_int_equal(host.word[7], FRAME(2));
}

static void test_stacked__where_a_trace_began(void **state)
{
	(void)state;
	put_trace();
	scene.pc = MADE + 60;
	walk_made();
	assert_int_equal(take_list(), 8);
	assert_int_equal(host.word[0], FRAME(3));
	assert_int_equal(PLACE(host.word[1]), 4 * 5);
	scene.pc = MADE + 40 + 120;
	walk_made();
	assert_int_equal(take_list(), 8);
	assert_int_equal(PLACE(host.word[1]), 4 * 5);
}

/* The garbage collector runs, which has its own number there. */
static void test_stacked__a_trace_without_its_number(void **state)
{
	(void)state;
	put_trace();
	heap_u32(SHARED + AT_RUNNING, ~3u);
	walk_made();
	assert_int_equal(take_list(), 12);
	assert_int_equal(host.word[0], FRAME(5));
	HEAP_WORD(TRACES + 16) = 0;
	HEAP_WORD(TRACES + 8 * 70) = TRACE(2);
	walk_made();
	assert_int_equal(take_list(), 8); /* too far */
	assert_int_equal(host.word[0], FRAME(3));
	assert_int_equal(PLACE(host.word[1]), RUNTIME_OFFSET_NONE);
}

/* Function 4 is a closure, and no constant: its code is where its first instruction says. */
static void test_stacked__a_closure_in_a_trace(void **state)
{
	(void)state;
	put_trace();
	config.trace.head = 89;
	config.trace.heads = 6;
	ENTRY(6, 7, 0, 0x8009);
	heap_u32(FIRST(4), 94);
	heap_u32(FIRST(4) + 8, 95);
	walk_made();
	assert_int_equal(take_list(), 12);
	assert_int_equal(host.word[0], FRAME(5));
	assert_int_equal(host.word[2], FRAME(4));
	assert_int_equal(PLACE(host.word[3]), 4 * 8);
	assert_int_equal(host.word[4], FRAME(3));
	heap_u32(FIRST(4), 0);
	walk_made();
	assert_int_equal(take_list(), 10); /* none is found */
	assert_int_equal(host.walk.list.result, RUNTIME_WHOLE);
	assert_int_equal(host.word[0], FRAME(5));
	assert_int_equal(host.word[2], FRAME(3));
}

static void expect_start(void)
{
	walk_made();
	assert_int_equal(take_list(), 8);
	assert_int_equal(host.walk.list.result, RUNTIME_WHOLE);
	assert_int_equal(host.word[0], FRAME(3));
}

/* Where a snapshot cannot be read, the frames are those up to that where the trace began. */
static void test_stacked__traces_that_lead_nowhere(void **state)
{
	(void)state;
	put_trace();
	HEAP_WORD(TRACE(2) + 88) = MADE + 2000; /* of other code */
	expect_start();
	put_trace();
	HEAP_WORD(TRACE(2) + 48) = 0x7f0000000000;
	expect_start();
	put_trace();
	HEAP_WORD(TRACE(2) + 56) = 0x7f0000000000;
	expect_start();
	put_trace();
	ENTRY(9, 13, 0, 20); /* no link */
	expect_start();
	put_trace();
	ENTRY(9, 13, RUNTIME_ENTRY_FRAME, 0x8007); /* one that is not known before */
	expect_start();
	put_trace();
	HEAP_WORD(SHARED + AT_TRACES) = 5;
	expect_start();
	config.trace.bytes = 0;
	put_trace();
	expect_start();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(test_stacked__##name, setup, scene_teardown)
		TEST(frames),
		TEST(a_leaf_of_the_interpreter),
		TEST(recursion),
		TEST(arguments_and_continuations),
		TEST(functions_that_cannot_be_read),
		TEST(instructions_of_callers),
		TEST(short_references),
		TEST(links_that_lead_nowhere),
		TEST(resumed_states),
		TEST(code_made_at_run_time),
		TEST(code_made_at_run_time_without_a_way),
		TEST(a_part_of_the_interpreter),
		TEST(frames_of_a_trace),
		TEST(where_a_trace_began),
		TEST(a_trace_without_its_number),
		TEST(a_closure_in_a_trace),
		TEST(traces_that_lead_nowhere),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
