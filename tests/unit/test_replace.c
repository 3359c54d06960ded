/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the deaths of a child decide about the next one, and what a loader knows of earlier brokers.
 * The test is the worker, the brokers and their spawners, as far as the loader asks for a child.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/abi.h"
#include "ipc/log.h"
#include "ipc/time.h"
#include "loader/equip.h"
#include "loader/recording.h"
#include "loader/replace.h"

#define MINUTE (60 * NS_PER_SECOND)

/* Times of deaths in minutes, the latest first; 0: none. */
static const struct {
	uint64_t minutes[DEATHS_MAX];
	int what;
	uint64_t pause_ms;
} rows[] = {
	{{1}, REPLACE_START, 50},
	{{100}, REPLACE_START, 50},
	{{100, 90}, REPLACE_START, 50}, /* ten minutes are over */
	{{100, 91}, REPLACE_START, 800},
	{{100, 100}, REPLACE_START, 800},
	{{100, 91, 90}, REPLACE_START, 800},
	{{100, 90, 90}, REPLACE_START, 50},
	{{100, 92, 91}, REPLACE_END, 0},
	{{3, 2, 1}, REPLACE_END, 0},
	{{7, 7, 7}, REPLACE_END, 0},
};

static struct child with_deaths(const uint64_t minutes[DEATHS_MAX])
{
	struct child child = {.ended = false};

	for (int i = 0; i < DEATHS_MAX; i++)
		child.deaths[i] = minutes[i] * MINUTE;
	return child;
}

static void test_replace__deaths_decide(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct child child = with_deaths(rows[i].minutes);

		const struct replace_plan plan = replace_decide(&child);

		assert_int_equal(plan.what, rows[i].what);
		assert_int_equal(plan.pause, rows[i].pause_ms * NS_PER_MS);
	}
}

/* ---- brokers ------------------------------------------------------------------------------- */

#define SEGMENTS 100 /* more than the monitor takes of one child in a turn */
#define FIRST	 2   /* segment that a broker gives */

/* A recording with brokers, one of which hangs. */
struct rig {
	struct recording rec;
	struct channel worker, brokers[CHILDREN]; /* the children's ends; by place */
	int first_fd;				  /* of the loader, to the ordinary broker */
	int talker;				  /* place of the broker that gives segments */
	uint32_t segments;			  /* that the next broker was told; 0: no broker */
	int equipped;				  /* result of equip_broker() */
	bool unknown;				  /* the worker is not told of the next broker */
};

static struct rig rig;

int __wrap_spawner_spawn(struct spawner *spawner, struct channel *ret_channel);
enum equip_result __wrap_equip_expect_ready(struct recording *rec, struct child *child);
int __wrap_equip_broker(struct recording *rec, enum broker_lane lane);

/* The broker before gives segments until the spawner kills it. */
int __wrap_spawner_spawn(struct spawner *spawner, struct channel *ret_channel)
{
	int fds[2];

	(void)spawner;
	for (uint32_t i = 0; rig.talker && i < SEGMENTS; i++) {
		const struct message_segment given = {FIRST + i};

		assert_int_equal(channel_send(&rig.brokers[rig.talker], MESSAGE_SEGMENT_GIVEN,
					      &given, sizeof(given), -1),
				 0);
	}
	assert_int_equal(channel_pair(fds), 0);
	channel_init(ret_channel, fds[0], PARTY_LOADER, PARTY_BROKER);
	channel_init(&rig.brokers[ROLE_LOADER], fds[1], PARTY_BROKER, PARTY_LOADER);
	return 0;
}

enum equip_result __wrap_equip_expect_ready(struct recording *rec, struct child *child)
{
	(void)rec;
	(void)child;
	return EQUIP_READY;
}

int __wrap_equip_broker(struct recording *rec, enum broker_lane lane)
{
	(void)lane;
	rig.segments = rec->monitor.segments;
	rec->monitor.brokers += !rig.unknown;
	return rig.equipped;
}

/* Makes a channel to the child in the place. */
static void connect_child(int place, enum message_party party, struct channel *ret_child)
{
	struct channel *channel = &rig.rec.monitor.children[place].channel;
	int fds[2];

	assert_int_equal(channel_pair(fds), 0);
	channel_init(channel, fds[0], PARTY_LOADER, party);
	channel_init(ret_child, fds[1], party, PARTY_LOADER);
	channel->phase = ret_child->phase = PHASE_RUN;
}

static int set_up(void **state)
{
	static struct options options;

	(void)state;
	memset(&rig, 0, sizeof(rig));
	recording_init(&rig.rec, &options, 0);
	for (int i = 0; i < CHILDREN; i++)
		rig.brokers[i].fd = -1;
	connect_child(ROLE_WORKER, PARTY_WORKER, &rig.worker);
	connect_child(ROLE_BROKER, PARTY_BROKER, &rig.brokers[ROLE_BROKER]);
	rig.first_fd = rig.rec.monitor.children[ROLE_BROKER].channel.fd;
	rig.rec.monitor.segments = rig.rec.monitor.given = FIRST;
	rig.rec.monitor.brokers = 1;
	return monitor_start(&rig.rec.monitor);
}

static int tear_down(void **state)
{
	(void)state;
	close(rig.rec.monitor.fds[0].fd);
	channel_release(&rig.worker);
	for (int i = 0; i < CHILDREN; i++) {
		channel_release(&rig.brokers[i]);
		channel_release(&rig.rec.monitor.children[i].channel);
	}
	return 0;
}

/* Has the worker complain about the lane. */
static enum monitor_result complain(enum broker_lane lane)
{
	const struct message_stuck stuck = {lane, rig.rec.monitor.brokers};

	assert_int_equal(channel_send(&rig.worker, MESSAGE_BROKER_STUCK, &stuck, sizeof(stuck), -1),
			 0);
	return replace_watch(&rig.rec, GOAL_STOP, time_now() + NS_PER_SECOND / 20);
}

static int fd_of(int place)
{
	return rig.rec.monitor.children[place].channel.fd;
}

static void test_replace__segments_of_a_killed_broker(void **state)
{
	(void)state;
	connect_child(CHILD_PENAL, PARTY_BROKER, &rig.brokers[CHILD_PENAL]);
	rig.talker = ROLE_BROKER;
	assert_int_equal(complain(LANE_ORDINARY), MONITOR_TIMEOUT);
	assert_int_equal(rig.segments, FIRST + SEGMENTS);
	assert_int_equal(rig.rec.monitor.given, FIRST + SEGMENTS);
}

static void test_replace__segments_of_a_demoted_broker(void **state)
{
	(void)state;
	rig.talker = ROLE_BROKER;
	assert_int_equal(complain(LANE_ORDINARY), MONITOR_TIMEOUT);
	assert_int_equal(fd_of(CHILD_PENAL), rig.first_fd);
	assert_int_equal(rig.segments, FIRST + SEGMENTS);
}

static void test_replace__segments_of_the_penal_broker(void **state)
{
	(void)state;
	connect_child(CHILD_PENAL, PARTY_BROKER, &rig.brokers[CHILD_PENAL]);
	rig.talker = CHILD_PENAL;
	assert_int_equal(complain(LANE_ORDINARY), MONITOR_TIMEOUT);
	assert_int_equal(rig.segments, FIRST + SEGMENTS);
}

static void test_replace__more_segments_than_there_are(void **state)
{
	(void)state;
	rig.talker = ROLE_BROKER;
	rig.rec.monitor.given = SEGMENT_MAX - SEGMENTS + 1;
	assert_int_equal(complain(LANE_ORDINARY), MONITOR_FAILED);
	assert_int_equal(rig.segments, 0);
}

/* The worker still has the hung broker as its ordinary one. */
static void test_replace__a_demotion_that_the_worker_does_not_know(void **state)
{
	(void)state;
	rig.equipped = -EMFILE;
	rig.unknown = true;
	assert_int_equal(complain(LANE_ORDINARY), MONITOR_TIMEOUT);
	assert_int_equal(fd_of(ROLE_BROKER), rig.first_fd);
	assert_int_equal(fd_of(CHILD_PENAL), -1);
}

static void test_replace__a_demotion_without_a_new_broker(void **state)
{
	(void)state;
	rig.equipped = -EAGAIN;
	assert_int_equal(complain(LANE_ORDINARY), MONITOR_TIMEOUT);
	assert_int_equal(fd_of(ROLE_BROKER), -1);
	assert_int_equal(fd_of(CHILD_PENAL), rig.first_fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replace__deaths_decide),
		TEST(test_replace__segments_of_a_killed_broker),
		TEST(test_replace__segments_of_a_demoted_broker),
		TEST(test_replace__segments_of_the_penal_broker),
		TEST(test_replace__more_segments_than_there_are),
		TEST(test_replace__a_demotion_that_the_worker_does_not_know),
		TEST(test_replace__a_demotion_without_a_new_broker),
	};

	log_init("test", LOG_LEVEL_ERROR - 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
