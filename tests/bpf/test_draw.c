/* SPDX-License-Identifier: Apache-2.0 */
/* The draw of threads that leave their CPU (bpf/off_cpu/draw.bpf.h), with made-up threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "bpf/abi.h"
#include "bpf/off_cpu/draw.bpf.h"

#define MS	 1000000ull
#define INTERVAL (10 * MS)
#define STACK_NS 6000ull

static const struct off_limits limits = {
	.interval = INTERVAL, .window = 100 * MS, .budget = 300000};

/* The same numbers in each run. */
static u32 random_number(void)
{
	static struct off_cpu cpu;

	return draw_random(&cpu, 1);
}

/* Each bit is set in half of the numbers, and equal to the one before in half of them. */
static void test_draw__numbers_are_random(void **state)
{
	u32 set[32] = {0}, same[32] = {0}, last = 0;

	(void)state;
	for (u32 i = 0; i < 100000; i++) {
		const u32 number = random_number();

		for (u32 bit = 0; bit < 32; bit++) {
			set[bit] += number >> bit & 1;
			same[bit] += ~(number ^ last) >> bit & 1;
		}
		last = number;
	}
	for (u32 bit = 0; bit < 32; bit++) {
		assert_in_range(set[bit], 49000, 51000);
		assert_in_range(same[bit], 49000, 51000);
	}
}

static void test_draw__passed(void **state)
{
	(void)state;
	assert_int_equal(draw_passed(0, 5 * MS, INTERVAL), 64 * INTERVAL);
	assert_int_equal(draw_passed(2 * MS, 5 * MS, INTERVAL), 3 * MS);
	assert_int_equal(draw_passed(5 * MS, 5 * MS, INTERVAL), DRAW_PASSED_LEAST);
	/* on another CPU, whose clock is behind */
	assert_int_equal(draw_passed(6 * MS, 5 * MS, INTERVAL), DRAW_PASSED_LEAST);
}

static void test_draw__probability_is_that_of_the_draw(void **state)
{
	static const u64 passed[] = {0, 64, 5000, 123456, 5 * MS, INTERVAL - 1};

	(void)state;
	for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++) {
		const u32 probability = draw_probability(passed[i], INTERVAL);

		assert_in_range(probability, 1, OFF_CERTAIN);
		/* exactly so many of all numbers are taken */
		assert_true(draw_takes(passed[i], INTERVAL, probability - 1));
		if (probability < OFF_CERTAIN)
			assert_false(draw_takes(passed[i], INTERVAL, probability));
	}
	assert_int_equal(draw_probability(INTERVAL, INTERVAL), OFF_CERTAIN);
	assert_true(draw_takes(INTERVAL, INTERVAL, UINT32_MAX));
	assert_in_range(draw_probability(DRAW_INTERVAL_MAX - 1, DRAW_INTERVAL_MAX),
			OFF_CERTAIN - 64, OFF_CERTAIN);
}

/* A thread that is away for times of any length: what is taken stands for all of them. */
static void test_draw__estimate_is_unbiased(void **state)
{
	double truth = 0, estimate = 0;
	u64 taken = 0;

	(void)state;
	for (int i = 0; i < 2000000; i++) {
		const u64 passed = 1000 + random_number() % 100000;
		const u64 away = random_number() % (random_number() % 50 ? 10000 : 1000000);

		truth += (double)away;
		if (!draw_takes(passed, INTERVAL, random_number()))
			continue;
		estimate += (double)away * 0x1p32 / draw_probability(passed, INTERVAL);
		taken++;
	}
	assert_in_range(taken, 9000, 12000);
	assert_true(estimate > truth * 0.93 && estimate < truth * 1.07);
}

/* Runs 10,000 threads that leave 100 times a second. Returns the cost in 1/1000 of the time. */
static u64 run(struct off_cpu *cpu, u64 seconds, u64 *now)
{
	static u64 left[10000];
	const u64 end = *now + seconds * 1000 * MS, begun = *now;
	u64 spent = 0;

	for (u64 i = 0; *now < end; i++, *now += 1000) {
		const u64 passed = *now - left[i % 10000];

		left[i % 10000] = *now;
		if (draw_is_due(cpu, &limits, *now))
			draw_adapt(cpu, &limits, *now);
		if (!draw_takes(passed, cpu->interval, random_number()))
			continue;
		cpu->spent += STACK_NS;
		spent += STACK_NS;
	}
	return spent * 1000 / (*now - begun);
}

/* A million switches a second: stacks of all of them would take six CPUs. */
static void test_draw__cost_is_bounded(void **state)
{
	struct off_cpu cpu = {0};
	u64 now = 1000 * MS;

	(void)state;
	assert_in_range(run(&cpu, 1, &now), 1, 12); /* begins without knowing */
	assert_in_range(run(&cpu, 5, &now), 1, 5);
	assert_true(cpu.interval > 50 * INTERVAL && cpu.interval <= DRAW_INTERVAL_MAX);
	/* the rush is over: all stacks of a rare thread are taken again */
	for (int i = 0; i < 100; i++) {
		now += limits.window;
		assert_true(draw_is_due(&cpu, &limits, now));
		draw_adapt(&cpu, &limits, now);
	}
	assert_int_equal(cpu.interval, INTERVAL);
}

/* Windows without a switch are draws that never were: one draw behind them makes up for all. */
static void test_draw__rest_counts(void **state)
{
	struct off_cpu cpu = {.interval = 256 * INTERVAL, .window = MS, .limit = limits.budget};
	u64 now = MS;

	(void)state;
	cpu.spent = 3 * limits.budget;
	now += 2 * limits.window;
	draw_adapt(&cpu, &limits, now); /* more than the budget of two windows */
	assert_int_equal(cpu.interval, 512 * INTERVAL);
	cpu.spent = 3 * limits.budget;
	now += 8 * limits.window;
	draw_adapt(&cpu, &limits, now);
	assert_int_equal(cpu.interval, 32 * INTERVAL);
	now += 100 * limits.window;
	draw_adapt(&cpu, &limits, now);
	assert_int_equal(cpu.interval, INTERVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_draw__numbers_are_random),
		cmocka_unit_test(test_draw__passed),
		cmocka_unit_test(test_draw__probability_is_that_of_the_draw),
		cmocka_unit_test(test_draw__estimate_is_unbiased),
		cmocka_unit_test(test_draw__cost_is_bounded),
		cmocka_unit_test(test_draw__rest_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
