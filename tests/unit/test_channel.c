/* SPDX-License-Identifier: Apache-2.0 */
#include "ipc/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cmocka.h>

#include "generated/version.h"
#include "ipc/time.h"

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

/* ---- the rules, without a socket ----------------------------------------------------------- */

struct packet {
	struct message_head head;
	unsigned char payload[MESSAGE_PAYLOAD_MAX];
	size_t size;
	unsigned int fds;
};

static enum message_party concrete(unsigned int party)
{
	if (party == PARTY_CHILD || party == PARTY_ASKER)
		return PARTY_WORKER;
	return (enum message_party)party;
}

/* Makes a channel on which the type may come next, and a datagram of that type. */
static struct channel expecting(unsigned int type, struct packet *ret_packet)
{
	const struct message_rule *rule = message_rule(type);
	struct channel channel = {.fd = -1,
				  .self = concrete(rule->to),
				  .peer = concrete(rule->from),
				  .phase = (enum message_phase)rule->first,
				  .sent = 3,
				  .received = 6};

	*ret_packet = (struct packet){
		.head = {MESSAGE_MAGIC, (uint16_t)type, MESSAGE_VERSION, 7, message_is_reply(type)},
		.size = sizeof(struct message_head) + rule->payload,
		.fds = rule->fds != 0,
	};
	return channel;
}

static int check(const struct channel *channel, const struct packet *packet)
{
	return channel_check(channel, &packet->head, packet->payload, packet->size, packet->fds);
}

#define FOR_EACH_TYPE(type) for (unsigned int type = MESSAGE_NONE + 1; type < MESSAGE_COUNT; type++)

static void test_channel__check_accepts_each_row(void **state)
{
	(void)state;
	FOR_EACH_TYPE(type)
	{
		const struct message_rule *rule = message_rule(type);
		struct packet packet;
		struct channel channel = expecting(type, &packet);

		for (unsigned int phase = rule->first; phase <= rule->last; phase++) {
			channel.phase = (enum message_phase)phase;
			assert_int_equal(check(&channel, &packet), 0);
		}
	}
}

/* An answer names any request that was sent; no other type names one. */
static void test_channel__check_wants_answers_to_name_a_request(void **state)
{
	(void)state;
	FOR_EACH_TYPE(type)
	{
		struct packet packet;
		struct channel channel = expecting(type, &packet);

		for (uint32_t reply_to = 0; reply_to <= channel.sent; reply_to++) {
			const bool right = message_is_reply(type) == (reply_to != 0);

			packet.head.reply_to = reply_to;
			assert_int_equal(check(&channel, &packet), right ? 0 : -EPROTO);
		}
	}
}

static void test_channel__check_refuses_wrong_heads(void **state)
{
	(void)state;
	FOR_EACH_TYPE(type)
	{
		struct packet good, bad;
		struct channel channel = expecting(type, &good);

		bad = good;
		bad.head.magic++;
		assert_int_equal(check(&channel, &bad), -EPROTO);
		bad = good;
		bad.head.version++;
		assert_int_equal(check(&channel, &bad), -EPROTO);
		bad = good;
		bad.head.sequence++;
		assert_int_equal(check(&channel, &bad), -EPROTO);
		bad = good;
		bad.head.sequence--;
		assert_int_equal(check(&channel, &bad), -EPROTO);
		bad = good;
		bad.head.reply_to = channel.sent + 1;
		assert_int_equal(check(&channel, &bad), -EPROTO);
		bad = good;
		bad.head.type = type % 2 ? 0 : MESSAGE_COUNT;
		assert_int_equal(check(&channel, &bad), -EPROTO);
	}
}

static void test_channel__check_refuses_wrong_sizes(void **state)
{
	(void)state;
	FOR_EACH_TYPE(type)
	{
		struct packet good, bad;
		struct channel channel = expecting(type, &good);

		for (size_t size = 0; size <= sizeof(good.head) + MESSAGE_PAYLOAD_MAX; size++) {
			bad = good;
			bad.size = size;
			assert_int_equal(check(&channel, &bad), size == good.size ? 0 : -EPROTO);
		}
	}
}

static void test_channel__check_refuses_wrong_phases_and_parties(void **state)
{
	(void)state;
	FOR_EACH_TYPE(type)
	{
		const struct message_rule *rule = message_rule(type);
		struct packet packet;
		struct channel good = expecting(type, &packet), bad;

		for (unsigned int phase = PHASE_START; phase <= PHASE_FINISH; phase++) {
			bad = good;
			bad.phase = (enum message_phase)phase;
			assert_int_equal(check(&bad, &packet),
					 phase >= rule->first && phase <= rule->last ? 0 : -EPROTO);
		}
		bad = good;
		bad.self = good.peer;
		bad.peer = good.self;
		assert_int_equal(check(&bad, &packet), -EPROTO);
		bad = good;
		bad.peer = good.peer == PARTY_SPAWNER ? PARTY_COMMITTER : PARTY_SPAWNER;
		assert_int_equal(check(&bad, &packet), -EPROTO);
	}
}

static void test_channel__check_counts_descriptors(void **state)
{
	(void)state;
	FOR_EACH_TYPE(type)
	{
		const struct message_rule *rule = message_rule(type);
		const int32_t error = -ENOENT;
		struct packet packet;
		struct channel channel = expecting(type, &packet);

		packet.fds = 2;
		assert_int_equal(check(&channel, &packet), -EPROTO);
		packet.fds = rule->fds == 0;
		assert_int_equal(check(&channel, &packet), rule->fds == FDS_MAYBE ? 0 : -EPROTO);
		if (rule->fds < FDS_REPLY)
			continue;
		memcpy(packet.payload, &error, sizeof(error));
		packet.fds = 0;
		assert_int_equal(check(&channel, &packet), 0);
		packet.fds = 1;
		assert_int_equal(check(&channel, &packet), -EPROTO);
	}
}

/* Each error that a row may have passes. An error number of a row without errors means nothing. */
static void test_channel__check_refuses_absurd_errors(void **state)
{
	static const int32_t absurd[] = {1, 5, INT32_MAX, -MESSAGE_ERRNO_MAX - 1, INT32_MIN};
	static const int32_t possible[] = {-1, -ENOENT, -MESSAGE_ERRNO_MAX};

	(void)state;
	FOR_EACH_TYPE(type)
	{
		const struct message_rule *rule = message_rule(type);
		struct packet packet;
		struct channel channel = expecting(type, &packet);

		packet.fds = rule->fds == 1;
		for (size_t i = 0; i < sizeof(absurd) / sizeof(absurd[0]); i++) {
			memcpy(packet.payload, &absurd[i], sizeof(absurd[i]));
			assert_int_equal(check(&channel, &packet), rule->error ? -EPROTO : 0);
		}
		for (size_t i = 0; i < sizeof(possible) / sizeof(possible[0]); i++) {
			memcpy(packet.payload, &possible[i], sizeof(possible[i]));
			assert_int_equal(check(&channel, &packet), 0);
		}
	}
}

static void test_channel__rows_with_an_error(void **state)
{
	static const enum message_type with[] = {
		MESSAGE_SPAWNED,     MESSAGE_OUTPUT_FILE,  MESSAGE_POLICY_KEYS,	  MESSAGE_RANGES,
		MESSAGE_SYMBOLS,     MESSAGE_WRITTEN,	   MESSAGE_AUDIT_WRITTEN, MESSAGE_STEPPED,
		MESSAGE_LINES_REPLY, MESSAGE_OBJECT_REPLY, MESSAGE_AUDIT,	  MESSAGE_NOTIFY,
	};
	static const enum message_type without[] = {MESSAGE_EXITED, MESSAGE_OPTIONS, MESSAGE_LOG};

	(void)state;
	for (size_t i = 0; i < sizeof(with) / sizeof(with[0]); i++)
		assert_true(message_rule(with[i])->error);
	for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++)
		assert_false(message_rule(without[i])->error);
}

static void test_channel__check_refuses_a_second_once(void **state)
{
	(void)state;
	FOR_EACH_TYPE(type)
	{
		struct packet packet;
		struct channel channel = expecting(type, &packet);

		memset(channel.seen, 0xff, sizeof(channel.seen));
		assert_int_equal(check(&channel, &packet), message_rule(type)->once ? -EPROTO : 0);
	}
}

static void test_channel__child_is_no_other_party(void **state)
{
	struct packet packet;
	struct channel channel = expecting(MESSAGE_LOG, &packet);

	(void)state;
	for (unsigned int party = PARTY_LOADER; party <= PARTY_ASKER; party++) {
		bool child = party >= PARTY_WORKER && party <= PARTY_BROKER;

		channel.peer = (enum message_party)party;
		assert_int_equal(check(&channel, &packet), child ? 0 : -EPROTO);
	}
}

/* ---- with sockets -------------------------------------------------------------------------- */

struct ends {
	struct channel loader, worker;
};

static int set_up(void **state)
{
	static struct ends ends;
	int fds[2];

	assert_int_equal(channel_pair(fds), 0);
	channel_init(&ends.loader, fds[0], PARTY_LOADER, PARTY_WORKER);
	channel_init(&ends.worker, fds[1], PARTY_WORKER, PARTY_LOADER);
	*state = &ends;
	return 0;
}

static int tear_down(void **state)
{
	struct ends *ends = *state;

	channel_release(&ends->loader);
	channel_release(&ends->worker);
	return 0;
}

static int lowest_free_fd(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

/* Sends past channel_send(), which would refuse most of these datagrams. */
static void send_raw(int socket, const void *bytes, size_t size, const int *fds, size_t count)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(16 * sizeof(int))];
	} control = {{0}};
	struct iovec part = {(void *)(uintptr_t)bytes, size};
	struct msghdr packet = {.msg_iov = &part, .msg_iovlen = 1};

	if (count) {
		packet.msg_control = control.bytes;
		packet.msg_controllen = CMSG_SPACE(count * sizeof(int));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(&control.head), fds, count * sizeof(int));
	}
	assert_int_equal(sendmsg(socket, &packet, 0), size);
}

static int send_progress(struct ends *ends)
{
	const struct message_progress progress = {1, 2};

	return channel_send(&ends->worker, MESSAGE_PROGRESS, &progress, sizeof(progress), -1);
}

static void run_phase(struct ends *ends)
{
	ends->loader.phase = ends->worker.phase = PHASE_RUN;
}

static void test_channel__carries_payload_and_descriptor(void **state)
{
	const struct message_descriptor sent = {DESCRIPTOR_TAILS, 5};
	struct ends *ends = *state;
	struct message message;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(
		channel_send(&ends->loader, MESSAGE_DESCRIPTOR, &sent, sizeof(sent), fds[1]), 0);
	close(fds[1]);
	assert_int_equal(channel_wait(&ends->worker, 100, &message), 1);
	assert_int_equal(message.head.type, MESSAGE_DESCRIPTOR);
	assert_memory_equal(&message.DESCRIPTOR, &sent, sizeof(sent));
	assert_int_equal(fcntl(message.fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(write(message.fd, "x", 1), 1);
	message_release(&message);
	assert_int_equal(message.fd, -1);
	assert_int_equal(read(fds[0], &fds[1], 1), 1);
	close(fds[0]);
}

static void test_channel__send_refuses_own_mistakes(void **state)
{
	struct ends *ends = *state;

	assert_int_equal(channel_send_bare(&ends->loader, MESSAGE_NONE, -1), -EINVAL);
	assert_int_equal(channel_send(&ends->loader, MESSAGE_START, "more", 4, -1), -EINVAL);
	assert_int_equal(channel_send_bare(&ends->loader, MESSAGE_START, 0), -EINVAL);
	assert_int_equal(channel_send_bare(&ends->worker, MESSAGE_START, -1), -EINVAL);
	assert_int_equal(send_progress(ends), -EINVAL);
	assert_int_equal(ends->loader.sent + ends->worker.sent, 0);
}

static void test_channel__reply_names_its_request(void **state)
{
	struct message_maps maps = {.pid = 1};
	struct message_reply reply = {.error = -ESRCH};
	struct message request, answer;
	struct ends *ends = *state;

	run_phase(ends);
	ends->loader.self = ends->worker.peer = PARTY_BROKER;
	assert_int_equal(channel_send(&ends->worker, MESSAGE_MAPS, &maps, sizeof(maps), -1), 0);
	assert_int_equal(channel_send(&ends->worker, MESSAGE_MAPS, &maps, sizeof(maps), -1), 0);
	assert_int_equal(channel_wait(&ends->loader, 100, &request), 1);
	assert_int_equal(channel_wait(&ends->loader, 100, &request), 1);
	assert_int_equal(channel_reply(&ends->loader, &request, &reply, sizeof(reply), -1), 0);
	assert_int_equal(channel_wait(&ends->worker, 100, &answer), 1);
	assert_int_equal(answer.head.reply_to, 2);
	assert_int_equal(answer.MAPS_REPLY.error, -ESRCH);
	/* an answer to nothing is a mistake of the sender */
	assert_int_equal(channel_send(&ends->loader, MESSAGE_MAPS_REPLY, &reply, sizeof(reply), -1),
			 -EINVAL);
}

static void test_channel__empty_and_timeout(void **state)
{
	struct ends *ends = *state;
	struct message message;
	uint64_t before = time_now();

	assert_int_equal(channel_receive(&ends->loader, &message), 0);
	assert_int_equal(channel_wait(&ends->loader, 30, &message), -ETIMEDOUT);
	assert_true(time_now() - before >= 30 * NS_PER_MS);
}

static void test_channel__end_of_stream(void **state)
{
	struct ends *ends = *state;
	struct message message;

	run_phase(ends);
	assert_int_equal(send_progress(ends), 0);
	channel_release(&ends->worker);
	assert_int_equal(channel_receive(&ends->loader, &message), 1);
	assert_int_equal(channel_receive(&ends->loader, &message), -EPIPE);
	assert_int_equal(channel_wait(&ends->loader, 100, &message), -EPIPE);
}

static void test_channel__last_words_survive_unread_input(void **state)
{
	const struct message_stop stop = {0};
	struct ends *ends = *state;
	struct message message;

	run_phase(ends);
	assert_int_equal(channel_send(&ends->loader, MESSAGE_STOP, &stop, sizeof(stop), -1), 0);
	assert_int_equal(send_progress(ends), 0);
	channel_release(&ends->worker);
	assert_int_equal(channel_receive(&ends->loader, &message), 1);
	assert_int_equal(message.head.type, MESSAGE_PROGRESS);
	assert_int_equal(channel_receive(&ends->loader, &message), -EPIPE);
}

static void test_channel__send_to_nobody(void **state)
{
	const struct message_stop stop = {0};
	struct ends *ends = *state;

	run_phase(ends);
	channel_release(&ends->worker);
	assert_int_equal(channel_send(&ends->loader, MESSAGE_STOP, &stop, sizeof(stop), -1),
			 -EPIPE);
}

static void test_channel__send_gives_up_on_a_deaf_peer(void **state)
{
	struct ends *ends = *state;
	uint64_t before;
	int r = 0;

	run_phase(ends);
	for (int i = 0; i < 100000 && r == 0; i++) {
		before = time_now();
		r = send_progress(ends);
	}
	assert_int_equal(r, -EAGAIN);
	assert_true(time_now() - before >= CHANNEL_SEND_MS * NS_PER_MS);
	assert_true(time_now() - before < 3 * CHANNEL_SEND_MS * NS_PER_MS);
}

static void test_channel__empty_datagram_is_a_violation(void **state)
{
	struct ends *ends = *state;
	struct message message;

	send_raw(ends->worker.fd, "", 0, NULL, 0);
	assert_int_equal(channel_receive(&ends->loader, &message), -EPROTO);
}

static void test_channel__truncated_datagram_is_a_violation(void **state)
{
	static unsigned char bytes[sizeof(struct message_head) + MESSAGE_PAYLOAD_MAX + 1];
	struct message_head head = {MESSAGE_MAGIC, MESSAGE_PROGRESS, MESSAGE_VERSION, 1, 0};
	struct ends *ends = *state;
	struct message message;

	run_phase(ends);
	memcpy(bytes, &head, sizeof(head));
	send_raw(ends->worker.fd, bytes, sizeof(bytes), NULL, 0);
	assert_int_equal(channel_receive(&ends->loader, &message), -EPROTO);
}

static void test_channel__surplus_descriptors_are_closed(void **state)
{
	struct {
		struct message_head head;
		struct message_descriptor descriptor;
	} bytes = {{MESSAGE_MAGIC, MESSAGE_DESCRIPTOR, MESSAGE_VERSION, 1, 0}, {1, 0}};
	const int fds[12] = {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2};
	struct ends *ends = *state;
	struct message message;
	int free_fd = lowest_free_fd();

	for (size_t count = 2; count <= 12; count += 5) {
		send_raw(ends->loader.fd, &bytes, sizeof(bytes), fds, count);
		assert_int_equal(channel_receive(&ends->worker, &message), -EPROTO);
		assert_int_equal(lowest_free_fd(), free_fd);
	}
	send_raw(ends->loader.fd, &bytes, sizeof(bytes), NULL, 0);
	assert_int_equal(channel_receive(&ends->worker, &message), -EPROTO);
	send_raw(ends->loader.fd, "", 0, fds, 1);
	assert_int_equal(channel_receive(&ends->worker, &message), -EPROTO);
	assert_int_equal(lowest_free_fd(), free_fd);
}

/*
 * The kernel refuses a descriptor on an end that may receive none (Linux 6.16). Before, we refuse
 * it.
 */
static void test_channel__no_descriptor_where_none_is_due(void **state)
{
	struct {
		struct message_head head;
		struct message_progress progress;
	} bytes = {{MESSAGE_MAGIC, MESSAGE_PROGRESS, MESSAGE_VERSION, 1, 0}, {0, 0}};
	struct ends *ends = *state;
	struct message message;
	int free_fd = lowest_free_fd(), value = 1;
	socklen_t size = sizeof(value);

	run_phase(ends);
	if (getsockopt(ends->loader.fd, SOL_SOCKET, SO_PASSRIGHTS, &value, &size) == 0) {
		assert_int_equal(value, 0);
		assert_int_equal(
			getsockopt(ends->worker.fd, SOL_SOCKET, SO_PASSRIGHTS, &value, &size), 0);
		assert_int_equal(value, 1);
		return;
	}
	send_raw(ends->worker.fd, &bytes, sizeof(bytes), (const int[]){0}, 1);
	assert_int_equal(channel_receive(&ends->loader, &message), -EPROTO);
	assert_int_equal(lowest_free_fd(), free_fd);
}

static void test_channel__expect_insists(void **state)
{
	const struct message_log log = {.level = 3, .length = 2, .text = "hi"};
	struct ends *ends = *state;
	struct message message;

	assert_int_equal(channel_send(&ends->worker, MESSAGE_LOG, &log, sizeof(log), -1), 0);
	assert_int_equal(channel_send_ready(&ends->worker, 2, 5), 0);
	assert_int_equal(channel_expect(&ends->loader, MESSAGE_READY, 100, &message), 0);
	assert_int_equal(message.READY.role, PARTY_WORKER);
	assert_int_equal(message.READY.lacking, 2);
	assert_int_equal(message.READY.proven, 5);
	assert_string_equal(message.READY.build, KEYHOLE_VERSION);
	assert_int_equal(channel_send_bare(&ends->worker, MESSAGE_RUNNING, -1), 0);
	assert_int_equal(channel_expect(&ends->loader, MESSAGE_SUMMARY, 100, &message), -EPROTO);
	assert_int_equal(channel_expect(&ends->loader, MESSAGE_SUMMARY, 10, &message), -ETIMEDOUT);
}

#define socket_test(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_channel__check_accepts_each_row),
		cmocka_unit_test(test_channel__check_wants_answers_to_name_a_request),
		cmocka_unit_test(test_channel__check_refuses_wrong_heads),
		cmocka_unit_test(test_channel__check_refuses_wrong_sizes),
		cmocka_unit_test(test_channel__check_refuses_wrong_phases_and_parties),
		cmocka_unit_test(test_channel__check_counts_descriptors),
		cmocka_unit_test(test_channel__check_refuses_absurd_errors),
		cmocka_unit_test(test_channel__rows_with_an_error),
		cmocka_unit_test(test_channel__check_refuses_a_second_once),
		cmocka_unit_test(test_channel__child_is_no_other_party),
		socket_test(test_channel__carries_payload_and_descriptor),
		socket_test(test_channel__send_refuses_own_mistakes),
		socket_test(test_channel__reply_names_its_request),
		socket_test(test_channel__empty_and_timeout),
		socket_test(test_channel__end_of_stream),
		socket_test(test_channel__last_words_survive_unread_input),
		socket_test(test_channel__send_to_nobody),
		socket_test(test_channel__send_gives_up_on_a_deaf_peer),
		socket_test(test_channel__empty_datagram_is_a_violation),
		socket_test(test_channel__truncated_datagram_is_a_violation),
		socket_test(test_channel__surplus_descriptors_are_closed),
		socket_test(test_channel__no_descriptor_where_none_is_due),
		socket_test(test_channel__expect_insists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
