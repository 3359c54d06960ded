/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of WebAssembly in a made-up V8: how a frame leads to them, and to their names. */
#include "tests/bpf/v8_heap.h"

#define INSTANCE       SCOPE(0)
#define MODULE_OBJECT  (DATA + 0xc000)
#define FOREIGN	       (DATA + 0xc100)
#define MANAGED	       (DATA + 0xc200)
#define SHARED_POINTER (DATA + 0xc300)
#define NATIVE	       (DATA + 0xc400)
#define BYTES	       (DATA + 0xc800)
#define RECENT	       (DATA + 0xc900)
#define NODE(n)	       (DATA + 0xcb00 + (n)*64ull)
#define WASM_CODE(n)   (DATA + 0xd000 + (n)*64ull)
#define WIRE	       (DATA + 0xe003)
#define WIRE_BYTES_MAX 0x1ff0u
#define FRAME_KIND     4u
#define TREE	       320u
#define INDEX(n)       (10u + (n))
#define EXPORT_TYPE    226u

static u32 wire_bytes;

/* ---- the bytes of a module ---- */

static u8 *wire(void)
{
	return (u8 *)heap.data + (WIRE - DATA);
}

static void add(const void *bytes, size_t size)
{
	assert(wire_bytes + size <= WIRE_BYTES_MAX);
	memcpy(wire() + wire_bytes, bytes, size);
	wire_bytes += size;
	put(BYTES, WIRE);
	put(BYTES + 8, wire_bytes);
}

/* A number of two bytes, so that something can be put in its place. */
static void add_number(u32 number)
{
	const u8 bytes[2] = {(u8)(number | 128), (u8)(number >> 7)};

	assert(number < 1u << 14);
	add(bytes, sizeof(bytes));
}

static void add_name(u32 index, const char *name)
{
	add_number(index);
	add_number(strlen(name));
	add(name, strlen(name));
}

static void add_head(u8 kind, u32 bytes)
{
	add(&kind, 1);
	add_number(bytes);
}

/* Another section, one with another name, and the names: those of a module and of functions. */
static void put_wire(u32 names, u32 before)
{
	u32 part, section;

	wire_bytes = 0;
	add("\0asm\1\0\0\0", 8);
	add_head(1, 5);
	add("types", 5);
	add_head(0, 6);
	add("\4nam_!", 6);
	section = wire_bytes;
	add_head(0, 0);
	add("\4name", 5);
	add_head(0, 4);
	add("\3mod", 4);
	part = wire_bytes;
	add_head(1, 0);
	add_number(names + before);
	for (u32 i = 0; i < before; i++)
		add_name(i + 500, "some other function");
	for (u32 i = 0; i < names; i++)
		add_name(INDEX(i), (const char[]){'f', (char)('0' + i), 0});
	const u32 end = wire_bytes;

	wire_bytes = part + 1;
	add_number(end - part - 3);
	wire_bytes = section + 1;
	add_number(end - section - 3);
	wire_bytes = end;
	add_head(11, 0);
}

/* ---- the module ---- */

static void put_wasm_code(u32 n, u64 start, u32 bytes)
{
	put(WASM_CODE(n), NATIVE);
	put(WASM_CODE(n) + 8, start);
	put(WASM_CODE(n) + 24, bytes);
	put(WASM_CODE(n) + 40, SMALL(INDEX(n)));
}

static void put_node(u32 n, u64 left, u64 right, u32 code)
{
	put(NODE(n) + 16, left);
	put(NODE(n) + 24, right);
	put(NODE(n) + 32, BEGIN(code));
	put(NODE(n) + 40, WASM_CODE(code));
}

static void put_module(void)
{
	put_object(INSTANCE, OTHER);
	put(INSTANCE + 208, TAGGED(MODULE_OBJECT));
	put(MODULE_OBJECT + 32, TAGGED(SCRIPT(1)));
	put(SCRIPT(1) + 80, TAGGED(FOREIGN));
	put(FOREIGN + V8_FOREIGN_ADDRESS, MANAGED);
	put(MANAGED + V8_MANAGED_POINTER, SHARED_POINTER);
	put(SHARED_POINTER, NATIVE);
	put(NATIVE + 200, BYTES);
	put(NATIVE + TREE, NODE(0));
	put(NATIVE + TREE + V8_TREE_BYTES, RECENT);
	put(NATIVE + TREE + V8_TREE_BYTES + 8, RECENT);
	for (u32 i = 0; i < 8; i++)
		put_wasm_code(i, BEGIN(i), 256);
	/* codes 1 to 5: the tree has its root in the middle */
	put_node(0, NODE(1), NODE(2), 3);
	put_node(1, 0, NODE(3), 1);
	put_node(2, NODE(4), 0, 5);
	put_node(3, 0, 0, 2);
	put_node(4, 0, 0, 4);
}

static void put_wasm_frame(u32 n, u64 returns)
{
	put_frame(n, returns, 0);
	WORD(BP(n) - 8) = FRAME_KIND * 2u;
	WORD(BP(n) - 16) = TAGGED(INSTANCE);
}

static int wasm_setup(void **state)
{
	struct runtime_v8 *v8 = &heap.config.v8;
	int r = heap_setup(state);

	v8->wasm_frame = FRAME_KIND;
	v8->type_export = EXPORT_TYPE;
	v8->wasm_module = 208;
	v8->wasm_script = 32;
	v8->wasm_native = 80;
	v8->wasm_bytes = 200;
	v8->wasm_tree = TREE;
	v8->wasm_code_size = 24;
	v8->wasm_code_index = 44;
	put_module();
	put_wire(8, 0);
	/* a function of JavaScript is the leaf, and code 2 called it */
	put_frame(0, CALLED(2), 0);
	put_wasm_frame(1, CALLED(6));
	put_entry(2);
	return r;
}

static const struct told_event *event_of(u32 index)
{
	for (u32 i = 0; i < heap.events; i++)
		if (heap.event[i].code == NATIVE && heap.event[i].start == index + 1)
			return &heap.event[i];
	return NULL;
}

static void assert_name(const struct told_event *event, const char *name)
{
	assert_non_null(event);
	assert_int_equal(V8_NAME_LENGTH(event->named), strlen(name));
	if (name[0])
		assert_memory_equal((u8 *)heap.data + (event->part[0] - DATA), name, strlen(name));
	assert_int_equal(event->part[3], V8_TOLD_WASM);
	assert_int_equal(event->part[4], 0);
	assert_int_equal(event->script, 0);
}

static void expect_function(u32 code)
{
	const struct told_event *event = event_of(INDEX(code));

	assert_int_equal(host.word[3], RUNTIME_WORD_FRAME | NATIVE);
	assert_int_equal(PLACE(host.word[4]), RUNTIME_OFFSET_NONE);
	assert_int_equal(host.word[5], RUNTIME_WORD_BORDER | 1);
	assert_non_null(event);
	assert_int_equal(event->print, FINGERPRINT(host.word[4]));
}

/* ---- the function ---- */

static void test_v8_wasm__tree(void **state)
{
	u32 reads;

	(void)state;
	for (u32 i = 1; i <= 5; i++) {
		put_frame(0, CALLED(i), 0);
		assert_int_equal(walk(), 6);
		expect_function(i);
		assert_name(event_of(INDEX(i)), (const char[]){'f', (char)('0' + i), 0});
	}
	/* the next walk asks the code alone, and the way to its module */
	walk_again();
	reads = host.walk.list.reads;
	assert_int_equal(walk_again(), 6);
	assert_int_equal(host.walk.list.reads, reads);
	assert_true(reads < 16);
	/* an object stands for the instance, from V8 12 on */
	heap.config.v8.wasm_object = 160;
	heap.config.v8.wasm_module = 8;
	put(INSTANCE + 160, TAGGED(SCOPE(1)));
	put(SCOPE(1) + 8, TAGGED(MODULE_OBJECT));
	heap_publish();
	host.walk.seed++;
	assert_int_equal(walk(), 6);
	expect_function(5);
}

/* Code that nobody has looked for is in a vector, the newest last. */
static void test_v8_wasm__recent(void **state)
{
	(void)state;
	put_frame(0, CALLED(7), 0);
	assert_int_equal(walk(), 3);
	put(RECENT, WASM_CODE(6));
	put(RECENT + 8, WASM_CODE(7));
	put(NATIVE + TREE + V8_TREE_BYTES + 8, RECENT + 16);
	assert_int_equal(walk(), 6);
	expect_function(7);
	put_frame(0, CALLED(6), 0);
	assert_int_equal(walk(), 6);
	expect_function(6);
	/* so many pieces of code are looked at, and no more */
	put_frame(0, CALLED(7), 0);
	put(NATIVE + TREE + V8_TREE_BYTES + 8, RECENT + 8 * (V8_RECENT_MAX + 2));
	host.walk.v8.range[CALLED(7) >> 8 & (V8_RANGES - 1)].shared = 0;
	assert_int_equal(walk(), 3);
}

static void test_v8_wasm__other_code(void **state)
{
	(void)state;
	/* of another module, of another size, or none */
	put(WASM_CODE(2), NATIVE + 8);
	assert_int_equal(walk(), 3);
	put_wasm_code(2, BEGIN(2), 0x20);
	assert_int_equal(walk(), 3);
	put_wasm_code(2, BEGIN(2), V8_LENGTH_MAX);
	assert_int_equal(walk(), 3);
	put_wasm_code(2, BEGIN(2), 256);
	put(NODE(3) + 40, NOT_THERE);
	assert_int_equal(walk(), 3);
	/* a tree that is a circle */
	put(NODE(3) + 40, WASM_CODE(1));
	put(NODE(3) + 24, NODE(3));
	assert_int_equal(walk(), 3);
	put(NATIVE + TREE, NOT_THERE);
	assert_int_equal(walk(), 3);
	put_module();
	assert_int_equal(walk(), 6);
	/* code that is freed */
	put(WASM_CODE(2) + 8, BEGIN(9));
	put_node(3, 0, 0, 9);
	put(NODE(3) + 40, WASM_CODE(2));
	assert_int_equal(walk(), 3);
}

static void test_v8_wasm__other_frames(void **state)
{
	const u64 way[] = {
		INSTANCE + 208, MODULE_OBJECT + 32,	      SCRIPT(1),
		SCRIPT(1) + 80, FOREIGN + V8_FOREIGN_ADDRESS, MANAGED + V8_MANAGED_POINTER,
		SHARED_POINTER};

	(void)state;
	for (size_t i = 0; i < sizeof(way) / sizeof(*way); i++) {
		put_module();
		put_object(SCRIPT(1), SCRIPT_MAP);
		put(way[i], i == 2 ? TAGGED(MAP(OTHER)) : NOT_THERE);
		assert_int_equal(walk(), 3);
	}
	put_module();
	WORD(BP(1) - 8) = (FRAME_KIND + 1) * 2;
	assert_int_equal(walk(), 3);
	/* an image whose frames of this kind nobody knows */
	heap.config.v8.wasm_frame = 0;
	WORD(BP(1) - 8) = 0;
	host.walk.seed++;
	assert_int_equal(walk(), 3);
}

/* An object that stands for a function of WebAssembly is no function of the program. */
static void test_v8_wasm__exported(void **state)
{
	(void)state;
	put(MAP(NO_FORM) + 8, (u64)EXPORT_TYPE << 32);
	put_object(SCOPE(2), NO_FORM);
	put(SHARED(0) + 8, TAGGED(SCOPE(2)));
	assert_int_equal(walk(), 3);
	assert_int_equal(host.word[0], RUNTIME_WORD_FRAME | NATIVE);
}

/* ---- names ---- */

static void test_v8_wasm__no_name(void **state)
{
	(void)state;
	put_wire(2, 3);
	assert_int_equal(walk(), 6);
	expect_function(2);
	assert_name(event_of(INDEX(2)), "");
	assert_int_equal(event_of(INDEX(2))->part[0], 0);
}

/* Bytes that cannot be, or that are not there, end the search without a name. */
static void test_v8_wasm__damaged(void **state)
{
	static const u32 sizes[] = {0, 7, 8, 9, 20, 40};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		heap.events = 0;
		put(BYTES + 8, sizes[i]);
		assert_int_equal(walk(), 6);
		assert_name(event_of(INDEX(2)), "");
	}
	put(BYTES + 8, wire_bytes);
	for (u32 i = 8; i < wire_bytes; i++) {
		const u8 was = wire()[i];

		wire()[i] = 0xff;
		heap.events = 0;
		assert_int_equal(walk(), 6);
		assert_non_null(event_of(INDEX(2)));
		wire()[i] = was;
	}
	heap.events = 0;
	put(BYTES, NOT_THERE);
	assert_int_equal(walk(), 6);
	assert_name(event_of(INDEX(2)), "");
	heap.events = 0;
	put(BYTES + 8, ~0ull);
	assert_int_equal(walk(), 6);
	assert_name(event_of(INDEX(2)), "");
	heap.events = 0;
	put(NATIVE + 200, NOT_THERE);
	assert_int_equal(walk(), 6);
	assert_name(event_of(INDEX(2)), "");
}

/* A search that a walk has no time for goes on in the next ones, whatever else these meet. */
static void test_v8_wasm__long_search(void **state)
{
	u32 walks = 0;

	(void)state;
	put_wire(8, 330);
	host.clock_step = 100;
	while (!event_of(INDEX(2)) && ++walks < 100) {
		put_frame(0, CALLED(walks & 1 ? 2 : 4), 0);
		walk();
	}
	assert_name(event_of(INDEX(2)), "f2");
	assert_true(walks > 1);
}

/* V8 joins the name of a script from a fixed text, the module's name and a hash. */
static void test_v8_wasm__module_name(void **state)
{
	const struct told_event *event;

	(void)state;
	put_text(TEXT(30), "wasm://wasm/");
	put_text(TEXT(31), "sums");
	put_text(TEXT(32), "-0096fc2e");
	put_joined(TEXT(33), TEXT(30), TEXT(31), 16);
	put_joined(TEXT(34), TEXT(33), TEXT(32), 25);
	put(SCRIPT(1) + 16, TAGGED(TEXT(34)));
	assert_int_equal(walk(), 6);
	event = event_of(INDEX(2));
	assert_name(event, "f2");
	assert_int_equal(event->part[1], TEXT(31) + 16);
	assert_int_equal(V8_NAME_LENGTH(event->named >> V8_PREFIX_SHIFT), 4);
	assert_int_equal(event->part[2], TEXT(32) + 16);
	assert_int_equal(V8_NAME_LENGTH(event->named >> V8_FILE_SHIFT), 9);
	/* the event about a function of JavaScript has nothing of this */
	for (u32 i = 0; i < heap.events; i++)
		if (heap.event[i].code == SHARED(0))
			assert_int_not_equal(heap.event[i].part[3], V8_TOLD_WASM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(test_v8_wasm__##name, wasm_setup, scene_teardown)
		TEST(tree),    TEST(recent),  TEST(other_code),	 TEST(other_frames), TEST(exported),
		TEST(no_name), TEST(damaged), TEST(long_search), TEST(module_name),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
