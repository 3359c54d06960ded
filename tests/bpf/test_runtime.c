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

static struct signal_struct alive = {.live = {1}}, last = {.live = {0}};
static struct bpf_iter_meta meta;

static int setup(void **state)
{
	(void)state;
	memset(&sampler, 0, sizeof(sampler));
	filter_mode = FILTER_ALL;
	deny_kinds = 0;
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

/* Exits run in the task that exits. */
static void exit_task(struct task_struct *task)
{
	sampler.exiting = task;
	on_exit(task);
	sampler.exiting = NULL;
}

/* The scheduler counts the last part of a short life when the task is gone from its CPU. */
static void test_runtime__after_the_exit_counts(void **state)
{
	struct task_struct task = task_of(0);

	(void)state;
	assert_int_equal(read_all(&task), 0);
	assert_int_equal(sampler.runtimes.reading.tasks, 1);
	exit_task(&task);
	use(&task, 700);
	assert_int_equal(read_all(&task), 700);
	assert_int_equal(sampler.runtimes.reading.tasks, 1);
	task.exit_state = 16;
	use(&task, 20);
	assert_int_equal(read_all(&task), 720);
	on_free(&task);
	assert_int_equal(read_all(NULL), 720);
	assert_int_equal(sampler.runtimes.reading.tasks, 1);
	assert_null(find_ended(number_of(&task)));
}

/* An exit takes long: a reading meets the task although the exit has counted it. */
static void test_runtime__of_an_exit_under_way_counts_once(void **state)
{
	struct task_struct task = task_of(6000);

	(void)state;
	exit_task(&task);
	assert_int_equal(read_all(&task), 6000);
	use(&task, 5);
	assert_int_equal(read_all(&task), 6005);
}

static void test_runtime__of_an_exit_during_a_reading_counts_once(void **state)
{
	struct task_struct first = task_of(10), later = task_of(6000), met = task_of(800);

	(void)state;
	begin(&first);
	exit_task(&later);
	use(&later, 3);
	meet(&met);
	exit_task(&met);
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

/* An exit looks at the number of readings and adds its sum at two moments. */
static void test_runtime__of_an_exit_while_a_reading_begins_counts_once(void **state)
{
	struct task_struct first = task_of(10), task = task_of(6000);

	(void)state;
	keep_ended(number_of(&task), 6000, 0);
	begin(&first);
	add_exited(&sampler.runtimes, 0, 6000);
	meet(&task);
	meet(NULL);
	assert_int_equal(sampler.runtimes.reading.nanoseconds, 6010);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(read_all(&first), 6010);
}

/* ---- denied processes ---- */

static void deny_secret(void)
{
	u64 words[2] = {0, 0};

	memcpy(words, "secret", 6);
	sampler.rule[0] = (struct deny_key){DENY_COMM, words[0], words[1]};
	sampler.rules = 1;
	deny_kinds = DENY_BIT(DENY_COMM);
}

static u64 read_both(struct task_struct *one, struct task_struct *two)
{
	begin(one);
	meet(two);
	meet(NULL);
	return sampler.runtimes.reading.nanoseconds;
}

/* Takes a sample and returns how often a denied sample belonged to a counted process. */
static u64 sample(const struct task_struct *task)
{
	sampler.id = (u64)PID << 32 | (u32)task->pid;
	sampler.task = *task;
	on_sample(sampler.regs);
	return sampler.counters.denied_counted;
}

/* The samples since then are taken from what the readings count. known: it was sampled before. */
static void check_denied_between(bool known)
{
	struct task_struct one = task_of(6000), two = task_of(80000);

	deny_secret();
	two.pid++;
	assert_int_equal(read_both(&one, &two), 86000);
	if (known)
		sample(&one);
	on_rename(&two, "secret");
	memcpy(two.comm, "secret", 7);
	assert_int_equal(sampler.generation.denied, 1);
	assert_int_equal(sample(&one), 1);
	assert_int_equal(sample(&two), 2);
	use(&one, 5);
	use(&two, 7);
	assert_int_equal(read_both(&one, &two), 86012);
	exit_task(&two);
	use(&two, 1);
	assert_int_equal(read_both(&one, &two), 86013);
	on_free(&two);
	assert_int_equal(read_all(&one), 86013);
}

static void test_runtime__of_a_process_that_is_denied_goes_on_counting(void **state)
{
	check_denied_between(true);
	setup(state);
	check_denied_between(false);
}

static void test_runtime__of_a_denial_that_a_sample_or_a_reading_finds(void **state)
{
	struct task_struct task = task_of(6000);

	(void)state;
	assert_int_equal(read_all(&task), 6000);
	deny_secret();
	memcpy(task.comm, "secret", 7); /* without a hook */
	assert_int_equal(sample(&task), 1);
	assert_int_equal(read_all(&task), 6000);
	setup(NULL);
	assert_int_equal(read_all(&task), 6000);
	deny_secret();
	use(&task, 9);
	assert_int_equal(read_all(&task), 6009);
	assert_int_equal(sample(&task), 1);
}

static void test_runtime__of_a_process_denied_from_the_start_never_counts(void **state)
{
	struct task_struct one = task_of(6000), two = task_of(80000);

	(void)state;
	deny_secret();
	memcpy(one.comm, "secret", 7);
	two.pid++;
	assert_int_equal(read_both(&one, &two), 0);
	assert_int_equal(sample(&two), 0);
	assert_int_equal(sampler.counters.denied, 1);
	on_rename(&two, "secret");
	use(&two, 7);
	assert_int_equal(read_both(&one, &two), 0);
	exit_task(&two);
	assert_int_equal(read_all(&one), 0);
}

/* The reading has met another thread of the process. */
static void test_runtime__of_a_process_denied_by_a_later_thread_counts(void **state)
{
	struct task_struct one = task_of(6000), two = task_of(80000);

	(void)state;
	deny_secret();
	memcpy(two.comm, "secret", 7);
	two.pid++;
	assert_int_equal(read_both(&one, &two), 86000);
	assert_int_equal(sample(&one), 1);
	use(&one, 3);
	assert_int_equal(read_both(&one, &two), 86003);
}

/* At an exec the process has one task, so the moment of the denial is exact. */
static void test_runtime__of_an_exec_in_and_out_of_denial(void **state)
{
	struct task_struct task = task_of(6000);

	(void)state;
	deny_secret();
	assert_int_equal(read_all(&task), 6000);
	use(&task, 10);
	on_rename(&task, "secret"); /* never sampled before */
	memcpy(task.comm, "secret", 7);
	on_exec(&task);
	use(&task, 500);
	assert_int_equal(sample(&task), 0);
	assert_int_equal(read_all(&task), 6010);
	memcpy(task.comm, "public", 7);
	on_exec(&task);
	use(&task, 3);
	assert_int_equal(read_all(&task), 6013);
	exit_task(&task);
	assert_int_equal(read_all(NULL), 6013);
}

/* A child's CPU time begins at zero, so that no reading has counted it. */
static void test_runtime__of_children_of_the_denied_never_counts(void **state)
{
	struct task_struct task = task_of(6000), child = task_of(4);

	(void)state;
	deny_secret();
	assert_int_equal(read_all(&task), 6000);
	on_rename(&task, "secret");
	child.tgid = child.pid = PID + 1;
	on_fork(&task, &child);
	assert_int_equal(sampler.generation_pid, PID + 1);
	assert_int_equal(sampler.generation.denied, 1);
	assert_int_equal(sampler.generation.counted, 0);
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
	exit_task(&sampler.task);
	sampler.task.flags = PF_EXITING;
	on_sample(sampler.regs);
	assert_int_equal(sampler.counters.samples, 1);
	on_free(&sampler.task);
	on_sample(sampler.regs);
	assert_int_equal(sampler.counters.samples, 1);
	filter_mode = FILTER_ALL;
}

#define TEST(name) cmocka_unit_test_setup(test_runtime__##name, setup)

/* ---- processes that were there before ---- */

static struct mm_struct address_space;

static struct task_struct process_of(u64 runtime)
{
	static struct signal_struct with_threads = {.live = {1}, .sum_sched_runtime = 40};
	struct task_struct task = task_of(runtime);

	task.mm = &address_space;
	task.signal = &with_threads;
	return task;
}

static void test_found__processes_are_told_with_their_runtime(void **state)
{
	static struct kernfs_node node = {.id = 31};
	static struct cgroup group = {.kn = &node};
	static struct css_set css = {.dfl_cgrp = &group};
	struct task_struct task = process_of(7), thread;

	(void)state;
	task.cgroups = &css;
	thread = task;
	thread.pid = PID + 1;
	begin(&thread);
	assert_int_equal(sampler.events, 0);
	meet(&task);
	assert_int_equal(sampler.events, 1);
	assert_int_equal(sampler.event.kind, EVENT_FOUND);
	assert_int_equal(sampler.event.pid, PID);
	assert_int_equal(sampler.event.cgroup, 31);
	assert_int_equal(sampler.event.parent_generation, 47);
	assert_int_equal(sampler.event.generation, sampler.generation.number);
	meet(&task); /* known by now */
	meet(NULL);
	sampler.generation.number = 0;
	read_all(&task); /* a later reading finds nobody */
	assert_int_equal(sampler.events, 1);
}

static void test_found__not_everybody(void **state)
{
	struct task_struct kernel = process_of(7), exec = process_of(7), other = process_of(7);

	(void)state;
	kernel.flags = PF_KTHREAD;
	exec.mm = NULL;
	begin(&kernel);
	meet(&exec);
	sampler.runtimes.found = FOUND_MAX;
	meet(&other);
	sampler.runtimes.found = 0;
	sample_filter.uid[0] = 1000;
	meet(&other);
	sample_filter.uid[0] = FILTER_UID_NONE;
	filter_mode = FILTER_CGROUP;
	meet(&other);
	filter_mode = FILTER_ALL;
	assert_int_equal(sampler.events, 0);
	assert_int_equal(sampler.generation.number, 0);
}

/* The first sample announces a process for which the ring had no room. */
static void test_found__without_room(void **state)
{
	struct task_struct task = process_of(7);

	(void)state;
	sampler.events_full = true;
	begin(&task);
	assert_int_equal(sampler.generation.number, 0);
	assert_int_equal(sampler.counters.events_lost, 0);
	sampler.events_full = false;
	sampler.no_room = true;
	meet(&task);
	assert_int_equal(sampler.events, 0);
	assert_int_equal(sampler.runtimes.found, 0);
}

static void test_found__wake_the_worker_at_times(void **state)
{
	struct task_struct task = process_of(7);

	(void)state;
	begin(NULL);
	sampler.runtimes.readings = 1;
	for (u32 i = 0; i < 2 * FOUND_BATCH; i++) {
		meta.seq_num = 1;
		sampler.generation.number = 0;
		meet(&task);
	}
	assert_int_equal(sampler.runtimes.found, 2 * FOUND_BATCH);
	assert_int_equal(sampler.forced, 2);
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
		cmocka_unit_test_setup(test_found__processes_are_told_with_their_runtime, setup),
		cmocka_unit_test_setup(test_found__not_everybody, setup),
		cmocka_unit_test_setup(test_found__without_room, setup),
		cmocka_unit_test_setup(test_found__wake_the_worker_at_times, setup),
		TEST(of_an_exit_while_a_reading_begins_counts_once),
		TEST(of_a_process_that_is_denied_goes_on_counting),
		TEST(of_a_denial_that_a_sample_or_a_reading_finds),
		TEST(of_a_process_denied_from_the_start_never_counts),
		TEST(of_a_process_denied_by_a_later_thread_counts),
		TEST(of_an_exec_in_and_out_of_denial),
		TEST(of_children_of_the_denied_never_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
