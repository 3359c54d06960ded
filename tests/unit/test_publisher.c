/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/time.h"
#include "tests/unit/fake_target.h"
#include "object/elf/image.h"
#include "worker/process/mapping.h"
#include "worker/process/object.h"
#include "worker/process/process.h"
#include "worker/process/publisher.h"
#include "worker/runtime/runtime.h"
#include "worker/process/segments.h"
#include "worker/process/table.h"

static struct fake_target fake;
static struct process_table slots;
static struct segments *segments;
static struct publisher *publisher;

static int setup(void **state)
{
	(void)state;
	fake_target_init(&fake);
	memset(&slots, 0, sizeof(slots));
	segments = segments_new(&fake.target, 1);
	segments_attach(segments, fake_segment());
	publisher = publisher_new(segments, &slots);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	publisher_free(publisher);
	segments_free(segments);
	return 0;
}

/* Finds the block as BPF does. */
static u64 find(uint32_t pid, u64 generation)
{
	for (uint32_t i = 0; i < PROCESS_PROBES; i++) {
		const struct process_slot *slot =
			&slots.slot[(process_slot_hash(pid) + i) & (PROCESS_SLOTS - 1)];

		if (slot->key == 0)
			return 0;
		if (slot->key == process_slot_key(pid, generation))
			return slot->block;
	}
	return 0;
}

static const struct mapping_entry *entry(u64 block, uint32_t index)
{
	uint32_t word = (uint32_t)(block & 0xffffff) << 4, count = block >> 24 & 0x1fff;
	uintptr_t at = (uintptr_t)(segments_at(segments, word) + 2 * (size_t)count);

	return (const struct mapping_entry *)((at + 63) / 64 * 64) + index;
}

static struct mappings *make(uint32_t count, struct object *object)
{
	struct mappings *mappings = mappings_new();

	for (uint64_t i = 0; i < count; i++) {
		const struct mapping mapping = {.start = 0x100000 * (i + 1),
						.end = 0x100000 * (i + 1) + 0x4000,
						.offset = 0x1000,
						.file = (struct file *)(i + 1),
						.object = object};

		assert_int_equal(mappings_add(mappings, &mapping), 1);
	}
	return mappings;
}

static void test_publisher__block_reads_back(void **state)
{
	struct image_segment text = {
		.address = 0x401000, .file_offset = 0x1000, .file_size = 0x4000};
	struct table table = {.first_page = 64, .pages = 128, .directory = 32, .dictionary = 48};
	struct object object = {
		.state = OBJECT_READY, .segments = &text, .segment_count = 1, .table = &table};

	(void)state;
	for (uint32_t count = 1; count < 40; count++) {
		struct mappings *mappings = make(count, &object);
		const u64 *starts;
		u64 block;

		mappings->version = 5;
		assert_int_equal(publisher_build(publisher, mappings, count), 1);
		assert_int_equal(publisher_publish(publisher, count, 9, mappings), 0);
		block = find(count, 9);
		assert_int_equal(block >> 24 & 0x1fff, count);
		assert_int_equal(process_slot_version(block), 5);
		starts = (const u64 *)segments_at(segments, (uint32_t)(block & 0xffffff) << 4);
		for (uint32_t i = 0; i < count; i++) {
			assert_int_equal(starts[i], 0x100000 * (i + 1));
			assert_int_equal(entry(block, i)->start, starts[i]);
			assert_int_equal(entry(block, i)->bias, starts[i] - 0x401000);
			assert_int_equal(entry(block, i)->flags, MAPPING_HAS_TABLE);
			assert_int_equal(entry(block, i)->first_page, 64);
			assert_int_equal(entry(block, i)->dictionary, 48);
		}
		publisher_release(publisher, mappings, count);
		mappings_free(mappings);
	}
}

/* A Go program's labels have a place behind the entries, with a context or without. */
static void test_publisher__labels_of_goroutines(void **state)
{
	struct image_segment text = {
		.address = 0x401000, .file_offset = 0x1000, .file_size = 0x4000};
	struct table table = {0};
	struct object object = {
		.state = OBJECT_READY,
		.segments = &text,
		.segment_count = 1,
		.table = &table,
		.go = {.thread_local_at = -8, .labels = 352, .form = GO_LABELS_LIST}};
	struct mappings *mappings = make(3, &object);
	const struct thread_context *context;
	u64 block;

	(void)state;
	object.context = (struct runtime_root){.start = RUNTIME_AT_NOTHING};
	assert_int_equal(publisher_build(publisher, mappings, 1), 1);
	assert_int_equal(publisher_publish(publisher, 3, 9, mappings), 0);
	block = find(3, 9);
	assert_true(block & PROCESS_SLOT_LABELS);
	assert_false(block & PROCESS_SLOT_CONTEXT);
	assert_int_equal(process_slot_version(block), mappings->version);
	context = (const struct thread_context *)entry(block, 3);
	assert_int_equal(context->root.start, RUNTIME_AT_NOTHING);
	assert_int_equal(context->go.thread_local_at, -8);
	assert_int_equal(context->go.labels, 352);
	assert_int_equal(context->go.word, 0);
	/* a library */
	object.go.word = 0x408000;
	mappings->dirty = true;
	assert_int_equal(publisher_build(publisher, mappings, NS_PER_SECOND), 1);
	assert_int_equal(publisher_publish(publisher, 3, 9, mappings), 0);
	block = find(3, 9);
	context = (const struct thread_context *)entry(block, 3);
	assert_int_equal(context->go.word, 0x408000 + entry(block, 0)->bias);
	publisher_release(publisher, mappings, 3);
	mappings_free(mappings);
}

/* The first object that publishes contexts says where, behind the entries. */
static void test_publisher__context_of_threads(void **state)
{
	struct image_segment text = {
		.address = 0x401000, .file_offset = 0x1000, .file_size = 0x4000};
	struct table table = {0};
	struct object object = {
		.state = OBJECT_READY, .segments = &text, .segment_count = 1, .table = &table};

	(void)state;
	for (uint32_t count = 1; count < 20; count++) {
		struct mappings *mappings = make(count, &object);
		const struct thread_context *context;
		u64 block;

		object.context = (struct runtime_root){.start = RUNTIME_AT_NOTHING};
		assert_int_equal(publisher_build(publisher, mappings, count), 1);
		assert_int_equal(publisher_publish(publisher, count, 9, mappings), 0);
		assert_false(find(count, 9) & PROCESS_SLOT_CONTEXT);
		object.context = (struct runtime_root){
			.start = RUNTIME_AT_DESCRIPTOR, .pc = 0x402000, .steps = 1};
		mappings->dirty = true;
		assert_int_equal(publisher_build(publisher, mappings, count + NS_PER_SECOND), 1);
		assert_int_equal(publisher_publish(publisher, count, 9, mappings), 0);
		block = find(count, 9);
		assert_true(block & PROCESS_SLOT_CONTEXT);
		assert_int_equal(process_slot_version(block), mappings->version);
		context = (const struct thread_context *)entry(block, count);
		assert_int_equal(context->root.start, RUNTIME_AT_DESCRIPTOR);
		assert_int_equal(context->root.pc, 0x402000 + entry(block, 0)->bias);
		assert_int_equal(context->root.steps, 1);
		assert_int_equal(context->go.thread_local_at, 0);
		publisher_release(publisher, mappings, count);
		mappings_free(mappings);
	}
}

/* As in test_naming__two_segments_share_a_page. */
static void test_publisher__mapping_has_the_bias_of_its_own_segment(void **state)
{
	struct image_segment texts[] = {
		{.address = 0x1000, .file_offset = 0x1000, .file_size = 0x400},
		{.address = 0x8400, .file_offset = 0x1400, .file_size = 0x1000},
	};
	struct table table = {0};
	struct object object = {
		.state = OBJECT_READY, .segments = texts, .segment_count = 2, .table = &table};
	const struct mapping first = {.start = 0x40000000,
				      .end = 0x40001000,
				      .offset = 0x1000,
				      .object = &object},
			     second = {.start = 0x40007000,
				       .end = 0x40009000,
				       .offset = 0x1000,
				       .object = &object};
	struct mapping_entry entry;

	(void)state;
	publisher_entry(&first, &entry);
	assert_int_equal(0x400003fe - entry.bias, 0x13fe);
	publisher_entry(&second, &entry);
	assert_int_equal(0x40007420 - entry.bias, 0x8420);
	/* no guess */
	texts[1].file_size = 0x800;
	publisher_entry(&first, &entry);
	assert_int_equal(entry.flags, 0);
}

/* Code in shared memory has the rule of the runtime that made it, as soon as that one is ready. */
static void test_publisher__rule_of_code_in_shared_memory(void **state)
{
	const u64 rule = RULE_MAKE(RULE_SP, 0, 0x123456, 128, 0);
	struct image_segment text = {
		.address = 0x401000, .file_offset = 0x1000, .file_size = 0x4000};
	struct table table = {.directory = 32, .dictionary = 48};
	struct runtime_setup setup = {.made_rule = rule};
	struct object maker = {.state = OBJECT_PARSING, .segments = &text, .segment_count = 1},
		      anonymous = {.state = OBJECT_READY, .anonymous = true};
	struct mapping made = {.start = 0x500000, .end = 0x600000, .object = &anonymous};
	struct mapping shared = {
		.start = 0x600000, .end = 0x700000, .object = &anonymous, .is_shared = true};
	struct mappings *mappings = make(1, &maker);

	(void)state;
	assert_int_equal(mappings_add(mappings, &made), 1);
	assert_int_equal(mappings_add(mappings, &shared), 1);
	assert_int_equal(publisher_build(publisher, mappings, 1), 1);
	publisher_publish(publisher, 1, 1, mappings);
	assert_int_equal(entry(find(1, 1), 1)->flags, 0);
	assert_int_equal(entry(find(1, 1), 2)->flags, MAPPING_PENDING);
	maker.state = OBJECT_READY;
	maker.table = &table;
	maker.setup = &setup;
	publisher_look_for_ready(mappings);
	assert_true(mappings->dirty);
	assert_int_equal(publisher_build(publisher, mappings, NS_PER_SECOND), 1);
	publisher_publish(publisher, 1, 1, mappings);
	assert_true(entry(find(1, 1), 0)->rule == RULE_NONE);
	assert_true(entry(find(1, 1), 1)->rule == RULE_NONE);
	assert_int_equal(entry(find(1, 1), 2)->flags, 0);
	assert_true(entry(find(1, 1), 2)->rule == rule);
	publisher_release(publisher, mappings, NS_PER_SECOND);
	mappings_free(mappings);
}

/* So has code in other anonymous memory. It waits for an object that has the name of Ruby alone. */
static void test_publisher__rule_of_code_in_own_memory(void **state)
{
	struct image_segment text = {
		.address = 0x401000, .file_offset = 0x1000, .file_size = 0x4000};
	struct table table = {.directory = 32, .dictionary = 48};
	struct runtime_setup setup = {.own_rule = RULE_MAKE(RULE_SP, 0, 0, 32, 0),
				      .own_framed_rule = RULE_MAKE(RULE_BP, 0, 0, 16, 0)};
	char name[] = "/usr/lib/libruby-3.1.so.3.1.2", other[] = "/usr/lib/librubyist.so";
	struct object maker = {.state = OBJECT_PARSING, .segments = &text, .segment_count = 1},
		      anonymous = {.state = OBJECT_READY, .anonymous = true};
	struct mapping made = {.start = 0x500000, .end = 0x600000, .object = &anonymous};
	struct mappings *mappings = make(1, &maker);

	(void)state;
	maker.name = other;
	assert_int_equal(mappings_add(mappings, &made), 1);
	assert_int_equal(publisher_build(publisher, mappings, 1), 1);
	publisher_publish(publisher, 1, 1, mappings);
	assert_int_equal(entry(find(1, 1), 1)->flags, 0);
	maker.name = name;
	mappings->dirty = true;
	assert_int_equal(publisher_build(publisher, mappings, NS_PER_SECOND), 1);
	publisher_publish(publisher, 1, 1, mappings);
	assert_int_equal(entry(find(1, 1), 1)->flags, MAPPING_PENDING);
	maker.state = OBJECT_READY;
	maker.table = &table;
	maker.setup = &setup;
	publisher_look_for_ready(mappings);
	assert_true(mappings->dirty);
	assert_int_equal(publisher_build(publisher, mappings, 2 * NS_PER_SECOND), 1);
	publisher_publish(publisher, 1, 1, mappings);
	assert_int_equal(entry(find(1, 1), 1)->flags, 0);
	assert_true(entry(find(1, 1), 1)->rule == setup.own_rule);
	assert_true(entry(find(1, 1), 1)->framed_rule == setup.own_framed_rule);
	maker.name = NULL; /* not allocated */
	publisher_release(publisher, mappings, 2 * NS_PER_SECOND);
	mappings_free(mappings);
}

/* HotSpot's code goes on behind its mapping, up to the next one. Other code does not. */
static void test_publisher__code_that_grows(void **state)
{
	struct image_segment text = {
		.address = 0x401000, .file_offset = 0x1000, .file_size = 0x4000};
	struct table table = {.runtime = 64};
	struct runtime_setup setup = {.config.flags = RUNTIME_HEAPS};
	struct object maker = {.state = OBJECT_READY,
			       .segments = &text,
			       .segment_count = 1,
			       .table = &table,
			       .setup = &setup},
		      anonymous = {.state = OBJECT_READY, .anonymous = true};
	struct mapping first = {.start = 0x500000, .end = 0x510000, .object = &anonymous};
	struct mapping second = {.start = 0x540000, .end = 0x550000, .object = &anonymous};
	struct mappings *mappings = make(1, &maker);

	(void)state;
	assert_int_equal(mappings_add(mappings, &first), 1);
	assert_int_equal(mappings_add(mappings, &second), 1);
	assert_int_equal(publisher_build(publisher, mappings, 1), 1);
	publisher_publish(publisher, 1, 1, mappings);
	assert_int_equal(entry(find(1, 1), 0)->end, 0x104000);
	assert_int_equal(entry(find(1, 1), 1)->end, 0x540000);
	assert_int_equal(entry(find(1, 1), 2)->end, 0x650000);
	setup.config.flags = RUNTIME_STACKED;
	mappings->dirty = true;
	assert_int_equal(publisher_build(publisher, mappings, NS_PER_SECOND), 1);
	publisher_publish(publisher, 1, 1, mappings);
	assert_int_equal(entry(find(1, 1), 1)->end, 0x510000);
	publisher_release(publisher, mappings, NS_PER_SECOND);
	mappings_free(mappings);
}

static void test_publisher__flags_follow_the_object(void **state)
{
	struct object object = {.state = OBJECT_PARSING};
	struct mappings *mappings = make(1, &object);

	(void)state;
	publisher_build(publisher, mappings, 1);
	assert_int_equal(mappings->open[0].flags, MAPPING_PENDING);
	publisher_publish(publisher, 1, 1, mappings);
	assert_int_equal(entry(find(1, 1), 0)->flags, MAPPING_PENDING);
	object.state = OBJECT_FAILED;
	mappings->dirty = true;
	assert_int_equal(publisher_build(publisher, mappings, NS_PER_MS), 1);
	publisher_publish(publisher, 1, 1, mappings);
	assert_int_equal(entry(find(1, 1), 0)->flags, 0);
	publisher_release(publisher, mappings, NS_PER_MS);
	mappings_free(mappings);
}

/* Nothing but the label changes: pending, no room, a table at last. */
static void test_publisher__no_room_for_a_table_is_said(void **state)
{
	struct image_segment text = {
		.address = 0x401000, .file_offset = 0x1000, .file_size = 0x4000};
	struct table table = {.directory = 32, .dictionary = 48};
	struct object object = {.state = OBJECT_STORING, .segments = &text, .segment_count = 1};
	struct process process = {.pid = 1, .generation = 1, .state = PROCESS_READY};
	struct mappings *mappings = process.mappings = make(1, &object);

	(void)state;
	assert_int_equal(publisher_update(publisher, &process, NS_PER_SECOND), 1);
	assert_int_equal(entry(find(1, 1), 0)->flags, MAPPING_PENDING);
	object.no_room = true;
	publisher_look_for_ready(mappings);
	assert_int_equal(publisher_update(publisher, &process, 2 * NS_PER_SECOND), 1);
	assert_int_equal(entry(find(1, 1), 0)->flags, MAPPING_NO_ROOM);
	publisher_look_for_ready(mappings);
	assert_false(mappings->dirty);
	object.state = OBJECT_READY;
	publisher_look_for_ready(mappings);
	assert_false(mappings->dirty);
	object.table = &table;
	publisher_look_for_ready(mappings);
	assert_int_equal(publisher_update(publisher, &process, 3 * NS_PER_SECOND), 1);
	assert_int_equal(entry(find(1, 1), 0)->flags, MAPPING_HAS_TABLE);
	publisher_release(publisher, mappings, NS_PER_SECOND);
	mappings_free(mappings);
}

static void test_publisher__no_room_for_a_block_is_said(void **state)
{
	struct process process = {.pid = 1, .generation = 1, .state = PROCESS_READY};
	struct mappings *mappings = process.mappings = make(1, NULL);
	struct publisher_counts counts;
	uint32_t all;

	(void)state;
	assert_int_equal(segments_alloc(segments, SEGMENT_WORDS - SEGMENTS_ALIGN, &all), 0);
	assert_int_equal(publisher_update(publisher, &process, 1), -ENOSPC);
	assert_int_equal(publisher_update(publisher, &process, 2), -ENOSPC);
	assert_int_equal(slots.slot[process_slot_hash(1)].key, process_slot_key(1, 1));
	assert_int_equal(find(1, 1), 0);
	publisher_counts(publisher, &counts);
	assert_int_equal(counts.no_room, 1);
	assert_int_equal(counts.no_slot, 0);
	segments_discard(segments, all, SEGMENT_WORDS - SEGMENTS_ALIGN);
	assert_int_equal(publisher_update(publisher, &process, 3), 1);
	assert_true(find(1, 1) != 0);
	publisher_release(publisher, mappings, 3);
	mappings_free(mappings);
}

/* The block says too little, and tells the walk. It goes once it says something wrong. */
static void test_publisher__no_room_for_another_block_is_said(void **state)
{
	const struct mapping added = {.start = 0x900000, .end = 0x904000};
	const struct mapping instead = {.start = 0x900000, .end = 0x904000, .file = (void *)9};
	struct process process = {.pid = 1, .generation = 1, .state = PROCESS_READY};
	struct mappings *mappings = process.mappings = make(1, NULL);
	struct publisher_counts counts;
	uint32_t all, rest, words;
	u64 block;

	(void)state;
	assert_int_equal(publisher_update(publisher, &process, NS_PER_SECOND), 1);
	block = find(1, 1);
	assert_false(block & PROCESS_SLOT_INCOMPLETE);
	words = SEGMENT_WORDS - SEGMENTS_ALIGN - 2 * SEGMENTS_ALIGN;
	assert_int_equal(segments_alloc(segments, words, &all), 0);
	assert_int_equal(mappings_add(mappings, &added), 1);
	assert_int_equal(publisher_update(publisher, &process, 2 * NS_PER_SECOND), -ENOSPC);
	assert_int_equal(find(1, 1), block | PROCESS_SLOT_INCOMPLETE);
	publisher_counts(publisher, &counts);
	assert_int_equal(counts.no_room, 1);
	/* an address has another meaning now: nobody walks the block or keeps it */
	assert_int_equal(mappings_add(mappings, &instead), 1);
	assert_int_equal(publisher_update(publisher, &process, 3 * NS_PER_SECOND), -ENOSPC);
	assert_int_equal(find(1, 1), 0);
	assert_null(mappings->block);
	segments_turn(segments, 3 * NS_PER_SECOND + SEGMENTS_GRACE);
	assert_int_equal(segments_alloc(segments, 2 * SEGMENTS_ALIGN, &rest), 0);
	assert_int_equal(rest, (block & 0xffffff) << 4);
	segments_discard(segments, all, words);
	assert_int_equal(publisher_update(publisher, &process, 6 * NS_PER_SECOND), 1);
	assert_true(find(1, 1) != 0 && !(find(1, 1) & PROCESS_SLOT_INCOMPLETE));
	publisher_counts(publisher, &counts);
	assert_int_equal(counts.no_room, 1);
	publisher_release(publisher, mappings, 6 * NS_PER_SECOND);
	mappings_free(mappings);
}

static void test_publisher__no_slot_is_counted(void **state)
{
	struct process process = {.pid = 1, .generation = 1, .state = PROCESS_READY};
	struct mappings *mappings = process.mappings = make(1, NULL);
	struct publisher_counts counts;

	(void)state;
	for (size_t i = 0; i < PROCESS_SLOTS; i++)
		slots.slot[i].key = process_slot_key(1000 + (u32)i, 1);
	publisher_update(publisher, &process, 1);
	publisher_update(publisher, &process, 2);
	publisher_counts(publisher, &counts);
	assert_int_equal(counts.no_slot, 1);
	assert_int_equal(counts.no_room, 0);
	publisher_release(publisher, mappings, 2);
	mappings_free(mappings);
}

/* The mappings change every millisecond; the test counts the published blocks. */
static unsigned int publish_changes(struct mappings *mappings, uint64_t milliseconds)
{
	unsigned int built = 0;

	for (uint64_t i = 0; i < milliseconds; i++) {
		mappings->dirty = true;
		built += publisher_build(publisher, mappings, NS_PER_SECOND + i * NS_PER_MS) > 0;
	}
	return built;
}

static void test_publisher__constant_change_of_much_is_slowed_down(void **state)
{
	struct mappings *few = make(1, NULL), *many = make(1000, NULL);

	(void)state;
	assert_int_equal(publish_changes(few, 100), 100);
	/* 72 bytes each at 4 MiB a second: one in 18 ms */
	assert_int_equal(publish_changes(many, 100), 6);
	publisher_release(publisher, few, 2 * NS_PER_SECOND);
	publisher_release(publisher, many, 2 * NS_PER_SECOND);
	mappings_free(few);
	mappings_free(many);
}

static void test_publisher__generations_of_a_pid_have_slots(void **state)
{
	struct mappings *mappings = make(1, NULL);

	(void)state;
	publisher_build(publisher, mappings, 1);
	publisher_publish(publisher, 77, 1, mappings);
	publisher_publish(publisher, 77, 2, mappings);
	assert_true(find(77, 1) != 0);
	assert_true(find(77, 2) != 0);
	publisher_retract(publisher, 77, 1);
	assert_int_equal(find(77, 1), 0);
	assert_true(find(77, 2) != 0);
	publisher_retract(publisher, 77, 2);
	assert_int_equal(find(77, 2), 0);
	publisher_release(publisher, mappings, 1);
	mappings_free(mappings);
}

static void test_publisher__an_old_block_keeps_its_version(void **state)
{
	struct mappings *mappings = make(1000, NULL);

	(void)state;
	mappings->version = 5;
	assert_int_equal(publisher_build(publisher, mappings, NS_PER_SECOND), 1);
	assert_false(publisher_outdated(mappings));
	mappings->version = 6;
	mappings->dirty = true;
	assert_int_equal(publisher_build(publisher, mappings, NS_PER_SECOND + 1), -EAGAIN);
	assert_true(publisher_outdated(mappings));
	publisher_publish(publisher, 1, 1, mappings);
	assert_int_equal(process_slot_version(find(1, 1)), 5);
	assert_int_equal(publisher_build(publisher, mappings, 2 * NS_PER_SECOND), 1);
	publisher_publish(publisher, 1, 1, mappings);
	assert_int_equal(process_slot_version(find(1, 1)), 6);
	publisher_release(publisher, mappings, 2 * NS_PER_SECOND);
	mappings_free(mappings);
}

static void test_publisher__many_come_and_go(void **state)
{
	struct mappings *mappings = make(1, NULL);
	uint32_t used = 0;

	(void)state;
	publisher_build(publisher, mappings, 1);
	for (uint32_t pid = 1; pid < 200000; pid++) {
		assert_int_equal(publisher_publish(publisher, pid, 3, mappings), 0);
		if (pid > 1000) {
			assert_true(find(pid - 1000, 3) != 0);
			publisher_retract(publisher, pid - 1000, 3);
			assert_int_equal(find(pid - 1000, 3), 0);
		}
	}
	for (size_t i = 0; i < PROCESS_SLOTS; i++)
		used += slots.slot[i].key != 0 && slots.slot[i].key != PROCESS_SLOT_GONE;
	assert_int_equal(used, 1000);
	publisher_release(publisher, mappings, 1);
	mappings_free(mappings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_publisher__block_reads_back, setup, teardown),
		cmocka_unit_test_setup_teardown(test_publisher__context_of_threads, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_publisher__labels_of_goroutines, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			test_publisher__mapping_has_the_bias_of_its_own_segment, setup, teardown),
		cmocka_unit_test_setup_teardown(test_publisher__rule_of_code_in_shared_memory,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_publisher__rule_of_code_in_own_memory, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_publisher__code_that_grows, setup, teardown),
		cmocka_unit_test_setup_teardown(test_publisher__flags_follow_the_object, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_publisher__no_room_for_a_table_is_said, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_publisher__no_room_for_a_block_is_said, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_publisher__no_room_for_another_block_is_said,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_publisher__no_slot_is_counted, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			test_publisher__constant_change_of_much_is_slowed_down, setup, teardown),
		cmocka_unit_test_setup_teardown(test_publisher__generations_of_a_pid_have_slots,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_publisher__an_old_block_keeps_its_version,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_publisher__many_come_and_go, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
