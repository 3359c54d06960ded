/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "worker/process/budget.h"
#include "worker/process/queue.h"

#define TASKS_MAX 3000

/* Payers: cgroups. */
#define CGROUP 7777u
#define OTHER  8888u
#define THIRD  9999u

static struct budget *budget;
static struct queue queue;
static struct task tasks[TASKS_MAX];
static size_t used;
static uint64_t now, paid; /* the payer of the last task */

static int start(void **state)
{
	(void)state;
	budget = budget_new();
	assert_non_null(budget);
	queue = (struct queue){.budget = budget};
	used = 0;
	now = 1000 * NS_PER_SECOND;
	return 0;
}

/* Jobs that are left have owners, which go with the queue. */
static int stop(void **state)
{
	(void)state;
	while (queue_remove(&queue))
		;
	budget_free(budget);
	return 0;
}

/* The number of a job is that of its task. */
static void put_for(uint64_t payer, uint32_t owner, size_t size, unsigned int count)
{
	while (count--) {
		struct task *task = &tasks[used++];

		assert_true(used <= TASKS_MAX);
		*task = (struct task){
			.job = {.number = used, .owner = owner, .payer = payer, .size = size}};
		assert_int_equal(queue_put(&queue, task, now), 0);
	}
}

static void put(uint32_t owner, size_t size, unsigned int count)
{
	put_for(BUDGET_ROOT, owner, size, count);
}

static const struct task *take(void)
{
	return queue_take(&queue, SIZE_MAX, now, &paid);
}

/* Takes jobs until all of an owner have come. Returns how many others came before the last one. */
static unsigned int others_before(uint32_t owner, unsigned int count)
{
	unsigned int others = 0;

	while (count > 0) {
		const struct task *task = take();

		assert_non_null(task);
		if (task->job.owner == owner)
			count--;
		else
			others++;
	}
	return others;
}

static void expect(uint32_t owner, size_t size)
{
	const struct task *task = take();

	assert_non_null(task);
	assert_int_equal(task->job.owner, owner);
	assert_int_equal(task->job.size, size);
}

static void test_queue__smallest_of_an_owner_first(void **state)
{
	(void)state;
	put(1, 500, 1);
	put(1, 30, 1);
	put(1, 400, 1);
	expect(1, 30);
	put(1, 10, 1);
	expect(1, 10);
	expect(1, 400);
	expect(1, 500);
	assert_null(take());
	put(2, 1, 1);
	expect(2, 1);
	assert_null(take());
}

static void test_queue__who_has_many_does_not_delay_others(void **state)
{
	(void)state;
	put(7, 100, 2000);
	assert_int_equal(others_before(7, 500), 0);
	/* larger than all others, but smaller than the least weight of a file */
	put(8, 60000, 5);
	assert_in_range(others_before(8, 5), 0, 5);
	/* an owner that comes again and again gets only its share */
	for (int i = 0; i < 100; i++) {
		put(9, 100, 1);
		assert_in_range(others_before(9, 1), 0, 1);
	}
	assert_true(others_before(7, 1) <= 1);
}

static void test_queue__many_owners_take_turns(void **state)
{
	(void)state;
	for (uint32_t owner = 100; owner < 200; owner++)
		put(owner, 100, 20);
	put(8, 100, 3);
	assert_in_range(others_before(8, 3), 200, 300);
}

static void test_queue__large_files_count_for_more(void **state)
{
	(void)state;
	put(7, 1 << 20, 100);
	put(8, 64 << 10, 160);
	assert_in_range(others_before(8, 160), 9, 11);
	/* but a header cannot claim any size */
	put(9, SIZE_MAX, 3);
	put(8, 64 << 10, 10);
	assert_in_range(others_before(9, 3), 10, 100 + 10);
}

/* Takes tasks until all of a payer have come. Returns how many others came before the last one. */
static unsigned int others_before_payer(uint64_t payer, unsigned int count)
{
	unsigned int others = 0;

	while (count > 0) {
		const struct task *task = take();

		assert_non_null(task);
		if (task->job.payer == payer)
			count--;
		else
			others++;
	}
	return others;
}

static void test_queue__cgroup_with_many_processes_has_one_share(void **state)
{
	(void)state;
	for (uint32_t owner = 100; owner < 600; owner++)
		put_for(CGROUP, owner, 100, 1);
	put_for(OTHER, 7, 100, 10);
	assert_in_range(others_before_payer(OTHER, 10), 0, 11);
	/* a newcomer starts level: those that came before have not saved up turns */
	put_for(THIRD, 8, 100, 10);
	put_for(OTHER, 7, 100, 10);
	assert_in_range(others_before_payer(THIRD, 10), 0, 22);
}

static void test_queue__overdrawn_payers_rest(void **state)
{
	(void)state;
	put_for(CGROUP, 1, 100, 2);
	put_for(OTHER, 2, 100000, 1);
	budget_charge(budget, CGROUP, BUDGET_AT_ONCE + NS_PER_SECOND, now);
	assert_int_equal(take()->job.payer, OTHER);
	assert_null(take());
	assert_int_equal(queue_waiting(&queue, CGROUP), 2);
	assert_int_equal(queue_waiting(&queue, OTHER), 0);
	assert_int_equal(queue.rested, 2);
	/* a second beyond is paid in ten */
	now = queue_due(&queue, now);
	assert_in_range(now, 1010 * NS_PER_SECOND, 1010 * NS_PER_SECOND + 1);
	assert_int_equal(take()->job.payer, CGROUP);
	assert_int_equal(paid, CGROUP);
	assert_int_equal(queue.rested, 2);
}

static size_t take_refused(uint64_t payer)
{
	const struct task *task;
	size_t count = 0;

	while ((task = queue_take_refused(&queue)) != NULL) {
		assert_int_equal(task->job.payer, payer);
		count++;
	}
	return count;
}

/* The tasks waited before their payer was overdrawn. */
static void test_queue__places_to_rest_of_a_payer_are_bounded(void **state)
{
	(void)state;
	put_for(CGROUP, 1, 100, PARSER_RESTING_MAX + 10);
	put_for(OTHER, 2, 100000, 1);
	budget_charge(budget, CGROUP, 2 * BUDGET_AT_ONCE, now);
	assert_int_equal(take()->job.payer, OTHER);
	assert_int_equal(queue.resting_count, PARSER_RESTING_MAX);
	assert_int_equal(take_refused(CGROUP), 10);
	tasks[used] = (struct task){.job = {.payer = CGROUP}};
	assert_int_equal(queue_put(&queue, &tasks[used], now), -EDQUOT);
	/* they go on when the debt is paid */
	now = queue_due(&queue, now);
	assert_int_equal(others_before(1, PARSER_RESTING_MAX), 0);
	assert_int_equal(queue.resting_count, 0);
}

static void test_queue__many_payers_leave_places_to_rest(void **state)
{
	(void)state;
	for (uint64_t payer = CGROUP; payer < CGROUP + 8; payer++) {
		put_for(payer, 1, 100, PARSER_RESTING_MAX);
		budget_charge(budget, payer, 2 * BUDGET_AT_ONCE, now);
	}
	assert_null(take());
	assert_in_range(queue.resting_count, PARSER_RESTING_ALL / 2, PARSER_RESTING_ALL - 1);
	while (queue_take_refused(&queue))
		;
	budget_charge(budget, THIRD, 2 * BUDGET_AT_ONCE, now);
	put_for(THIRD, 1, 100, 1);
	assert_int_equal(queue_waiting(&queue, THIRD), 1);
}

static void test_queue__roots_files_never_rest(void **state)
{
	(void)state;
	budget_charge(budget, CGROUP, 100 * NS_PER_SECOND, now);
	put(1, 100, 1);
	assert_int_equal(queue_due(&queue, now), now);
	assert_non_null(take());
	assert_int_equal(queue_due(&queue, now), UINT64_MAX);
}

static void test_queue__another_payer_pays_for_one_that_is_overdrawn(void **state)
{
	(void)state;
	put_for(CGROUP, 1, 100, 1);
	put_for(CGROUP, 1, 200, 1);
	budget_charge(budget, CGROUP, 2 * BUDGET_AT_ONCE, now);
	assert_null(take());
	queue_add_payer(&queue, 2, OTHER, now);
	queue_add_payer(&queue, 2, OTHER, now); /* no more than once */
	assert_int_equal(queue_due(&queue, now), now);
	expect(1, 200);
	assert_int_equal(paid, OTHER);
	assert_null(take());
	/* the first who asked pays while it can */
	now += 1000 * NS_PER_SECOND;
	queue_add_payer(&queue, 1, OTHER, now);
	expect(1, 100);
	assert_int_equal(paid, CGROUP);
	queue_add_payer(&queue, 1, OTHER, now); /* not waiting any more */
}

/* Puts a task whose payers are all overdrawn, as many as it may have. */
static void put_with_overdrawn_payers(void)
{
	put_for(CGROUP, 1, 100, 1);
	budget_charge(budget, CGROUP, 2 * BUDGET_AT_ONCE, now);
	for (uint64_t payer = 0; payer < TASK_PAYERS - 1; payer++) {
		budget_charge(budget, OTHER + payer, 2 * BUDGET_AT_ONCE, now);
		queue_add_payer(&queue, 1, OTHER + payer, now);
	}
}

static void test_queue__payers_of_a_task_are_bounded(void **state)
{
	const uint64_t due = 1000 * NS_PER_SECOND + 10 * BUDGET_AT_ONCE;

	(void)state;
	put_with_overdrawn_payers();
	/* nobody gives way to one that may not begin either, though this one may sooner */
	budget_charge(budget, THIRD, BUDGET_AT_ONCE + NS_PER_SECOND, now);
	queue_add_payer(&queue, 1, THIRD, now);
	assert_null(take());
	assert_true(queue_due(&queue, now) >= due);
}

static void test_queue__overdrawn_payer_gives_way_to_one_that_may_begin(void **state)
{
	(void)state;
	put_with_overdrawn_payers();
	queue_add_payer(&queue, 1, THIRD, now);
	expect(1, 100);
	assert_int_equal(paid, THIRD);
	/* as well when the task rests already */
	used = 0;
	put_with_overdrawn_payers();
	assert_null(take());
	queue_add_payer(&queue, 1, THIRD, now);
	expect(1, 100);
	assert_int_equal(paid, THIRD);
}

static void test_queue__small_files_alone(void **state)
{
	(void)state;
	put_for(CGROUP, 1, 5000, 1);
	put_for(OTHER, 2, 300, 1);
	assert_int_equal(queue_take(&queue, 1000, now, &paid)->job.size, 300);
	assert_null(queue_take(&queue, 1000, now, &paid));
	assert_int_equal(queue.rested, 0);
	expect(1, 5000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_queue__smallest_of_an_owner_first, start,
						stop),
		cmocka_unit_test_setup_teardown(test_queue__who_has_many_does_not_delay_others,
						start, stop),
		cmocka_unit_test_setup_teardown(test_queue__many_owners_take_turns, start, stop),
		cmocka_unit_test_setup_teardown(test_queue__large_files_count_for_more, start,
						stop),
		cmocka_unit_test_setup_teardown(
			test_queue__cgroup_with_many_processes_has_one_share, start, stop),
		cmocka_unit_test_setup_teardown(test_queue__overdrawn_payers_rest, start, stop),
		cmocka_unit_test_setup_teardown(test_queue__places_to_rest_of_a_payer_are_bounded,
						start, stop),
		cmocka_unit_test_setup_teardown(test_queue__many_payers_leave_places_to_rest, start,
						stop),
		cmocka_unit_test_setup_teardown(test_queue__roots_files_never_rest, start, stop),
		cmocka_unit_test_setup_teardown(
			test_queue__another_payer_pays_for_one_that_is_overdrawn, start, stop),
		cmocka_unit_test_setup_teardown(test_queue__payers_of_a_task_are_bounded, start,
						stop),
		cmocka_unit_test_setup_teardown(
			test_queue__overdrawn_payer_gives_way_to_one_that_may_begin, start, stop),
		cmocka_unit_test_setup_teardown(test_queue__small_files_alone, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
