/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows an agent tells, and that nothing is lost between the rows and the rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/redact.h"
#include "ipc/time.h"
#include "worker/account/teller.h"

#define TOP	3
#define ROWS	1000
#define DOCKER	"/system.slice/docker-"
#define DOCKER1 "1111111111111111111111111111111111111111111111111111111111111111"

static struct redact redact;
static struct table table;
static struct teller teller;
static struct accounts_sums sums;
static struct message_account rows[ROWS];
static size_t count, sets;
static struct message_account_sums told;
static int failure;

/* Cgroups 1 and 2 are of one container; 3 is at 4's path; 9 has no path; others are at /ID. */
static const char *path_of(void *context, uint64_t id)
{
	static char path[1024];

	(void)context;
	if (id == 9)
		return NULL;
	snprintf(path, sizeof(path), "/%d", (int)id);
	if (id == 3)
		snprintf(path, sizeof(path), "/4");
	if (id == 1 || id == 2)
		snprintf(path, sizeof(path), DOCKER DOCKER1 ".scope/%d", (int)id);
	if (id >= 1000) {
		memset(path, 'a', 900);
		path[900] = '\0';
	}
	return path;
}

static const struct texts texts = {.redact = &redact, .path = path_of};

static int begin_as(uint64_t epoch)
{
	const uint8_t keep[REDACT_KINDS] = {0};

	count = sets = 0;
	failure = 0;
	memset(&sums, 0, sizeof(sums));
	assert_int_equal(redact_init(&redact, keep), 0);
	assert_int_equal(table_init(&table), 0);
	assert_int_equal(teller_init(&teller, TOP, epoch), 0);
	return 0;
}

static int setup(void **state)
{
	(void)state;
	return begin_as(0);
}

static int teardown(void **state)
{
	(void)state;
	teller_release(&teller);
	table_release(&table);
	return 0;
}

/* ---- what is told ---- */

static int send_row(void *context, enum message_type type, const void *payload, uint32_t size)
{
	(void)context;
	if (failure)
		return failure;
	if (type == MESSAGE_ACCOUNT) {
		assert_int_equal(size, sizeof(rows[0]));
		assert_true(count < ROWS);
		memcpy(&rows[count++], payload, size);
	} else if (type == MESSAGE_ACCOUNT_SUMS) {
		memcpy(&told, payload, size);
		sets++;
	} else {
		assert_int_equal(type, MESSAGE_INTERRUPTS);
	}
	return 0;
}

static void tell(void)
{
	const struct teller_channel channel = {.send = send_row};

	count = 0;
	assert_int_equal(teller_tell(&teller, &table, &texts, &sums, 1000, &channel), failure);
}

static const struct message_account *find(enum account_row kind, uint32_t pid, const char *group)
{
	for (size_t i = 0; i < count; i++)
		if (rows[i].kind == kind && rows[i].pid == pid &&
		    (kind == ACCOUNT_PROCESS || !strcmp(rows[i].group, group)))
			return &rows[i];
	return NULL;
}

static uint64_t ns_of(enum account_row kind, uint32_t pid, const char *group)
{
	const struct message_account *row = find(kind, pid, group);

	assert_non_null(row);
	return row->values.ns;
}

#define REST ns_of(ACCOUNT_PROCESS, 0, "")

/* A thread of the process uses some time. The stint goes on. */
static struct row *use(uint32_t pid, uint64_t cgroup, uint64_t ns)
{
	const struct account account = {
		.pid = pid, .thread = pid, .start = pid, .cgroup = cgroup, .name = "name"};
	struct row *row = table_process(&table, &account), *group = table_cgroup(&table, cgroup);

	row->stints = 1;
	row->total.ns += ns;
	group->total.ns += ns;
	group->stints = 1;
	return row;
}

/* ---- tests ---- */

static void test_teller__those_that_used_most(void **state)
{
	(void)state;
	for (uint32_t pid = 1; pid <= 10; pid++)
		use(pid, 50, pid);
	tell();
	assert_int_equal(sets, 1);
	assert_int_equal(ns_of(ACCOUNT_PROCESS, 10, ""), 10);
	assert_int_equal(ns_of(ACCOUNT_PROCESS, 8, ""), 8);
	assert_null(find(ACCOUNT_PROCESS, 7, ""));
	assert_int_equal(REST, 1 + 2 + 3 + 4 + 5 + 6 + 7);
	assert_int_equal(ns_of(ACCOUNT_CGROUP, 0, "/50"), 55);
	assert_int_equal(ns_of(ACCOUNT_CGROUP, 0, ""), 0);
}

/* The rest has what a row used while it was not told, and the row has all. */
static void test_teller__a_row_that_comes_has_all(void **state)
{
	(void)state;
	for (uint32_t pid = 1; pid <= 4; pid++)
		use(pid, 50, 10 * pid);
	tell();
	assert_int_equal(REST, 10);
	use(1, 50, 500);
	tell();
	assert_int_equal(ns_of(ACCOUNT_PROCESS, 1, ""), 510);
	assert_int_equal(REST, 10);
	use(2, 50, 4);
	tell();
	assert_null(find(ACCOUNT_PROCESS, 2, ""));
	assert_int_equal(REST, 14);
}

static void test_teller__a_row_that_does_nothing_loses_its_place(void **state)
{
	(void)state;
	use(1, 50, 1000000);
	tell();
	assert_non_null(find(ACCOUNT_PROCESS, 1, ""));
	for (int i = 0; i < 100 && find(ACCOUNT_PROCESS, 1, ""); i++) {
		for (uint32_t pid = 2; pid < 2 + TOP; pid++)
			use(pid, 50, 1000);
		tell();
	}
	assert_null(find(ACCOUNT_PROCESS, 1, ""));
	/* of the three others, one had no place so far */
	assert_true(REST > 0 && REST < 100000);
}

static void test_teller__ended_processes_become_the_rest(void **state)
{
	uint64_t sum = 0;

	(void)state;
	for (uint32_t round = 0; round < 200; round++) {
		for (uint32_t i = 0; i < 50; i++)
			use(10 + round * 50 + i, 50, 7)->stints = 0;
		sum += 50 * 7;
		tell();
		assert_true(count <= 3 * (TOP + 1));
	}
	assert_true(REST <= sum && REST >= sum - 7 * TOP * 200);
	assert_true(table.processes.count <= 3 * 50 + TOP);
}

static void test_teller__what_nobody_read_is_of_the_rest(void **state)
{
	(void)state;
	sums.unseen.ns = 100;
	tell();
	sums.unseen.ns = 90;
	tell();
	sums.unseen.ns = 105;
	tell();
	assert_int_equal(REST, 105);
}

static void test_teller__a_later_worker_tells_no_rest_of_old_times(void **state)
{
	(void)state;
	teardown(NULL);
	begin_as(1);
	for (uint32_t pid = 1; pid <= 4; pid++)
		use(pid, 50, 10 * pid);
	sums.unseen.ns = 100;
	tell();
	assert_int_equal(REST, 0);
	assert_int_equal(ns_of(ACCOUNT_PROCESS, 4, ""), 40);
	assert_int_equal(find(ACCOUNT_PROCESS, 0, "")->id, 1);
	use(1, 50, 1);
	tell();
	assert_int_equal(REST, 1);
}

static void test_teller__containers_have_all_their_cgroups(void **state)
{
	(void)state;
	use(1, 1, 30);
	use(2, 2, 12);
	use(3, 50, 1000);
	tell();
	assert_int_equal(ns_of(ACCOUNT_CONTAINER, 0, DOCKER1), 42);
	assert_string_equal(find(ACCOUNT_PROCESS, 1, "")->group, DOCKER1);
	assert_string_equal(find(ACCOUNT_PROCESS, 3, "")->group, "");
	use(1, 1, 3);
	tell();
	assert_int_equal(ns_of(ACCOUNT_CONTAINER, 0, DOCKER1), 45);
	assert_int_equal(ns_of(ACCOUNT_CONTAINER, 0, ""), 0);
}

/* Two cgroups of one path, no path, a path that is too long. */
static void test_teller__paths_tell_cgroups_apart(void **state)
{
	(void)state;
	use(1, 3, 30);
	use(2, 4, 20);
	use(3, 9, 10);
	tell();
	assert_int_equal(ns_of(ACCOUNT_CGROUP, 0, "/4"), 30);
	assert_int_equal(ns_of(ACCOUNT_CGROUP, 0, ""), 20);
	assert_int_equal(ns_of(ACCOUNT_CGROUP, 0, "id:9"), 10);
	use(4, 1000, 100000);
	tell();
	assert_int_equal(ns_of(ACCOUNT_CGROUP, 0, "id:1000"), 100000);
}

/* A policy that drops paths: no cgroup has a row, and nothing is lost. */
static void test_teller__dropped_paths(void **state)
{
	uint8_t modes[REDACT_KINDS] = {0};

	(void)state;
	modes[REDACT_PATH] = REDACT_DROP;
	assert_int_equal(redact_init(&redact, modes), 0);
	use(1, 1, 30);
	use(2, 4, 20);
	tell();
	assert_int_equal(ns_of(ACCOUNT_CGROUP, 0, ""), 50);
	assert_null(find(ACCOUNT_CONTAINER, 0, DOCKER1));
	assert_string_equal(find(ACCOUNT_PROCESS, 1, "")->group, "");
}

static void test_teller__cgroups_are_bounded(void **state)
{
	uint64_t sum = 0;

	(void)state;
	for (uint64_t id = 50; id < 50 + 3 * TABLE_CGROUPS; id++) {
		use(1, id, 2);
		table_cgroup(&table, id)->stints = 0;
		sum += 2;
		if (id % 1000 == 0)
			tell();
	}
	tell();
	assert_true(table.cgroups.count <= TABLE_CGROUPS);
	assert_true(ns_of(ACCOUNT_CGROUP, 0, "") >= sum - 2 * TOP * 20);
}

static void test_teller__sums(void **state)
{
	(void)state;
	sums.wall = 1000;
	sums.charged = 999;
	sums.threads.figure[FIGURE_user] = 5;
	sums.kind[ACCOUNT_IDLE].ns = 7;
	sums.counted.counter[ACCOUNT_COUNTER_cycles] = 30;
	sums.counted.counter[ACCOUNT_COUNTER_ref_cycles] = 20;
	sums.softirqs[3] = (struct account_time){.ns = 8, .count = 9};
	tell();
	assert_int_equal(told.error, 1000000);
	assert_int_equal(told.threads.user, 5);
	assert_int_equal(told.idle, 7);
	assert_int_equal(told.counter[ACCOUNT_COUNTER_cycles], 30);
	assert_int_equal(told.frequency, 1500);
	assert_int_equal(told.softirq_ns[3], 8);
	assert_int_equal(told.softirqs[3], 9);
	sums.wall = 2000;
	sums.charged = 1999;
	sums.counted.counter[ACCOUNT_COUNTER_cycles] = 35;
	sums.counted.counter[ACCOUNT_COUNTER_ref_cycles] = 30;
	tell();
	assert_int_equal(told.error, 0);
	assert_int_equal(told.frequency, 500);
}

/* An exporter that is gone: its successor gets all. */
static void test_teller__a_set_that_was_not_sent(void **state)
{
	(void)state;
	for (uint32_t pid = 1; pid <= 4; pid++)
		use(pid, 50, 10 * pid);
	failure = -EPIPE;
	tell();
	assert_int_equal(count, 0);
	failure = 0;
	tell();
	assert_int_equal(REST, 10);
	assert_int_equal(ns_of(ACCOUNT_PROCESS, 4, ""), 40);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	static const struct CMUnitTest tests[] = {
		T(test_teller__those_that_used_most),
		T(test_teller__a_row_that_comes_has_all),
		T(test_teller__a_row_that_does_nothing_loses_its_place),
		T(test_teller__ended_processes_become_the_rest),
		T(test_teller__what_nobody_read_is_of_the_rest),
		T(test_teller__a_later_worker_tells_no_rest_of_old_times),
		T(test_teller__containers_have_all_their_cgroups),
		T(test_teller__paths_tell_cgroups_apart),
		T(test_teller__dropped_paths),
		T(test_teller__cgroups_are_bounded),
		T(test_teller__sums),
		T(test_teller__a_set_that_was_not_sent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
