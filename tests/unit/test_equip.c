/* SPDX-License-Identifier: Apache-2.0 */
/* Which new child did not come, and which one is refused. The test is the spawner and the child. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "ipc/guard.h"
#include "ipc/log.h"
#include "loader/equip.h"
#include "loader/recording.h"

/* The other ends of the channels of a broker that is starting. */
struct rig {
	struct recording rec;
	struct channel spawner, broker;
	struct message request; /* SPAWN */
};

static struct child *broker_of(struct rig *rig)
{
	return &rig->rec.monitor.children[ROLE_BROKER];
}

static int set_up(void **state)
{
	static struct options options;
	static struct rig rig;
	struct child *child = broker_of(&rig);
	int fds[2];

	memset(&rig, 0, sizeof(rig));
	recording_init(&rig.rec, &options, 0);
	assert_int_equal(channel_pair(fds), 0);
	channel_init(&rig.spawner, fds[0], PARTY_SPAWNER, PARTY_LOADER);
	child->spawner.role = ROLE_BROKER;
	child->spawner.pid = getpid();
	channel_init(&child->spawner.channel, fds[1], PARTY_LOADER, PARTY_SPAWNER);
	assert_int_equal(spawner_spawn(&child->spawner, &child->channel), 0);
	assert_int_equal(channel_receive(&rig.spawner, &rig.request), 1);
	channel_init(&rig.broker, take_fd(&rig.request.fd), PARTY_BROKER, PARTY_LOADER);
	*state = &rig;
	return 0;
}

static int tear_down(void **state)
{
	struct rig *rig = *state;

	channel_release(&rig->spawner);
	channel_release(&rig->broker);
	channel_release(&broker_of(rig)->channel);
	channel_release(&broker_of(rig)->spawner.channel);
	return 0;
}

/* Answers SPAWN: with this process as the child, or with the error. */
static void spawn(struct rig *rig, int error)
{
	const struct f_owner_ex owner = {F_OWNER_PID, getpid()};
	const struct message_spawned spawned = {.error = error};
	guard_fd int pidfd = -1;

	if (error == 0) {
		pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
		assert_int_equal(fcntl(pidfd, F_SETOWN_EX, &owner), 0);
	}
	assert_int_equal(
		channel_reply(&rig->spawner, &rig->request, &spawned, sizeof(spawned), pidfd), 0);
}

static void end(struct rig *rig)
{
	const struct message_exited exited = {.status = 9};

	assert_int_equal(channel_send(&rig->spawner, MESSAGE_EXITED, &exited, sizeof(exited), -1),
			 0);
	channel_release(&rig->broker);
}

static void expect(struct rig *rig, enum equip_result result, bool ended)
{
	assert_int_equal(equip_expect_ready(&rig->rec, broker_of(rig)), result);
	assert_int_equal(broker_of(rig)->ended, ended);
}

static void test_equip__a_spawner_that_cannot_start_it(void **state)
{
	spawn(*state, -EBUSY);
	expect(*state, EQUIP_ABSENT, false);
}

static void test_equip__an_end_before_ready(void **state)
{
	spawn(*state, 0);
	end(*state);
	expect(*state, EQUIP_ABSENT, true);
}

/* An ended child has no layer in /proc, and none is reported as missing. */
static void test_equip__an_end_behind_ready(void **state)
{
	struct rig *rig = *state;

	spawn(rig, 0);
	assert_int_equal(channel_send_ready(&rig->broker, 0, UINT32_MAX), 0);
	end(rig);
	expect(rig, EQUIP_ABSENT, true);
	assert_int_equal(broker_of(rig)->status, 9);
}

/* This process says that it is confined, and /proc says that it is not. */
static void test_equip__a_layer_that_is_missing(void **state)
{
	struct rig *rig = *state;

	spawn(rig, 0);
	assert_int_equal(channel_send_ready(&rig->broker, 0, UINT32_MAX), 0);
	expect(rig, EQUIP_REFUSED, false);
}

static void test_equip__another_build(void **state)
{
	const struct message_ready ready = {PARTY_BROKER, 0, UINT32_MAX, "another"};
	struct rig *rig = *state;

	spawn(rig, 0);
	assert_int_equal(channel_send(&rig->broker, MESSAGE_READY, &ready, sizeof(ready), -1), 0);
	expect(rig, EQUIP_REFUSED, false);
}

static void test_equip__a_violation(void **state)
{
	const struct message_log line = {.level = UINT32_MAX};
	struct rig *rig = *state;

	spawn(rig, 0);
	assert_int_equal(channel_send(&rig->broker, MESSAGE_LOG, &line, sizeof(line), -1), 0);
	expect(rig, EQUIP_REFUSED, false);
}

/*
 * Equips the broker, where the peer of one channel may be gone. Returns how many brokers the
 * worker was told of, by the loader's count.
 */
static uint32_t equip(struct rig *rig, bool no_worker, bool no_broker, int result)
{
	struct child *worker = &rig->rec.monitor.children[ROLE_WORKER];
	guard_fd int any = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct channel peer;
	struct message message;
	int fds[2];

	rig->rec.programs.segment_map = rig->rec.programs.process_map = any;
	rig->rec.programs.grant_map = any;
	assert_int_equal(channel_pair(fds), 0);
	channel_init(&worker->channel, fds[0], PARTY_LOADER, PARTY_WORKER);
	channel_init(&peer, fds[1], PARTY_WORKER, PARTY_LOADER);
	if (no_worker)
		channel_release(&peer);
	if (no_broker)
		channel_release(&rig->broker);
	assert_int_equal(equip_broker(&rig->rec, LANE_ORDINARY), result);
	if (rig->rec.monitor.brokers) {
		assert_int_equal(channel_receive(&peer, &message), 1);
		assert_int_equal(message.DESCRIPTOR.kind, DESCRIPTOR_BROKER);
		message_release(&message);
	}
	channel_release(&peer);
	channel_release(&worker->channel);
	return rig->rec.monitor.brokers;
}

static void test_equip__a_broker_counts(void **state)
{
	assert_int_equal(equip(*state, false, false, 0), 1);
}

/* A loader that counted it would ignore all complaints of the worker. */
static void test_equip__a_broker_that_the_worker_does_not_get(void **state)
{
	assert_int_equal(equip(*state, true, false, -EPIPE), 0);
}

static void test_equip__a_broker_that_has_ended(void **state)
{
	assert_int_equal(equip(*state, false, true, -EPIPE), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_equip__a_spawner_that_cannot_start_it),
		TEST(test_equip__an_end_before_ready),
		TEST(test_equip__an_end_behind_ready),
		TEST(test_equip__a_layer_that_is_missing),
		TEST(test_equip__another_build),
		TEST(test_equip__a_violation),
		TEST(test_equip__a_broker_counts),
		TEST(test_equip__a_broker_that_the_worker_does_not_get),
		TEST(test_equip__a_broker_that_has_ended),
	};

	log_init("test", LOG_LEVEL_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
