/* SPDX-License-Identifier: Apache-2.0 */
/* Code of runtimes: what BPF tells of it, how often, and how much a grant allows. */
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

#define HEAP	   0x600000000000ull
#define HEAP_BYTES 0x6000u
#define CODE	   (HEAP + 0x100)
#define AT_NAME	   24
#define AT_FILE	   32
#define NAME	   (HEAP + 0x1004) /* no text is aligned */
#define FILE_NAME  (HEAP + HEAP_BYTES - 8)
#define FAMILY	   4711u
#define SECOND	   1000000000ull

static u8 heap[HEAP_BYTES];
static struct grant grant;

static int setup(void **state)
{
	struct runtime_list *list = &sampler.scratch.walk.list;

	(void)state;
	memset(&sampler, 0, sizeof(sampler));
	worker_epoch = 0;
	for (u32 i = 0; i < sizeof(heap); i++)
		heap[i] = (u8)(i * 7);
	sampler.user = heap;
	sampler.user_start = HEAP;
	sampler.user_bytes = sizeof(heap);
	sampler.now = 5 * SECOND;
	grant = (struct grant){0};
	sampler.grant = &grant;
	sampler.scratch.sample.family = FAMILY;
	sampler.scratch.sample.record.pid = 77;
	sampler.scratch.sample.record.generation = 4712;
	list->told = TOLD_CODE_SAMPLE;
	sampler.scratch.walk.deadline = ~0ull;
	list->config.part[0] = RUNTIME_CODE_ITSELF;
	list->config.part[1] = list->config.part[3] = AT_NAME;
	list->config.part[2] = AT_FILE;
	list->memory[AT_NAME / 8] = NAME;
	list->memory[AT_FILE / 8] = FILE_NAME;
	return 0;
}

static void test_code__parts(void **state)
{
	static const u32 begins[] = {0, CODE_PART_1, CODE_PART_2, CODE_PART_3};
	static const u64 addresses[] = {CODE, NAME, FILE_NAME, NAME};
	const u32 bytes[] = {CODE_PART_1, CODE_PART_2 - CODE_PART_1, 8, LAST_SHORT};
	const struct event_code *code = &sampler.code;

	(void)state;
	sampler.scratch.walk.marked = 0x400123;
	assert_int_equal(tell_code(CODE, 9), 1);
	assert_int_equal(sampler.codes, 1);
	assert_int_equal(code->marked, 0x400123);
	assert_int_equal(code->event.kind, EVENT_CODE);
	assert_int_equal(code->event.pid, 77);
	assert_int_equal(code->event.generation, 4712);
	assert_int_equal(code->event.parent_generation, FAMILY);
	assert_int_equal(code->event.uid, 0);
	assert_int_equal(code->code, CODE);
	assert_int_equal(code->fingerprint, 9);
	for (u32 i = 0; i < RUNTIME_PARTS; i++) {
		assert_int_equal(code->address[i], addresses[i]);
		assert_int_equal(code->bytes[i], bytes[i]);
		assert_memory_equal(code->data + begins[i], heap + (addresses[i] - HEAP), bytes[i]);
	}
}

/* The last part has elements, which the code counts. */
static void test_code__a_last_part_of_elements(void **state)
{
	struct runtime_list *list = &sampler.scratch.walk.list;

	(void)state;
	list->config.last_count = 12;
	list->config.last_unit = 4;
	list->memory[1] = 25ull << 32;
	assert_int_equal(tell_code(CODE, 1), 1);
	assert_int_equal(sampler.code_bytes, EVENT_CODE_SHORT_BYTES);
	assert_int_equal(sampler.code.bytes[3], 100);
	list->memory[1] = (u64)LAST_SHORT << 32;
	assert_int_equal(tell_code(CODE, 2), 1);
	assert_int_equal(sampler.code_bytes, sizeof(struct event_code));
	list->memory[1] = ~0ull;
	assert_int_equal(tell_code(CODE, 3), 1);
	assert_int_equal(sampler.code.bytes[3], LAST_LONG);
}

/* Tells of code from a frame at an instruction. Returns the size of the last part, or 0. */
static u32 tell_at(u64 instruction)
{
	sampler.scratch.walk.list.told_at = instruction;
	if (!tell_code(CODE, 9))
		return 0;
	return sampler.code.bytes[3];
}

/* Processes share instructions: an event has those up to the page of the frame. */
static void test_code__again_with_more_instructions(void **state)
{
	struct runtime_list *list = &sampler.scratch.walk.list;
	const u64 first = HEAP + 0xf00;

	(void)state;
	list->config.flags = RUNTIME_OWNED;
	list->config.part[3] = 40;
	list->config.last_count = 12;
	list->config.last_unit = 32;
	list->memory[5] = first;
	list->memory[1] = 288ull << 32; /* 9,216 bytes, in four pages */
	sampler.user_bytes = 0x3000;	/* the last one is not there */
	assert_int_equal(tell_at(first), 0x100);
	assert_int_equal(tell_at(first + 0xe0), 0);
	assert_int_equal(tell_at(first + 0x1100), 0x2100);
	assert_memory_equal(sampler.code.data + CODE_PART_3, heap + 0xf00, 0x2100);
	assert_int_equal(tell_at(first + 0x100), 0);
	assert_int_equal(tell_at(first), 0);
	/* no instruction of this code */
	assert_int_equal(tell_at(first - 1), 0);
	assert_int_equal(tell_at(~0ull), 0);
	sampler.user_bytes = sizeof(heap);
	assert_int_equal(tell_at(first + 0x2100), 9216);
	assert_int_equal(tell_at(first + 0x2100), 0);
	assert_int_equal(tell_at(first), 0);
}

static void test_code__with_the_name_that_a_caller_has(void **state)
{
	struct runtime_list *list = &sampler.scratch.walk.list;
	const struct event_code *code = &sampler.code;

	(void)state;
	list->name = FILE_NAME - 64;
	assert_int_equal(is_told(CODE, 9), 0);
	assert_int_equal(tell_code(CODE, 9), 1);
	assert_int_equal(is_told(CODE, 9), 1);
	assert_int_equal(is_told(CODE, 10), 0);
	assert_int_equal(code->name, FILE_NAME - 64);
	assert_memory_equal(code->text, heap + (FILE_NAME - 64 - HEAP), RUNTIME_TEXT_BYTES);
	list->name = 0;
	assert_int_equal(tell_code(CODE, 11), 1);
	assert_int_equal(code->name, 0);
}

/* Code that a caller without a name called first is told again when another one has a name. */
static void test_code__again_with_a_name(void **state)
{
	struct runtime_list *list = &sampler.scratch.walk.list;

	(void)state;
	assert_int_equal(tell_code(CODE, 9), 1);
	assert_int_equal(is_told(CODE, 9), 0);
	assert_int_equal(tell_code(CODE, 9), 0);
	list->name = FILE_NAME - 64;
	assert_int_equal(tell_code(CODE, 9), 1);
	assert_int_equal(is_told(CODE, 9), 1);
	assert_int_equal(tell_code(CODE, 9), 0);
	list->name = 0;
	assert_int_equal(tell_code(CODE, 9), 0);
	/* an instruction of the caller says as much */
	list->call = 77;
	assert_int_equal(tell_code(CODE, 10), 1);
	assert_int_equal(sampler.code.called_by, 77);
	assert_int_equal(is_told(CODE, 10), 1);
	list->call = 0;
}

static void put_size(u64 size)
{
	memset(heap + 0x1000, 0, 64);
	memcpy(heap + 0x1000 + 16, &size, 8);
}

static void test_code__a_last_part_of_any_size(void **state)
{
	struct runtime_list *list = &sampler.scratch.walk.list;
	const struct event_code *code = &sampler.code;

	(void)state;
	list->config.last_size = 16;
	list->memory[AT_NAME / 8] = HEAP + 0x1000;
	put_size(100);
	assert_int_equal(tell_code(CODE, 1), 1);
	assert_int_equal(sampler.code_bytes, EVENT_CODE_SHORT_BYTES);
	assert_int_equal(code->bytes[3], 140);
	put_size(LAST_SHORT);
	assert_int_equal(tell_code(CODE, 2), 1);
	assert_int_equal(sampler.code_bytes, sizeof(struct event_code));
	assert_int_equal(code->bytes[3], LAST_SHORT + 40);
	assert_memory_equal(code->data + CODE_PART_3, heap + 0x1000, LAST_SHORT + 40);
	put_size(~0ull);
	assert_int_equal(tell_code(CODE, 3), 1);
	assert_int_equal(code->bytes[3], LAST_LONG);
	/* a size that cannot be read */
	list->memory[AT_NAME / 8] = HEAP + HEAP_BYTES - 8;
	assert_int_equal(tell_code(CODE, 4), 1);
	assert_int_equal(code->bytes[3], 8);
}

static void test_code__each_is_told_once(void **state)
{
	(void)state;
	assert_int_equal(tell_code(CODE, 9), 1);
	assert_int_equal(tell_code(CODE, 9), 0);
	assert_int_equal(tell_code(CODE, 10), 1);
	sampler.scratch.sample.family++;
	assert_int_equal(tell_code(CODE, 9), 1);
	/* another worker knows nothing yet */
	worker_epoch++;
	assert_int_equal(tell_code(CODE, 9), 1);
	/* a worker forgets what no sample meets */
	sampler.scratch.sample.record.time += 1ull << TOLD_CODE_FOR_BITS;
	assert_int_equal(tell_code(CODE, 9), 1);
	assert_int_equal(sampler.codes, 5);
	assert_int_equal(sampler.scratch.walk.list.told, TOLD_CODE_SAMPLE - 5);
}

/* A CPU has marks at hand, also those that code of another place has put out of the map. */
static void test_code__marks_at_hand(void **state)
{
	u64 mark, *told;
	u32 place;

	(void)state;
	sampler.scratch.walk.list.call = 1; /* no caller has a name for it */
	assert_int_equal(is_told(CODE, 9), 0);
	assert_int_equal(tell_code(CODE, 9), 1);
	assert_int_equal(is_told(CODE, 9), 1);
	mark = code_mark(&sampler.scratch, CODE, 9);
	place = mark >> (64 - TOLD_CODE_BITS);
	told = bpf_map_lookup_elem(&told_code, &place);
	assert_int_equal(*told, mark);
	*told = 0;
	assert_int_equal(is_told(CODE, 9), 1);
	assert_int_equal(is_told(CODE, 10), 0);
	worker_epoch++;
	assert_int_equal(is_told(CODE, 9), 0);
}

static void test_code__not_without_room(void **state)
{
	(void)state;
	sampler.events_waiting = EVENT_RING_BYTES / 2 + 1;
	assert_int_equal(tell_code(CODE, 9), 0);
	sampler.events_waiting = 0;
	sampler.events_full = true;
	assert_int_equal(tell_code(CODE, 9), 0);
	sampler.events_full = false;
	assert_int_equal(tell_code(CODE, 9), 1);
}

static void test_code__not_without_time(void **state)
{
	(void)state;
	sampler.scratch.walk.deadline = sampler.now + TOLD_CODE_LEAVES_NS - 1;
	for (u32 i = 0; i < TOLD_CODE_ALWAYS; i++)
		assert_int_equal(tell_code(CODE, i), 1);
	assert_int_equal(tell_code(CODE, 9), 0);
	sampler.scratch.walk.deadline += 1000; /* the clock moves with each look */
	assert_int_equal(tell_code(CODE, 9), 1);
}

static void test_code__pointers_that_lead_nowhere(void **state)
{
	struct runtime_list *list = &sampler.scratch.walk.list;

	(void)state;
	list->memory[AT_NAME / 8] = 0;
	list->memory[AT_FILE / 8] = ~0ull << 47;
	assert_int_equal(tell_code(CODE, 9), 1);
	assert_int_equal(sampler.code.bytes[0], CODE_PART_1);
	for (u32 i = 1; i < RUNTIME_PARTS; i++)
		assert_int_equal(sampler.code.bytes[i], 0);
}

static u32 tell_all(u64 *code)
{
	u32 told = 0;

	sampler.scratch.walk.list.told = ~0u;
	while (tell_code(*code, 9)) {
		*code += 16;
		told++;
	}
	return told;
}

static void test_code__a_grant_is_a_budget(void **state)
{
	const u64 a_second = SECOND / GRANT_TOLD_NS / EVENT_CODE_SHORT_BYTES;
	u64 code = CODE;

	(void)state;
	assert_int_equal(tell_all(&code), GRANT_TOLD_BYTES / EVENT_CODE_SHORT_BYTES);
	sampler.now += SECOND;
	assert_in_range(tell_all(&code), a_second - 2, a_second + 4);
	/* what is not used is kept, up to a limit */
	sampler.now += 1000 * SECOND;
	assert_int_equal(tell_all(&code), GRANT_TOLD_BYTES / EVENT_CODE_SHORT_BYTES);
	sampler.now += 1000 * SECOND;
	sampler.grant = NULL;
	assert_int_equal(tell_all(&code), 0);
}

#define LIST_BYTES (8 * RECORD_RUNTIME_WORDS_MAX + 8)

/* Takes lists until none may be taken. Returns their number. */
static u32 take_lists(u32 words, int end)
{
	u32 lists = 0;
	int r;

	sampler.scratch.walk.list.words = words;
	while ((r = grant_begin_list()) == RUNTIME_WHOLE && lists < 10000000) {
		grant_end_list();
		lists++;
	}
	assert_int_equal(r, end);
	return lists;
}

static void test_code__lists_have_a_budget_of_their_own(void **state)
{
	u64 code = CODE;

	(void)state;
	assert_int_equal(take_lists(RECORD_RUNTIME_WORDS_MAX, RUNTIME_OVERDRAWN),
			 GRANT_LISTED_BYTES / LIST_BYTES);
	assert_int_equal(tell_all(&code), GRANT_TOLD_BYTES / EVENT_CODE_SHORT_BYTES);
	sampler.now += SECOND;
	assert_in_range(take_lists(RECORD_RUNTIME_WORDS_MAX, RUNTIME_OVERDRAWN), 846, 849);
	/* a list of no words tells something, too */
	sampler.now += 1000 * SECOND;
	assert_in_range(take_lists(0, RUNTIME_OVERDRAWN), (GRANT_LISTED_BYTES - LIST_BYTES) / 8 - 1,
			(GRANT_LISTED_BYTES - LIST_BYTES) / 8 + 16000);
	sampler.grant = NULL;
	assert_int_equal(take_lists(0, RUNTIME_NOT_GRANTED), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_code__parts, setup),
		cmocka_unit_test_setup(test_code__a_last_part_of_any_size, setup),
		cmocka_unit_test_setup(test_code__a_last_part_of_elements, setup),
		cmocka_unit_test_setup(test_code__again_with_more_instructions, setup),
		cmocka_unit_test_setup(test_code__with_the_name_that_a_caller_has, setup),
		cmocka_unit_test_setup(test_code__again_with_a_name, setup),
		cmocka_unit_test_setup(test_code__each_is_told_once, setup),
		cmocka_unit_test_setup(test_code__marks_at_hand, setup),
		cmocka_unit_test_setup(test_code__not_without_room, setup),
		cmocka_unit_test_setup(test_code__not_without_time, setup),
		cmocka_unit_test_setup(test_code__pointers_that_lead_nowhere, setup),
		cmocka_unit_test_setup(test_code__a_grant_is_a_budget, setup),
		cmocka_unit_test_setup(test_code__lists_have_a_budget_of_their_own, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
