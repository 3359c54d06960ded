/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of threads that leave their CPU: on_leave of bpf/sample.bpf.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/bpf/sampler.h"

#define PID	  77u
#define SCHEDULER 0xffffffff81800000ull
#define CALLER	  0xffffffff81000100ull
#define TEXT	  0xffffffff81000000ull
#define WORD	  0x123456789abcdef0ull
#define LEFT	  1000u

/* The kernel's stack: frames of the hook, then the scheduler and who called it. */
static void set_stack(u32 hook)
{
	memset(sampler.kernel, 0, sizeof(sampler.kernel));
	for (u32 i = 0; i < hook; i++)
		sampler.kernel[i] = TEXT + 16 * (i + 1);
	sampler.kernel[hook] = SCHEDULER + 8;
	sampler.kernel[hook + 1] = CALLER;
	sampler.kernel_depth = hook + 6;
}

static int setup(void **state)
{
	(void)state;
	memset(&sampler, 0, sizeof(sampler));
	sampler.id = (u64)PID << 32 | PID;
	sampler.task.flags = PF_KTHREAD;
	sampler.now = 2 * LEFT;
	sampler.range[0] = (struct kernel_range){TEXT, TEXT + 0x1000000, 0};
	sampler.off_cpu = (struct off_cpu){.taken = LEFT, .word = WORD};
	sampler.scheduler = (struct kernel_range){SCHEDULER, SCHEDULER + 0x1000, 0};
	set_stack(4);
	return 0;
}

static const struct record *leave(void)
{
	const u64 at = sampler.scratch.head;

	assert_int_equal(on_leave(NULL), 0);
	assert_int_not_equal(sampler.scratch.head, at);
	return (const struct record *)(sampler.ring + at);
}

static void assert_begins_at_scheduler(const struct record *record, u32 frames)
{
	const u64 *words = (const u64 *)(record + 1);

	assert_int_equal(record->kernel_frames, frames);
	assert_int_equal(words[0], KERNEL_FRAME(0, SCHEDULER + 8 - TEXT));
	assert_int_equal(words[1], KERNEL_FRAME(0, CALLER - TEXT));
}

static void test_leave__has_time_word_and_kernel_part(void **state)
{
	const struct record *record = leave();

	(void)state;
	assert_int_equal(record->time, LEFT);
	assert_true(record->flags & RECORD_FLAG_OFF_CPU);
	assert_true(record->flags & RECORD_FLAG_KERNEL_MODE);
	assert_int_equal(((const u64 *)(record + 1))[record->kernel_frames], WORD);
	assert_int_equal(sampler.counters.off_taken, 1);
	assert_true(sampler.off_wait.left > LEFT);
	assert_true(sampler.off_cpu.spent > 0);
}

/* A tracepoint with several programs has a frame more, and a stack may be short. */
static void test_leave__begins_at_the_scheduler(void **state)
{
	(void)state;
	assert_begins_at_scheduler(leave(), 6);
	set_stack(5);
	assert_begins_at_scheduler(leave(), 6);
	sampler.kernel_depth = 7;
	assert_begins_at_scheduler(leave(), 2);
	set_stack(0);
	assert_begins_at_scheduler(leave(), 6);
}

static void test_leave__deep_stack(void **state)
{
	(void)state;
	sampler.kernel_depth = LEAVE_FRAMES_MAX + 4;
	assert_begins_at_scheduler(leave(), LEAVE_FRAMES_MAX);
	sampler.kernel_depth = LEAVE_FRAMES_MAX + 5;
	assert_true(leave()->flags & RECORD_FLAG_KERNEL_CUT);
	sampler.kernel_depth = 1000;
	assert_begins_at_scheduler(leave(), LEAVE_FRAMES_MAX);
}

/* Hidden addresses, or no scheduler on the stack: all frames stay. */
static void test_leave__unknown_scheduler(void **state)
{
	(void)state;
	sampler.scheduler = (struct kernel_range){0};
	assert_int_equal(leave()->kernel_frames, 10);
	sampler.scheduler = (struct kernel_range){1, 2, 0};
	assert_int_equal(leave()->kernel_frames, 10);
}

static void test_leave__nothing_was_drawn(void **state)
{
	(void)state;
	sampler.off_cpu.taken = 0;
	assert_int_equal(on_leave(NULL), 0);
	assert_int_equal(sampler.scratch.head, 0);
}

/* The time of a stack counts, also where the sampler leaves it out. */
static void test_leave__while_it_rests(void **state)
{
	(void)state;
	resting = 1;
	assert_int_equal(on_leave(NULL), 0);
	resting = 0;
	assert_int_equal(sampler.scratch.head, 0);
	assert_int_equal(sampler.counters.filtered, 1);
	assert_int_equal(sampler.off_wait.left, 0);
	assert_true(sampler.off_cpu.spent > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_leave__has_time_word_and_kernel_part, setup),
		cmocka_unit_test_setup(test_leave__begins_at_the_scheduler, setup),
		cmocka_unit_test_setup(test_leave__deep_stack, setup),
		cmocka_unit_test_setup(test_leave__unknown_scheduler, setup),
		cmocka_unit_test_setup(test_leave__nothing_was_drawn, setup),
		cmocka_unit_test_setup(test_leave__while_it_rests, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
