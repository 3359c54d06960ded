/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "helper/audit/tally.h"
#include "ipc/time.h"

static struct tally tally;
static struct operations got[2 * TALLY_AT_ONCE];
static size_t count;

static void receive(const struct operations *operations)
{
	got[count++] = *operations;
}

static int setup(void **state)
{
	(void)state;
	count = 0;
	tally_start(&tally, receive, 0);
	return 0;
}

static void operate(uint32_t pid, int error, uint64_t now)
{
	const struct operations operation = {
		.count = 1, .granted = error == 0, .pid = pid, .error = error};

	tally_count(&tally, &operation, now);
}

/* Returns the records that have come by now, of all processes or of one. */
static uint64_t sum(uint32_t pid)
{
	uint64_t operations = 0;

	for (size_t i = 0; i < count; i++)
		operations += got[i].pid == pid || pid == UINT32_MAX ? got[i].count : 0;
	return operations;
}

static void test_tally__alike_ones_in_one_message_a_second(void **state)
{
	(void)state;
	for (int i = 0; i < 10; i++)
		operate(5, 0, 100);
	operate(5, -ENOENT, 200);
	operate(6, 0, 300);
	assert_int_equal(tally_turn(&tally, 100 + NS_PER_SECOND / 2, false), 500);
	assert_int_equal(count, 0);
	assert_int_equal(tally_turn(&tally, 100 + NS_PER_SECOND, false), -1);
	assert_int_equal(count, 3);
	for (size_t i = 0; i < count; i++)
		if (got[i].pid == 5 && got[i].error == 0)
			assert_int_equal(got[i].granted, 10);
		else
			assert_int_equal(got[i].granted, got[i].error == 0);
	assert_int_equal(sum(UINT32_MAX), 12);
	assert_int_equal(tally_turn(&tally, 3 * NS_PER_SECOND, false), -1);
	operate(5, 0, 3 * NS_PER_SECOND);
	tally_turn(&tally, 4 * NS_PER_SECOND, false);
	assert_int_equal(sum(UINT32_MAX), 13);
}

static void test_tally__many_are_counted_together(void **state)
{
	const uint32_t asked = 500000;
	uint64_t now = 0, granted = 0;

	(void)state;
	for (uint32_t pid = 1; pid <= asked; pid++) {
		now += 20000;
		operate(pid, pid % 3 ? 0 : -ENOENT, now);
		tally_turn(&tally, now, false);
	}
	tally_turn(&tally, now, true);
	assert_int_equal(sum(UINT32_MAX), asked);
	assert_true(count > TALLY_AT_ONCE / 2);
	assert_true(count <= TALLY_AT_ONCE + now / NS_PER_SECOND * TALLY_RATE);
	assert_true(sum(0) > asked / 2);
	for (size_t i = 0; i < count; i++) {
		if (got[i].pid == 0)
			assert_true(got[i].error == 0 || got[i].error == TALLY_SEVERAL);
		assert_int_equal(got[i].granted, got[i].error ? 0 : got[i].count);
		granted += got[i].granted;
	}
	assert_int_equal(granted, asked - asked / 3);
}

/* More operations come in one second than are written at once. The last turn writes the rest. */
static void test_tally__the_last_turn_has_all(void **state)
{
	(void)state;
	for (uint32_t pid = 1; pid <= 100000; pid++)
		operate(pid, 0, 1);
	assert_true(count < TALLY_AT_ONCE);
	assert_int_equal(tally_turn(&tally, 2, true), -1);
	assert_true(count <= TALLY_AT_ONCE);
	assert_int_equal(sum(UINT32_MAX), 100000);
	assert_int_equal(tally_turn(&tally, 3, true), -1);
	assert_int_equal(sum(UINT32_MAX), 100000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_tally__alike_ones_in_one_message_a_second, setup),
		cmocka_unit_test_setup(test_tally__many_are_counted_together, setup),
		cmocka_unit_test_setup(test_tally__the_last_turn_has_all, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
