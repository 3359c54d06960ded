/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of a made-up V8, and their functions. */
#include "tests/bpf/v8_heap.h"

#define FRAME(n)  (RUNTIME_WORD_FRAME | SHARED(n))
#define BORDER(n) (RUNTIME_WORD_BORDER | (n))

#define EXPECT_FRAMES(...) \
	expect_frames(sizeof((const u64[]){__VA_ARGS__}) / 8, (const u64[]){__VA_ARGS__})
static void expect_frames(u32 count, const u64 *frames)
{
	assert_int_equal(host.walk.frames, count);
	for (u32 i = 0; i < count; i++)
		assert_int_equal(host.frame[i], frames[i]);
	assert_int_equal(host.walk.reason, REASON_end_root);
	assert_int_equal(host.walk.list.result, RUNTIME_WHOLE);
}

static void expect_function(u32 at, u32 function, u32 place, u32 border)
{
	assert_int_equal(host.word[at], FRAME(function));
	assert_int_equal(PLACE(host.word[at + 1]), place);
	assert_int_equal(host.word[at + 2], BORDER(border));
}

/* A compiled function, one of the interpreter, one of the baseline compiler, and the entry. */
static void put_stack(void)
{
	put_frame(0, RETURN(3), 0);
	put_interpreted(1, CALLED(2), 1, 7);
	put_interpreted(2, CALLED(3), 2, 300);
	put_entry(3);
}

static void test_v8__frames(void **state)
{
	(void)state;
	put_stack();
	assert_int_equal(walk(), 9);
	EXPECT_FRAMES(EXACT(PC), RETURN(3), CALLED(2), CALLED(3), RETURN(1));
	expect_function(0, 0, RUNTIME_OFFSET_NONE, 0);
	expect_function(3, 1, 7, 1);
	expect_function(6, 2, 300, 2);
	assert_int_equal(heap.events, 3);
	for (u32 i = 0; i < 3; i++) {
		const struct told_event *event = &heap.event[i];

		assert_int_equal(event->code, SHARED(i));
		assert_int_equal(event->print, FINGERPRINT(host.word[i * 3 + 1]));
		assert_int_equal(event->script, SCRIPT(0));
		expect_text(event->part[0], event->named, TEXT(i) + 16, 2, 0);
		expect_text(event->part[2], event->named >> V8_FILE_SHIFT, TEXT(FUNCTIONS) + 16, 5,
			    0);
		assert_int_equal(event->part[3], POSITIONS(i) + 16);
		assert_int_equal(event->part[4], 10 + i);
		assert_int_equal(event->named >> V8_TABLE_SHIFT, 10 + i);
	}
	/* a second walk has nothing to tell, and fewer objects to read */
	u32 reads = host.walk.list.reads;

	assert_int_equal(walk_again(), 9);
	assert_int_equal(heap.events, 3);
	assert_true(host.walk.list.reads < reads / 2);
}

/* The interpreter's leaf has its place in a register, which counts if the code is the frame's. */
static void test_v8__place_of_the_leaf(void **state)
{
	(void)state;
	scene.pc = FUNCTION(3) + 8;
	put_interpreted(0, CALLED(1), 1, 7);
	put_entry(1);
	host.leaf[V8_LEAF_CODE] = TAGGED(BYTECODE(1));
	host.leaf[V8_LEAF_PLACE] = BYTECODE_DATA - V8_TAG + 9;
	assert_int_equal(walk(), 3);
	expect_function(0, 1, 9, 0);
	host.leaf[V8_LEAF_PLACE] = 3;
	assert_int_equal(walk(), 3);
	expect_function(0, 1, 7, 0);
	host.leaf[V8_LEAF_PLACE] = ~0ull;
	assert_int_equal(walk(), 3);
	expect_function(0, 1, 7, 0);
	host.leaf[V8_LEAF_CODE] = TAGGED(BYTECODE(2));
	host.leaf[V8_LEAF_PLACE] = BYTECODE_DATA - V8_TAG + 9;
	assert_int_equal(walk(), 3);
	expect_function(0, 1, 7, 0);
}

/* Pieces of the interpreter, and builtins that compiled code has called, have no frame. */
static void test_v8__leaf_without_a_frame(void **state)
{
	(void)state;
	scene.pc = FUNCTION(3) + 8;
	put_interpreted(0, CALLED(1), 1, 7);
	put_entry(1);
	WORD(SP) = RETURN(4);
	assert_int_equal(walk(), 3);
	EXPECT_FRAMES(EXACT(scene.pc), RETURN(4), CALLED(1), RETURN(1));
	expect_function(0, 1, 7, 1);
	WORD(SP) = CALLED(5);
	put_frame(0, CALLED(1), 2);
	assert_int_equal(walk(), 3);
	EXPECT_FRAMES(EXACT(scene.pc), CALLED(5), CALLED(1), RETURN(1));
	expect_function(0, 2, RUNTIME_OFFSET_NONE, 1);
}

/* A builtin below a builtin: where the frame is not interpreted, the word at rsp may be stale. */
static void test_v8__leaf_that_may_have_a_frame(void **state)
{
	(void)state;
	scene.pc = FUNCTION(3) + 8;
	put_frame(0, CALLED(1), 2);
	put_entry(1);
	WORD(SP) = RETURN(4);
	assert_int_equal(walk(), 3);
	assert_int_equal(host.walk.frames, 3);
	assert_int_equal(host.frame[1], CALLED(1) | FRAME_GUESSED);
	expect_function(0, 2, RUNTIME_OFFSET_NONE, 0);
}

/* Compiled code before its first instruction: the frame pointer is the caller's. */
static void test_v8__leaf_before_its_frame(void **state)
{
	(void)state;
	memcpy(heap.code + (PC - CODE), "\x55\x48\x89\xe5", 4); /* push %rbp; mov %rsp, %rbp */
	put_frame(0, CALLED(1), 2);
	put_entry(1);
	WORD(SP) = CALLED(5);
	assert_int_equal(walk(), 3);
	EXPECT_FRAMES(EXACT(PC), CALLED(5), CALLED(1), RETURN(1));
	expect_function(0, 2, RUNTIME_OFFSET_NONE, 1);
	/* behind the push, and where the frame is gone again */
	scene.pc = PC + 1;
	WORD(SP + 8) = CALLED(5);
	WORD(SP) = BP(0);
	assert_int_equal(walk(), 3);
	EXPECT_FRAMES(EXACT(scene.pc), CALLED(5), CALLED(1), RETURN(1));
	memcpy(heap.code + (PC - CODE), "\x48\x89\xec\x5d\xc3", 5);
	scene.pc = PC + 4;
	WORD(SP) = CALLED(5);
	assert_int_equal(walk(), 3);
	EXPECT_FRAMES(EXACT(scene.pc), CALLED(5), CALLED(1), RETURN(1));
	expect_function(0, 2, RUNTIME_OFFSET_NONE, 1);
}

/* Without interpreted code, a frame's place is a pointer, or none of this code's. */
static void test_v8__places_that_are_none(void **state)
{
	(void)state;
	put_interpreted(0, CALLED(1), 1, 7);
	put_entry(1);
	WORD(BP(0) - 40) = SMALL(BYTECODE_DATA - V8_TAG - 1);
	assert_int_equal(walk(), 3);
	expect_function(0, 1, RUNTIME_OFFSET_NONE, 0);
	WORD(BP(0) - 40) = SMALL(~0u);
	assert_int_equal(walk(), 3);
	expect_function(0, 1, RUNTIME_OFFSET_NONE, 0);
	/* the upper half of a pointer may be as small as a place is */
	WORD(BP(0) - 40) = SMALL(BYTECODE_DATA + 6) | V8_TAG;
	assert_int_equal(walk(), 3);
	expect_function(0, 1, RUNTIME_OFFSET_NONE, 0);
	put_interpreted(0, CALLED(1), 1, 7);
	WORD(BP(0) - 32) = TAGGED(BYTECODE(2));
	assert_int_equal(walk(), 3);
	expect_function(0, 1, RUNTIME_OFFSET_NONE, 0);
}

/* A function's code for the machine leads to that of the interpreter. */
static void test_v8__compiled_code(void **state)
{
	const struct told_event *event;

	(void)state;
	put(SHARED(1) + 8, TAGGED(MACHINE(1)));
	event = told_of(1);
	assert_non_null(event);
	assert_int_equal(event->part[3], POSITIONS(1) + 16);
	put_object(MACHINE(1), OTHER);
	event = told_of(1);
	assert_non_null(event);
	assert_int_equal(event->part[3], 0);
	assert_int_equal(event->part[4], 0);
	/* then the frame may have that code */
	heap.events = 0;
	put_interpreted(0, CALLED(1), 1, 7);
	assert_int_equal(walk(), 3);
	expect_function(0, 1, 7, 0);
	assert_int_equal(heap.event[0].part[3], POSITIONS(1) + 16);
}

/* Garbage collection moves objects. */
static void test_v8__moved(void **state)
{
	u32 print;

	(void)state;
	assert_non_null(told_of(1));
	print = heap.event[0].print;
	memcpy(heap.data + (SHARED(5) - DATA) / 8, heap.data + (SHARED(1) - DATA) / 8, 128);
	put_text(TEXT(15), "f1");
	put(SHARED(5) + 16, TAGGED(TEXT(15)));
	put(CALLABLE(1) + 24, TAGGED(SHARED(5)));
	assert_int_equal(walk_again(), 3);
	assert_int_equal(host.word[0], FRAME(5));
	assert_int_equal(FINGERPRINT(host.word[1]), print);
	assert_int_equal(heap.events, 2);
}

/* Another function where one was: each of the numbers tells them apart. */
static void test_v8__other_functions_there(void **state)
{
	static const struct {
		u64 at, value;
	} changes[] = {
		{SHARED(1) + SHARED_NUMBER, SMALL(77)},
		{SHARED(1) + SHARED_COUNTS, 77 << 16},
		{SCRIPT(0) + 64, SMALL(77)},
		{SHARED(1) + 32, TAGGED(SCRIPT(1))},
		{SOURCE_TEXT + 8, SMALL(77)},
		{POSITIONS(1) + 8, SMALL(77)},
	};

	for (u32 i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		u32 print;

		assert_int_equal(heap_setup(state), 0);
		assert_non_null(told_of(1));
		print = heap.event[0].print;
		put(changes[i].at, changes[i].value);
		for (u32 j = 0; j < V8_WALKS; j++)
			assert_int_equal(walk_again(), 3);
		assert_int_not_equal(FINGERPRINT(host.word[1]), print);
		assert_int_equal(heap.events, 2);
		assert_int_equal(heap.event[1].print, FINGERPRINT(host.word[1]));
		build_free(&host.build);
	}
	assert_int_equal(heap_setup(state), 0);
}

/* After some time, a walk reads again the part that functions share. */
static void test_v8__shared_parts_are_trusted_for_a_time(void **state)
{
	u32 print;

	(void)state;
	assert_non_null(told_of(1));
	print = FINGERPRINT(host.word[1]);
	put(SHARED(1) + SHARED_NUMBER, SMALL(77));
	assert_int_equal(walk_again(), 3);
	assert_int_equal(FINGERPRINT(host.word[1]), print);
	for (u32 i = 0; i < V8_FUNCTIONS; i++)
		host.walk.function[i].trusted_at -= V8_TRUST_NS;
	assert_int_equal(walk_again(), 3);
	assert_int_not_equal(FINGERPRINT(host.word[1]), print);
}

/* ---- what is no function ---- */

/* Each word of the way to a function, as other things than what the walk looks for. */
static void test_v8__other_objects(void **state)
{
	static const u64 ways[] = {SHARED(1), CALLABLE(1) + 24};
	const u64 values[] = {
		0,     TAGGED(0), TAGGED(MAP(OTHER)), MAP(SHARED_MAP),	    TAGGED(NOT_THERE),
		~0ull, TAGGED(8), TAGGED(1ull << 63), TAGGED(SHARED(1) + 4)};

	for (u32 i = 0; i < 2; i++) {
		for (u32 j = 0; j < sizeof(values) / sizeof(values[0]); j++) {
			assert_int_equal(heap_setup(state), 0);
			put_stack();
			put(ways[i], values[j]);
			assert_int_equal(walk(), 6);
			EXPECT_FRAMES(EXACT(PC), RETURN(3), CALLED(2), CALLED(3), RETURN(1));
			expect_function(0, 0, RUNTIME_OFFSET_NONE, 0);
			expect_function(3, 2, 300, 2);
			build_free(&host.build);
		}
	}
	assert_int_equal(heap_setup(state), 0);
}

/* A script of another type leaves the function without a file, and lines. */
static void test_v8__other_scripts(void **state)
{
	const u64 values[] = {0, TAGGED(0), TAGGED(SHARED(1)), TAGGED(NOT_THERE), SCRIPT(0), ~0ull};

	(void)state;
	for (u32 i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		const struct told_event *event;

		put(SHARED(1) + 32, values[i]);
		event = told_of(1);
		assert_non_null(event);
		assert_int_equal(event->script, 0);
		assert_int_equal(event->script_print, 0);
		expect_text(event->part[2], event->named >> V8_FILE_SHIFT, 0, 0, 0);
		assert_int_equal(heap.parts, 0);
	}
}

/* Tables of places that are no table, or are as long as no table is. */
static void test_v8__other_tables(void **state)
{
	const u64 sizes[] = {TAGGED(TEXT(0)), SMALL(V8_LENGTH_MAX), SMALL(~0u), 5};

	(void)state;
	for (u32 i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const struct told_event *event;

		put(POSITIONS(1) + 8, sizes[i]);
		event = told_of(1);
		assert_non_null(event);
		assert_int_equal(event->part[3], 0);
		assert_int_equal(event->part[4], 0);
	}
}

/* Longer than the event can say. */
static void test_v8__long_table(void **state)
{
	(void)state;
	put(POSITIONS(1) + 8, SMALL(V8_LENGTH_MAX - 1));
	assert_non_null(told_of(1));
	assert_int_equal(heap.event[0].part[4], V8_LENGTH_MAX - 1);
	assert_int_equal(heap.event[0].named >> V8_TABLE_SHIFT, V8_TABLE_BYTES);
}

/* Frames without a function, and words that are no frame of V8. */
static void test_v8__other_frames(void **state)
{
	(void)state;
	put_stack();
	WORD(BP(1) - 8) = 0;
	assert_int_equal(walk(), 6);
	expect_function(3, 2, 300, 2);
	/* the walk of other code does not take this one as V8's */
	WORD(BP(1) - 8) = V8_MARKER_END;
	walk();
	assert_true(host.walk.list.words <= 6);
	WORD(BP(1) - 8) = SCENE_STACK;
	walk();
	assert_true(host.walk.list.words <= 6);
}

/* Frame pointers that lead back, to themselves, or out of the stack. */
static void test_v8__frame_pointers(void **state)
{
	const u64 pointers[] = {BP(0), BP(0) - 8,  SP, BP(1) + 4,  NOT_THERE,
				~0ull, ~0ull << 3, 0,  1ull << 47, SCENE_STACK_END - 8};

	(void)state;
	for (u32 i = 0; i < sizeof(pointers) / sizeof(pointers[0]); i++) {
		put_stack();
		WORD(BP(0)) = pointers[i];
		assert_int_equal(walk(), 3);
		expect_function(0, 0, RUNTIME_OFFSET_NONE, 0);
		assert_int_not_equal(host.walk.reason, REASON_end_root);
		assert_true(host.walk.frames < 4);
		assert_true(host.walk.reads + host.walk.list.reads < 80);
	}
}

/* A name, or a file, that cannot be read yet: a later sample tells of the function. */
static void test_v8__names_that_are_away(void **state)
{
	static const u64 places[] = {SHARED(1) + 16, TEXT(1), TEXT(15) + 24, SCRIPT(0) + 16};

	(void)state;
	put_text(TEXT(16), "Sets.");
	put_text(TEXT(17), "add");
	put_joined(TEXT(15), TEXT(16), TEXT(17), 8);
	for (u32 i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const u64 there = heap.data[(places[i] - DATA) / 8];

		if (i == 2)
			put(SHARED(1) + 16, TAGGED(TEXT(15)));
		put(places[i], TAGGED(NOT_THERE));
		assert_null(told_of(1));
		put(places[i], there);
		assert_non_null(told_of(1));
		assert_int_not_equal(V8_NAME_LENGTH(heap.event[0].named), 0);
	}
	/* an undefined name is not away */
	put(SHARED(1) + 16, TAGGED(MAP(OTHER)));
	put(MAP(OTHER), TAGGED(MAP(OTHER)));
	put(SCRIPT(0) + 16, TAGGED(MAP(OTHER)));
	assert_non_null(told_of(1));
	assert_int_equal(heap.event[0].named, 11ull << V8_TABLE_SHIFT);
}

/* ---- bounds ---- */

static void test_v8__without_a_grant(void **state)
{
	(void)state;
	put_stack();
	host.may_list = false;
	assert_int_equal(walk(), 0);
	assert_int_equal(host.walk.v8.is_known, V8_IS_ELSEWHERE);
	assert_int_equal(host.walk.marks, 0);
	assert_int_equal(heap.events, 0);
}

static void test_v8__fields_outside(void **state)
{
	u16 *const fields[] = {
		&heap.config.v8.shared_data,   &heap.config.v8.shared_name,
		&heap.config.v8.shared_script, &heap.config.v8.shared_counts,
		&heap.config.v8.shared_number,
	};

	for (u32 i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		assert_int_equal(heap_setup(state), 0);
		put_stack();
		*fields[i] = SHARED_BYTES;
		assert_int_equal(walk(), 0);
		assert_int_equal(host.walk.v8.is_known, V8_IS_ELSEWHERE);
		*fields[i] = 0xffff;
		assert_int_equal(walk(), 0);
		build_free(&host.build);
	}
	assert_int_equal(heap_setup(state), 0);
	heap.config.v8.shared_bytes = RUNTIME_HEAD_BYTES + 8;
	put_stack();
	assert_int_equal(walk(), 0);
}

/* The config changes behind the walk of the stack: the walk goes on with what it has checked. */
static void test_v8__config_changes(void **state)
{
	(void)state;
	put_stack();
	heap_publish();
	scene_walk();
	assert_int_equal(host.walk.marks, 4);
	memset(host.walk.list.memory, 0xa5, sizeof(host.walk.list.memory));
	heap.config.v8.shared_name = 248;
	heap.config.v8.shared_bytes = 64;
	memcpy(build_at(&host.build, scene.mapping.runtime), &heap.config, sizeof(heap.config));
	assert_int_equal(runtime_begin(), 0);
	while (!walk_step())
		;
	assert_true(heap.events > 0);
	for (u32 i = 0; i < heap.events; i++)
		assert_int_equal(V8_NAME_LENGTH(heap.event[i].named), 2);
}

static void test_v8__budget(void **state)
{
	(void)state;
	put_stack();
	heap_publish();
	scene_walk();
	assert_int_equal(host.walk.reason, REASON_end_root);
	assert_int_equal(runtime_begin(), 0);
	host.clock_step = 500;
	for (u32 i = 0; i <= WALK_STEPS_MAX && !walk_step(); i++)
		;
	assert_int_equal(host.walk.list.on, 0);
	assert_int_equal(host.walk.list.result, RUNTIME_CUT_BUDGET);
	assert_true(host.walk.list.words < 9);
}

/* More functions than a record has room for. */
static void test_v8__depth(void **state)
{
	const u32 depth = 900;

	(void)state;
	SP = SCENE_STACK + 64;
	scene.reg[REG_RBP] = SP + 64;
	for (u32 i = 0; i < depth; i++) {
		const u64 bp = SP + 64 + i * 32ull;

		/* frames overlap: the next one's words are in this one's */
		WORD(bp) = bp + 32;
		WORD(bp + 8) = CALLED(2);
		WORD(bp + 16) = TAGGED(CALLABLE(1));
		WORD(bp + 24) = TAGGED(MAP(OTHER));
	}
	WORD(SP + 64 - 8) = TAGGED(MAP(OTHER));
	WORD(SP + 64 - 16) = TAGGED(CALLABLE(1));
	heap_publish();
	scene_walk();
	assert_true(host.walk.marks >= depth - 1);
	assert_int_equal(runtime_begin(), 0);
	for (u32 i = 0; i <= WALK_STEPS_MAX && !walk_step(); i++)
		;
	assert_int_equal(host.walk.list.on, 0);
	assert_int_equal(host.walk.list.result, RUNTIME_CUT_DEPTH);
	assert_true(host.walk.list.words <= RECORD_RUNTIME_WORDS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(test_v8__##name, heap_setup, scene_teardown)
		TEST(frames),
		TEST(place_of_the_leaf),
		TEST(leaf_without_a_frame),
		TEST(leaf_that_may_have_a_frame),
		TEST(leaf_before_its_frame),
		TEST(places_that_are_none),
		TEST(compiled_code),
		TEST(moved),
		TEST(other_functions_there),
		TEST(shared_parts_are_trusted_for_a_time),
		TEST(other_objects),
		TEST(other_scripts),
		TEST(other_tables),
		TEST(long_table),
		TEST(other_frames),
		TEST(frame_pointers),
		TEST(names_that_are_away),
		TEST(without_a_grant),
		TEST(fields_outside),
		TEST(config_changes),
		TEST(budget),
		TEST(depth),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
