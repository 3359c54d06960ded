/* SPDX-License-Identifier: Apache-2.0 */
/* Samples that take the list before the stack, since a sample of the process had a deep one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The loader's constants are read before they are set here: the host has them as variables. */
#define const
#include "bpf/config.bpf.h"
#undef const
#include "tests/bpf/sampler.h"

#define GENERATION 4712u
#define TEXT	   0x400000ull
#define OTHER_TEXT 0x500000ull
#define TEXT_BYTES 0x1000u
#define HEAP	   0x600000000000ull
#define HEAP_BYTES 0x1000u
#define NODE	   (HEAP + 0x100)
#define NODE_BYTES 32u
#define FRAMES	   3u
#define CODE	   (HEAP + 0x800)
#define SECOND	   1000000000ull

/* Words of the segment: mappings, behind their start addresses, and configs of two interpreters. */
#define BLOCK	     16u
#define ENTRIES	     (BLOCK + 16)
#define CONFIG	     256u
#define OTHER_CONFIG 512u

static struct segment segment;
static u64 heap[HEAP_BYTES / 8];
static struct grant grant;

static void put_mapping(u32 number, u64 start, u32 runtime)
{
	const struct mapping_entry entry = {
		.start = start, .end = start + TEXT_BYTES, .runtime = runtime};

	memcpy(&segment.word[BLOCK + 2 * number], &start, sizeof(start));
	memcpy(&segment.word[ENTRIES + number * sizeof(entry) / 4], &entry, sizeof(entry));
}

/* An interpreter whose thread pointer leads to the frames. Nothing ties them to the stack. */
static struct runtime_config *put_config(u32 word)
{
	struct runtime_config config = {
		.root = {{.start = RUNTIME_AT_THREAD, .steps = 1}},
		.code_mask = ~0ull,
		.border_value = 1,
		.node_bytes = NODE_BYTES,
		.code = 8,
		.instruction = 16,
		.flags = RUNTIME_APART,
		.name = 24,
		.part = {RUNTIME_CODE_ITSELF, 24, 24, 24},
	};

	memcpy(&segment.word[word], &config, sizeof(config));
	return (struct runtime_config *)&segment.word[word];
}

static void put_frames(void)
{
	for (u32 i = 0; i < FRAMES; i++) {
		u64 *node = &heap[(NODE - HEAP + i * NODE_BYTES) / 8];

		node[0] = i + 1 < FRAMES ? NODE + (i + 1) * NODE_BYTES : 0;
		node[1] = CODE;
		node[2] = CODE + 8;
	}
	heap[0] = NODE;
}

static int setup(void **state)
{
	struct scratch *scratch = &sampler.scratch;

	(void)state;
	memset(&sampler, 0, sizeof(sampler));
	memset(&segment, 0, sizeof(segment));
	put_mapping(0, TEXT, CONFIG);
	put_mapping(1, OTHER_TEXT, OTHER_CONFIG);
	put_config(CONFIG);
	put_config(OTHER_CONFIG);
	put_frames();
	sampler.segment = &segment;
	sampler.user = heap;
	sampler.user_start = HEAP;
	sampler.user_bytes = sizeof(heap);
	sampler.now = 5 * SECOND;
	sampler.task.thread.fsbase = HEAP;
	grant = (struct grant){0};
	sampler.grant = &grant;
	walk_init(&scratch->walk);
	scratch->walk.block = BLOCK;
	scratch->walk.mappings = 2;
	scratch->walk.deadline = 6 * SECOND;
	scratch->sample.record.generation = GENERATION;
	scratch->deep = GENERATION;
	scratch->deep_address = TEXT + 8;
	scratch->deep_left = 2;
	return 0;
}

static bool takes_list_first(void)
{
	sampler.scratch.walk.is_list_first = 0;
	list_first(&sampler.scratch);
	return sampler.scratch.walk.is_list_first;
}

/* The stack keeps a part of the time, and a deep sample lets so many others follow. */
static void test_deep__list_comes_first(void **state)
{
	struct walk *walk = &sampler.scratch.walk;

	(void)state;
	assert_true(takes_list_first());
	assert_int_equal(sampler.scratch.deep_left, 1);
	assert_int_equal(sampler.scratch.deep_runtime, CONFIG);
	assert_int_equal(walk->reserved, walk_budget_ns / 8);
	assert_int_equal(walk->deadline, 6 * SECOND - walk->reserved);
	assert_int_equal(walk->list.told, TOLD_CODE_SAMPLE);
	while (walk->list.on)
		assert_int_equal(walk_step(), 0);
	assert_int_equal(walk->list.result, RUNTIME_WHOLE);
	assert_int_equal(walk->list.words, 2 * FRAMES);
	assert_int_equal(walk->before, 2 * FRAMES);
	assert_int_equal(walk->deadline, 6 * SECOND);
	assert_true(takes_list_first());
	assert_false(takes_list_first());
	assert_int_equal(sampler.scratch.deep_left, 0);
}

static void test_deep__others_do_not(void **state)
{
	(void)state;
	sampler.scratch.sample.record.generation++;
	assert_false(takes_list_first());
	sampler.scratch.sample.record.generation--;
	sampler.scratch.kept = 1;
	assert_false(takes_list_first());
	assert_int_equal(sampler.scratch.deep_left, 2);
}

/* The list is not begun without a grant. A list that has begun in vain is paid for. */
static void test_deep__without_a_list(void **state)
{
	(void)state;
	sampler.grant = NULL;
	assert_false(takes_list_first());
	sampler.grant = &grant;
	sampler.scratch.deep_address = TEXT + TEXT_BYTES;
	assert_false(takes_list_first());
	assert_int_equal(sampler.scratch.walk.list.on, 0);
	assert_int_equal(sampler.scratch.walk.deadline, 6 * SECOND);
	assert_true(grant.listed > 0);
}

/* A list whose groups have addresses needs the stack's marks. */
static void test_deep__of_tied_lists(void **state)
{
	(void)state;
	put_config(CONFIG)->flags |= RUNTIME_ANCHOR_NODE;
	assert_false(takes_list_first());
	put_config(CONFIG)->flags |= RUNTIME_ANCHOR_LIST;
	sampler.scratch.deep_left = 2;
	assert_false(takes_list_first());
	assert_int_equal(sampler.scratch.walk.list.on, 0);
}

static u32 check(u64 marks, u64 marked)
{
	sampler.scratch.walk.list.result = RUNTIME_WHOLE;
	sampler.scratch.walk.marks = marks;
	sampler.scratch.walk.marked = marked;
	sampler.scratch.deep_left = 7;
	check_first(&sampler.scratch);
	return sampler.scratch.walk.list.result;
}

/* The list counts if the innermost frame of an interpreter is of the same one. */
static void test_deep__another_interpreter_ends_it(void **state)
{
	(void)state;
	assert_true(takes_list_first());
	assert_int_equal(check(1, TEXT + 16), RUNTIME_WHOLE);
	assert_int_equal(sampler.scratch.deep_left, 7);
	assert_int_equal(check(1, OTHER_TEXT), RUNTIME_NONE_MET);
	assert_int_equal(sampler.scratch.deep_left, 0);
	assert_int_equal(check(1, TEXT + TEXT_BYTES), RUNTIME_NONE_MET);
	assert_int_equal(sampler.scratch.deep_left, 0);
	/* a stack that was cut before it has come to the interpreter */
	assert_int_equal(check(0, 0), RUNTIME_WHOLE);
	assert_int_equal(sampler.scratch.deep_left, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_deep__list_comes_first, setup),
		cmocka_unit_test_setup(test_deep__others_do_not, setup),
		cmocka_unit_test_setup(test_deep__without_a_list, setup),
		cmocka_unit_test_setup(test_deep__of_tied_lists, setup),
		cmocka_unit_test_setup(test_deep__another_interpreter_ends_it, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
