/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "worker/process/queue.h"

#define TASKS_MAX 3000

static struct queue queue;
static struct task tasks[TASKS_MAX];
static size_t used;

static int start(void **state)
{
	(void)state;
	queue = (struct queue){0};
	used = 0;
	return 0;
}

/* Jobs that are left have owners, which go with the queue. */
static int stop(void **state)
{
	(void)state;
	while (queue_take(&queue))
		;
	return 0;
}

static void put(uint32_t owner, size_t size, unsigned int count)
{
	while (count--) {
		struct task *task = &tasks[used++];

		assert_true(used <= TASKS_MAX);
		*task = (struct task){.job = {.owner = owner, .size = size}};
		assert_int_equal(queue_put(&queue, task), 0);
	}
}

/* Takes jobs until all of an owner have come. Returns how many others came before the last one. */
static unsigned int others_before(uint32_t owner, unsigned int count)
{
	unsigned int others = 0;

	while (count > 0) {
		const struct task *task = queue_take(&queue);

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
	const struct task *task = queue_take(&queue);

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
	assert_null(queue_take(&queue));
	put(2, 1, 1);
	expect(2, 1);
	assert_null(queue_take(&queue));
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
