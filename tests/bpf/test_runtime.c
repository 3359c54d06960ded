/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU time that readings of the task iterator find: each part once, whenever a task ends. */
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

#define PID 5u

static struct signal_struct alive = {{1}}, last = {{0}};
static struct bpf_iter_meta meta;

static int setup(void **state)
{
	(void)state;
	memset(&sampler, 0, sizeof(sampler));
	return 0;
}

static struct task_struct task_of(u64 runtime)
{
	return (struct task_struct){
		.tgid = PID, .pid = PID, .signal = &alive, .se.sum_exec_runtime = runtime};
}

/* Shows the iterator one task. NULL: the end of a reading. */
static void meet(struct task_struct *task)
{
	struct bpf_iter__task ctx = {&meta, task};

	on_task(&ctx);
	meta.seq_num++;
}

/* Begins a reading, and meets a task if there is one. */
static void begin(struct task_struct *task)
{
	meta.seq_num = 0;
	meet(task);
}

static u64 read_all(struct task_struct *task)
{
	begin(task);
	if (task)
		meet(NULL);
	return sampler.runtimes.reading.nanoseconds;
}

static void use(struct task_struct *task, u64 nanoseconds)
{
	task->se.sum_exec_runtime += nanoseconds;
}

/* The scheduler counts the last part of a short life when the task is gone from its CPU. */
static void test_runtime__after_the_exit_counts(void **state)
{
	struct task_struct task = task_of(0);

	(void)state;
	assert_int_equal(read_all(&task), 0);
	assert_int_equal(sampler.runtimes.reading.tasks, 1);
	on_exit(&task);
	use(&task, 700);
	assert_int_equal(read_all(&task), 700);
	assert_int_equal(sampler.runtimes.reading.tasks, 1);
	task.exit_state = 16;
	use(&task, 20);
	assert_int_equal(read_all(&task), 720);
	on_free(&task);
	assert_int_equal(read_all(NULL), 720);
	assert_int_equal(sampler.runtimes.reading.tasks, 1);
	assert_null(find_ended((u64)&task));
}

/* An exit takes long: a reading meets the task although the exit has counted it. */
static void test_runtime__of_an_exit_under_way_counts_once(void **state)
{
	struct task_struct task = task_of(6000);

	(void)state;
	on_exit(&task);
	assert_int_equal(read_all(&task), 6000);
	use(&task, 5);
	assert_int_equal(read_all(&task), 6005);
}

static void test_runtime__of_an_exit_during_a_reading_counts_once(void **state)
{
	struct task_struct first = task_of(10), later = task_of(6000), met = task_of(800);

	(void)state;
	begin(&first);
	on_exit(&later);
	use(&later, 3);
	meet(&met);
	on_exit(&met);
	meet(&later);
	meet(NULL);
	assert_int_equal(sampler.runtimes.reading.nanoseconds, 10 + 6003 + 800);
	assert_int_equal(sampler.runtimes.reading.tasks, 3);
	on_free(&met);
	on_free(&later);
	assert_int_equal(read_all(&first), 10 + 6003 + 800);
	assert_int_equal(sampler.runtimes.reading.tasks, 3);
}

static void test_runtime__of_a_zombie_from_before_the_start_never_counts(void **state)
{
	struct task_struct task = task_of(900);

	(void)state;
	task.exit_state = 16;
	assert_int_equal(read_all(&task), 0);
	on_free(&task);
	assert_int_equal(read_all(NULL), 0);
}

/* A command's processes are sampled to their last instruction. */
static void test_runtime__is_sampled_after_the_exit(void **state)
{
	(void)state;
	filter_mode = FILTER_TARGETS;
	sampler.target[0].pid = PID;
	sampler.target[0].role = TARGET_SAMPLED;
	sampler.id = (u64)PID << 32 | PID;
	sampler.task = task_of(1);
	sampler.task.signal = &last;
	on_exit(&sampler.task);
	sampler.task.flags = PF_EXITING;
	on_sample(sampler.regs);
	assert_int_equal(sampler.counters.samples, 1);
	on_free(&sampler.task);
	on_sample(sampler.regs);
	assert_int_equal(sampler.counters.samples, 1);
	filter_mode = FILTER_ALL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_runtime__after_the_exit_counts, setup),
		cmocka_unit_test_setup(test_runtime__of_an_exit_under_way_counts_once, setup),
		cmocka_unit_test_setup(test_runtime__of_an_exit_during_a_reading_counts_once,
				       setup),
		cmocka_unit_test_setup(test_runtime__of_a_zombie_from_before_the_start_never_counts,
				       setup),
		cmocka_unit_test_setup(test_runtime__is_sampled_after_the_exit, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
