/* SPDX-License-Identifier: Apache-2.0 */
/* The time of a made-up CPU, charged by bpf/account/account.bpf.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "bpf/abi.h"
#include "tests/bpf/build_process.h"

#define INLINE	    static inline __attribute__((unused))
#define BOUND(x, n) ((u64)(x) < (u64)(n) ? (u64)(x) : 0)

#include "bpf/account/account.bpf.h"

#define FROM	1000ull /* when accounting began */
#define THREADS 3
#define EVENTS	100000

static struct account_cpu cpu;
static struct account thread[THREADS];

static int setup(void **state)
{
	(void)state;
	memset(&cpu, 0, sizeof(cpu));
	memset(thread, 0, sizeof(thread));
	return 0;
}

static void switch_from(struct account *account, u64 now)
{
	account_advance(&cpu, FROM, now);
	account_switch(&cpu, account);
}

static u64 charged(void)
{
	u64 sum = cpu.pending;

	for (size_t i = 0; i < THREADS; i++)
		sum += thread[i].ns;
	for (size_t i = 0; i < ACCOUNT_SOFTIRQS; i++)
		sum += cpu.softirqs[i].ns;
	for (size_t i = 0; i < ACCOUNT_HARDIRQS; i++)
		sum += cpu.hardirqs[i].ns;
	return sum;
}

static void test_account__first_event_is_charged_from_the_beginning(void **state)
{
	(void)state;
	switch_from(&thread[0], FROM + 70);
	assert_int_equal(thread[0].ns, 70);
	assert_int_equal(thread[0].switches, 1);
	assert_int_equal(cpu.begin, FROM);
	assert_int_equal(cpu.since, FROM + 70);
	assert_int_equal(cpu.pending, 0);
}

static void test_account__place_is_unknown_before_the_first_event(void **state)
{
	(void)state;
	account_advance(&cpu, FROM, FROM + 1);
	assert_int_equal(cpu.place, ACCOUNT_NO_PLACE);
	assert_int_equal(cpu.thread, ACCOUNT_NO_THREAD);
}

/* A reader that knows how many there were finds those that came since, unless they are too many. */
static void test_account__tells_which_places_changed_last(void **state)
{
	(void)state;
	for (u32 i = 0; i < 3 * ACCOUNT_RECENT; i++)
		account_tell(&cpu, 100 + i);
	assert_int_equal(cpu.changes, 3 * ACCOUNT_RECENT);
	for (u64 i = cpu.changes - ACCOUNT_RECENT; i < cpu.changes; i++)
		assert_int_equal(cpu.recent[i % ACCOUNT_RECENT], 100 + i);
}

/* Another CPU may have read the clock later than this one. */
static void test_account__clock_that_goes_back_charges_nothing(void **state)
{
	(void)state;
	account_advance(&cpu, FROM, FROM - 10);
	assert_int_equal(cpu.since, FROM);
	assert_int_equal(cpu.pending, 0);
	switch_from(&thread[0], FROM + 5);
	account_advance(&cpu, FROM, FROM + 1);
	assert_int_equal(cpu.since, FROM + 5);
	assert_int_equal(charged(), 5);
}

static void test_account__interrupts_are_no_victims_time(void **state)
{
	(void)state;
	account_advance(&cpu, FROM, FROM + 100);
	account_enter_softirq(&cpu, 3);
	account_advance(&cpu, FROM, FROM + 120);
	account_enter_hardirq(&cpu, 11);
	account_advance(&cpu, FROM, FROM + 127);
	account_leave_hardirq(&cpu);
	account_advance(&cpu, FROM, FROM + 130);
	account_leave_softirq(&cpu);
	switch_from(&thread[1], FROM + 150);
	assert_int_equal(thread[1].ns, 120);
	assert_int_equal(thread[1].softirqs, 1);
	assert_int_equal(cpu.softirqs[3].ns, 23);
	assert_int_equal(cpu.softirqs[3].count, 1);
	assert_int_equal(cpu.hardirqs[11].ns, 7);
	assert_int_equal(cpu.hardirqs[11].count, 1);
	assert_int_equal(cpu.context, 0);
}

static void test_account__high_interrupts_share_the_last_place(void **state)
{
	static const u64 numbers[] = {ACCOUNT_HARDIRQS - 1, ACCOUNT_HARDIRQS, 1000000, ~0u};

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		account_enter_hardirq(&cpu, numbers[i]);
		account_leave_hardirq(&cpu);
	}
	assert_int_equal(cpu.hardirqs[ACCOUNT_HARDIRQS - 1].count, 4);
	account_enter_softirq(&cpu, 99);
	assert_int_equal(cpu.softirqs[0].count, 1);
}

/* Where softirqs are threads, one can leave the CPU before its end. */
static void test_account__switch_ends_a_softirq(void **state)
{
	(void)state;
	account_advance(&cpu, FROM, FROM);
	account_enter_softirq(&cpu, 1);
	switch_from(&thread[0], FROM + 10);
	switch_from(&thread[1], FROM + 30);
	account_leave_softirq(&cpu);
	assert_int_equal(cpu.softirqs[1].ns, 10);
	assert_int_equal(thread[1].ns, 20);
}

static void test_account__place_that_is_taken_over_keeps_its_sums(void **state)
{
	struct account *account = &thread[0];

	(void)state;
	account_take_over(&cpu, account);
	account_show(&cpu, 1, 4, account);
	assert_int_equal(account->number, 2);
	assert_int_equal(cpu.gone_ns, 0);
	account->ns = 70;
	account->switches = 3;
	account->softirqs = 2;
	account->ended = 1;
	account->first[FIGURE_user] = 1000;
	account->last[FIGURE_user] = 1050;
	account_take_over(&cpu, account);
	assert_int_equal(account->number, 0);
	account_show(&cpu, 1, 4, account);
	assert_int_equal(account->number, 6);
	assert_int_equal(cpu.gone_ns, 70);
	assert_int_equal(cpu.gone_switches, 3);
	assert_int_equal(cpu.gone_softirqs, 2);
	assert_int_equal(cpu.gone[FIGURE_user], 50);
	assert_int_equal(account->ns, 0);
	assert_int_equal(account->ended, 0);
	assert_int_equal(account->last[FIGURE_user], 0);
}

static void test_account__counters_are_scaled(void **state)
{
	const struct account_reading first = {.value = 1000, .enabled = 500, .running = 500};
	const struct account_reading whole = {.value = 1100, .enabled = 700, .running = 700};
	const struct account_reading half = {.value = 1400, .enabled = 900, .running = 800};
	const struct account_reading none = {.value = 1400, .enabled = 1000, .running = 800};
	struct account_reading before = {0};
	u64 counter = 0;

	(void)state;
	account_count(&before, &first, &counter);
	assert_int_equal(counter, 0);
	account_count(&before, &whole, &counter);
	assert_int_equal(counter, 100);
	account_count(&before, &half, &counter);
	assert_int_equal(counter, 700);
	account_count(&before, &none, &counter);
	assert_int_equal(counter, 700);
	assert_int_equal(before.enabled, 1000);
}

#define OTHER 5000000000ull /* the other clock as it is first read */
#define AHEAD 7000000000ull

/* The other clock is enough for a while, and both are read again after that. */
static void test_account__follows_the_clock(void **state)
{
	struct account_clock clock = {0};

	(void)state;
	assert_true(account_clock_is_due(&clock, OTHER));
	account_clock_set(&clock, OTHER, OTHER + AHEAD);
	assert_false(account_clock_is_due(&clock, OTHER + ACCOUNT_CLOCK_NS - 1));
	assert_int_equal(account_clock_now(&clock, OTHER + 10), OTHER + 10 + AHEAD);
	assert_true(account_clock_is_due(&clock, OTHER + ACCOUNT_CLOCK_NS));
	assert_true(account_clock_is_due(&clock, 0));
}

/* A clock that was noted some time ago makes CLOCK_MONOTONIC no later. */
static void test_account__knows_a_clock_that_was_noted_before(void **state)
{
	struct account_clock clock = {0};
	const u64 late = 9000, later = OTHER + 10 * ACCOUNT_CLOCK_NS,
		  drift = 10 * ACCOUNT_CLOCK_NS / ACCOUNT_CLOCK_RATES;

	(void)state;
	account_clock_set(&clock, OTHER, OTHER + AHEAD);
	account_clock_set(&clock, later, later + AHEAD + late);
	assert_int_equal(account_clock_now(&clock, later), later + AHEAD + drift);
	account_clock_set(&clock, later + 1, later + 1 + AHEAD);
	assert_int_equal(account_clock_now(&clock, later + 1), later + 1 + AHEAD);
}

/* As after a machine stood still, in either direction. */
static void test_account__follows_a_clock_that_was_set(void **state)
{
	struct account_clock clock = {0};

	(void)state;
	account_clock_set(&clock, OTHER, OTHER + AHEAD);
	account_clock_set(&clock, OTHER + 1, OTHER + 1 + 2 * AHEAD);
	assert_int_equal(account_clock_now(&clock, OTHER + 1), OTHER + 1 + 2 * AHEAD);
	account_clock_set(&clock, OTHER + 2, OTHER + 2);
	assert_int_equal(account_clock_now(&clock, OTHER + 2), OTHER + 2);
}

/* In any order of events, each ns is charged exactly once. */
static void test_account__all_time_is_charged_once(void **state)
{
	u64 seed = 4711, now = FROM, running = 0;

	(void)state;
	for (int i = 0; i < EVENTS; i++) {
		now += build_random(&seed) % 1000;
		account_advance(&cpu, FROM, now);
		switch (build_random(&seed) % 6) {
		case 0:
			account_enter_softirq(&cpu, build_random(&seed) % ACCOUNT_SOFTIRQS);
			break;
		case 1:
			account_leave_softirq(&cpu);
			break;
		case 2:
			account_enter_hardirq(&cpu, build_random(&seed) % 200);
			break;
		case 3:
			account_leave_hardirq(&cpu);
			break;
		case 4:
			account_commit(&cpu, &thread[running]);
			break;
		default:
			account_switch(&cpu, &thread[running]);
			running = build_random(&seed) % THREADS;
		}
		assert_int_equal(charged(), now - FROM);
		assert_int_equal(cpu.since - cpu.begin, now - FROM);
	}
	assert_int_equal(thread[0].switches + thread[1].switches + thread[2].switches,
			 cpu.switches);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_account__first_event_is_charged_from_the_beginning,
				       setup),
		cmocka_unit_test_setup(test_account__tells_which_places_changed_last, setup),
		cmocka_unit_test_setup(test_account__place_is_unknown_before_the_first_event,
				       setup),
		cmocka_unit_test_setup(test_account__clock_that_goes_back_charges_nothing, setup),
		cmocka_unit_test_setup(test_account__interrupts_are_no_victims_time, setup),
		cmocka_unit_test_setup(test_account__high_interrupts_share_the_last_place, setup),
		cmocka_unit_test_setup(test_account__switch_ends_a_softirq, setup),
		cmocka_unit_test_setup(test_account__place_that_is_taken_over_keeps_its_sums,
				       setup),
		cmocka_unit_test(test_account__counters_are_scaled),
		cmocka_unit_test(test_account__follows_the_clock),
		cmocka_unit_test(test_account__knows_a_clock_that_was_noted_before),
		cmocka_unit_test(test_account__follows_a_clock_that_was_set),
		cmocka_unit_test_setup(test_account__all_time_is_charged_once, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
