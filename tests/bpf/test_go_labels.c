/* SPDX-License-Identifier: Apache-2.0 */
/* The labels of a goroutine: from what the worker has published to the places of texts. */
#include "tests/bpf/scene.h"

#include "bpf/walk/go_labels.bpf.h"

#define HEAP	   0xc000000000ull
#define HEAP_WORDS 0x400u
#define AT(word)   (HEAP + 8ull * (word))
#define THREAD	   AT(0x10)
#define M	   AT(0x20)
#define G	   AT(0x40)
#define LABELS	   AT(0x80)
#define PAIRS	   AT(0x100)
#define CURRENT	   184u
#define NUMBER	   152u
#define PLACE	   352u

static u64 heap[HEAP_WORDS];
static struct thread_context context;

static void put(u64 address, u64 word)
{
	assert(address >= HEAP && address < HEAP + sizeof(heap));
	heap[(address - HEAP) / 8] = word;
}

static int setup(void **state)
{
	int r = scene_setup(state);

	memset(heap, 0, sizeof(heap));
	host.region[2] = (struct host_region){HEAP, sizeof(heap), heap};
	host.thread = THREAD;
	context = (struct thread_context){.go = {.thread_local_at = -8,
						 .current = CURRENT,
						 .labels = PLACE,
						 .number = NUMBER,
						 .form = GO_LABELS_LIST}};
	put(THREAD - 8, G);
	put(G + 48, M);
	put(M + CURRENT, G);
	put(G + NUMBER, 17);
	put(G + PLACE, LABELS);
	return r;
}

static u32 find(void)
{
	u32 block = build_words(&host.build, 16 + 16 + sizeof(context) / 4, 16);

	memcpy(build_at(&host.build, block + 32), &context, sizeof(context));
	walk_init(&host.walk);
	host.walk.block = block;
	host.walk.mappings = 1;
	memset(host.walk.window, 0xa5, sizeof(host.walk.window)); /* of the stack */
	go_find_labels();
	return host.walk.labels;
}

static void put_pair(u64 address, u32 number)
{
	put(address, 0x1000 + number);
	put(address + 8, number);
	put(address + 16, 0x2000 + number);
	put(address + 24, 2ull * number);
}

static void expect_label(u32 index, u32 number)
{
	const struct walk_label *label = &host.walk.label[index];

	assert_int_equal(label->key, 0x1000 + number);
	assert_int_equal(label->key_bytes, number);
	assert_int_equal(label->value, 0x2000 + number);
	assert_int_equal(label->value_bytes, 2 * number);
}

static void test_go_labels__list(void **state)
{
	(void)state;
	put(LABELS, PAIRS);
	put(LABELS + 8, 2);
	put_pair(PAIRS, 1);
	put_pair(PAIRS + 32, 2);
	assert_int_equal(find(), LABELS_TAKEN);
	assert_int_equal(host.walk.goroutine, 17);
	assert_int_equal(host.walk.label_count, 2);
	expect_label(0, 1);
	expect_label(1, 2);
	put(LABELS + 8, 0);
	assert_int_equal(find(), LABELS_TAKEN);
	assert_int_equal(host.walk.label_count, 0);
}

/* The dynamic linker has told a library where its thread-local words are. */
static void test_go_labels__library(void **state)
{
	(void)state;
	put(LABELS, PAIRS);
	put(LABELS + 8, 1);
	put_pair(PAIRS, 1);
	put(THREAD - 8, 0);
	put(THREAD - 40, G);
	put(AT(8), (u64)-40);
	context.go.word = AT(8);
	assert_int_equal(find(), LABELS_TAKEN);
	assert_int_equal(host.walk.goroutine, 17);
	expect_label(0, 1);
	put(AT(8), 0);
	assert_int_equal(find(), LABELS_NO_GOROUTINE);
	put(AT(8), (u64)-40);
	put(THREAD - 40, 0); /* a thread of C */
	assert_int_equal(find(), LABELS_NO_GOROUTINE);
	context.go.word = 0x1000;
	assert_int_equal(find(), LABELS_NO_GOROUTINE);
}

static void test_go_labels__lists_are_bounded(void **state)
{
	(void)state;
	put(LABELS, PAIRS);
	for (u32 i = 0; i < GO_LABELS_MAX; i++)
		put_pair(PAIRS + 32 * i, i + 1);
	for (u32 i = 0; i < 3; i++) {
		put(LABELS + 8, (const u64[]){GO_LABELS_MAX, GO_LABELS_MAX + 1, ~0ull}[i]);
		assert_int_equal(find(), i == 0 ? LABELS_TAKEN : LABELS_CUT);
		assert_int_equal(host.walk.label_count, GO_LABELS_MAX);
		expect_label(GO_LABELS_MAX - 1, GO_LABELS_MAX);
	}
}

/* struct hmap with one bucket or more; slots that are free, or were moved, have small numbers. */
static void put_map(u64 count, u64 bits)
{
	context.go.form = GO_LABELS_MAP;
	put(LABELS, LABELS + 64);
	put(LABELS + 64, count);
	put(LABELS + 72, bits << 8);
	put(LABELS + 80, PAIRS);
}

static void put_slot(u32 bucket, u32 slot, u32 number)
{
	u64 at = PAIRS + 272ull * bucket;

	heap[(at - HEAP) / 8] |= 0x80ull << slot * 8;
	put(at + 8 + 16 * slot, 0x1000 + number);
	put(at + 16 + 16 * slot, number);
	put(at + 136 + 16 * slot, 0x2000 + number);
	put(at + 144 + 16 * slot, 2 * number);
}

static void test_go_labels__map(void **state)
{
	(void)state;
	put_map(2, 0);
	put_slot(0, 3, 5);
	put_slot(0, 7, 6);
	heap[(PAIRS - HEAP) / 8] |= 0x0403020100ull & ~(0xffull << 24);
	assert_int_equal(find(), LABELS_TAKEN);
	assert_int_equal(host.walk.label_count, 2);
	expect_label(0, 5);
	expect_label(1, 6);
	put_map(3, 2);
	put_slot(3, 0, 7);
	assert_int_equal(find(), LABELS_TAKEN);
	assert_int_equal(host.walk.label_count, 3);
	expect_label(2, 7);
}

/* Pairs in an overflow bucket, more buckets than are read, and a map of nonsense. */
static void test_go_labels__maps_are_bounded(void **state)
{
	(void)state;
	put_map(9, 0);
	for (u32 i = 0; i < 8; i++)
		put_slot(0, i, i + 1);
	assert_int_equal(find(), LABELS_CUT);
	assert_int_equal(host.walk.label_count, 8);
	put(PAIRS + 264, PAIRS + 272 * 2); /* one overflow bucket is read */
	put_slot(2, 4, 9);
	assert_int_equal(find(), LABELS_TAKEN);
	assert_int_equal(host.walk.label_count, 9);
	expect_label(8, 9);
	put_map(10, 0);
	put(PAIRS + 272 * 2 + 264, PAIRS + 272 * 3);
	put_slot(3, 4, 10);
	assert_int_equal(find(), LABELS_CUT);
	assert_int_equal(host.walk.label_count, 9);
	put_map(20, 3);
	assert_int_equal(find(), LABELS_CUT);
	assert_int_equal(host.walk.label_count, 0);
	put_map(~0ull, 255);
	assert_int_equal(find(), LABELS_CUT);
}

static void test_go_labels__none(void **state)
{
	(void)state;
	put(G + PLACE, 0);
	assert_int_equal(find(), LABELS_TAKEN);
	assert_int_equal(host.walk.label_count, 0);
	put(G + PLACE, 4); /* no address */
	assert_int_equal(find(), LABELS_TAKEN);
	assert_int_equal(host.walk.label_count, 0);
	put(M + CURRENT, 0); /* the scheduler */
	assert_int_equal(find(), LABELS_NO_GOROUTINE);
	put(M + CURRENT, G);
	put(THREAD - 8, 0); /* a thread of C */
	assert_int_equal(find(), LABELS_NO_GOROUTINE);
	context.go.thread_local_at = 0;
	assert_int_equal(find(), LABELS_NO_GOROUTINE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, scene_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_go_labels__list), TEST(test_go_labels__lists_are_bounded),
		TEST(test_go_labels__map),  TEST(test_go_labels__maps_are_bounded),
		TEST(test_go_labels__none), TEST(test_go_labels__library),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
