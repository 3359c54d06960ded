/* SPDX-License-Identifier: Apache-2.0 */
/* The sampler's counts where something has no room: every sample has one fate. */
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

#define PID 77u

static struct mm_struct address_space;

static int setup(void **state)
{
	(void)state;
	memset(&sampler, 0, sizeof(sampler));
	sampler.id = (u64)PID << 32 | PID;
	sampler.task.mm = &address_space;
	sampler.task.tgid = PID;
	sampler.regs[PT_CS] = 0x33;
	sampler.regs[PT_RIP] = 0x400000;
	worker_epoch = 0;
	sample_interval_ns = 0;
	return 0;
}

/* Takes so many samples, and checks that all are counted, so many under the reason. */
static void take_samples(u64 samples, enum sample_reason reason, u64 wanted)
{
	u64 sum = 0;

	for (u64 i = 0; i < samples; i++)
		assert_int_equal(on_sample(sampler.regs), 0);
	for (u32 i = 0; i < REASON_COUNT; i++)
		sum += sampler.counters.reason[i];
	assert_int_equal(sum, sampler.counters.samples);
	assert_int_equal(sampler.counters.reason[reason], wanted);
}

static void test_sample__nested_is_lost(void **state)
{
	(void)state;
	sampler.scratch.busy = 1;
	take_samples(3, REASON_lost_nested, 3);
	assert_int_equal(sampler.scratch.busy, 1);
	assert_int_equal(sampler.scratch.head, 0);
	sampler.scratch.busy = 0;
	take_samples(1, REASON_lost_nested, 3);
	assert_int_equal(sampler.scratch.busy, 0);
	assert_int_equal(sampler.counters.reason[REASON_cut_not_ready], 1);
}

static void test_sample__ring_is_filled_to_its_end_only(void **state)
{
	u64 most = (RING_BYTES_MIN - RECORD_BYTES_MAX) / (sizeof(struct record) + 8) + 1;

	(void)state;
	memset(sampler.ring + RING_BYTES_MIN, 0xa5, 64);
	take_samples(most + 10, REASON_lost_ring_full, 10);
	assert_true(sampler.scratch.head <= RING_BYTES_MIN);
	for (u32 i = 0; i < 64; i++)
		assert_int_equal(sampler.ring[RING_BYTES_MIN + i], 0xa5);
	sampler.tails.tail[0] = sampler.scratch.head;
	take_samples(1, REASON_lost_ring_full, 10);
}

static void test_sample__no_ring(void **state)
{
	(void)state;
	sampler.no_ring = true;
	take_samples(2, REASON_lost_internal, 2);
	assert_int_equal(sampler.scratch.busy, 0);
}

static void test_sample__no_generation(void **state)
{
	(void)state;
	sampler.no_room = true;
	take_samples(4, REASON_lost_generation, 4);
	sampler.no_room = false;
	take_samples(1, REASON_lost_generation, 4);
}

/* A CPU takes a second's worth at once, then so many a second, also after a long pause. */
static void test_sample__more_than_may_be_taken(void **state)
{
	(void)state;
	sample_interval_ns = SAMPLES_SAVED_NS / 10;
	sampler.now = SAMPLES_SAVED_NS;
	take_samples(50, REASON_lost_throttled, 39); /* one is under way */
	sampler.now += SAMPLES_SAVED_NS / 2;
	take_samples(50, REASON_lost_throttled, 39 + 45);
	sampler.now += 100 * SAMPLES_SAVED_NS;
	take_samples(50, REASON_lost_throttled, 39 + 45 + 39);
	assert_int_equal(sampler.scratch.busy, 0);
	sampler.now = 1ull << 62;
	take_samples(1, REASON_lost_throttled, 39 + 45 + 39);
}

/* A process that is not ready waits for the worker, but samples wake the worker seldom. */
static void test_sample__wakes_the_worker(void **state)
{
	(void)state;
	sampler.now = WAKE_EVERY_NS;
	take_samples(3, REASON_cut_not_ready, 3);
	assert_int_equal(sampler.forced, 2); /* the first sight, and one for all three samples */
	assert_int_equal(sampler.event.kind, EVENT_WAKE);
	sampler.now += WAKE_EVERY_NS;
	take_samples(1, REASON_cut_not_ready, 4);
	assert_int_equal(sampler.forced, 3);
}

static void test_sample__wakes_the_worker_where_a_ring_is_half_full(void **state)
{
	(void)state;
	sampler.now = WAKE_EVERY_NS;
	sampler.task.flags = PF_KTHREAD;
	sampler.scratch.head = RING_BYTES_MIN / 2;
	take_samples(1, REASON_end_no_user, 1);
	assert_int_equal(sampler.forced, 0);
	take_samples(2, REASON_end_no_user, 3);
	assert_int_equal(sampler.forced, 1);
	assert_int_equal(sampler.event.kind, EVENT_WAKE);
	sampler.now += WAKE_EVERY_NS;
	sampler.tails.tail[0] = sampler.scratch.head;
	take_samples(1, REASON_end_no_user, 4);
	assert_int_equal(sampler.forced, 1);
}

static void test_sample__wakes_the_worker_where_events_fill_their_ring(void **state)
{
	(void)state;
	sampler.events_waiting = EVENT_RING_BYTES / 2;
	tell(EVENT_EXIT, PID, 5, 0, 0);
	assert_int_equal(sampler.forced, 0);
	sampler.events_waiting++;
	tell(EVENT_EXIT, PID, 5, 0, 0);
	assert_int_equal(sampler.forced, 1);
}

static void test_sample__wakes_no_worker_that_looks_soon(void **state)
{
	(void)state;
	sampler.now = 1000;
	sampler.tails.next_look = 1002;
	tell(EVENT_EXEC, PID, 5, 0, 0); /* at 1001 */
	assert_int_equal(sampler.forced, 0);
	tell(EVENT_EXEC, PID, 5, 0, 0);
	assert_int_equal(sampler.forced, 1);
}

/* Within execve(2) the new memory comes before the event: then the kernel's frames are all. */
static void test_sample__within_an_exec(void **state)
{
	static struct mm_struct next;
	u64 within[PT_WORDS] = {[PT_CS] = 0x10};

	(void)state;
	take_samples(1, REASON_cut_not_ready, 1);
	sampler.task.mm = &next;
	assert_int_equal(on_sample(within), 0);
	take_samples(1, REASON_cut_exec, 1);
	assert_int_equal(sampler.counters.reason[REASON_end_exec], 1);
}

static struct process_slot *slot_of(u32 probe)
{
	return &sampler.processes.slot[(process_slot_hash(PID) + probe) & (PROCESS_SLOTS - 1)];
}

static void test_sample__table_of_processes_full(void **state)
{
	(void)state;
	for (u32 i = 0; i < PROCESS_PROBES; i++)
		slot_of(i)->key = process_slot_key(PID + 1 + i, 5);
	take_samples(1, REASON_cut_no_slot, 1);
	/* a place is free: the worker has only not come to it yet */
	slot_of(3)->key = PROCESS_SLOT_GONE;
	take_samples(1, REASON_cut_not_ready, 1);
	slot_of(3)->key = 0;
	take_samples(1, REASON_cut_not_ready, 2);
}

static void test_sample__no_room_for_mappings(void **state)
{
	(void)state;
	take_samples(1, REASON_cut_not_ready, 1);
	slot_of(2)->key = process_slot_key(PID, sampler.generation.number);
	slot_of(1)->key = PROCESS_SLOT_GONE;
	slot_of(0)->key = process_slot_key(PID + 1, 5);
	take_samples(2, REASON_cut_no_room, 2);
}

static void test_sample__no_room_is_not_the_parents(void **state)
{
	(void)state;
	take_samples(1, REASON_cut_not_ready, 1);
	sampler.generation.base_pid = PID;
	sampler.generation.base_number = sampler.generation.number + 1;
	slot_of(1)->key = process_slot_key(PID, sampler.generation.base_number);
	slot_of(1)->block = process_slot_block(16, 1, 1);
	/* without an answer the child has its parent's mappings */
	slot_of(0)->key = PROCESS_SLOT_GONE;
	take_samples(1, REASON_cut_no_mapping, 0);
	assert_int_equal(sampler.counters.reason[REASON_cut_not_ready], 2);
	assert_int_equal(sampler.scratch.walk.mappings, 1);
	slot_of(0)->key = process_slot_key(PID, sampler.generation.number);
	take_samples(1, REASON_cut_no_room, 1);
}

/* There was room for some of the mappings, but not for the one that the address is in. */
static void test_sample__no_room_for_all_mappings(void **state)
{
	(void)state;
	take_samples(1, REASON_cut_not_ready, 1);
	slot_of(0)->key = process_slot_key(PID, sampler.generation.number);
	slot_of(0)->block = process_slot_block(16, 1, 1) | PROCESS_SLOT_INCOMPLETE;
	take_samples(2, REASON_cut_no_room, 2);
	slot_of(0)->block = process_slot_block(16, 1, 1);
	take_samples(1, REASON_cut_no_room, 2);
}

static void test_sample__events_that_do_not_fit(void **state)
{
	(void)state;
	sampler.events_full = true;
	take_samples(2, REASON_cut_not_ready, 2);
	assert_int_equal(sampler.counters.events_lost, 1);
	on_exit(&(struct task_struct){.tgid = PID, .signal = &(struct signal_struct){.live = {0}}});
	assert_int_equal(sampler.counters.events_lost, 2);
}

static void test_sample__forks_that_do_not_fit(void **state)
{
	struct task_struct child = {.tgid = PID + 1, .mm = sampler.task.mm};

	(void)state;
	take_samples(1, REASON_cut_not_ready, 1);
	sampler.no_room = true;
	on_fork(&sampler.task, &child);
	on_exec(&child);
	assert_int_equal(sampler.counters.processes_lost, 2);
	assert_int_equal(sampler.counters.events_lost, 0);
}

static void publish(u64 number)
{
	slot_of(0)->key = process_slot_key(PID, number);
	slot_of(0)->block = process_slot_block(16, 1, 1);
}

/* Does what the loader and an honest worker do. */
static void begin_epoch(u32 epoch)
{
	worker_epoch = epoch;
	sampler.tails.tail[0] = RING_START(epoch);
}

/* Another worker is told of a process once, under the process's present generation. */
static void test_sample__epoch_announces_processes_again(void **state)
{
	u64 number;

	(void)state;
	take_samples(1, REASON_cut_not_ready, 1);
	number = sampler.generation.number;
	memset(&sampler.event, 0, sizeof(sampler.event));
	take_samples(1, REASON_cut_not_ready, 2);
	assert_int_equal(sampler.event.kind, 0);
	begin_epoch(1);
	take_samples(1, REASON_cut_not_ready, 3);
	assert_int_equal(sampler.event.kind, EVENT_SEEN);
	assert_int_equal(sampler.event.pid, PID);
	assert_int_equal(sampler.event.generation, number);
	memset(&sampler.event, 0, sizeof(sampler.event));
	take_samples(1, REASON_cut_not_ready, 4);
	assert_int_equal(sampler.event.kind, 0);
	assert_int_equal(sampler.generation.number, number);
	/* a start in this epoch has one event of its own */
	on_exec(&sampler.task);
	assert_int_equal(sampler.event.kind, EVENT_EXEC);
	take_samples(1, REASON_cut_not_ready, 5);
	assert_int_equal(sampler.event.kind, EVENT_EXEC);
}

/* A process leaves the recorded cgroup, executes a program there, and comes back. */
static void test_sample__exec_outside_of_the_cgroup(void **state)
{
	static struct mm_struct other;

	(void)state;
	filter_mode = FILTER_CGROUP;
	sampler.in_cgroup = true;
	take_samples(1, REASON_cut_not_ready, 1);
	sampler.in_cgroup = false;
	sampler.task.mm = &other;
	on_exec(&sampler.task);
	sampler.in_cgroup = true;
	take_samples(1, REASON_cut_not_ready, 2);
	filter_mode = FILTER_ALL;
}

/* The child has the parent's mappings and owner, so a new worker is told of the parent first. */
static void test_sample__fork_of_a_parent_that_the_worker_does_not_know(void **state)
{
	struct task_struct child = {.tgid = PID + 1, .mm = sampler.task.mm};

	(void)state;
	take_samples(1, REASON_cut_not_ready, 1);
	on_fork(&sampler.task, &child);
	assert_int_equal(sampler.events, 2);
	begin_epoch(1);
	sampler.generation_pid = PID;
	on_fork(&sampler.task, &child);
	assert_int_equal(sampler.events, 4);
	assert_int_equal(sampler.event.kind, EVENT_FORK);
	assert_int_equal(sampler.event.uid, 0);
}

/* A process was forked while there was no worker. Parent and child are both announced again. */
static void test_sample__epoch_of_a_fork(void **state)
{
	struct task_struct child = {.tgid = PID + 1, .mm = sampler.task.mm};

	(void)state;
	take_samples(1, REASON_cut_not_ready, 1);
	on_fork(&sampler.task, &child);
	assert_int_equal(sampler.generation_pid, PID + 1);
	begin_epoch(1);
	sampler.id = (u64)(PID + 1) << 32 | (PID + 1);
	memset(&sampler.event, 0, sizeof(sampler.event));
	take_samples(1, REASON_cut_not_ready, 2);
	assert_int_equal(sampler.event.kind, EVENT_SEEN);
	assert_int_equal(sampler.event.pid, PID + 1);
}

/* Positions begin anew, whatever the old worker claims, and none comes twice. */
static void test_sample__epoch_begins_the_ring_anew(void **state)
{
	const struct record *record = (const struct record *)sampler.ring;

	(void)state;
	take_samples(3, REASON_lost_ring_full, 0);
	sampler.tails.tail[0] = 0xdeadbeefdeadbeef;
	sampler.scratch.drained = 0xdeadbeefdeadbeef;
	take_samples(1, REASON_lost_ring_full, 1);
	begin_epoch(1);
	take_samples(1, REASON_lost_ring_full, 1);
	assert_int_equal(record->commit >> 16, RING_START(1));
	assert_true(sampler.scratch.head > RING_START(1));
	take_samples(1, REASON_lost_ring_full, 1);
	begin_epoch(2);
	take_samples(1, REASON_lost_ring_full, 1);
	assert_int_equal(record->commit >> 16, RING_START(2));
}

/* No address finds rules that were cached from an earlier worker's tables. */
static void test_sample__epoch_forgets_cached_rules(void **state)
{
	u64 before;

	(void)state;
	take_samples(1, REASON_cut_not_ready, 1);
	publish(sampler.generation.number);
	take_samples(1, REASON_cut_not_ready, 2);
	before = sampler.scratch.walk.multiplier;
	begin_epoch(1);
	take_samples(1, REASON_cut_not_ready, 3);
	assert_int_not_equal(sampler.scratch.walk.multiplier, before);
	assert_true(sampler.scratch.walk.multiplier & 1);
}

#define TEST(name) cmocka_unit_test_setup(test_sample__##name, setup)

/* ---- contexts of threads ---- */

#define HEAP	      0x600000000000ull
#define CONTEXT_COSTS ((u64)GRANT_TOLD_BYTES / CONTEXT_COST)

static struct segment segment;
static struct grant context_grant;
static u64 heap[8];

/* A process whose only variable leads to a record. */
static void publish_context(void)
{
	static const u8 record[CONTEXT_RECORD_BYTES] = "traceidtraceid..spanspan\1";
	const struct thread_context context = {
		.root = {.pc = HEAP, .start = RUNTIME_AT_PC, .steps = 1}};

	sampler.segment = &segment;
	sampler.user = heap;
	sampler.user_start = HEAP;
	sampler.user_bytes = sizeof(heap);
	sampler.now = 5000000000ull;
	heap[0] = HEAP + 8;
	memcpy(heap + 1, record, sizeof(record));
	memcpy(segment.word + 16 + 16 + 16, &context, sizeof(context));
	take_samples(1, REASON_cut_not_ready, 1);
	slot_of(0)->key = process_slot_key(PID, sampler.generation.number);
	slot_of(0)->block = process_slot_block(16, 1, 1) | PROCESS_SLOT_CONTEXT;
}

/* Takes a sample, and returns its record. */
static struct record *take_one(void)
{
	u64 at = sampler.scratch.head & (RING_BYTES_MIN - 1);
	struct record *record;

	if (at > RING_BYTES_MIN - RECORD_BYTES_MAX)
		at = 0;
	record = (struct record *)(sampler.ring + at);
	assert_int_equal(on_sample(sampler.regs), 0);
	assert_int_equal(record->commit & 0xffff, sizeof(*record) + 8 * record_words(record));
	sampler.tails.tail[0] = sampler.scratch.head;
	return record;
}

static void test_sample__context_needs_a_grant(void **state)
{
	struct record *record;
	struct grant lists = {0};

	(void)state;
	publish_context();
	sampler.grant = &lists; /* of lists alone */
	assert_int_equal(take_one()->context, CONTEXT_NOT_GRANTED);
	context_grant = (struct grant){0};
	sampler.context_grant = &context_grant;
	record = take_one();
	assert_int_equal(record->context, CONTEXT_TAKEN);
	assert_memory_equal((const u64 *)(record + 1) + record->kernel_frames + record->user_frames,
			    "traceidtraceid..spanspan", 24);
	assert_int_equal(lists.told, 0);
	/* another process says nothing of contexts: nobody looks */
	slot_of(0)->block &= ~PROCESS_SLOT_CONTEXT;
	context_grant.told = 0;
	assert_int_equal(take_one()->context, CONTEXT_NOT_PUBLISHED);
	assert_int_equal(context_grant.told, 0);
	sampler.context_grant = NULL;
}

#define GO_WORDS 64u

/* A thread whose goroutine has one label. The thread pointer is at the second word. */
static void publish_labels(u64 words[GO_WORDS])
{
	const struct thread_context context = {.go = {.thread_local_at = -8,
						      .current = 184,
						      .labels = 176,
						      .number = 152,
						      .form = GO_LABELS_LIST}};

	sampler.segment = &segment;
	sampler.user = words;
	sampler.user_start = HEAP;
	sampler.user_bytes = GO_WORDS * 8;
	sampler.now = 5000000000ull;
	memset(words, 0, GO_WORDS * 8);
	words[0] = HEAP + 16;		    /* the goroutine */
	words[2 + 48 / 8] = HEAP + 16;	    /* its thread, in the same memory */
	words[2 + 184 / 8] = HEAP + 16;	    /* the thread's goroutine */
	words[2 + 152 / 8] = 17;	    /* number */
	words[2 + 176 / 8] = HEAP + 32 * 8; /* labels */
	words[32] = HEAP + 34 * 8;	    /* a slice of one */
	words[33] = 1;
	words[34] = HEAP + 40 * 8;
	words[35] = 3;
	words[36] = HEAP + 41 * 8;
	words[37] = 100;
	memcpy(words + 40, "keykeyke", 8);
	memset(words + 41, 'v', 100);
	memcpy(segment.word + 16 + 16 + 16, &context, sizeof(context));
	take_samples(1, REASON_cut_not_ready, 1);
	slot_of(0)->key = process_slot_key(PID, sampler.generation.number);
	slot_of(0)->block = process_slot_block(16, 1, 1) | PROCESS_SLOT_LABELS;
	sampler.task.thread.fsbase = HEAP + 8;
	go_labels = 1;
}

/* The worker says that a process with a grant has labels, but the loader was not asked for them. */
static void test_sample__no_worker_asks_for_labels(void **state)
{
	static u64 words[GO_WORDS];
	struct grant grant = {0};

	(void)state;
	publish_labels(words);
	go_labels = 0;
	sampler.grant = &grant;
	for (u32 i = 0; i < 8; i++) {
		const struct record *record = take_one();

		assert_int_equal(record->labels, LABELS_NOT_WANTED);
		assert_int_equal(record->label_words, 0);
		assert_int_equal(sampler.scratch.walk.list.reads, 0);
		assert_int_equal(sampler.scratch.walk.goroutine, 0);
	}
	assert_int_equal(grant.listed, 0);
	sampler.grant = NULL;
}

static void test_sample__labels_need_a_grant(void **state)
{
	static u64 words[GO_WORDS];
	struct grant grant = {0};
	struct record *record;
	const u64 *labels;

	(void)state;
	publish_labels(words);
	sampler.grant = NULL;
	record = take_one();
	assert_int_equal(record->labels, LABELS_NOT_GRANTED);
	assert_int_equal(record->label_words, 0);
	sampler.grant = &grant;
	record = take_one();
	assert_int_equal(record->labels, LABELS_TAKEN);
	assert_int_equal(record->label_words, 1 + GO_LABEL_WORDS);
	labels = (const u64 *)(record + 1) + record->kernel_frames + record->user_frames;
	assert_int_equal(labels[0], 17);
	assert_int_equal(labels[1], 3 | GO_LABEL_BYTES << 8 | GO_VALUE_CUT);
	assert_memory_equal(labels + 2, "key", 3);
	assert_memory_equal(labels + 2 + GO_LABEL_BYTES / 8, words + 41, GO_LABEL_BYTES);
	assert_true(grant.listed > 0);
	/* as much as the grant allows was taken */
	grant.listed = sampler.now + GRANT_LISTED_NS;
	assert_int_equal(take_one()->labels, LABELS_OVERDRAWN);
	/* another process says nothing of labels: nobody looks */
	slot_of(0)->block &= ~PROCESS_SLOT_LABELS;
	assert_int_equal(take_one()->labels, LABELS_NOT_WANTED);
	sampler.grant = NULL;
}

/* Each look costs, whatever it finds. */
static void test_sample__contexts_are_bounded(void **state)
{
	u64 taken = 0;

	(void)state;
	publish_context();
	context_grant = (struct grant){0};
	sampler.context_grant = &context_grant;
	heap[0] = 0;
	assert_int_equal(take_one()->context, CONTEXT_NONE);
	for (;; taken++) {
		struct record *record = take_one();

		if (record->context == CONTEXT_OVERDRAWN)
			break;
		assert_int_equal(record->context, CONTEXT_NONE);
		assert_true(taken < 2 * CONTEXT_COSTS);
	}
	assert_true(taken >= CONTEXT_COSTS - 1 && taken < CONTEXT_COSTS + 100);
	heap[0] = HEAP + 8;
	assert_int_equal(take_one()->context, CONTEXT_OVERDRAWN);
	sampler.now += (u64)CONTEXT_COST * GRANT_TOLD_NS;
	assert_int_equal(take_one()->context, CONTEXT_TAKEN);
	sampler.context_grant = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nested_is_lost),
		TEST(exec_outside_of_the_cgroup),
		TEST(ring_is_filled_to_its_end_only),
		TEST(no_ring),
		TEST(no_generation),
		TEST(more_than_may_be_taken),
		TEST(wakes_the_worker),
		TEST(wakes_the_worker_where_a_ring_is_half_full),
		TEST(wakes_the_worker_where_events_fill_their_ring),
		TEST(wakes_no_worker_that_looks_soon),
		TEST(within_an_exec),
		TEST(table_of_processes_full),
		TEST(no_room_for_mappings),
		TEST(no_room_is_not_the_parents),
		TEST(no_room_for_all_mappings),
		TEST(events_that_do_not_fit),
		TEST(forks_that_do_not_fit),
		TEST(epoch_announces_processes_again),
		TEST(epoch_of_a_fork),
		TEST(fork_of_a_parent_that_the_worker_does_not_know),
		TEST(fork_of_a_parent_that_the_worker_does_not_know),
		TEST(epoch_begins_the_ring_anew),
		TEST(epoch_forgets_cached_rules),
		cmocka_unit_test_setup(test_sample__context_needs_a_grant, setup),
		cmocka_unit_test_setup(test_sample__labels_need_a_grant, setup),
		cmocka_unit_test_setup(test_sample__no_worker_asks_for_labels, setup),
		cmocka_unit_test_setup(test_sample__contexts_are_bounded, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
