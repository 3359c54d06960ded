/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One end of a SEQPACKET socket pair on which messages of ipc/messages.def travel. Receiving
 * checks everything the table says before the caller sees a byte. The table has sender, receiver,
 * phase, exact size, number of descriptors, once, and whether the message is an answer. The caller
 * of a request compares reply_to with the request's sequence.
 */
#ifndef KEYHOLE_IPC_CHANNEL_H
#define KEYHOLE_IPC_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ipc/messages.h"

struct channel {
	int fd; /* owned */
	enum message_party self, peer;
	enum message_phase phase; /* set by the owner of the channel */
	uint32_t sent, received;
	uint64_t seen[(MESSAGE_COUNT + 63) / 64]; /* bit per message type received */
};

struct message {
	struct message_head head;
	int fd; /* -1, or owned by the receiver; message_release() closes what was not taken */
	union {
		unsigned char payload[MESSAGE_PAYLOAD_MAX];
#define M(name, from, to, first, last, type, fds, times, reply) struct type name;
#include "ipc/messages.def"
#undef M
	};
};

/* Takes ownership of fd and makes it close-on-exec. Only poll() ever waits on fd in the kernel. */
void channel_init(struct channel *channel, int fd, enum message_party self,
		  enum message_party peer);
void channel_release(struct channel *channel);

/* Makes a socket pair, both ends close-on-exec. Returns 0 or a negative errno. */
int channel_pair(int ret_fds[2]);

/*
 * Makes a channel between the loader and the party that the child is. Call it right after fork(),
 * with a pair and with the pid that fork() returned. Returns 0 in the child and the pid in the
 * loader. Only descriptors 0 to 2 and `keep`, opened after the pair, stay open in the child. The
 * child leads a session of its own, because a terminal's Ctrl-C is the loader's affair. A failure
 * in the child is _exit(1), which the loader sees as the end of the stream. pid < 0: returns the
 * negative errno that fork() left in errno. Also then fds[1] is closed, and ret_channel owns
 * fds[0], so the caller releases ret_channel.
 */
pid_t channel_forked(struct channel *ret_channel, enum message_party child, const int fds[2],
		     int keep, pid_t pid);

/*
 * The descriptor of the channel to the loader, in a child of channel_forked() and in each program
 * of ours. A process that execs such a program puts the channel there by dup2().
 */
#define CHANNEL_FD 3

/*
 * Sends one message. fd stays the caller's; a negative fd means no descriptor. Waits up to
 * CHANNEL_SEND_MS for room. Returns 0, or a negative errno; -EPIPE: the peer is gone; -EAGAIN: the
 * peer does not read.
 */
#define CHANNEL_SEND_MS 1000
int channel_send(struct channel *channel, enum message_type type, const void *payload, size_t size,
		 int fd);
/* Sends a message that has no payload, as channel_send() does. */
int channel_send_bare(struct channel *channel, enum message_type type, int fd);
/* Sends the answer to a request, of the type in message_rule(). -EINVAL: the rule has no answer. */
int channel_reply(struct channel *channel, const struct message *request, const void *payload,
		  size_t size, int fd);

/* Sends the lines of this process's log over the channel. The channel must outlive the log. */
void channel_carry_log(struct channel *channel);

/* Sends READY for the channel's own party and this build, from a child to the loader. */
int channel_send_ready(struct channel *channel, uint32_t lacking, uint32_t proven);

/*
 * Checks the rules on bytes alone: whether a datagram of `size` bytes with `fds` descriptors may
 * come next on the channel. Reads at most `size` bytes. Returns 0 or -EPROTO.
 */
int channel_check(const struct channel *channel, const struct message_head *head,
		  const void *payload, size_t size, unsigned int fds);

/* Returns whether a message of the type was received. */
bool channel_has_seen(const struct channel *channel, unsigned int type);

/*
 * Receives one message without waiting. Returns 1 with a checked message, 0 without one, or a
 * negative errno. -EPIPE: the end of the stream. -EPROTO: a violation, for which the caller ends
 * the peer. Only with 1 does a descriptor stay open.
 */
int channel_receive(struct channel *channel, struct message *ret_message);

/* Receives one message as above, but waits up to `milliseconds`. -ETIMEDOUT: no message came. */
int channel_wait(struct channel *channel, int milliseconds, struct message *ret_message);

/* Waits for a message of one type, and prints each LOG meanwhile. -EPROTO: another type came. */
int channel_expect(struct channel *channel, enum message_type type, int milliseconds,
		   struct message *ret_message);

/* Closes the descriptor that came with the message, if it was not taken. */
void message_release(struct message *message);

#endif
