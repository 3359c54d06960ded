/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of a target that filters take, and the parts of their stacks: the sampler on the host. */
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

#define PID	77u
#define ADDRESS 0x400000u

static struct mm_struct address_space;
static struct cred cred;
static u64 entry[PT_WORDS];

static int setup(void **state)
{
	(void)state;
	memset(&sampler, 0, sizeof(sampler));
	memset((void *)&sample_filter, 0, sizeof(sample_filter));
	memset((void *)sample_filter.uid, 0xff, sizeof(sample_filter.uid));
	cred = (struct cred){{1000}, {1000}};
	sampler.id = (u64)PID << 32 | PID;
	sampler.task = (struct task_struct){.mm = &address_space, .tgid = PID, .real_cred = &cred};
	sampler.kernel_depth = 3;
	sampler.regs[PT_CS] = entry[PT_CS] = 0x33;
	sampler.regs[PT_RIP] = entry[PT_RIP] = ADDRESS;
	sampler.entry = entry;
	return 0;
}

static void in_the_kernel(void)
{
	sampler.regs[PT_CS] = 0x10;
}

/* Returns the record of one sample. NULL: the sample is filtered, and leaves only its count. */
static const struct record *sample(void)
{
	const struct counters before = sampler.counters;
	const u64 head = sampler.scratch.head;

	on_sample(sampler.regs);
	if (sampler.counters.filtered == before.filtered) {
		assert_int_equal(sampler.counters.samples, before.samples + 1);
		return (const struct record *)(sampler.ring + head);
	}
	assert_int_equal(sampler.counters.filtered, before.filtered + 1);
	assert_int_equal(sampler.counters.samples, before.samples);
	assert_int_equal(sampler.scratch.head, head);
	return NULL;
}

static void test_filter__nothing_is_left_out_at_first(void **state)
{
	const struct record *record = sample();

	(void)state;
	assert_non_null(record);
	assert_int_equal(record->kernel_frames, 0);
	assert_int_equal(record->user_frames, 1);
	in_the_kernel();
	record = sample();
	assert_non_null(record);
	assert_int_equal(record->kernel_frames, 3);
	assert_int_equal(record->user_frames, 1);
}

static void test_filter__by_effective_user(void **state)
{
	(void)state;
	sample_filter.uid[0] = 7;
	assert_null(sample());
	assert_int_equal(sampler.events, 0); /* the worker is not told of it */
	cred.uid.val = 7;
	assert_null(sample());
	cred.euid.val = 7;
	assert_non_null(sample());
	cred.euid.val = 0;
	assert_null(sample());
}

static void test_filter__by_each_of_several_users(void **state)
{
	(void)state;
	for (u32 i = 0; i < FILTER_PLACES; i++)
		sample_filter.uid[i] = 100 * i;
	for (u32 i = 0; i < FILTER_PLACES; i++) {
		cred.euid.val = 100 * i;
		assert_non_null(sample());
		cred.euid.val++;
		assert_null(sample());
	}
}

static void test_filter__without_kernel_stacks(void **state)
{
	const struct record *record;

	(void)state;
	sample_filter.hides = FILTER_NO_KERNEL;
	assert_non_null(sample());
	in_the_kernel();
	record = sample();
	assert_non_null(record);
	assert_int_equal(record->kernel_frames, 0);
	assert_int_equal(record->flags, RECORD_FLAG_KERNEL_MODE);
	assert_int_equal(record->user_frames, 1);
	assert_int_equal(*(const u64 *)(record + 1), ADDRESS | FRAME_EXACT);
	sampler.task.flags = PF_EXITING;
	assert_null(sample());
	sampler.task.flags = PF_KTHREAD;
	assert_null(sample());
}

static void test_filter__without_user_stacks(void **state)
{
	const struct record *record;

	(void)state;
	sample_filter.hides = FILTER_NO_USER;
	assert_null(sample());
	in_the_kernel();
	record = sample();
	assert_non_null(record);
	assert_int_equal(record->kernel_frames, 3);
	assert_int_equal(record->user_frames, 0);
	assert_int_equal(record->reason, REASON_end_no_user);
	sampler.task.flags = PF_KTHREAD;
	assert_non_null(sample());
}

static void test_filter__by_user_and_without_user_stacks(void **state)
{
	(void)state;
	sample_filter.hides = FILTER_NO_USER;
	sample_filter.uid[0] = 1000;
	assert_null(sample());
	in_the_kernel();
	assert_non_null(sample());
	sample_filter.uid[0] = 1001;
	assert_null(sample());
}

/* Samples of other processes than the targets are not counted. */
static void test_filter__of_the_targets_alone(void **state)
{
	(void)state;
	filter_mode = FILTER_TARGETS;
	sample_filter.uid[0] = 7;
	on_sample(sampler.regs);
	assert_int_equal(sampler.counters.filtered, 0);
	sampler.target[0].pid = PID;
	sampler.target[0].role = TARGET_SAMPLED;
	assert_null(sample());
	filter_mode = FILTER_ALL;
}

#define TEST(name) cmocka_unit_test_setup(test_filter__##name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_is_left_out_at_first), TEST(by_effective_user),
		TEST(by_each_of_several_users),	    TEST(without_kernel_stacks),
		TEST(without_user_stacks),	    TEST(by_user_and_without_user_stacks),
		TEST(of_the_targets_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
