/* SPDX-License-Identifier: Apache-2.0 */
/* Two brokers, either of which may hang. The test is both, the loader and the clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "ipc/channel.h"
#include "ipc/time.h"
#include "worker/target/lanes.h"

#define HOSTILE 7 /* cgroups */
#define GOOD	8

static struct channel peers[LANES + 1]; /* brokers, in the order of their coming */
static unsigned int brokers;
static struct lanes *lanes;
static uint64_t now;
static uint64_t keys[32];
static int errors[32];
static size_t answered;
static struct message_stuck complaint;
static unsigned int complaints, blamed;
static uint32_t blamed_pid;

/* The queues take the time of a request from the clock of the machine. */
static uint64_t clock_of_test(void)
{
	return time_now() + now;
}

static void on_complaint(void *context, const struct message_stuck *stuck)
{
	(void)context;
	complaint = *stuck;
	complaints++;
}

static void on_blame(void *context, const struct target_process *process, uint64_t nanoseconds)
{
	(void)context;
	(void)nanoseconds;
	blamed_pid = process->pid;
	blamed++;
}

/* Returns the worker's end of a channel to a new broker. */
static int new_broker(void)
{
	struct channel *peer = &peers[brokers++];
	int fds[2];

	assert_true(brokers <= sizeof(peers) / sizeof(*peers));
	assert_int_equal(channel_pair(fds), 0);
	channel_init(peer, fds[0], PARTY_BROKER, PARTY_WORKER);
	peer->phase = PHASE_RUN;
	return fds[1];
}

static int setup(void **state)
{
	const struct lanes_parts parts = {clock_of_test, on_complaint, on_blame, NULL};

	(void)state;
	now = 0;
	answered = complaints = blamed = brokers = 0;
	for (size_t i = 0; i < sizeof(peers) / sizeof(*peers); i++)
		peers[i].fd = -1;
	lanes = lanes_new(&parts, new_broker());
	assert_non_null(lanes);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	lanes_free(lanes);
	for (size_t i = 0; i < sizeof(peers) / sizeof(*peers); i++)
		channel_release(&peers[i]);
	return 0;
}

static void on_done(void *context, uint64_t key, struct target_reply *reply)
{
	(void)context;
	keys[answered] = key;
	errors[answered++] = reply->error;
}

static void ask_kind(enum target_kind kind, uint64_t cgroup, uint64_t key)
{
	const struct target_request request = {
		.kind = kind,
		.process = {(uint32_t)key,
			    (uint32_t)key,
			    {cgroup, 1000 + (uint32_t)cgroup, 3, {0}}},
		.done = on_done,
		.key = key,
	};
	struct target *target = lanes_target(lanes);

	assert_int_equal(target->ask(target, &request), 0);
}

static void ask(uint64_t cgroup, uint64_t key)
{
	ask_kind(TARGET_MAPS, cgroup, key);
}

/* Answers the one request that a broker has, and returns its pid. */
static uint32_t serve(unsigned int broker)
{
	const struct message_reply none = {.error = -ESRCH};
	struct message request, second;

	assert_int_equal(channel_receive(&peers[broker], &request), 1);
	assert_int_equal(channel_receive(&peers[broker], &second), 0);
	assert_int_equal(channel_reply(&peers[broker], &request, &none, sizeof(none), -1), 0);
	lanes_receive(lanes, LANE_ORDINARY);
	lanes_receive(lanes, LANE_PENAL);
	return request.MAPS.pid;
}

static void pass(uint64_t nanoseconds)
{
	now += nanoseconds;
	lanes_turn(lanes);
}

/* Has the first broker hang and become the penal one. */
static void demote(void)
{
	ask(HOSTILE, 1);
	pass(LANES_DEADLINE);
	lanes_replace(lanes, LANE_DEMOTING, new_broker());
}

static void test_lanes__others_go_on_without_the_hung_one(void **state)
{
	(void)state;
	ask(HOSTILE, 1);
	ask(GOOD, 2);
	ask(HOSTILE, 3);
	pass(LANES_DEADLINE / 2);
	assert_int_equal(complaints, 0);
	assert_true(lanes_wait(lanes) <= LANES_DEADLINE / 2);
	pass(LANES_DEADLINE / 2);
	assert_int_equal(complaints, 1);
	assert_int_equal(complaint.lane, LANE_ORDINARY);
	assert_int_equal(complaint.brokers, 1);
	assert_int_equal(blamed_pid, 1);
	lanes_replace(lanes, LANE_DEMOTING, new_broker());
	assert_int_equal(serve(1), 2);
	/* the others of its group wait for the hung one, which answers late */
	ask(HOSTILE, 4);
	ask(GOOD, 5);
	assert_int_equal(serve(1), 5);
	assert_int_equal(lanes_target(lanes)->waiting, 3);
	for (uint32_t pid = 1; pid < 5; pid += 2)
		assert_int_equal(serve(0), pid);
	assert_int_equal(serve(0), 4);
	assert_int_equal(answered, 5);
	assert_int_equal(blamed, 1);
}

static void test_lanes__a_request_has_three_brokers(void **state)
{
	unsigned int lost = 0;

	(void)state;
	demote();
	ask(HOSTILE, 2);
	for (; answered == 0; lost++) {
		const struct message_reply none = {.error = -ESRCH};
		struct message request;

		brokers = lost == 0 ? 2 : brokers;
		pass(LANES_PENAL_DEADLINE);
		assert_int_equal(complaint.lane, LANE_PENAL);
		channel_release(&peers[lost == 0 ? 0 : 2]);
		lanes_receive(lanes, LANE_PENAL); /* the loader ends the old one first */
		brokers = 2;
		lanes_replace(lanes, LANE_PENAL, new_broker());
		/* the other request of the group is not lost, and goes first */
		if (lost > 0)
			continue;
		assert_int_equal(channel_receive(&peers[2], &request), 1);
		assert_int_equal(request.MAPS.pid, 2);
		channel_reply(&peers[2], &request, &none, sizeof(none), -1);
		lanes_receive(lanes, LANE_PENAL);
		assert_int_equal(answered, 1);
		answered = 0;
	}
	assert_int_equal(lost, LANES_LOSSES_MAX);
	assert_int_equal(keys[0], 1);
	assert_int_equal(errors[0], -ETIMEDOUT);
}

/* The broker answered late, and was then ended with the request of somebody else. */
static void test_lanes__nobody_else_loses_a_request(void **state)
{
	(void)state;
	demote();
	ask(9, 2);
	ask(GOOD, 3);
	pass(LANES_DEADLINE);
	assert_int_equal(complaint.lane, LANE_ORDINARY);
	assert_int_equal(serve(1), 2);
	lanes_replace(lanes, LANE_ORDINARY, new_broker());
	assert_int_equal(answered, 1);
	assert_int_equal(serve(2), 3);
	assert_int_equal(answered, 2);
	assert_int_equal(errors[1], -ESRCH);
}

/* The broker may have ended because of the request. */
static void test_lanes__nothing_is_repeated_that_ended_a_broker(void **state)
{
	(void)state;
	ask(GOOD, 1);
	ask(GOOD, 2);
	channel_release(&peers[0]);
	lanes_replace(lanes, LANE_ORDINARY, new_broker());
	assert_int_equal(answered, 1);
	assert_int_equal(errors[0], -EPIPE);
	assert_int_equal(serve(1), 2);
}

static void test_lanes__a_segment_is_nobodys(void **state)
{
	(void)state;
	ask_kind(TARGET_SEGMENT, 0, 1);
	pass(LANES_DEADLINE);
	assert_int_equal(complaints, 0);
	pass(LANES_PENAL_DEADLINE);
	assert_int_equal(complaints, 1);
	assert_int_equal(blamed, 0);
	assert_int_equal(lanes_target(lanes)->slowed, 0);
}

static void test_lanes__a_missing_broker_is_missed(void **state)
{
	(void)state;
	channel_release(&peers[0]);
	assert_true(lanes_receive(lanes, LANE_ORDINARY) < 0);
	pass(LANES_GAP_FIRST);
	assert_int_equal(complaints, 0); /* nobody asks */
	assert_int_equal(lanes_fd(lanes, LANE_ORDINARY), -1);
	ask(GOOD, 1);
	for (unsigned int i = 1; i < 6; i++) {
		uint64_t gap = LANES_GAP_FIRST << (i - 1);

		if (gap > LANES_GAP_MAX)
			gap = LANES_GAP_MAX;
		lanes_turn(lanes);
		assert_int_equal(complaints, i);
		assert_int_equal(complaint.lane, LANE_ORDINARY);
		pass(gap - NS_PER_SECOND / 2);
		assert_int_equal(complaints, i);
		now += NS_PER_SECOND / 2;
	}
	assert_int_equal(blamed, 0);
	lanes_replace(lanes, LANE_ORDINARY, new_broker());
	assert_int_equal(serve(1), 1);
}

static void test_lanes__the_penalty_ends(void **state)
{
	(void)state;
	demote();
	assert_int_equal(serve(0), 1);
	pass(60 * NS_PER_SECOND);
	ask(HOSTILE, 2);
	assert_int_equal(serve(1), 2);
}

/* A request of the group takes so long, and one of another group waits for it. */
static void delay(uint64_t cgroup, uint64_t nanoseconds)
{
	ask(cgroup, 1);
	ask(GOOD, 2);
	now += nanoseconds;
	assert_int_equal(serve(0), 1);
	assert_int_equal(serve(0), 2);
	answered = 0;
}

static void test_lanes__late_answers_are_blamed(void **state)
{
	(void)state;
	delay(HOSTILE, 100 * NS_PER_MS);
	delay(HOSTILE, 100 * NS_PER_MS);
	assert_int_equal(blamed, 0);
	ask(HOSTILE, 3);
	ask(HOSTILE, 4);
	ask(GOOD, 5);
	now += 100 * NS_PER_MS;
	assert_int_equal(serve(0), 3);
	assert_int_equal(blamed, 1);
	assert_int_equal(blamed_pid, 3);
	assert_int_equal(lanes_target(lanes)->slowed, 1);
	/* the others go on, and the group's requests want a broker of their own */
	assert_int_equal(serve(0), 5);
	assert_int_equal(lanes_target(lanes)->waiting, 1);
	assert_int_equal(complaints, 0);
	lanes_turn(lanes);
	assert_int_equal(complaints, 1);
	assert_int_equal(complaint.lane, LANE_PENAL);
	lanes_replace(lanes, LANE_PENAL, new_broker());
	assert_int_equal(serve(1), 4);
}

static void test_lanes__a_tenth_of_the_time_is_free(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++) {
		delay(HOSTILE, 100 * NS_PER_MS);
		now += NS_PER_SECOND;
	}
	assert_int_equal(blamed, 0);
}

static void test_lanes__swift_answers_cost_nothing(void **state)
{
	(void)state;
	for (int i = 0; i < 1000; i++)
		delay(HOSTILE, LANES_SWIFT - NS_PER_MS);
	assert_int_equal(blamed, 0);
}

/* The answers may have come before. */
static void test_lanes__the_workers_own_time_is_nobodys(void **state)
{
	(void)state;
	for (int i = 0; i < 10; i++) {
		ask(HOSTILE, 1);
		ask(GOOD, 2);
		now += 100 * NS_PER_MS;
		lanes_spend(lanes, 100 * NS_PER_MS);
		assert_int_equal(serve(0), 1);
		assert_int_equal(serve(0), 2);
		answered = 0;
	}
	assert_int_equal(blamed, 0);
}

static void test_lanes__work_before_a_request_excuses_nobody(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		now += 100 * NS_PER_MS;
		lanes_spend(lanes, 100 * NS_PER_MS);
		delay(HOSTILE, 100 * NS_PER_MS);
	}
	assert_int_equal(blamed, 1);
}

/* The work ends a moment after the request was sent. */
static void test_lanes__work_excuses_for_no_longer_than_since_the_request(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		now += 100 * NS_PER_MS;
		ask(HOSTILE, 1);
		ask(GOOD, 2);
		now += NS_PER_MS;
		lanes_spend(lanes, 101 * NS_PER_MS);
		now += 100 * NS_PER_MS;
		assert_int_equal(serve(0), 1);
		assert_int_equal(serve(0), 2);
		answered = 0;
	}
	assert_int_equal(blamed, 1);
}

static void test_lanes__nobody_else_waited(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 10; i++) {
		ask(HOSTILE, 1);
		ask(HOSTILE, 2);
		now += 100 * NS_PER_MS;
		assert_int_equal(serve(0), 1);
		assert_int_equal(serve(0), 2);
		answered = 0;
	}
	assert_int_equal(blamed, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_lanes__others_go_on_without_the_hung_one),
		TEST(test_lanes__a_request_has_three_brokers),
		TEST(test_lanes__nobody_else_loses_a_request),
		TEST(test_lanes__nothing_is_repeated_that_ended_a_broker),
		TEST(test_lanes__a_segment_is_nobodys),
		TEST(test_lanes__a_missing_broker_is_missed),
		TEST(test_lanes__the_penalty_ends),
		TEST(test_lanes__late_answers_are_blamed),
		TEST(test_lanes__a_tenth_of_the_time_is_free),
		TEST(test_lanes__swift_answers_cost_nothing),
		TEST(test_lanes__the_workers_own_time_is_nobodys),
		TEST(test_lanes__work_before_a_request_excuses_nobody),
		TEST(test_lanes__work_excuses_for_no_longer_than_since_the_request),
		TEST(test_lanes__nobody_else_waited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
