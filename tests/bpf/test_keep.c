/* SPDX-License-Identifier: Apache-2.0 */
/* Samples that wait for the mappings of their process: the sampler on the host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/bpf/sampler.h"

#define PID   77u
#define STACK 0x7ffc00001000ull
#define TEXT  0x7f0000400000ull
#define WORDS 512u /* a page */

static struct mm_struct address_space;
static u64 stack[WORDS];

static int setup(void **state)
{
	(void)state;
	memset(&sampler, 0, sizeof(sampler));
	memset(stack, 0, sizeof(stack));
	kept_count = draining = 0;
	sampler.id = (u64)PID << 32 | PID;
	sampler.task.mm = &address_space;
	sampler.task.tgid = PID;
	sampler.regs[PT_CS] = 0x33;
	sampler.regs[PT_RIP] = TEXT;
	sampler.regs[PT_RSP] = STACK + 1024;
	sampler.user = stack;
	sampler.user_start = STACK;
	sampler.user_bytes = sizeof(stack);
	address_space.start_stack = STACK + 2048;
	return 0;
}

static void tick(void)
{
	u64 sum = 0;

	assert_int_equal(on_sample(sampler.regs), 0);
	for (u32 i = 0; i < REASON_COUNT; i++)
		sum += sampler.counters.reason[i];
	assert_int_equal(sum - sampler.counters.kept_done, sampler.counters.samples);
	assert_int_equal(sampler.scratch.busy, 0);
}

/* Lets the CPU be idle: a tick takes no sample of its own. */
static void tick_idle(void)
{
	u64 id = sampler.id;

	sampler.id = 0;
	tick();
	sampler.id = id;
}

static bool is_wiped(const struct kept *slot)
{
	const u8 *bytes = (const u8 *)slot;

	for (size_t i = 0; i < sizeof(*slot); i++)
		if (bytes[i])
			return false;
	return true;
}

static const struct record *first_record(void)
{
	return (const struct record *)sampler.ring;
}

static void publish(u32 pid, u64 generation)
{
	struct process_slot *slot = &sampler.processes.slot[process_slot_hash(pid)];

	slot->key = process_slot_key(pid, generation);
	slot->block = process_slot_block(0, 0, 1);
}

static void test_keep__waits_with_its_stack(void **state)
{
	(void)state;
	stack[1024 / 8] = 0x5ec0de;
	tick();
	assert_int_equal(kept_count, 1);
	assert_int_equal(sampler.event.kind, EVENT_WAITS);
	assert_int_equal(sampler.event.pid, PID);
	assert_int_equal(sampler.event.generation, sampler.generation.number);
	assert_int_equal(sampler.scratch.head, 0);
	assert_int_equal(sampler.counters.reason[REASON_cut_not_ready], 1);

	const struct kept *slot = &sampler.kept[sampler.queue[0]];

	assert_int_equal(slot->sample.copy[0].start, STACK + 1024 - WALK_RED_ZONE);
	assert_int_equal(slot->sample.copy[0].bytes, WALK_RED_ZONE + 1024 + 8);
	assert_int_equal(slot->stack[WALK_RED_ZONE / 8], 0x5ec0de);
}

static void test_keep__is_a_leaf_after_its_time(void **state)
{
	(void)state;
	tick();
	u64 time = sampler.kept[sampler.queue[0]].sample.record.time;

	tick_idle();
	assert_int_equal(kept_count, 1);
	assert_int_equal(sampler.scratch.head, 0);
	sampler.now += KEPT_FOR_NS;
	tick_idle();
	assert_int_equal(kept_count, 0);
	assert_int_equal(sampler.counters.samples, 1);
	assert_int_equal(first_record()->time, time);
	assert_int_equal(first_record()->pid, PID);
	assert_int_equal(first_record()->reason, REASON_cut_not_ready);
	assert_int_equal(first_record()->user_frames, 1);
	for (u32 i = 0; i < KEPT_SLOTS_MIN; i++)
		assert_true(is_wiped(&sampler.kept[i]));
}

/* The mappings say that there is no room, which is an answer. */
static void test_keep__is_walked_when_its_mappings_are_there(void **state)
{
	(void)state;
	tick();
	publish(PID, sampler.generation.number);
	tick_idle();
	assert_int_equal(kept_count, 0);
	assert_int_equal(first_record()->reason, REASON_cut_no_room);
	assert_int_equal(sampler.counters.kept_done, 1);
	assert_int_equal(sampler.counters.reason[REASON_cut_not_ready], 1);
	assert_int_equal(sampler.counters.reason[REASON_cut_no_room], 1);
}

static void test_keep__other_mappings_do_not_serve(void **state)
{
	(void)state;
	tick();
	publish(PID, sampler.generation.number + 1);
	tick_idle();
	assert_int_equal(kept_count, 1);
	assert_int_equal(sampler.scratch.head, 0);
}

/* The walk of the copy has only return addresses that were behind a call in the process. */
static void test_keep__knows_the_calls(void **state)
{
	(void)state;
	*((u8 *)stack + 64 - 5) = 0xe8;
	stack[1024 / 8] = STACK + 64;
	sampler.regs[PT_RSP] = STACK + 1024;
	address_space.start_code = STACK;
	address_space.end_code = STACK + 512;
	stack[1032 / 8] = STACK + 128;
	tick();
	sampler.scratch.kept = sampler.queue[0] + 1;
	assert_true(walk_copy_calls(STACK + 64));
	assert_false(walk_copy_calls(STACK + 128));
	address_space.start_code = address_space.end_code = 0;
}

/* A handler at an address of the stack, which has interrupted code at STACK + 512. */
static void put_signal(u64 at)
{
	u64 code = SIGRETURN_CODE;

	address_space.start_code = STACK;
	address_space.end_code = STACK + 256;
	memcpy((u8 *)stack + 64, &code, sizeof(code));
	stack[at / 8] = STACK + 64;
	stack[at / 8 + 21] = STACK + 512;
	stack[at / 8 + 22] = STACK + 100;
	stack[512 / 8] = 0x5ec0de;
}

static void test_keep__follows_a_signal_to_the_stack_below(void **state)
{
	const struct kept *slot = &sampler.kept[0];
	u64 first = WALK_RED_ZONE + 1024 + 8;

	(void)state;
	put_signal(1024);
	tick();
	assert_int_equal(kept_count, 1);
	assert_int_equal(slot->sample.copy[0].bytes, first);
	assert_int_equal(slot->sample.copy[1].start, STACK + 512 - WALK_RED_ZONE);
	assert_int_equal(slot->sample.copy[1].bytes, WALK_RED_ZONE + 2048 + 8 - 512);
	assert_int_equal(slot->sample.copy[1].at, (u64)slot->stack + first);
	assert_int_equal(slot->stack[(first + WALK_RED_ZONE) / 8], 0x5ec0de);
	sampler.scratch.kept = 1;
	assert_true(walk_copy_calls((STACK + 64) | KEPT_SIGRETURN));
	assert_true(walk_copy_calls((STACK + 100) | KEPT_SAVED_PC));
	address_space.start_code = address_space.end_code = 0;
}

/* Words below the stack pointer are of a handler that has returned. */
static void test_keep__follows_no_signal_of_before(void **state)
{
	const struct kept *slot = &sampler.kept[0];

	(void)state;
	put_signal(1024 - 8);
	tick();
	assert_int_equal(kept_count, 1);
	assert_int_equal(slot->sample.copy[1].bytes, 0);
	address_space.start_code = address_space.end_code = 0;
}

/* The handler's stack fills the copy: what is above the signal's frame makes room. */
static void test_keep__makes_room_for_the_stack_below(void **state)
{
	static u64 large[32 * 1024 / 8];
	const struct kept *slot = &sampler.kept[0];
	u64 end_of_frame = WALK_RED_ZONE + 23 * 8;

	(void)state;
	put_signal(1024);
	memcpy(large, stack, sizeof(stack));
	sampler.user = large;
	sampler.user_bytes = sizeof(large);
	address_space.start_stack = STACK + sizeof(large) - 8;
	tick();
	assert_int_equal(kept_count, 1);
	assert_int_equal(slot->sample.copy[0].bytes, end_of_frame);
	assert_int_equal(slot->sample.copy[1].at, (u64)slot->stack + end_of_frame);
	assert_true(slot->sample.copy[1].bytes > 8192);
	assert_int_equal(slot->stack[(end_of_frame + WALK_RED_ZONE) / 8], 0x5ec0de);
	address_space.start_code = address_space.end_code = 0;
}

/* ---- Go ---- */

#define GO_START  0xc000000000ull
#define GO_LOCAL  GO_START
#define GO_M	  (GO_START + 0x100)
#define GO_G0	  (GO_START + 0x300)
#define GO_G	  (GO_START + 0x400)
#define GO_G0_SP  (GO_START + 0x1800)
#define GO_G0_END (GO_START + 0x2000)
#define GO_LEFT	  (GO_START + 0x2400)
#define GO_LOW	  (GO_START + 0x2000)
#define GO_HIGH	  (GO_START + 0x3000)

static u64 go_memory[4 * WORDS];

static u64 *word_of_go(u64 address)
{
	return &go_memory[(address - GO_START) / 8];
}

/* A thread of Go 1.26 works on its own stack, and its goroutine has left another one. */
static void put_go(void)
{
	memset(go_memory, 0, sizeof(go_memory));
	sampler.task.thread.fsbase = GO_LOCAL - GO_THREAD_LOCAL;
	sampler.user = go_memory;
	sampler.user_start = GO_START;
	sampler.user_bytes = sizeof(go_memory);
	sampler.regs[PT_RSP] = GO_G0_SP;
	address_space.start_stack = GO_START - 8;
	*word_of_go(GO_LOCAL) = *word_of_go(GO_M) = GO_G0;
	*word_of_go(GO_M + GO_CURRENT_125) = GO_G;
	*word_of_go(GO_G0 + 48) = *word_of_go(GO_G + 48) = GO_M;
	*word_of_go(GO_G0 + 8) = GO_G0_END;
	*word_of_go(GO_G) = GO_LOW;
	*word_of_go(GO_G + 8) = GO_HIGH;
	*word_of_go(GO_G + 56) = GO_LEFT;
	*word_of_go(GO_G + 64) = GO_START + 0x608; /* behind a call */
	*((u8 *)word_of_go(GO_START + 0x600) + 3) = 0xe8;
	*word_of_go(GO_G + 72) = GO_G;
	*word_of_go(GO_LEFT) = 0x5ec0de;
}

static void test_keep__has_the_stack_that_a_goroutine_left(void **state)
{
	const struct sample *sample = &sampler.kept[0].sample;
	const u64 own = WALK_RED_ZONE + GO_G0_END - GO_G0_SP;

	(void)state;
	put_go();
	tick();
	assert_int_equal(kept_count, 1);
	assert_int_equal(sample->copy[0].bytes, own);
	assert_int_equal(sample->copy[1].start, GO_LEFT - WALK_RED_ZONE);
	assert_int_equal(sample->copy[1].bytes, WALK_RED_ZONE + GO_HIGH - GO_LEFT);
	assert_int_equal(sampler.kept[0].stack[(own + WALK_RED_ZONE) / 8], 0x5ec0de);
	assert_int_equal(sample->go.goroutine, GO_G);
	assert_int_equal(sample->go.layouts, 2);
	assert_int_equal(sample->go.call >> 24 & 0xff, 0xe8);
	sampler.scratch.kept = 1;
	assert_true(walk_copy_calls(GO_START + 0x608));
}

static void test_keep__knows_both_layouts_of_go(void **state)
{
	const struct sample *sample = &sampler.kept[0].sample;

	(void)state;
	put_go();
	*word_of_go(GO_M + GO_CURRENT_125) = 0;
	tick();
	assert_int_equal(sample->go.layouts, 3);
	assert_int_equal(sample->copy[1].bytes, 0);
	sampler.queued = kept_count = 0;
	memset(sampler.kept, 0, sizeof(sampler.kept));
	sampler.scratch.kept_next = 0;
	*word_of_go(GO_M + GO_CURRENT_116) = GO_G;
	tick();
	assert_int_equal(sample->go.layouts, 1);
	assert_int_equal(sample->copy[1].start, GO_LEFT - WALK_RED_ZONE);
}

/* The kernel's clock runs on the thread's stack, and r12 has the goroutine's stack pointer. */
static void test_keep__has_the_stack_behind_a_clock(void **state)
{
	const struct sample *sample = &sampler.kept[0].sample;

	(void)state;
	put_go();
	*word_of_go(GO_LOCAL) = GO_G;
	sampler.regs[PT_R12] = GO_LEFT + 256;
	tick();
	assert_int_equal(sample->copy[1].start, GO_LEFT + 256 - WALK_RED_ZONE);
	assert_int_equal(sample->copy[1].bytes, WALK_RED_ZONE + GO_HIGH - GO_LEFT - 256);
}

/* Where words do not agree, or the goroutine is on its own stack, there is one copy. */
static void test_keep__has_one_stack_otherwise(void **state)
{
	static const u64 words[] = {GO_LOCAL,	GO_M,	   GO_M + GO_CURRENT_125,
				    GO_G0 + 48, GO_G + 48, GO_G + 56,
				    GO_G + 72,	GO_G0 + 8};
	const struct sample *sample = &sampler.kept[0].sample;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		setup(state);
		put_go();
		*word_of_go(words[i]) = 4;
		tick();
		assert_int_equal(kept_count, 1);
		if (words[i] != GO_G0 + 8)
			assert_int_equal(sample->copy[1].bytes, 0);
	}
	setup(state);
	put_go();
	sampler.regs[PT_RSP] = GO_LEFT - 256;
	tick();
	assert_int_equal(sample->go.layouts, 2);
	assert_int_equal(sample->copy[1].bytes, 0);
}

static void test_keep__has_so_many_places(void **state)
{
	(void)state;
	for (u32 i = 0; i < KEPT_SLOTS_MIN; i++)
		tick();
	assert_int_equal(kept_count, KEPT_SLOTS_MIN);
	assert_int_equal(sampler.scratch.head, 0);
	tick();
	assert_int_equal(kept_count, KEPT_SLOTS_MIN);
	assert_int_equal(first_record()->reason, REASON_cut_not_ready);
	assert_int_equal(sampler.counters.reason[REASON_cut_not_ready], KEPT_SLOTS_MIN + 1);
}

static void test_keep__not_without_a_stack(void **state)
{
	(void)state;
	sampler.user_bytes = 0;
	tick();
	assert_int_equal(kept_count, 0);
	assert_int_equal(first_record()->reason, REASON_cut_not_ready);
}

/* At the end of a recording no sample is taken, and the kept ones are finished. */
static void test_keep__no_more_at_the_end(void **state)
{
	(void)state;
	tick();
	draining = 1;
	tick();
	assert_int_equal(kept_count, 1);
	publish(PID, sampler.generation.number);
	tick();
	assert_int_equal(kept_count, 0);
	assert_int_equal(sampler.counters.samples, 1);
	assert_int_equal(sampler.counters.reason[REASON_cut_not_ready], 1);
	assert_int_equal(sampler.counters.kept_done, 1);
}

/* A fault is about to make the lowest page. */
static void test_keep__begins_above_an_unreadable_page(void **state)
{
	const struct kept *slot = &sampler.kept[0];

	(void)state;
	sampler.regs[PT_RSP] = STACK - 8;
	tick();
	assert_int_equal(kept_count, 1);
	assert_int_equal(slot->sample.copy[0].start, STACK);
	assert_int_equal(slot->sample.copy[0].bytes, 2048 + 8);
}

/* At low rates an interrupt that kept a sample also walks one, with a budget of its own. */
static void test_keep__walk_begins_late(void **state)
{
	struct scratch *scratch = &sampler.scratch;
	u64 began;

	(void)state;
	tick();
	publish(PID, sampler.generation.number);
	sampler.now += 2 * walk_extension_ns;
	began = sampler.now - walk_extension_ns;
	assert_int_equal(take_kept(scratch, began), 0);
	began += walk_extension_ns - walk_budget_ns;
	assert_int_equal(take_kept(scratch, began), 1);
	assert_in_range(scratch->late, walk_budget_ns, walk_extension_ns);
}

/* A copy has not all of the stack: the walk of a kept sample may end where the copy ends. */
static void test_keep__lacks_stack_because_it_waited(void **state)
{
	const u32 reasons[] = {REASON_cut_read, REASON_cut_not_a_call};
	struct scratch *scratch = &sampler.scratch;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		tick();
		publish(PID, sampler.generation.number);
		assert_int_equal(take_kept(scratch, sampler.now), 1);
		assert_int_equal(end_sample(reasons[i], sampler.now), 0);
		assert_int_equal(sampler.counters.reason[reasons[i]], 0);
		assert_int_equal(sampler.counters.reason[REASON_cut_not_ready], 2 * (i + 1));
		assert_int_equal(sampler.generation.unkept, 0);
		scratch->kept = 0;
		assert_int_equal(reason_told(scratch, reasons[i]), reasons[i]);
		memset(&sampler.processes, 0, sizeof(sampler.processes));
	}
	assert_int_equal(first_record()->reason, REASON_cut_not_ready);
}

static void test_keep__ring_full(void **state)
{
	(void)state;
	tick();
	publish(PID, sampler.generation.number);
	sampler.scratch.head = RING_BYTES_MIN;
	tick_idle();
	assert_int_equal(kept_count, 0);
	assert_int_equal(sampler.counters.reason[REASON_lost_ring_full], 1);
	assert_true(is_wiped(&sampler.kept[0]));
}

#define TEST(name) cmocka_unit_test_setup(test_keep__##name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(waits_with_its_stack),
		TEST(is_a_leaf_after_its_time),
		TEST(is_walked_when_its_mappings_are_there),
		TEST(other_mappings_do_not_serve),
		TEST(knows_the_calls),
		TEST(follows_a_signal_to_the_stack_below),
		TEST(follows_no_signal_of_before),
		TEST(makes_room_for_the_stack_below),
		TEST(has_the_stack_that_a_goroutine_left),
		TEST(knows_both_layouts_of_go),
		TEST(has_the_stack_behind_a_clock),
		TEST(has_one_stack_otherwise),
		TEST(has_so_many_places),
		TEST(not_without_a_stack),
		TEST(no_more_at_the_end),
		TEST(begins_above_an_unreadable_page),
		TEST(walk_begins_late),
		TEST(lacks_stack_because_it_waited),
		TEST(ring_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
