/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "ipc/tally.h"
#include "ipc/time.h"

static struct channel broker, loader;
static struct tally tally;
static struct message_audit got[2 * TALLY_AT_ONCE];
static size_t count;

static int setup(void **state)
{
	int fds[2];

	(void)state;
	count = 0;
	assert_int_equal(channel_pair(fds), 0);
	channel_init(&broker, fds[0], PARTY_BROKER, PARTY_LOADER);
	channel_init(&loader, fds[1], PARTY_LOADER, PARTY_BROKER);
	broker.phase = loader.phase = PHASE_RUN;
	tally_start(&tally, &broker, 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	channel_release(&broker);
	channel_release(&loader);
	return 0;
}

static void operate(uint32_t pid, int error, uint64_t now)
{
	const struct message_audit operation = {
		.count = 1, .granted = error == 0, .pid = pid, .error = (int16_t)error};

	tally_count(&tally, &operation, now);
}

static void receive(void)
{
	struct message message;

	while (channel_receive(&loader, &message) == 1)
		got[count++] = message.AUDIT;
}

/* What has come by now, of all processes or of one. */
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
	receive();
	assert_int_equal(count, 0);
	assert_int_equal(tally_turn(&tally, 100 + NS_PER_SECOND, false), -1);
	receive();
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
	receive();
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
		receive();
	}
	tally_turn(&tally, now, true);
	receive();
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

static void test_tally__does_not_wait_for_a_loader_that_does_not_read(void **state)
{
	(void)state;
	for (uint32_t pid = 1; pid <= 100000; pid++)
		operate(pid, 0, 1);
	assert_true(tally_turn(&tally, NS_PER_SECOND + 1, false) > 0);
	for (int i = 0; i < 1000 && tally_turn(&tally, NS_PER_SECOND + 1, false) > 0; i++)
		receive();
	receive();
	assert_int_equal(sum(UINT32_MAX), 100000);
}

static void test_tally__nothing_without_a_start(void **state)
{
	static struct tally idle;

	(void)state;
	tally_count(&idle, &(struct message_audit){.count = 1}, 1);
	assert_int_equal(tally_turn(&idle, NS_PER_SECOND * 9, true), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_tally__alike_ones_in_one_message_a_second,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_tally__many_are_counted_together, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			test_tally__does_not_wait_for_a_loader_that_does_not_read, setup, teardown),
		cmocka_unit_test_setup_teardown(test_tally__nothing_without_a_start, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
