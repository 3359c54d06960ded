/* SPDX-License-Identifier: Apache-2.0 */
/* The broker tells keyhole-audit what it did. The test is loader, worker and keyhole-audit. */
#include <errno.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "tests/privsep/broker.h"
#include "tests/privsep/privsep.h"

struct sums {
	uint64_t count[MESSAGE_COUNT], granted[MESSAGE_COUNT], refused[MESSAGE_COUNT];
};

static int add_reports(struct channel *auditor, int wait, struct sums *sums)
{
	struct message message;
	int r;

	while ((r = channel_wait(auditor, wait, &message)) == 1) {
		const struct message_audit *audit = &message.AUDIT;

		assert_int_equal(message.head.type, MESSAGE_AUDIT);
		assert_true(audit->request < MESSAGE_COUNT && audit->granted <= 1);
		assert_true(audit->answer.error <= 0);
		sums->count[audit->request]++;
		sums->granted[audit->request] += audit->granted;
		sums->refused[audit->request] += audit->answer.error < 0;
	}
	return r;
}

static void test_broker__counts_each_operation(void **state)
{
	const struct message_object absent = {
		.start = 0x1000, .end = 0x2000, .pid = (uint32_t)getpid()};
	const struct message_grant unknown = {
		.generation = 2, .start = 0x1000, .end = 0x2000, .pid = (uint32_t)getpid()};
	struct channel auditor;
	struct sums sums = {0};
	struct message message;
	struct child child;
	int map = segment_map(), fd;

	(void)state;
	start_audited_broker(&child, map, &auditor);
	for (int i = 0; i < 70; i++) {
		assert_int_equal(ask_maps(&child, (uint32_t)getpid(), &fd), 0);
		close(fd);
	}
	for (int i = 0; i < 7; i++)
		assert_int_equal(ask_maps(&child, PROCESS_PID_MAX, &fd), -ENOENT);
	for (int i = 0; i < 5; i++)
		assert_int_equal(ask_object(&child, &absent, &message), -ENOENT);
	for (int i = 0; i < 3; i++)
		assert_int_equal(ask_grant(&child, &unknown), -ESRCH);
	assert_int_equal(ask_segment(&child, SEGMENT_MAX, &fd), -EINVAL);
	assert_int_equal(ask_segment(&child, 0, &fd), 0);
	close(fd);
	/* each is there before its answer is */
	assert_int_equal(add_reports(&auditor, 0, &sums), -ETIMEDOUT);
	assert_int_equal(sums.count[MESSAGE_MAPS], 77);
	assert_int_equal(sums.granted[MESSAGE_MAPS], 70);
	assert_int_equal(sums.count[MESSAGE_OBJECT], 5);
	assert_int_equal(sums.refused[MESSAGE_OBJECT], 5);
	assert_int_equal(sums.count[MESSAGE_GRANT], 3);
	assert_int_equal(sums.granted[MESSAGE_GRANT], 0);
	assert_int_equal(sums.count[MESSAGE_SEGMENT], 2);
	assert_int_equal(sums.granted[MESSAGE_SEGMENT], 1);
	channel_release(&child.worker);
	assert_int_equal(add_reports(&auditor, CHILD_WAIT_MS, &sums), -EPIPE);
	assert_int_equal(sums.count[MESSAGE_MAPS], 77);
	channel_release(&auditor);
	child_stop(&child);
	close(map);
}

/* Faster than it may ask: those that are refused for that are counted too. */
static void test_broker__counts_a_flood(void **state)
{
	struct channel auditor;
	struct sums sums = {0};
	struct child child;
	int map = segment_map(), fd;
	uint32_t asked = 0;

	(void)state;
	start_audited_broker(&child, map, &auditor);
	for (; asked < 100000; asked++) {
		ask_maps(&child, PROCESS_PID_MAX - asked, &fd);
		add_reports(&auditor, 0, &sums);
	}
	channel_release(&child.worker);
	add_reports(&auditor, CHILD_WAIT_MS, &sums);
	assert_int_equal(sums.count[MESSAGE_MAPS], asked);
	channel_release(&auditor);
	child_stop(&child);
	close(map);
}

/* Nobody reads, so nothing more is given; nobody is there to read, so the broker ends. */
static void test_broker__gives_nothing_that_is_not_counted(void **state)
{
	struct channel auditor;
	struct sums sums = {0};
	struct message message;
	struct child child;
	const struct message_maps request = {.pid = (uint32_t)getpid()};
	int map = segment_map(), r = 0;
	uint64_t asked = 0;

	(void)state;
	start_audited_broker(&child, map, &auditor);
	while (r == 0) {
		assert_int_equal(
			channel_send(&child.worker, MESSAGE_MAPS, &request, sizeof(request), -1),
			0);
		asked++;
		r = channel_expect(&child.worker, MESSAGE_MAPS_REPLY, 500, &message);
		if (r == 0)
			message_release(&message);
	}
	assert_int_equal(r, -ETIMEDOUT);
	assert_int_equal(add_reports(&auditor, 2000, &sums), -ETIMEDOUT);
	assert_int_equal(sums.count[MESSAGE_MAPS], asked);
	assert_int_equal(channel_expect(&child.worker, MESSAGE_MAPS_REPLY, CHILD_WAIT_MS, &message),
			 0);
	message_release(&message);
	channel_release(&auditor);
	assert_int_equal(channel_send(&child.worker, MESSAGE_MAPS, &request, sizeof(request), -1),
			 0);
	assert_int_equal(channel_expect(&child.worker, MESSAGE_MAPS_REPLY, CHILD_WAIT_MS, &message),
			 -EPIPE);
	assert_int_equal(child_wait_exit(&child), 0);
	child_stop(&child);
	close(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_broker__counts_each_operation),
		cmocka_unit_test(test_broker__counts_a_flood),
		cmocka_unit_test(test_broker__gives_nothing_that_is_not_counted),
	};

	privsep_need_root();
	return cmocka_run_group_tests(tests, privsep_link_programs, NULL);
}
