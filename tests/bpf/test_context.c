/* SPDX-License-Identifier: Apache-2.0 */
/* The context of a thread: from what the worker has published to words of a record. */
#include "tests/bpf/scene.h"

#include "bpf/walk/context.bpf.h"

#define HEAP	   0x600000000000ull
#define HEAP_BYTES 0x2000u
#define THREAD	   (HEAP + 0x100)
#define VARIABLE   (THREAD - 24) /* as setup() says */
#define WORDS	   5u		 /* of a list before the context */

static u8 heap[HEAP_BYTES];
static struct thread_context context;

struct record_bytes {
	u8 trace[16], span[8], valid, rest[3];
};
static const struct record_bytes usual = {"0123456789abcdef", "ABCDEFGH", 1, {0xff, 0xff, 0xff}};

static void put(u64 address, const void *bytes, u64 size)
{
	assert(address >= HEAP && address + size <= HEAP + HEAP_BYTES);
	memcpy(heap + (address - HEAP), bytes, size);
}

static void put_word(u64 address, u64 word)
{
	put(address, &word, sizeof(word));
}

static int setup(void **state)
{
	int r = scene_setup(state);

	memset(heap, 0, sizeof(heap));
	host.region[2] = (struct host_region){HEAP, sizeof(heap), heap};
	host.thread = THREAD;
	context = (struct thread_context){
		.root = {.start = RUNTIME_AT_THREAD, .steps = 1, .offset = {-24}}};
	return r;
}

/* Publishes a block of so many mappings, and takes the context behind them. */
static u32 take_behind(u32 mappings)
{
	u32 starts = (mappings * 2 + 15) & ~15u, block;

	block = build_words(&host.build, starts + mappings * 16 + sizeof(context) / 4, 16);
	memcpy(build_at(&host.build, block + starts + mappings * 16), &context, sizeof(context));
	walk_init(&host.walk);
	host.walk.block = block;
	host.walk.mappings = mappings;
	memset(host.walk.list.memory, 0xa5, sizeof(host.walk.list.memory)); /* of a list */
	return context_take(&host.walk);
}

static u32 take_record(const struct record_bytes *record, u64 address)
{
	put(address, record, sizeof(*record));
	put_word(VARIABLE, address);
	return take_behind(3);
}

static void test_context__is_taken(void **state)
{
	(void)state;
	put(HEAP + 0x1002, &usual, sizeof(usual)); /* aligned to two bytes */
	put_word(VARIABLE, HEAP + 0x1002);
	for (u32 mappings = 0; mappings < 40; mappings++) {
		assert_int_equal(take_behind(mappings), CONTEXT_TAKEN);
		assert_memory_equal(host.walk.list.memory, &usual, 8 * CONTEXT_WORDS);
	}
}

static void test_context__of_each_kind_of_variable(void **state)
{
	const u64 slot = HEAP + 0x800, dtv = HEAP + 0xa00, pair = HEAP + 0xc00;

	(void)state;
	put(HEAP + 0x1000, &usual, sizeof(usual));
	context.root.offset[0] = 0;
	context.root.pc = slot;
	put_word(VARIABLE, HEAP + 0x1000);
	/* an offset from the thread pointer; the same in a descriptor */
	context.root.start = RUNTIME_AT_OFFSET;
	put_word(slot, VARIABLE - THREAD);
	assert_int_equal(take_behind(1), CONTEXT_TAKEN);
	context.root.start = RUNTIME_AT_DESCRIPTOR;
	put_word(slot + 8, VARIABLE - THREAD);
	assert_int_equal(take_behind(1), CONTEXT_TAKEN);
	/* module 2, at offset 16; the same by a descriptor */
	put_word(THREAD + 8, dtv);
	put_word(dtv + 2 * 16, HEAP + 0xe00);
	put_word(HEAP + 0xe10, HEAP + 0x1000);
	put_word(VARIABLE, 0);
	context.root.start = RUNTIME_AT_MODULE;
	put_word(slot, 2);
	put_word(slot + 8, 16);
	assert_int_equal(take_behind(1), CONTEXT_TAKEN);
	context.root.start = RUNTIME_AT_DESCRIPTOR;
	put_word(slot + 8, pair);
	put_word(pair, 2);
	put_word(pair + 8, 16);
	assert_int_equal(take_behind(1), CONTEXT_TAKEN);
	/* a thread that has not used the variable yet has no memory for the module: glibc */
	put_word(dtv + 2 * 16, ~0ull);
	assert_int_equal(take_behind(1), CONTEXT_NONE);
}

static void test_context__none(void **state)
{
	struct record_bytes record = usual;

	(void)state;
	assert_int_equal(take_behind(3), CONTEXT_NONE); /* the thread is in no span */
	for (u32 valid = 0; valid < 256; valid++) {
		record.valid = (u8)valid;
		if (valid != 1)
			assert_int_equal(take_record(&record, HEAP + 0x1000), CONTEXT_NONE);
	}
	record = usual;
	memset(record.trace, 0, sizeof(record.trace));
	assert_int_equal(take_record(&record, HEAP + 0x1000), CONTEXT_NONE);
	record = usual;
	memset(record.span, 0, sizeof(record.span));
	assert_int_equal(take_record(&record, HEAP + 0x1000), CONTEXT_NONE);
	/* half of a trace's id may be 0 */
	record = usual;
	memset(record.trace, 0, 8);
	assert_int_equal(take_record(&record, HEAP + 0x1000), CONTEXT_TAKEN);
}

/* The last bytes of memory have a record, and half of one. */
static void test_context__at_the_end_of_memory(void **state)
{
	const u64 last = HEAP + HEAP_BYTES - CONTEXT_RECORD_BYTES;

	(void)state;
	put(last, &usual, CONTEXT_RECORD_BYTES);
	put_word(VARIABLE, last);
	assert_int_equal(take_behind(3), CONTEXT_TAKEN);
	put_word(VARIABLE, last + 1);
	assert_int_equal(take_behind(3), CONTEXT_NONE);
}

static void test_context__pointers_to_nothing(void **state)
{
	static const u64 bad[] = {1, 4095, 1ull << 47, 0xffffffff81000000ull, ~0ull, HEAP - 1};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		put_word(VARIABLE, bad[i]);
		assert_int_equal(take_behind(3), CONTEXT_NONE);
	}
}

/* Whatever a worker publishes leads to the process's memory, or to nothing. */
static void test_context__hostile_roots(void **state)
{
	u64 random = 1;

	(void)state;
	put(HEAP + 0x1000, &usual, sizeof(usual));
	for (u64 at = HEAP; at < HEAP + 0x1000; at += 8)
		put_word(at, HEAP + (at * 0x9e3779b97f4a7c15ull >> 52 & ~7ull));
	for (u32 i = 0; i < 20000; i++) {
		u8 *bytes = (u8 *)&context;
		u32 result;

		for (size_t j = 0; j < sizeof(context); j++) {
			random = random * 6364136223846793005ull + 1442695040888963407ull;
			bytes[j] = (u8)(random >> 56);
		}
		context.root.start %= RUNTIME_STARTS + 2;
		context.root.pc = HEAP + (context.root.pc & 0x1fff);
		if (i & 1)
			context.root.steps = 1 + (i >> 1 & 7);
		for (u32 j = 0; j < RUNTIME_STEPS_MAX; j++)
			context.root.offset[j] &= ~7;
		build_reset(&host.build);
		result = take_behind(i % 5);
		assert_true(result == CONTEXT_NONE || result == CONTEXT_TAKEN);
	}
	/* blocks that do not fit a segment */
	walk_init(&host.walk);
	host.walk.mappings = BLOCK_MAPPINGS_MAX;
	host.walk.block = SEGMENT_WORDS - 16;
	context_take(&host.walk);
	host.walk.block = 0xfffffff0u;
	assert_int_equal(context_take(&host.walk), CONTEXT_NONE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_context__##name, setup, scene_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(is_taken),
		TEST(of_each_kind_of_variable),
		TEST(none),
		TEST(at_the_end_of_memory),
		TEST(pointers_to_nothing),
		TEST(hostile_roots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
