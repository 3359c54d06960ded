/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/escape/malicious.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define OVERSIZED_BYTES 100000
#define FDS_MOST	250

struct datagram {
	struct message_head head;
	unsigned char payload[OVERSIZED_BYTES];
};

union control {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(FDS_MOST * sizeof(int))];
};

bool variant_applies(enum variant variant, unsigned int type)
{
	const struct message_rule *rule = message_rule(type);

	switch (variant) {
	case VARIANT_SURPLUS_FD:
		return rule->fds == 0;
	case VARIANT_TWICE:
		return rule->once;
	case VARIANT_HEAD_ONLY: /* of a message that has no payload, these are the good one */
	case VARIANT_NOISE:
		return rule->payload > 0;
	case VARIANT_CREDENTIALS: /* nobody asked to see them: they are not delivered */
		return false;
	default:
		return true;
	}
}

static void fill(struct datagram *datagram, const struct message_rule *rule, enum variant variant)
{
	/* what must hold to be well-formed: a text of one letter */
	if (datagram->head.type == MESSAGE_LOG)
		memcpy(datagram->payload, &(struct message_log){0, 1, "x"},
		       sizeof(struct message_log));
	for (size_t i = 0; variant == VARIANT_NOISE && i < rule->payload; i++)
		datagram->payload[i] = (unsigned char)(i * 151 + 77);
}

static size_t head_of(struct datagram *datagram, const struct channel *channel,
		      enum variant variant, size_t size)
{
	struct message_head *head = &datagram->head;

	head->type = variant == VARIANT_NO_TYPE	       ? 0
		     : variant == VARIANT_UNKNOWN_TYPE ? MESSAGE_COUNT
						       : head->type;
	head->sequence = channel->sent + 1 - (variant == VARIANT_SEQUENCE_AGAIN) +
			 (variant == VARIANT_SEQUENCE_SKIP);
	head->reply_to = variant == VARIANT_REPLY_TO_FUTURE ? channel->received + 1000 : 0;
	head->magic ^= variant == VARIANT_MAGIC;
	head->version += variant == VARIANT_VERSION;
	switch (variant) {
	case VARIANT_SHORT:
		return size - 1;
	case VARIANT_LONG:
		return size + 8;
	case VARIANT_HEAD_ONLY:
		return sizeof(*head);
	case VARIANT_HALF_HEAD:
		return sizeof(*head) / 2;
	case VARIANT_EMPTY:
	case VARIANT_EMPTY_FD:
		return 0;
	case VARIANT_OVERSIZED:
		return OVERSIZED_BYTES;
	default:
		return size;
	}
}

static size_t fds_of(const struct message_rule *rule, enum variant variant)
{
	switch (variant) {
	case VARIANT_TWO_FDS:
		return 2;
	case VARIANT_MANY_FDS:
		return FDS_MOST;
	case VARIANT_SURPLUS_FD:
	case VARIANT_EMPTY_FD:
		return 1;
	default:
		/* an answer with error 0 has one */
		return rule->fds != 0;
	}
}

static int send_raw(int fd, void *bytes, size_t size, size_t fds)
{
	static union control control;
	struct iovec part = {bytes, size};
	struct msghdr packet = {.msg_iov = &part, .msg_iovlen = 1};
	int attached[FDS_MOST] = {0}; /* descriptor 0, many times */

	if (fds) {
		packet.msg_control = control.bytes;
		packet.msg_controllen = CMSG_SPACE(fds * sizeof(int));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(fds * sizeof(int));
		memcpy(CMSG_DATA(&control.head), attached, fds * sizeof(int));
	}
	return sendmsg(fd, &packet, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

int malicious_send(struct channel *channel, unsigned int type, enum variant variant)
{
	static struct datagram datagram;
	const struct message_rule *rule = message_rule(type);
	size_t size;
	int r;

	memset(&datagram, 0, sizeof(datagram));
	datagram.head = (struct message_head){MESSAGE_MAGIC, (uint16_t)type, MESSAGE_VERSION, 0, 0};
	fill(&datagram, rule, variant);
	size = head_of(&datagram, channel, variant, sizeof(struct message_head) + rule->payload);
	r = send_raw(channel->fd, &datagram, size, fds_of(rule, variant));
	if (r == 0)
		channel->sent++;
	return r;
}
