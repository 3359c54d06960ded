/* SPDX-License-Identifier: Apache-2.0 */
/* The time for which a thread is off its CPU (bpf/off_cpu/wait.bpf.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bpf/off_cpu/wait.bpf.h"

#define BEGAN 1000u
#define LEFT  1200u

static struct off_wait woken_at(u64 woken, u32 idle)
{
	return (struct off_wait){.began = BEGAN, .left = LEFT, .woken = woken, .idle = idle};
}

static void test_wait__sampler_delays_the_next_thread(void **state)
{
	const struct off_wait wait = woken_at(1100, 0);

	(void)state;
	assert_int_equal(wait_counts_from(&wait), LEFT);
}

static void test_wait__idle_cpu_loses_what_is_behind_the_wake_up(void **state)
{
	const struct off_wait never = woken_at(0, 1), late = woken_at(LEFT, 1);
	const struct off_wait early = woken_at(1150, 1);

	(void)state;
	assert_int_equal(wait_counts_from(&never), BEGAN);
	assert_int_equal(wait_counts_from(&late), BEGAN);
	assert_int_equal(wait_counts_from(&early), BEGAN + 50);
}

static void test_wait__ended_before_the_thread_ran(void **state)
{
	const struct off_wait wait = woken_at(1500, 0);

	(void)state;
	assert_int_equal(wait_ended(&wait, 2000, 0), 2000);
	assert_int_equal(wait_ended(&wait, 2000, 300), 1700);
	assert_int_equal(wait_ended(&wait, 2000, 500), 1500);
}

/* Two clocks may differ, and some classes of the scheduler do not note when a thread came. */
static void test_wait__is_no_shorter_than_known(void **state)
{
	const struct off_wait woken = woken_at(1500, 0), unseen = woken_at(0, 0);

	(void)state;
	assert_int_equal(wait_ended(&woken, 2000, 501), 1500);
	assert_int_equal(wait_ended(&woken, 2000, UINT64_MAX), 1500);
	assert_int_equal(wait_ended(&unseen, 2000, 900), LEFT);
	assert_int_equal(wait_ended(&unseen, LEFT - 1, 0), LEFT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wait__sampler_delays_the_next_thread),
		cmocka_unit_test(test_wait__idle_cpu_loses_what_is_behind_the_wake_up),
		cmocka_unit_test(test_wait__ended_before_the_thread_ran),
		cmocka_unit_test(test_wait__is_no_shorter_than_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
