/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled code of a made-up V8: how it is found, and what events tell of it. */
#include "tests/bpf/v8_heap.h"

/* Optimized code of function 1, which begins behind its head and has CALLED(2) and CALLED(3). */
#define START	  (BEGIN(1) + 0x40)
#define BYTES	  0x300u
#define OPTIMIZED MACHINE(4)
#define ABOUT	  SCOPE(0)
#define LITERALS  SCOPE(1)
#define PLACES	  SCOPE(2)
#define TABLE	  POSITIONS(5)
#define WRAPPER	  TEXT(30)
#define WEAK(n)	  (TAGGED(SHARED(n)) | 2)

static void put_code_word(u64 address, u64 value)
{
	assert(!(address & 7) && address - CODE < sizeof(heap.code));
	memcpy(heap.code + (address - CODE), &value, sizeof(value));
}

/* The array about optimized code of function 1: functions 2 and 3 are put in. */
static void put_about(void)
{
	put_object(ABOUT, ARRAY_MAP);
	put(ABOUT + 24, SMALL(2));
	put(ABOUT + 32, TAGGED(LITERALS));
	put(ABOUT + 64, TAGGED(SHARED(1)));
	put(ABOUT + 72, TAGGED(PLACES));
	put_object(LITERALS, ARRAY_MAP);
	put(LITERALS + 8, SMALL(4));
	put(LITERALS + 16, WEAK(2));
	put(LITERALS + 24, TAGGED(SHARED(3)));
	put_object(PLACES, ARRAY_MAP);
	put(PLACES + 8, SMALL(32));
	put_object(TABLE, ARRAY_MAP);
	put(TABLE + 8, SMALL(77));
}

static void put_optimized(void)
{
	put_about();
	put_object(OPTIMIZED, CODE_MAP);
	put(OPTIMIZED + 16, TAGGED(ABOUT));
	put(OPTIMIZED + 24, TAGGED(TABLE));
	put(OPTIMIZED + 40, START);
	put(OPTIMIZED + 56, BYTES);
	put_code_word(START - 16, TAGGED(MAP(OTHER)));
	put_code_word(START - 8, TAGGED(OPTIMIZED));
}

static int code_setup(void **state)
{
	struct runtime_v8 *v8 = &heap.config.v8;
	int r = heap_setup(state);

	v8->code_map = 16;
	v8->code_pointer = 8;
	v8->code_start = 40;
	v8->code_size = 56;
	v8->code_table = 24;
	v8->put_in_count = 24;
	v8->put_in_functions = 32;
	v8->own_function = 64;
	v8->put_in_places = 72;
	put_optimized();
	/* the leaf is a builtin, and function 1 called it */
	put_frame(0, CALLED(2), 0);
	put_frame(1, CALLED(3), 1);
	put_entry(2);
	return r;
}

static void expect_optimized(u64 place)
{
	assert_int_equal(host.word[3], RUNTIME_WORD_FRAME | OPTIMIZED);
	assert_int_equal(PLACE(host.word[4]), place);
	assert_int_equal(host.word[5], RUNTIME_WORD_BORDER | 1);
}

static void expect_none(void)
{
	assert_int_equal(host.word[3], RUNTIME_WORD_FRAME | SHARED(1));
	assert_int_equal(PLACE(host.word[4]), RUNTIME_OFFSET_NONE);
}

static const struct told_event *find_event(u64 code)
{
	for (u32 i = 0; i < heap.events; i++)
		if (heap.event[i].code == code)
			return &heap.event[i];
	return NULL;
}

static const struct told_part *find_part(u64 code)
{
	for (u32 i = 0; i < heap.parts; i++)
		if (heap.part[i].code == code)
			return &heap.part[i];
	return NULL;
}

/* ---- the search ---- */

static void test_v8_code__found(void **state)
{
	const struct told_event *event;
	u32 reads;

	(void)state;
	assert_int_equal(walk(), 6);
	expect_optimized(CALLED(2) - 1 - START);
	event = find_event(OPTIMIZED);
	assert_non_null(event);
	assert_int_equal(event->print, FINGERPRINT(host.word[4]));
	assert_int_equal(event->part[0], 0);
	assert_int_equal(event->part[1], V8_TOLD_OPTIMIZED);
	assert_int_equal(event->part[2], PLACES + 16);
	assert_int_equal(event->part[3], TABLE + 16);
	assert_int_equal(event->part[4], 77);
	assert_int_equal(event->named, SHARED(1));
	assert_int_equal(event->start, 78);
	/* the code is known to the next walks */
	walk_again();
	walk_again();
	reads = host.walk.list.reads;
	assert_int_equal(walk_again(), 6);
	assert_int_equal(host.walk.list.reads, reads);
	assert_true(reads < 20);
	expect_optimized(CALLED(2) - 1 - START);
}

/* V8 9.4 and 10.2: the head is the code's own, and no pointer leads to it. */
static void test_v8_code__head_within(void **state)
{
	(void)state;
	heap.config.v8.code_map = 96;
	heap.config.v8.code_pointer = 0;
	heap.config.v8.code_start = V8_START_WITHIN | 96;
	put_code_word(START + 0x20 - 96, TAGGED(MAP(CODE_MAP)));
	put_code_word(START + 0x20 - 96 + 16, TAGGED(ABOUT));
	put_code_word(START + 0x20 - 96 + 24, TAGGED(TABLE));
	put_code_word(START + 0x20 - 96 + 56, BYTES);
	assert_int_equal(walk(), 6);
	assert_int_equal(host.word[3], RUNTIME_WORD_FRAME | (START + 0x20 - 96));
	assert_int_equal(PLACE(host.word[4]), CALLED(2) - 1 - START - 0x20);
	assert_int_equal(walk_again(), 6);
	assert_int_equal(host.word[3], RUNTIME_WORD_FRAME | (START + 0x20 - 96));
}

/* V8 13: another object stands for the function. */
static void test_v8_code__own_function_wrapped(void **state)
{
	(void)state;
	heap.config.v8.own_shared = 8;
	put(ABOUT + 64, TAGGED(WRAPPER));
	put(WRAPPER + 8, TAGGED(SHARED(1)));
	assert_int_equal(walk(), 6);
	expect_optimized(CALLED(2) - 1 - START);
}

/* Code that takes over in a loop leaves the interpreter's words on the stack. */
static void test_v8_code__takes_over(void **state)
{
	(void)state;
	put_interpreted(1, CALLED(3), 1, 7);
	assert_int_equal(walk(), 6);
	expect_optimized(CALLED(2) - 1 - START);
	/* code that is not its own leaves it in the interpreter */
	put_code_word(START - 8, 0);
	host.walk.seed++;
	assert_int_equal(walk_again(), 6);
	assert_int_equal(host.word[3], RUNTIME_WORD_FRAME | SHARED(1));
	assert_int_equal(PLACE(host.word[4]), 7);
}

/* Each word of the way to the code, as another one. The function is then without a place. */
static void test_v8_code__other_heads(void **state)
{
	static const struct {
		u64 at, value;
	} changes[] = {
		{OPTIMIZED, TAGGED(MAP(OTHER))},
		{OPTIMIZED + 40, START + 8},
		{OPTIMIZED + 56, 0x40},
		{OPTIMIZED + 56, V8_LENGTH_MAX},
		{OPTIMIZED + 16, TAGGED(NOT_THERE)},
		{ABOUT + 64, TAGGED(SHARED(2))},
		{ABOUT + 64, 0},
	};

	for (u32 i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		assert_int_equal(code_setup(state), 0);
		put(changes[i].at, changes[i].value);
		assert_int_equal(walk(), 6);
		expect_none();
		assert_null(find_event(OPTIMIZED));
		build_free(&host.build);
	}
	assert_int_equal(code_setup(state), 0);
}

/* No head: the search ends where the code's memory begins, and later walks do without it. */
static void test_v8_code__not_found(void **state)
{
	u32 reads;

	(void)state;
	put_code_word(START - 8, TAGGED(NOT_THERE));
	assert_int_equal(walk(), 6);
	expect_none();
	assert_int_equal(walk_again(), 6);
	reads = host.walk.list.reads;
	put_code_word(START - 8, TAGGED(OPTIMIZED));
	assert_int_equal(walk_again(), 6);
	assert_true(host.walk.list.reads <= reads);
	expect_none();
	for (u32 i = 0; i < V8_WALKS; i++)
		assert_int_equal(walk_again(), 6);
	expect_optimized(CALLED(2) - 1 - START);
}

/* Garbage collection moves the object, or other code is there. */
static void test_v8_code__moved(void **state)
{
	(void)state;
	assert_int_equal(walk(), 6);
	memcpy(heap.data + (MACHINE(6) - DATA) / 8, heap.data + (OPTIMIZED - DATA) / 8, 64);
	put_code_word(START - 8, TAGGED(MACHINE(6)));
	put(OPTIMIZED, 0);
	assert_int_equal(walk_again(), 6);
	assert_int_equal(host.word[3], RUNTIME_WORD_FRAME | MACHINE(6));
	put(MACHINE(6) + 56, BYTES - 0x20);
	assert_int_equal(walk_again(), 6);
	assert_int_equal(host.word[3], RUNTIME_WORD_FRAME | MACHINE(6));
	assert_int_equal(host.walk.v8.code.bytes, BYTES - 0x20);
}

/* The table of optimized code has calls alone. */
static void test_v8_code__leaf(void **state)
{
	(void)state;
	scene.pc = START + 0x80;
	put_frame(0, CALLED(5), 1);
	put_entry(1);
	assert_int_equal(walk(), 3);
	assert_int_equal(host.word[0], RUNTIME_WORD_FRAME | SHARED(1));
	assert_int_equal(PLACE(host.word[1]), RUNTIME_OFFSET_NONE);
}

/* Code without an end to its search reads as many windows as the walk says. */
static void test_v8_code__long_search(void **state)
{
	static u8 code[(V8_SEARCHES + 8) * WALK_WINDOW_BYTES];
	const u64 begin = 0x7e0000000000ull, place = begin + sizeof(code) - 0x100;

	(void)state;
	memset(code, 0x90, sizeof(code));
	memcpy(code + sizeof(code) - 0x100 - 2, "\xff\xd0", 2);
	host.region[5] = (struct host_region){begin, sizeof(code), code};
	heap_publish();
	host.walk.v8.taken.shared = SHARED(1);
	assert_int_equal(walk_again(), 6);
	host.walk.v8.place = place;
	host.walk.v8.searches = V8_SEARCHES;
	host.walk.v8.search_at = (place & ~31ull) - 8;
	host.walk.list.reads = 0;
	for (u32 i = 0; i <= V8_SEARCHES; i++)
		assert_int_equal(v8_search(), i == V8_SEARCHES);
	assert_int_equal(host.walk.list.reads, V8_SEARCHES);
}

/* ---- functions that are put in ---- */

/* An event has the functions when events have told of them, and of their script. */
static void test_v8_code__put_in(void **state)
{
	const struct told_part *part;

	(void)state;
	assert_int_equal(walk(), 6);
	assert_null(find_part(OPTIMIZED));
	assert_non_null(find_event(SHARED(2)));
	assert_non_null(find_event(SHARED(3)));
	assert_non_null(find_part(SCRIPT(0)));
	assert_int_equal(walk_again(), 6);
	part = find_part(OPTIMIZED);
	assert_non_null(part);
	assert_int_equal(part->print, FINGERPRINT(host.word[4]) + 1);
	assert_int_equal(part->bits[0], SHARED(2));
	assert_int_equal(part->bits[1], find_event(SHARED(2))->print);
	assert_int_equal(part->bits[2], SHARED(3));
	assert_int_equal(part->bits[3], find_event(SHARED(3))->print);
	for (u32 i = 4; i < V8_CHUNK / 64; i++)
		assert_int_equal(part->bits[i], 0);
	assert_int_equal(host.walk.hotspot.inlined, 2);
	walk_again();
	assert_int_equal(heap.events, 5);
}

/* Events are refused: each walk tries again. */
static void test_v8_code__put_in_refused(void **state)
{
	(void)state;
	walk();
	heap.parts_refused = 1;
	walk_again();
	assert_null(find_part(OPTIMIZED));
	walk_again();
	assert_non_null(find_part(OPTIMIZED));
}

/* A function that is gone leaves its place empty. */
static void test_v8_code__put_in_gone(void **state)
{
	static const u64 values[] = {0, 2, TAGGED(NOT_THERE), TAGGED(SCRIPT(0)), SMALL(7)};

	for (u32 i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		const struct told_part *part;

		assert_int_equal(code_setup(state), 0);
		put(LITERALS + 16, values[i]);
		walk();
		walk_again();
		part = find_part(OPTIMIZED);
		assert_non_null(part);
		assert_int_equal(part->bits[0], 0);
		assert_int_equal(part->bits[2], SHARED(3));
		build_free(&host.build);
	}
	assert_int_equal(code_setup(state), 0);
}

/* None, or more than an event has room for. */
static void test_v8_code__put_in_numbers(void **state)
{
	static const u32 numbers[] = {0, V8_PUT_IN_MAX + 1, ~0u};

	for (u32 i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		assert_int_equal(code_setup(state), 0);
		put(ABOUT + 24, SMALL(numbers[i]));
		walk();
		walk_again();
		assert_null(find_part(OPTIMIZED));
		assert_non_null(find_event(OPTIMIZED));
		build_free(&host.build);
	}
	assert_int_equal(code_setup(state), 0);
	put(ABOUT + 24, SMALL(V8_PUT_IN_MAX));
	walk();
	walk_again();
	assert_non_null(find_part(OPTIMIZED));
	assert_int_equal(host.walk.hotspot.inlined, V8_PUT_IN_MAX);
}

/* Two parts of the event have where functions are put in. */
static void test_v8_code__many_places(void **state)
{
	const struct told_event *event;

	(void)state;
	put(PLACES + 8, SMALL(CODE_PART_3 - CODE_PART_2 + 16));
	walk();
	event = find_event(OPTIMIZED);
	assert_non_null(event);
	assert_int_equal(event->part[2], PLACES + 16);
	assert_int_equal(event->part[0], PLACES + 16 + CODE_PART_3 - CODE_PART_2);
}

/* ---- code of Sparkplug ---- */

static void test_v8_code__baseline(void **state)
{
	const struct told_event *event;

	(void)state;
	put(SHARED(1) + 8, TAGGED(MACHINE(1)));
	put(MACHINE(1) + 24, TAGGED(TABLE));
	put(MACHINE(1) + 40, START);
	put(MACHINE(1) + 56, BYTES);
	assert_int_equal(walk(), 6);
	assert_int_equal(host.word[3], RUNTIME_WORD_FRAME | MACHINE(1));
	assert_int_equal(PLACE(host.word[4]), CALLED(2) - 1 - START);
	event = find_event(BYTECODE(1));
	assert_non_null(event);
	assert_int_equal(event->part[1], V8_TOLD_BYTECODE);
	assert_int_equal(event->part[3], BYTECODE(1) + BYTECODE_DATA - V8_TAG + 1);
	event = find_event(MACHINE(1));
	assert_non_null(event);
	assert_int_equal(event->part[0], BYTECODE(1));
	assert_int_equal(event->part[1], V8_TOLD_BASELINE);
	assert_int_equal(event->part[3], TABLE + 16);
	assert_int_equal(event->part[4], 77);
	assert_int_equal(event->named, SHARED(1));
	/* an array whose length is none */
	put(TABLE + 8, SMALL(V8_LENGTH_MAX));
	heap.events = heap.parts = 0;
	assert_int_equal(walk_again(), 6);
	assert_int_equal(find_event(MACHINE(1))->part[4], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(test_v8_code__##name, code_setup, scene_teardown)
		TEST(found),	      TEST(head_within),    TEST(own_function_wrapped),
		TEST(takes_over),     TEST(other_heads),    TEST(not_found),
		TEST(moved),	      TEST(leaf),	    TEST(long_search),
		TEST(put_in),	      TEST(put_in_refused), TEST(put_in_gone),
		TEST(put_in_numbers), TEST(many_places),    TEST(baseline),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
