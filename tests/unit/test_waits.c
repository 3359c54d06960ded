/* SPDX-License-Identifier: Apache-2.0 */
/* Records of threads that leave their CPU, and events of those that run again, in either order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/syscall.h>

#include "worker/sample/waits.h"

#define MS   1000000ull
#define LEFT (100 * MS)
#define TID  77u

static uint64_t taken_ns, taken_waits, takes;
static bool taken_open, taken_old, alive;
static struct waits *waits;

static void take(void *context, const struct waits_stack *stack, const struct event_wait *end,
		 uint64_t ns, uint64_t number, bool is_old)
{
	(void)context;
	assert_int_equal(stack->depth, 2);
	assert_int_equal(stack->locations[1], 9);
	taken_ns += ns;
	taken_waits += number;
	taken_open = !end;
	taken_old = is_old;
	takes++;
}

static bool is_alive(void *context, const struct record *head)
{
	(void)context;
	(void)head;
	return alive;
}

static int begin(uint64_t least)
{
	const struct waits_parts parts = {.least = least, .take = take, .is_alive = is_alive};

	taken_ns = taken_waits = takes = 0;
	alive = true;
	waits = waits_new(&parts);
	return waits ? 0 : -1;
}

static int setup(void **state)
{
	(void)state;
	return begin(0);
}

static int teardown(void **state)
{
	(void)state;
	waits_free(waits);
	return 0;
}

static void leave_with(uint32_t tid, uint64_t time, uint32_t probability)
{
	static uint32_t locations[] = {5, 9};
	struct waits_stack stack = {.word = OFF_WORD(probability, SYS_futex, OFF_SLEEPS),
				    .locations = locations,
				    .depth = 2};

	stack.head.time = time;
	stack.head.tid = tid;
	assert_int_equal(waits_begin(waits, &stack), 0);
}

static void leave_as(uint32_t tid, uint64_t time)
{
	leave_with(tid, time, OFF_CERTAIN);
}

static void leave(uint64_t time, uint32_t probability)
{
	leave_with(TID, time, probability);
}

static void run_again(uint64_t began, uint64_t time)
{
	struct event_wait event = {.began = began, .left = began, .tid = TID};

	event.event.time = time;
	event.event.kind = EVENT_WAIT;
	waits_end(waits, &event);
}

/* All events until then have been taken. */
static void close_window(uint64_t told)
{
	waits_told_until(waits, told);
	waits_close_window(waits);
}

static struct waits_counts counts(void)
{
	struct waits_counts now;

	waits_counts(waits, &now);
	return now;
}

static void test_waits__either_half_comes_first(void **state)
{
	(void)state;
	leave(LEFT, OFF_CERTAIN);
	assert_int_equal(takes, 0);
	run_again(LEFT, LEFT + 20 * MS);
	assert_int_equal(taken_ns, 20 * MS);
	run_again(LEFT + 30 * MS, LEFT + 35 * MS);
	assert_int_equal(takes, 1);
	leave(LEFT + 30 * MS, OFF_CERTAIN);
	assert_int_equal(taken_ns, 25 * MS);
	assert_int_equal(taken_waits, 2 * PROFILE_WAITS_ONE);
	assert_false(taken_open);
	assert_int_equal(counts().lost, 0);
}

static void test_waits__improbable_stack_is_worth_more(void **state)
{
	(void)state;
	leave(LEFT, 1u << 30); /* a quarter */
	run_again(LEFT, LEFT + 3 * MS);
	assert_int_equal(taken_ns, 12 * MS);
	assert_int_equal(taken_waits, 4 * PROFILE_WAITS_ONE);
	assert_int_equal(counts().least_probability, 1u << 30);
	leave(LEFT + 5 * MS, 0); /* none that BPF writes */
	run_again(LEFT + 5 * MS, UINT64_MAX / 2);
	assert_int_equal(counts().waits, 2);
}

/* A wait of 3 ms, of which each fourth is taken, has a variance of 3 / 4 * 16 * 9 ms^2. */
static void test_waits__standard_error(void **state)
{
	(void)state;
	leave(LEFT, OFF_CERTAIN);
	run_again(LEFT, LEFT + 3 * MS);
	assert_int_equal(counts().error, 0);
	leave(LEFT + 10 * MS, 1u << 30);
	run_again(LEFT + 10 * MS, LEFT + 13 * MS);
	assert_in_range(counts().error, 10391000, 10393000);
	leave(LEFT + 20 * MS, 1u << 30);
	close_window(LEFT + 21 * MS);
	run_again(LEFT + 20 * MS, LEFT + 23 * MS);
	assert_in_range(counts().error, 14696000, 14698000);
	leave(LEFT + 30 * MS, 1);
	run_again(LEFT + 30 * MS, LEFT + 60 * MS);
	assert_int_equal(counts().error, UINT64_MAX);
}

static void test_waits__time_of_the_sampler_is_left_out(void **state)
{
	struct event_wait event = {.began = LEFT, .left = LEFT + MS, .tid = TID};

	(void)state;
	leave(LEFT, OFF_CERTAIN);
	event.event.time = LEFT + 3 * MS;
	waits_end(waits, &event);
	assert_int_equal(taken_ns, 2 * MS);
}

static void test_waits__short_one_is_left_out(void **state)
{
	(void)state;
	waits_free(waits);
	assert_int_equal(begin(10 * MS), 0);
	leave(LEFT, OFF_CERTAIN);
	run_again(LEFT, LEFT + 9 * MS);
	assert_int_equal(takes, 0);
	assert_int_equal(counts().shorter, 1);
	leave(LEFT + 20 * MS, OFF_CERTAIN);
	run_again(LEFT + 20 * MS, LEFT + 30 * MS);
	assert_int_equal(taken_ns, 10 * MS);
}

static void test_waits__open_one_counts_until_the_end(void **state)
{
	(void)state;
	leave(LEFT, OFF_CERTAIN);
	waits_finish(waits, LEFT + 7 * MS);
	assert_int_equal(taken_ns, 7 * MS);
	assert_true(taken_open);
	assert_int_equal(counts().open, 1);
	waits_finish(waits, LEFT + 9 * MS);
	assert_int_equal(takes, 1);
}

static void test_waits__window_has_its_part(void **state)
{
	(void)state;
	leave(LEFT, OFF_CERTAIN);
	close_window(LEFT + 7 * MS);
	waits_begin_profile(waits, true);
	assert_int_equal(taken_ns, 7 * MS);
	run_again(LEFT, LEFT + 10 * MS);
	assert_int_equal(taken_ns, 10 * MS);
	assert_true(taken_old);
	assert_int_equal(taken_waits, PROFILE_WAITS_ONE);
	leave(LEFT + 20 * MS, OFF_CERTAIN);
	waits_begin_profile(waits, false);
	assert_int_equal(counts().lost, 1);
}

/* The event of a wait that is over, and the thread's next wait, are read after the window's end. */
static void test_waits__over_but_not_yet_told(void **state)
{
	(void)state;
	leave(LEFT, OFF_CERTAIN);
	waits_told_until(waits, LEFT + 5 * MS);
	waits_close_window(waits); /* at 10 ms */
	assert_int_equal(taken_ns, 5 * MS);
	waits_begin_profile(waits, true);
	run_again(LEFT, LEFT + 7 * MS);
	assert_int_equal(taken_ns, 7 * MS);
	leave(LEFT + 8 * MS, OFF_CERTAIN);
	run_again(LEFT + 8 * MS, LEFT + 12 * MS);
	assert_int_equal(taken_ns, 11 * MS);
	assert_int_equal(taken_waits, 2 * PROFILE_WAITS_ONE);
	/* the clock of an earlier look says nothing new */
	waits_told_until(waits, LEFT + 2 * MS);
	leave(LEFT + 3 * MS, OFF_CERTAIN);
	waits_close_window(waits);
	assert_int_equal(taken_ns, 13 * MS);
}

static void test_waits__lost_halves_are_counted(void **state)
{
	(void)state;
	leave(LEFT, OFF_CERTAIN); /* its event is lost */
	leave(LEFT + MS, OFF_CERTAIN);
	assert_int_equal(counts().lost, 1);
	alive = false;
	waits_finish(waits, LEFT + 7 * MS);
	assert_int_equal(counts().lost, 2);
	assert_int_equal(takes, 0);
	run_again(LEFT + 2 * MS, LEFT + 3 * MS); /* its record is lost */
	waits_turn(waits, LEFT + 3 * MS + WAITS_EVENT_FOR / 2);
	assert_int_equal(counts().lost, 2);
	waits_turn(waits, LEFT + 4 * MS + WAITS_EVENT_FOR);
	assert_int_equal(counts().lost, 3);
}

static void test_waits__tables_are_bounded(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < WAITS_MAX + 3; i++)
		run_again(LEFT + i * MS, LEFT + i * MS + 1);
	assert_int_equal(counts().lost, 3);
}

/* Times that are 73 minutes apart give a thread's waits one key: the second one counts as lost. */
static void test_waits__two_of_one_key(void **state)
{
	const uint64_t later = LEFT + (1ull << (64 - PROCESS_PID_BITS));

	(void)state;
	run_again(LEFT, LEFT + MS);
	leave(later, OFF_CERTAIN);
	assert_int_equal(takes, 0);
	assert_int_equal(counts().lost, 1);
	run_again(later, later + 3 * MS);
	assert_int_equal(taken_ns, 3 * MS);
	/* and so does a thread that no kernel has */
	leave_as(TID, later + 1);
	leave_as(TID | 1u << PROCESS_PID_BITS, LEFT);
	assert_int_equal(counts().lost, 2);
	run_again(later + 1, later + 1 + 4 * MS);
	assert_int_equal(taken_ns, 7 * MS);
}

/* Fields of an event that BPF never writes. */
static void test_waits__malformed_event_is_lost(void **state)
{
	const struct event_wait good = {.event = {.time = LEFT + MS, .kind = EVENT_WAIT},
					.began = LEFT,
					.left = LEFT,
					.tid = TID};
	struct event_wait bad[7];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		bad[i] = good;
	bad[0].tid = 0;
	bad[1].tid = PROCESS_PID_MAX + 1;
	bad[2].left = LEFT + 2 * MS;
	bad[3].left = LEFT - 1;
	bad[4].waker = WAKERS;
	bad[5].waker_pid = UINT32_MAX;
	bad[6].woken = UINT64_MAX;
	leave(LEFT, OFF_CERTAIN);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		waits_end(waits, &bad[i]);
	assert_int_equal(takes, 0);
	assert_int_equal(counts().lost, 7);
	waits_end(waits, &good);
	assert_int_equal(taken_ns, MS);
}

/* BPF says that it has lost events until 50 ms: that of the first thread may be among them. */
static void test_waits__event_may_be_lost(void **state)
{
	struct event_wait event = {.began = LEFT + 40 * MS,
				   .left = LEFT + 40 * MS,
				   .tid = TID + 1,
				   .lost_at = LEFT + 50 * MS};

	(void)state;
	leave(LEFT, OFF_CERTAIN);
	event.event.time = LEFT + 60 * MS;
	event.event.kind = EVENT_WAIT;
	waits_end(waits, &event);
	close_window(LEFT + 100 * MS);
	assert_int_equal(takes, 0);
	/* it was not */
	run_again(LEFT, LEFT + 120 * MS);
	assert_int_equal(taken_ns, 120 * MS);
	leave(LEFT + 130 * MS, OFF_CERTAIN);
	close_window(LEFT + 140 * MS);
	assert_int_equal(taken_ns, 130 * MS);
}

static void test_waits__state_says_why(void **state)
{
	static const struct {
		uint32_t call, off_state, state;
	} cases[] = {
		{SYS_futex, OFF_SLEEPS, STATE_LOCK},
		{SYS_clock_nanosleep, OFF_SLEEPS, STATE_SLEEP},
		{SYS_read, OFF_SLEEPS, STATE_IO},
		{SYS_epoll_wait, OFF_SLEEPS, STATE_POLL},
		{SYS_wait4, OFF_SLEEPS, STATE_CHILD},
		{OFF_NO_CALL, OFF_SLEEPS, STATE_WAIT},
		{OFF_NO_CALL, OFF_IO, STATE_IO},
		{SYS_futex, OFF_PREEMPTED, STATE_PREEMPTED},
		{SYS_futex, OFF_STOPPED, STATE_STOPPED},
		{SYS_getpid, OFF_STATES, STATE_WAIT},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(
			waits_state(OFF_WORD(OFF_CERTAIN, cases[i].call, cases[i].off_state)),
			cases[i].state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_waits__either_half_comes_first, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_waits__event_may_be_lost, setup, teardown),
		cmocka_unit_test_setup_teardown(test_waits__improbable_stack_is_worth_more, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_waits__standard_error, setup, teardown),
		cmocka_unit_test_setup_teardown(test_waits__time_of_the_sampler_is_left_out, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_waits__short_one_is_left_out, setup, teardown),
		cmocka_unit_test_setup_teardown(test_waits__open_one_counts_until_the_end, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_waits__window_has_its_part, setup, teardown),
		cmocka_unit_test_setup_teardown(test_waits__over_but_not_yet_told, setup, teardown),
		cmocka_unit_test_setup_teardown(test_waits__lost_halves_are_counted, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_waits__tables_are_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(test_waits__two_of_one_key, setup, teardown),
		cmocka_unit_test_setup_teardown(test_waits__malformed_event_is_lost, setup,
						teardown),
		cmocka_unit_test(test_waits__state_says_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
