/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel addresses in no range: the sampler asks the kernel for their names. */
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

#define PID  77u
#define LEAF 0xffffffffc0001234ull
#define BACK 0xffffffffc0005678ull

static int setup(void **state)
{
	(void)state;
	memset(&sampler, 0, sizeof(sampler));
	sampler.id = (u64)PID << 32 | PID;
	sampler.task.flags = PF_KTHREAD;
	sampler.now = 1;
	sampler.kernel_depth = 1;
	sampler.kernel[0] = LEAF;
	sampler.kernel[1] = BACK;
	sampler.symbol = "function [module]";
	worker_epoch = 0;
	kernel_range_count = 1;
	sampler.range[0] = (struct kernel_range){1, 2, 0};
	return 0;
}

/* Returns a frame of one sample. */
static u64 frame(u32 number)
{
	const u64 at = sampler.scratch.head;

	assert_int_equal(on_sample(sampler.regs), 0);
	return ((u64 *)(sampler.ring + at + sizeof(struct record)))[number];
}

/* Checks that a frame has the name that was told last. */
static void assert_named(u64 given)
{
	assert_int_equal(given, KERNEL_FRAME(KERNEL_RANGE_NAMED, sampler.event.generation));
	assert_int_not_equal(KERNEL_FRAME_OFFSET(given), 0);
}

static void test_late__is_told_once(void **state)
{
	u64 first;

	(void)state;
	first = frame(0);
	assert_int_equal(sampler.events, 1);
	assert_int_equal(sampler.event.kind, EVENT_NAME);
	assert_string_equal(sampler.name.name, "function [module]");
	assert_named(first);
	assert_int_equal(frame(0), first);
	assert_int_equal(sampler.events, 1);
}

/* A module may have gone since, and another module may lie in its place. */
static void test_late__is_asked_again_later(void **state)
{
	u64 first;

	(void)state;
	first = frame(0);
	sampler.symbol = "other [module]";
	assert_int_equal(frame(0), first);
	sampler.now += 1ull << LATE_AGE_BITS;
	assert_int_not_equal(frame(0), first);
	assert_string_equal(sampler.name.name, "other [module]");
	sampler.symbol = "function [module]";
	sampler.now += 1ull << LATE_AGE_BITS;
	assert_int_equal(frame(0), first);
	assert_int_equal(sampler.events, 3);
}

static void test_late__each_worker_is_told(void **state)
{
	u64 first;

	(void)state;
	first = frame(0);
	worker_epoch = 1;
	sampler.scratch.head = 0;
	sampler.scratch.epoch = 1;
	assert_int_equal(frame(0), first);
	assert_int_equal(sampler.events, 2);
}

/* Without a name the kernel prints the address. */
static void test_late__addresses_are_not_told(void **state)
{
	(void)state;
	sampler.symbol = "0xffffffffc0001234";
	assert_int_equal(frame(0), LATE_UNKNOWN);
	assert_int_equal(sampler.events, 0);
	sampler.symbol_address = 0;
	assert_int_equal(frame(0), LATE_UNKNOWN);
	assert_int_equal(sampler.symbol_address, 0);
}

static void test_late__no_room_for_the_name(void **state)
{
	(void)state;
	sampler.events_full = true;
	assert_int_equal(frame(0), LATE_UNKNOWN);
	sampler.events_full = false;
	assert_named(frame(0));
	assert_int_equal(sampler.events, 1);
}

/* Events of processes come first. */
static void test_late__half_of_the_ring_is_left(void **state)
{
	(void)state;
	sampler.events_waiting = EVENT_RING_BYTES / 2 + 8;
	assert_int_equal(frame(0), LATE_UNKNOWN);
	assert_int_equal(sampler.events, 0);
	sampler.events_waiting = 0;
	assert_named(frame(0));
}

static void test_late__not_where_addresses_are_hidden(void **state)
{
	(void)state;
	sampler.range[0] = (struct kernel_range){0, 0, 0};
	assert_int_equal(frame(0), LATE_UNKNOWN);
	assert_int_equal(sampler.events, 0);
}

static void test_late__names_are_cut_to_their_room(void **state)
{
	static char name[200];

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	sampler.symbol = name;
	assert_named(frame(0));
	assert_int_equal(strlen((char *)sampler.name.name), sizeof(sampler.name.name) - 1);
}

static void test_late__a_return_address_is_the_call(void **state)
{
	(void)state;
	frame(0);
	assert_int_equal(sampler.symbol_address, LEAF);
	sampler.kernel_depth = 2;
	frame(1);
	assert_int_equal(sampler.symbol_address, BACK - 1);
}

static void test_late__time_is_bounded(void **state)
{
	(void)state;
	sampler.kernel_depth = 2;
	sampler.symbol_takes = WALK_BUDGET_NS;
	assert_int_equal(frame(1), LATE_UNKNOWN);
	assert_int_equal(sampler.events, 1);
	assert_named(frame(1));
	assert_int_equal(sampler.events, 2);
}

static void test_late__ranges_that_last_are_not_asked(void **state)
{
	(void)state;
	kernel_range_count = 2;
	sampler.range[1] = (struct kernel_range){LEAF - 0x34, LEAF + 0x1000, 0};
	assert_int_equal(frame(0), KERNEL_FRAME(1, 0x34));
	assert_int_equal(sampler.events, 0);
}

/* Programs of BPF share pages: only the kernel knows which one is there now. */
static void test_late__in_a_range_of_programs(void **state)
{
	(void)state;
	kernel_range_count = 2;
	sampler.range[1] = (struct kernel_range){LEAF - 0x34, LEAF + 0x1000, 1};
	assert_named(frame(0));
	sampler.symbol = NULL;
	worker_epoch = 2;
	sampler.scratch.head = 0;
	sampler.scratch.epoch = 2;
	assert_int_equal(frame(0), LATE_UNKNOWN);
}

/* Two CPUs wrote to one place at once: the place belongs to neither address. */
static void test_late__torn_entries_are_nobodys(void **state)
{
	u64 first;

	(void)state;
	first = frame(0);
	for (u32 i = 0; i < 1 << LATE_BITS; i++)
		sampler.late[i].known ^= sampler.late[i].known ? 1ull << 40 : 0;
	assert_int_equal(frame(0), first);
	assert_int_equal(sampler.events, 2);
}

#define TEST(name) cmocka_unit_test_setup(test_late__##name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(is_told_once),
		TEST(is_asked_again_later),
		TEST(each_worker_is_told),
		TEST(addresses_are_not_told),
		TEST(no_room_for_the_name),
		TEST(half_of_the_ring_is_left),
		TEST(not_where_addresses_are_hidden),
		TEST(names_are_cut_to_their_room),
		TEST(a_return_address_is_the_call),
		TEST(time_is_bounded),
		TEST(ranges_that_last_are_not_asked),
		TEST(in_a_range_of_programs),
		TEST(torn_entries_are_nobodys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
