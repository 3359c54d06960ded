/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <unistd.h>

#include "ipc/channel.h"
#include "ipc/time.h"
#include "tests/unit/fake_target.h"
#include "worker/target/broker.h"

#define QUEUE_MAX 100

static struct channel peer;
static struct broker *broker;
static uint64_t keys[16];
static struct target_reply replies[16];
static size_t answered;

static int setup(void **state)
{
	int fds[2];

	(void)state;
	answered = 0;
	assert_int_equal(channel_pair(fds), 0);
	channel_init(&peer, fds[0], PARTY_BROKER, PARTY_WORKER);
	peer.phase = PHASE_RUN;
	broker = broker_new(QUEUE_MAX, time_now);
	assert_non_null(broker);
	broker_replace(broker, fds[1]);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	broker_free(broker);
	channel_release(&peer);
	return 0;
}

static void on_done(void *context, uint64_t key, struct target_reply *reply)
{
	(void)context;
	keys[answered] = key;
	replies[answered++] = *reply;
}

static int ask(enum target_kind kind, uint64_t key)
{
	const struct target_request request = {.kind = kind,
					       .process = {.pid = 5, .thread = 5},
					       .index = 2,
					       .start = 0x1000,
					       .end = 0x2000,
					       .want_fd = true,
					       .done = on_done,
					       .key = key};

	return broker_ask(broker, &request);
}

/* Answers the request that has come, of which there must be exactly one, as one of type `as`. */
static void reply(enum message_type wanted, enum message_type as, const void *payload, size_t size,
		  int fd)
{
	struct message request, second;

	assert_int_equal(channel_receive(&peer, &request), 1);
	assert_int_equal(request.head.type, wanted);
	assert_int_equal(channel_receive(&peer, &second), 0);
	request.head.type = as;
	assert_int_equal(channel_reply(&peer, &request, payload, size, fd), 0);
}

static void test_broker__one_request_at_a_time_in_order(void **state)
{
	const struct message_reply none = {.error = -ESRCH}, good = {0};
	const struct message_object_reply object = {.device = 1, .inode = 2, .size = 3};
	int fd = fake_file("x", 1);

	(void)state;
	assert_int_equal(ask(TARGET_MAPS, 10), 0);
	assert_int_equal(ask(TARGET_OBJECT, 11), 0);
	assert_int_equal(ask(TARGET_SEGMENT, 12), 0);
	assert_int_equal(answered, 0);
	reply(MESSAGE_MAPS, MESSAGE_MAPS, &none, sizeof(none), -1);
	assert_int_equal(broker_receive(broker), 0);
	reply(MESSAGE_OBJECT, MESSAGE_OBJECT, &object, sizeof(object), fd);
	assert_int_equal(broker_receive(broker), 0);
	reply(MESSAGE_SEGMENT, MESSAGE_SEGMENT, &good, sizeof(good), fd);
	assert_int_equal(broker_receive(broker), 0);
	assert_int_equal(answered, 3);
	assert_int_equal(keys[0], 10);
	assert_int_equal(replies[0].error, -ESRCH);
	assert_int_equal(replies[0].fd, -1);
	assert_int_equal(keys[1], 11);
	assert_int_equal(replies[1].identity.inode, 2);
	assert_true(replies[1].fd >= 0);
	assert_int_equal(keys[2], 12);
	close(fd);
}

static void test_broker__asks_again_at_the_next_turn(void **state)
{
	const struct message_reply later = {.error = -EAGAIN}, none = {.error = -ESRCH};
	struct message message;

	(void)state;
	assert_int_equal(ask(TARGET_MAPS, 10), 0);
	assert_int_equal(ask(TARGET_MAPS, 11), 0);
	reply(MESSAGE_MAPS, MESSAGE_MAPS, &later, sizeof(later), -1);
	assert_int_equal(broker_receive(broker), 0);
	assert_int_equal(answered, 0);
	assert_int_equal(broker_refused(broker), 1);
	assert_int_equal(ask(TARGET_MAPS, 12), 0);
	assert_int_equal(channel_receive(&peer, &message), 0);
	for (int i = 0; i < 3; i++) {
		broker_turn(broker);
		reply(MESSAGE_MAPS, MESSAGE_MAPS, &none, sizeof(none), -1);
		assert_int_equal(broker_receive(broker), 0);
	}
	assert_int_equal(answered, 3);
	assert_int_equal(keys[0], 10);
	assert_int_equal(replies[0].error, -ESRCH);
	assert_int_equal(keys[2], 12);
}

static void test_broker__wrong_answer_loses_it(void **state)
{
	const struct message_reply none = {.error = -ESRCH};

	(void)state;
	ask(TARGET_MAPS, 10);
	ask(TARGET_MAPS, 11);
	reply(MESSAGE_MAPS, MESSAGE_SEGMENT, &none, sizeof(none), -1);
	assert_int_equal(broker_receive(broker), -EPROTO);
	assert_int_equal(answered, 1);
	assert_int_equal(replies[0].error, -EPROTO);
	assert_int_equal(ask(TARGET_MAPS, 12), 0);
	assert_int_equal(broker_receive(broker), 0);
	assert_int_equal(answered, 1);
}

static void replace(void)
{
	int fds[2];

	channel_release(&peer);
	assert_int_equal(channel_pair(fds), 0);
	channel_init(&peer, fds[0], PARTY_BROKER, PARTY_WORKER);
	peer.phase = PHASE_RUN;
	broker_replace(broker, fds[1]);
}

/* The request that the broker died of is not made again; those that waited are. */
static void test_broker__another_one_goes_on(void **state)
{
	const struct message_reply none = {.error = -ESRCH};

	(void)state;
	ask(TARGET_MAPS, 10);
	ask(TARGET_SEGMENT, 11);
	channel_release(&peer);
	assert_int_equal(broker_receive(broker), -EPIPE);
	assert_int_equal(answered, 1);
	assert_int_equal(replies[0].error, -EPIPE);
	assert_int_equal(broker_receive(broker), 0);
	replace();
	reply(MESSAGE_SEGMENT, MESSAGE_SEGMENT, &none, sizeof(none), -1);
	assert_int_equal(broker_receive(broker), 0);
	assert_int_equal(answered, 2);
	assert_int_equal(keys[1], 11);
}

/* A request is taken out of the hands of a broker that hangs; those behind it wait for another. */
static void test_broker__request_is_taken_back(void **state)
{
	const struct message_reply none = {.error = -ESRCH};
	struct target_request request;

	(void)state;
	assert_null(broker_under_way(broker));
	assert_false(broker_take(broker, &request));
	ask(TARGET_OBJECT, 10);
	ask(TARGET_MAPS, 11);
	assert_int_equal(broker_under_way(broker)->key, 10);
	assert_true(broker_asked_at(broker) <= time_now());
	assert_true(broker_take(broker, &request));
	assert_int_equal(request.key, 10);
	assert_int_equal(broker_waiting(broker), 1);
	replace();
	reply(MESSAGE_MAPS, MESSAGE_MAPS, &none, sizeof(none), -1);
	assert_int_equal(broker_receive(broker), 0);
	assert_int_equal(answered, 1);
	assert_int_equal(keys[0], 11);
}

/* The request goes with its broker, and is answered before those that waited in the new queue. */
static void test_broker__adopted_with_its_request(void **state)
{
	const struct message_reply none = {.error = -ESRCH};
	struct broker *ordinary = broker;
	struct broker *other = broker_new(QUEUE_MAX, time_now);

	(void)state;
	ask(TARGET_MAPS, 10);
	ask(TARGET_MAPS, 11);
	broker = other;
	ask(TARGET_MAPS, 20);
	broker_adopt(other, ordinary);
	assert_true(broker_is_gone(ordinary));
	assert_int_equal(broker_waiting(ordinary), 1);
	for (int i = 0; i < 2; i++) {
		reply(MESSAGE_MAPS, MESSAGE_MAPS, &none, sizeof(none), -1);
		assert_int_equal(broker_receive(other), 0);
	}
	assert_int_equal(answered, 2);
	assert_int_equal(keys[0], 10);
	assert_int_equal(keys[1], 20);
	broker_free(ordinary);
}

static bool is_odd(void *context, const struct target_request *request)
{
	(void)context;
	return request->key % 2 == 1;
}

static void test_broker__some_move_to_another_queue(void **state)
{
	const struct message_reply none = {.error = -ESRCH};
	struct broker *other = broker_new(QUEUE_MAX, time_now);

	(void)state;
	for (uint64_t key = 1; key < 6; key++)
		ask(TARGET_MAPS, key);
	broker_move(other, broker, is_odd, NULL);
	assert_int_equal(broker_waiting(other), 2);
	assert_int_equal(broker_waiting(broker), 3);
	for (int i = 0; i < 3; i++) {
		reply(MESSAGE_MAPS, MESSAGE_MAPS, &none, sizeof(none), -1);
		assert_int_equal(broker_receive(broker), 0);
	}
	assert_int_equal(keys[0], 1); /* it was under way */
	assert_int_equal(keys[1], 2);
	assert_int_equal(keys[2], 4);
	broker_free(other);
}

static void test_broker__full_queue_is_counted_once(void **state)
{
	const struct message_reply none = {.error = -ESRCH};

	(void)state;
	for (size_t i = 0; i < QUEUE_MAX; i++)
		assert_int_equal(ask(TARGET_MAPS, i), 0);
	for (int times = 1; times < 3; times++) {
		assert_int_equal(ask(TARGET_MAPS, 1), -EAGAIN);
		assert_int_equal(ask(TARGET_SEGMENT, 2), -EAGAIN);
		assert_int_equal(broker_refused(broker), times);
		reply(MESSAGE_MAPS, MESSAGE_MAPS, &none, sizeof(none), -1);
		assert_true(broker_receive(broker) >= 0);
		assert_int_equal(ask(TARGET_MAPS, 1), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_broker__one_request_at_a_time_in_order, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_broker__asks_again_at_the_next_turn, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_broker__wrong_answer_loses_it, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_broker__full_queue_is_counted_once, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_broker__another_one_goes_on, setup, teardown),
		cmocka_unit_test_setup_teardown(test_broker__request_is_taken_back, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_broker__adopted_with_its_request, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_broker__some_move_to_another_queue, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
