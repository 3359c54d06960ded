/* SPDX-License-Identifier: Apache-2.0 */
/* A child says what it has written; the tests show what it can make of a recording so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ipc/log.h"
#include "ipc/time.h"
#include "loader/monitor.h"

/* Returns what the monitor makes of an exporter's message while the recording goes on. */
static enum monitor_result said(int32_t error, uint32_t bytes)
{
	const struct message_written written = {error, bytes};
	static struct monitor monitor;
	struct channel exporter;
	enum monitor_result result;
	int fds[2];

	memset(&monitor, 0, sizeof(monitor));
	monitor.audit.fd = -1;
	for (int role = 0; role < ROLE_SUPERVISED; role++)
		monitor.children[role].channel.fd = monitor.children[role].spawner.channel.fd = -1;
	assert_int_equal(channel_pair(fds), 0);
	channel_init(&exporter, fds[0], PARTY_EXPORTER, PARTY_LOADER);
	channel_init(&monitor.children[ROLE_EXPORTER].channel, fds[1], PARTY_LOADER,
		     PARTY_EXPORTER);
	exporter.phase = monitor.children[ROLE_EXPORTER].channel.phase = PHASE_RUN;
	assert_int_equal(monitor_start(&monitor), 0);
	assert_int_equal(channel_send(&exporter, MESSAGE_WRITTEN, &written, sizeof(written), -1),
			 0);
	result = monitor_run(&monitor, GOAL_STOP, time_now() + 5 * NS_PER_SECOND);
	close(monitor.fds[0].fd);
	channel_release(&exporter);
	channel_release(&monitor.children[ROLE_EXPORTER].channel);
	return result;
}

static void test_monitor__an_error_ends_the_recording(void **state)
{
	(void)state;
	assert_int_equal(said(-EPIPE, 0), MONITOR_REACHED);
	assert_int_equal(said(-ENOSPC, 0), MONITOR_REACHED);
	assert_int_equal(said(-EFBIG, 0), MONITOR_REACHED);
}

/* A recording that took the exporter at its word would end with success. */
static void test_monitor__nothing_is_whole_yet(void **state)
{
	(void)state;
	assert_int_equal(said(0, 0), MONITOR_FAILED);
	assert_int_equal(said(0, 1000), MONITOR_FAILED);
	assert_int_equal(said(-ENODATA, 0), MONITOR_FAILED);
}

/* Each row has what a child's end means; the order of the columns is that of enum child_end. */
static void test_monitor__fate_of_each_end(void **state)
{
	enum {
		FAIL = FATE_FAIL,
		NEW = FATE_REPLACE,
		WITHOUT = FATE_WITHOUT
	};
	static const struct {
		enum policy_role role;
		enum monitor_goal goal;
		int fates[CHILD_ENDS]; /* runs, closed, ended, killed, hangs */
	} rows[] = {
		{ROLE_LOADER, GOAL_STOP, {FAIL, FAIL, FAIL, FAIL, FAIL}},
		{ROLE_LOADER, GOAL_WRITTEN, {FAIL, FAIL, FAIL, FAIL, FAIL}},
		{ROLE_WORKER, GOAL_STOP, {FAIL, FAIL, NEW, NEW, FAIL}},
		{ROLE_WORKER, GOAL_WRITTEN, {FAIL, FAIL, FAIL, FAIL, FAIL}},
		{ROLE_EXPORTER, GOAL_STOP, {FAIL, FAIL, FAIL, NEW, FAIL}},
		{ROLE_EXPORTER, GOAL_WRITTEN, {FAIL, FAIL, FAIL, NEW, FAIL}},
		{ROLE_BROKER, GOAL_STOP, {FAIL, FAIL, FAIL, NEW, NEW}},
		{ROLE_BROKER, GOAL_WRITTEN, {FAIL, WITHOUT, WITHOUT, WITHOUT, WITHOUT}},
	};

	(void)state;
	assert_int_equal(sizeof(rows) / sizeof(*rows), ROLE_SUPERVISED * GOALS);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (int end = 0; end < CHILD_ENDS; end++)
			assert_int_equal(
				monitor_decide(rows[i].role, (enum child_end)end, rows[i].goal),
				rows[i].fates[end]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_monitor__an_error_ends_the_recording),
		cmocka_unit_test(test_monitor__nothing_is_whole_yet),
		cmocka_unit_test(test_monitor__fate_of_each_end),
	};

	log_init("test", LOG_LEVEL_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
