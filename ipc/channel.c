/* SPDX-License-Identifier: Apache-2.0 */
#include "ipc/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "generated/version.h"
#include "ipc/guard.h"
#include "ipc/log.h"
#include "ipc/signals.h"
#include "ipc/time.h"

/* Linux 6.16, 77cbe1a6d873 "af_unix: Introduce SO_PASSRIGHTS" */
#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

/* Room to notice surplus descriptors. Those beyond it set MSG_CTRUNC and are never installed. */
#define FDS_SEEN 4

union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(FDS_SEEN * sizeof(int))];
};

static bool party_is(unsigned int wanted, enum message_party party)
{
	if (wanted == PARTY_CHILD)
		return party == PARTY_WORKER || party == PARTY_EXPORTER || party == PARTY_BROKER;
	if (wanted == PARTY_ASKER)
		return party == PARTY_WORKER || party == PARTY_VIEWER;
	return wanted == party;
}

static bool rule_joins(const struct message_rule *rule, enum message_party from,
		       enum message_party to)
{
	return party_is(rule->from, from) && party_is(rule->to, to);
}

static bool rule_in_phase(const struct message_rule *rule, enum message_phase phase)
{
	return phase >= rule->first && phase <= rule->last;
}

/* Returns whether the error with which the payload may begin is 0 or a negative errno. */
static bool rule_error(const struct message_rule *rule, const void *payload)
{
	int32_t error;

	if (!rule->error)
		return true;
	memcpy(&error, payload, sizeof(error));
	return error <= 0 && error >= -MESSAGE_ERRNO_MAX;
}

static bool rule_fds(const struct message_rule *rule, const void *payload, unsigned int fds)
{
	int32_t error;

	if (rule->fds < FDS_REPLY)
		return fds == rule->fds;
	memcpy(&error, payload, sizeof(error));
	if (error)
		return fds == 0;
	return fds == 1 || (fds == 0 && rule->fds == FDS_MAYBE);
}

/* Returns whether the type goes with reply_to: an answer names a request, any other type none. */
static bool rule_reply_to(unsigned int type, uint32_t reply_to)
{
	return message_is_reply(type) == (reply_to != 0);
}

bool channel_has_seen(const struct channel *channel, unsigned int type)
{
	return channel->seen[type / 64] >> type % 64 & 1;
}

int channel_check(const struct channel *channel, const struct message_head *head,
		  const void *payload, size_t size, unsigned int fds)
{
	const struct message_rule *rule;

	if (size < sizeof(*head) || head->magic != MESSAGE_MAGIC ||
	    head->version != MESSAGE_VERSION)
		return -EPROTO;
	rule = message_rule(head->type);
	if (!rule || !rule_joins(rule, channel->peer, channel->self) ||
	    !rule_in_phase(rule, channel->phase))
		return -EPROTO;
	if (head->sequence != channel->received + 1 || head->reply_to > channel->sent)
		return -EPROTO;
	if (!rule_reply_to(head->type, head->reply_to))
		return -EPROTO;
	if (rule->once && channel_has_seen(channel, head->type))
		return -EPROTO;
	if (size != sizeof(*head) + rule->payload)
		return -EPROTO;
	if (!rule_error(rule, payload) || !rule_fds(rule, payload, fds))
		return -EPROTO;
	return 0;
}

static bool may_receive_fds(const struct channel *channel)
{
	for (unsigned int type = MESSAGE_NONE + 1; type < MESSAGE_COUNT; type++) {
		const struct message_rule *rule = message_rule(type);

		if (rule->fds && rule_joins(rule, channel->peer, channel->self))
			return true;
	}
	return false;
}

void channel_init(struct channel *channel, int fd, enum message_party self, enum message_party peer)
{
	int off = 0;

	*channel = (struct channel){.fd = fd, .self = self, .peer = peer, .phase = PHASE_START};
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	/* Where an older kernel refuses the option, a surplus descriptor is closed on receipt. */
	if (!may_receive_fds(channel))
		setsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &off, sizeof(off));
}

void channel_release(struct channel *channel)
{
	close_fd(&channel->fd);
}

int channel_pair(int ret_fds[2])
{
	const int type = SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK;

	return socketpair(AF_UNIX, type, 0, ret_fds) ? -errno : 0;
}

/* Closes all descriptors above CHANNEL_FD but `keep`, which may also be below. */
static int close_all_but(int keep)
{
	if (keep > CHANNEL_FD + 1 && close_range(CHANNEL_FD + 1, (unsigned int)keep - 1, 0))
		return -errno;
	return close_range((unsigned int)(keep > CHANNEL_FD ? keep : CHANNEL_FD) + 1, ~0u, 0);
}

pid_t channel_forked(struct channel *ret_channel, enum message_party child, const int fds[2],
		     int keep, pid_t pid)
{
	int r = pid < 0 ? -errno : pid;

	if (pid == 0) {
		signals_leave_to_loader();
		prctl(PR_SET_NAME, message_party_name(child));
		if (dup2(fds[1], CHANNEL_FD) < 0 || close_all_but(keep))
			_exit(1);
		channel_init(ret_channel, CHANNEL_FD, child, PARTY_LOADER);
		return 0;
	}
	close(fds[1]);
	channel_init(ret_channel, fds[0], PARTY_LOADER, child);
	return r;
}

/* Waits for one of the events. -ETIMEDOUT: the deadline came first. */
static int wait_until(int fd, short events, uint64_t deadline)
{
	struct pollfd poll_fd = {.fd = fd, .events = events};
	uint64_t now;
	int r;

	do {
		now = time_now();
		if (now >= deadline)
			return -ETIMEDOUT;
		r = poll(&poll_fd, 1, (int)((deadline - now + NS_PER_MS - 1) / NS_PER_MS));
	} while (r == 0 || (r < 0 && errno == EINTR));
	return r < 0 ? -errno : 0;
}

static void attach_fd(struct msghdr *packet, union control *control, int fd)
{
	struct cmsghdr *part;

	packet->msg_control = control->bytes;
	packet->msg_controllen = CMSG_SPACE(sizeof(fd));
	part = CMSG_FIRSTHDR(packet);
	part->cmsg_level = SOL_SOCKET;
	part->cmsg_type = SCM_RIGHTS;
	part->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(part), &fd, sizeof(fd));
}

static int send_packet(int fd, const struct msghdr *packet)
{
	uint64_t deadline = time_now() + CHANNEL_SEND_MS * NS_PER_MS;
	int r;

	while (sendmsg(fd, packet, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
		if (errno == EPIPE || errno == ECONNRESET)
			return -EPIPE;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		r = wait_until(fd, POLLOUT, deadline);
		if (r < 0)
			return r == -ETIMEDOUT ? -EAGAIN : r;
	}
	return 0;
}

/* Sends one datagram. reply_to: sequence of the request, or 0. */
static int send_message(struct channel *channel, uint32_t reply_to, unsigned int type,
			const void *payload, size_t size, int fd)
{
	const struct message_rule *rule = message_rule(type);
	struct message_head head = {.magic = MESSAGE_MAGIC,
				    .type = (uint16_t)type,
				    .version = MESSAGE_VERSION,
				    .sequence = channel->sent + 1,
				    .reply_to = reply_to};
	struct iovec parts[] = {{&head, sizeof(head)}, {(void *)(uintptr_t)payload, size}};
	struct msghdr packet = {.msg_iov = parts, .msg_iovlen = 2};
	union control control = {0};
	int r;

	if (!rule || !rule_joins(rule, channel->self, channel->peer) ||
	    !rule_in_phase(rule, channel->phase) || size != rule->payload ||
	    !rule_reply_to(type, reply_to) || !rule_fds(rule, payload, fd >= 0))
		return -EINVAL;
	if (fd >= 0)
		attach_fd(&packet, &control, fd);
	r = send_packet(channel->fd, &packet);
	if (r == 0)
		channel->sent++;
	return r;
}

int channel_send(struct channel *channel, enum message_type type, const void *payload, size_t size,
		 int fd)
{
	return send_message(channel, 0, type, payload, size, fd);
}

int channel_reply(struct channel *channel, const struct message *request, const void *payload,
		  size_t size, int fd)
{
	const struct message_rule *rule = message_rule(request->head.type);

	if (!rule || rule->reply == MESSAGE_NONE)
		return -EINVAL;
	return send_message(channel, request->head.sequence, rule->reply, payload, size, fd);
}

int channel_send_bare(struct channel *channel, enum message_type type, int fd)
{
	return channel_send(channel, type, NULL, 0, fd);
}

static void send_line(void *owner, const struct message_log *line)
{
	channel_send(owner, MESSAGE_LOG, line, sizeof(*line), -1);
}

void channel_carry_log(struct channel *channel)
{
	log_to(send_line, channel);
}

int channel_send_ready(struct channel *channel, uint32_t lacking, uint32_t proven)
{
	struct message_ready ready = {.role = channel->self,
				      .lacking = lacking,
				      .proven = proven,
				      .build = KEYHOLE_VERSION};

	_Static_assert(sizeof(KEYHOLE_VERSION) <= sizeof(ready.build), "the version fits");
	return channel_send(channel, MESSAGE_READY, &ready, sizeof(ready), -1);
}

/* Keeps the first descriptor, closes the others; returns how many came. */
static unsigned int take_fds(struct msghdr *packet, int *ret_fd)
{
	unsigned int count = 0;

	for (struct cmsghdr *part = CMSG_FIRSTHDR(packet); part; part = CMSG_NXTHDR(packet, part)) {
		size_t bytes = part->cmsg_len - CMSG_LEN(0);

		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t at = 0; at + sizeof(int) <= bytes; at += sizeof(int)) {
			int fd;

			memcpy(&fd, CMSG_DATA(part) + at, sizeof(fd));
			if (count++ == 0)
				*ret_fd = fd;
			else
				close(fd);
		}
	}
	return count;
}

static ssize_t receive_packet(int fd, struct msghdr *packet)
{
	ssize_t size;

	/* One ECONNRESET precedes messages that the peer sent earlier: read on to them. */
	do
		size = recvmsg(fd, packet, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (size < 0 && (errno == EINTR || errno == ECONNRESET));
	return size;
}

/* Tells the end of the stream from an empty datagram, which is a violation. */
static int end_or_violation(int fd)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLRDHUP};

	return poll(&poll_fd, 1, 0) == 1 && poll_fd.revents & (POLLHUP | POLLRDHUP) ? -EPIPE
										    : -EPROTO;
}

int channel_receive(struct channel *channel, struct message *ret_message)
{
	struct message message = {.fd = -1};
	struct iovec parts[] = {{&message.head, sizeof(message.head)},
				{message.payload, sizeof(message.payload)}};
	union control control;
	struct msghdr packet = {.msg_iov = parts,
				.msg_iovlen = 2,
				.msg_control = control.bytes,
				.msg_controllen = sizeof(control.bytes)};
	ssize_t size = receive_packet(channel->fd, &packet);
	guard_fd int fd = -1;
	unsigned int fds;

	if (size < 0)
		return errno == EAGAIN ? 0 : -errno;
	fds = take_fds(&packet, &fd);
	if (size == 0)
		return fds ? -EPROTO : end_or_violation(channel->fd);
	if (packet.msg_flags & (MSG_TRUNC | MSG_CTRUNC) ||
	    channel_check(channel, &message.head, message.payload, (size_t)size, fds))
		return -EPROTO;
	channel->received++;
	channel->seen[message.head.type / 64] |= 1ull << message.head.type % 64;
	message.fd = take_fd(&fd);
	*ret_message = message;
	return 1;
}

static int receive_until(struct channel *channel, uint64_t deadline, struct message *ret_message)
{
	int r;

	for (;;) {
		r = channel_receive(channel, ret_message);
		if (r)
			return r;
		r = wait_until(channel->fd, POLLIN, deadline);
		if (r < 0)
			return r;
	}
}

int channel_wait(struct channel *channel, int milliseconds, struct message *ret_message)
{
	uint64_t deadline = time_now() + (uint64_t)milliseconds * NS_PER_MS;

	return receive_until(channel, deadline, ret_message);
}

int channel_expect(struct channel *channel, enum message_type type, int milliseconds,
		   struct message *ret_message)
{
	uint64_t deadline = time_now() + (uint64_t)milliseconds * NS_PER_MS;
	int r;

	while ((r = receive_until(channel, deadline, ret_message)) == 1) {
		if (ret_message->head.type == type)
			return 0;
		r = ret_message->head.type == MESSAGE_LOG
			    ? log_from_message(message_party_name(channel->peer), &ret_message->LOG)
			    : -EPROTO;
		message_release(ret_message);
		if (r < 0)
			return r;
		if (time_now() >= deadline)
			return -ETIMEDOUT;
	}
	return r;
}

void message_release(struct message *message)
{
	close_fd(&message->fd);
}
