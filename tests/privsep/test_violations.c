/* SPDX-License-Identifier: Apache-2.0 */
/* Every message of the table, sent wrong in every way over a real socket. */
#include "tests/privsep/privsep.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipc/channel.h"

enum variant {
	VARIANT_GOOD,
	VARIANT_SHORT,
	VARIANT_LONG,
	VARIANT_HEAD_ONLY,
	VARIANT_PHASE,
	VARIANT_SENDER,
	VARIANT_FD,
	VARIANT_TWO_FDS,
	VARIANT_TYPE,
	VARIANT_SEQUENCE,
	VARIANT_REPLY_TO,
	VARIANT_MAGIC,
	VARIANT_AGAIN,
	VARIANT_COUNT
};

struct datagram {
	struct message_head head;
	unsigned char payload[MESSAGE_PAYLOAD_MAX];
	size_t size;
	size_t fds;
};

static void send_datagram(int socket, const struct datagram *datagram)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(2 * sizeof(int))];
	} control = {{0}};
	const int fds[2] = {0, 0};
	struct iovec part = {(void *)(uintptr_t)datagram, datagram->size};
	struct msghdr packet = {.msg_iov = &part, .msg_iovlen = 1};

	if (datagram->fds) {
		packet.msg_control = control.bytes;
		packet.msg_controllen = CMSG_SPACE(datagram->fds * sizeof(int));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(datagram->fds * sizeof(int));
		memcpy(CMSG_DATA(&control.head), fds, datagram->fds * sizeof(int));
	}
	/* EPERM: the kernel itself refuses descriptors here (SO_PASSRIGHTS) */
	if (sendmsg(socket, &packet, MSG_NOSIGNAL) < 0)
		assert_int_equal(errno, EPERM);
}

/* Changes the datagram or the receiver; false where the variant cannot be wrong for this type. */
static bool apply(enum variant variant, const struct message_rule *rule, struct datagram *datagram,
		  struct channel *receiver)
{
	switch (variant) {
	case VARIANT_SHORT:
		datagram->size -= 1;
		break;
	case VARIANT_LONG:
		datagram->size += 8;
		break;
	case VARIANT_HEAD_ONLY:
		datagram->size = sizeof(datagram->head);
		return rule->payload > 0;
	case VARIANT_PHASE:
		receiver->phase = rule->first ? PHASE_START : PHASE_FINISH;
		return rule->first > PHASE_START || rule->last < PHASE_FINISH;
	case VARIANT_SENDER:
		receiver->peer = receiver->peer == PARTY_COMMITTER ? PARTY_BROKER : PARTY_COMMITTER;
		break;
	case VARIANT_FD:
		datagram->fds = rule->fds == 0;
		return rule->fds != FDS_MAYBE;
	case VARIANT_TWO_FDS:
		datagram->fds = 2;
		break;
	case VARIANT_TYPE:
		datagram->head.type = MESSAGE_COUNT;
		break;
	case VARIANT_SEQUENCE:
		datagram->head.sequence = 2;
		break;
	case VARIANT_REPLY_TO:
		datagram->head.reply_to = !message_is_reply(datagram->head.type);
		break;
	case VARIANT_MAGIC:
		datagram->head.magic ^= 1;
		break;
	case VARIANT_AGAIN:
		receiver->seen[datagram->head.type / 64] = 1ull << datagram->head.type % 64;
		return rule->once;
	default:
		break;
	}
	return true;
}

/* Returns a party of those that the table's word stands for. */
static enum message_party concrete(unsigned int party)
{
	if (party == PARTY_CHILD)
		return PARTY_BROKER;
	if (party == PARTY_ASKER)
		return PARTY_VIEWER;
	return (enum message_party)party;
}

static int deliver(unsigned int type, enum variant variant)
{
	const struct message_rule *rule = message_rule(type);
	enum message_party to = concrete(rule->to), from = concrete(rule->from);
	struct datagram datagram = {
		.head = {MESSAGE_MAGIC, (uint16_t)type, MESSAGE_VERSION, 1, message_is_reply(type)},
		.size = sizeof(struct message_head) + rule->payload,
		.fds = rule->fds != 0,
	};
	struct channel receiver;
	struct message message;
	int fds[2], r = -EPROTO;
	unsigned int before = privsep_count_fds(getpid());

	assert_int_equal(channel_pair(fds), 0);
	channel_init(&receiver, fds[0], to, from);
	receiver.phase = (enum message_phase)rule->first;
	receiver.sent = 1;
	if (apply(variant, rule, &datagram, &receiver)) {
		send_datagram(fds[1], &datagram);
		close(fds[1]);
		fds[1] = -1;
		r = channel_receive(&receiver, &message);
		if (r == 1)
			message_release(&message);
		/* The kernel refused to send. Nothing came, and the end of the stream is next. */
		if (r == -EPIPE && datagram.fds)
			r = -EPROTO;
	}
	if (fds[1] >= 0)
		close(fds[1]);
	channel_release(&receiver);
	assert_int_equal(privsep_count_fds(getpid()), before);
	return r;
}

static void test_violations__each_message_in_each_way(void **state)
{
	(void)state;
	for (unsigned int type = MESSAGE_NONE + 1; type < MESSAGE_COUNT; type++)
		for (unsigned int variant = 0; variant < VARIANT_COUNT; variant++) {
			int r = deliver(type, (enum variant)variant);

			if (r != (variant == VARIANT_GOOD ? 1 : -EPROTO))
				fail_msg("%s, variant %u: %d", message_rule(type)->name, variant,
					 r);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_violations__each_message_in_each_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
