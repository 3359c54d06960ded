/* SPDX-License-Identifier: Apache-2.0 */
/* For whom the worker asks that memory may be read, and how often. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <sys/mman.h>

#include "base/runtimes.h"
#include "ipc/time.h"
#include "tests/unit/session_rig.h"
#include "worker/process/grants.h"
#include "worker/process/mapping.h"
#include "worker/process/object.h"
#include "worker/process/process.h"
#include "worker/process/tracker.h"

#define MAPPING "10000000-10004000 r-xp 00001000 08:01 65536 /bin/program\n"

static struct process *find(struct rig *rig, uint32_t pid, uint64_t generation)
{
	struct tracker *tracker = session_tracker(rig->session);

	return processes_find(tracker_processes(tracker), pid, generation);
}

static size_t asked(const struct rig *rig)
{
	return rig->fake.asked[TARGET_GRANT];
}

/* The process gets something to do for the next turn. */
static void wake(struct rig *rig, uint32_t pid)
{
	static uint64_t at = 0x20000000;

	at += 0x10000;
	build_mmap(&rig->build, ++rig->now, pid, at, 0x1000, 0, 0, PROT_EXEC, "//anon");
}

/* Starts a process and then makes its one object a runtime, as the parse thread may. */
static void start(struct rig *rig, uint32_t pid, uint64_t generation)
{
	rig_seen(rig, pid, generation, MAPPING, "/proc/self/exe");
	rig_settle(rig);
	assert_int_equal(asked(rig), 0);
	find(rig, pid, generation)->mappings->open[0].object->runtime = RUNTIME_CPYTHON;
	wake(rig, pid);
}

static void test_grant_requests__once_a_program(void **state)
{
	struct rig *rig = *state;

	start(rig, 5, 100);
	rig_turn(rig);
	assert_int_equal(asked(rig), 1);
	assert_int_equal(rig->fake.requests[0].generation, 100);
	assert_int_equal(rig->fake.requests[0].process.pid, 5);
	assert_int_equal(rig->fake.requests[0].start, 0x10000000);
	assert_int_equal(rig->fake.requests[0].end, 0x10004000);
	assert_int_equal(find(rig, 5, 100)->grant.state, GRANT_ASKED);
	rig_settle(rig);
	assert_int_equal(find(rig, 5, 100)->grant.state, GRANT_GIVEN);
	wake(rig, 5);
	rig_settle(rig);
	rig_event(rig, EVENT_FORK, 6, 101, 5, 100);
	wake(rig, 6);
	rig_settle(rig);
	assert_int_equal(find(rig, 6, 101)->grant.state, GRANT_GIVEN);
	assert_int_equal(asked(rig), 1);
}

/* A process may end before all that it maps is known. */
static void test_grant_requests__while_others_are_unknown(void **state)
{
	struct rig *rig = *state;

	start(rig, 5, 100);
	build_mmap(&rig->build, ++rig->now, 5, 0x30000000, 0x1000, 0, 4711, PROT_EXEC,
		   "/lib/other.so");
	rig_turn(rig);
	assert_true(find(rig, 5, 100)->mappings->unsettled);
	assert_int_equal(asked(rig), 1);
}

static void test_grant_requests__not_of_other_programs(void **state)
{
	struct rig *rig = *state;

	rig_seen(rig, 5, 100, MAPPING, "/proc/self/exe");
	rig_settle(rig);
	wake(rig, 5);
	rig_settle(rig);
	assert_int_equal(asked(rig), 0);
	assert_int_equal(find(rig, 5, 100)->grant.state, GRANT_NOT_ASKED);
}

static bool is_any_slow(const struct target *target, const struct target_process *process)
{
	(void)process;
	return target->slowed > 0;
}

/* A group that let the broker wait once keeps its functions: its requests are made one by one. */
static void test_grant_requests__of_slow_groups(void **state)
{
	struct rig *rig = *state;

	rig->fake.target.is_slow = is_any_slow;
	start(rig, 5, 100);
	rig_seen(rig, 6, 200, MAPPING, "/proc/self/exe");
	rig->fake.target.slowed++;
	rig_turn(rig);
	assert_int_equal(asked(rig), 1);
	wake(rig, 6);
	rig_settle(rig);
	assert_int_equal(asked(rig), 2);
	assert_int_equal(find(rig, 5, 100)->grant.state, GRANT_GIVEN);
	assert_int_equal(find(rig, 6, 200)->grant.state, GRANT_GIVEN);
}

static void test_grant_requests__a_refusal_holds(void **state)
{
	struct rig *rig = *state;

	rig->fake.grant_error = -EOPNOTSUPP;
	start(rig, 5, 100);
	rig_settle(rig);
	rig->now += 5 * NS_PER_SECOND;
	wake(rig, 5);
	rig_settle(rig);
	assert_int_equal(asked(rig), 1);
	assert_int_equal(find(rig, 5, 100)->grant.state, GRANT_REFUSED);
	assert_int_equal(find(rig, 5, 100)->grant.error, -EOPNOTSUPP);
}

static void test_grant_requests__a_busy_broker_is_asked_again(void **state)
{
	struct rig *rig = *state;

	rig->fake.grant_error = -EBUSY;
	start(rig, 5, 100);
	rig_settle(rig);
	rig_settle(rig);
	assert_int_equal(asked(rig), 1);
	for (size_t i = 2; i < 10; i++) {
		rig->now += 2 * NS_PER_SECOND;
		rig_settle(rig);
		assert_int_equal(asked(rig), i < GRANT_TRIES ? i : GRANT_TRIES);
	}
	assert_int_equal(find(rig, 5, 100)->grant.error, -EBUSY);
}

/* A daemon's first process ends before it can be looked at, and its child goes on. */
static void test_grant_requests__a_child_of_a_process_that_is_gone(void **state)
{
	struct rig *rig = *state;

	start(rig, 5, 100);
	rig_turn(rig);
	rig_event(rig, EVENT_FORK, 6, 101, 5, 100);
	rig_turn(rig);
	assert_int_equal(asked(rig), 1);
	rig->fake.grant_error = -ENOENT;
	fake_target_answer(&rig->fake);
	rig->fake.grant_error = 0;
	rig_settle(rig);
	assert_int_equal(asked(rig), 2);
	assert_int_equal(find(rig, 6, 101)->grant.state, GRANT_GIVEN);
	assert_int_equal(find(rig, 5, 100)->grant.state, GRANT_REFUSED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(test_grant_requests__once_a_program),
		RIG_TEST(test_grant_requests__while_others_are_unknown),
		RIG_TEST(test_grant_requests__not_of_other_programs),
		RIG_TEST(test_grant_requests__of_slow_groups),
		RIG_TEST(test_grant_requests__a_refusal_holds),
		RIG_TEST(test_grant_requests__a_busy_broker_is_asked_again),
		RIG_TEST(test_grant_requests__a_child_of_a_process_that_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
