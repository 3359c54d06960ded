/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/naming/debug_peer.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory_file.h"
#include "ipc/channel.h"
#include "ipc/guard.h"
#include "ipc/time.h"
#include "object/debug/ask.h"

struct debug_peer {
	struct channel channel;
	struct debug_peer_files files;
	uint64_t left;	  /* ns */
	bool asked;	  /* an answer to DEBUG_FILE is missing */
	uint64_t unasked; /* files, for want of time */
};

struct debug_peer *debug_peer_new(int fd, const struct debug_peer_files *files)
{
	struct debug_peer *peer = calloc(1, sizeof(*peer));

	if (!peer)
		return NULL;
	channel_init(&peer->channel, fd, PARTY_WORKER, PARTY_DEBUG);
	peer->channel.phase = PHASE_RUN;
	peer->files = *files;
	peer->left = DEBUG_PEER_WAIT_MS * NS_PER_MS;
	return peer;
}

void debug_peer_free(struct debug_peer *peer)
{
	if (!peer)
		return;
	channel_release(&peer->channel);
	free(peer);
}

void debug_peer_allow(struct debug_peer *peer, unsigned int milliseconds)
{
	if (peer)
		peer->left = milliseconds * NS_PER_MS;
}

uint64_t debug_peer_unasked(const struct debug_peer *peer)
{
	return peer ? peer->unasked : 0;
}

/* Waits for a message of the type. After a violation, the peer gets no more requests. */
static int await(struct debug_peer *peer, enum message_type type, uint64_t time,
		 struct message *ret_message)
{
	int r = channel_expect(&peer->channel, type, (int)(time / NS_PER_MS), ret_message);

	peer->asked = r == -ETIMEDOUT;
	if (r < 0 && !peer->asked)
		channel_release(&peer->channel);
	return r;
}

/* Drops an answer that comes too late, so that the next request does not get it. */
static int skip_late(struct debug_peer *peer)
{
	struct message message;
	int r;

	if (!peer->asked)
		return 0;
	r = await(peer, MESSAGE_DEBUG_FILE_REPLY, peer->left, &message);
	if (r == 0)
		message_release(&message);
	return r;
}

static int ask(struct debug_peer *peer, const struct message_debug_file *request)
{
	struct message message;
	int r = skip_late(peer);

	if (r == 0)
		r = channel_send(&peer->channel, MESSAGE_DEBUG_FILE, request, sizeof(*request), -1);
	if (r == 0)
		r = await(peer, MESSAGE_DEBUG_FILE_REPLY, peer->left, &message);
	if (r < 0)
		return -EPIPE;
	r = message.DEBUG_FILE_REPLY.error;
	if (r < 0)
		return r;
	return take_fd(&message.fd);
}

int debug_peer_open(struct debug_peer *peer, const char *path)
{
	struct message_debug_file request = {0};
	uint64_t began = time_now(), spent;
	int r;

	if (strlen(path) >= sizeof(request.path))
		return -ENAMETOOLONG;
	if (peer->left == 0) {
		peer->unasked++;
		return -EPIPE;
	}
	memcpy(request.path, path, strlen(path));
	r = ask(peer, &request);
	spent = time_now() - began;
	peer->left -= spent < peer->left ? spent : peer->left;
	return r;
}

/* Writes the addresses over those of an earlier question. */
static int write_addresses(int fd, const uint64_t *addresses, size_t count)
{
	const ssize_t bytes = (ssize_t)(count * sizeof(*addresses));
	int r = memory_file_rewind(fd);

	if (r < 0)
		return r;
	if (write(fd, addresses, (size_t)bytes) != bytes)
		return -EIO;
	return 0;
}

int debug_peer_lines(struct debug_peer *peer, int file, const struct message_lines *question,
		     const uint64_t *addresses, int *ret_answer)
{
	const int milliseconds = (int)question->milliseconds + DEBUG_PEER_SLACK_MS;
	int r = write_addresses(peer->files.addresses, addresses, question->count);

	if (r < 0)
		return r;
	*ret_answer = peer->files.answer;
	r = skip_late(peer);
	if (r == 0)
		r = channel_send_bare(&peer->channel, MESSAGE_LINES_FILE, file);
	if (r < 0)
		r = -EPIPE;
	else
		r = debug_ask(&peer->channel, question, peer->files.addresses, peer->files.answer,
			      milliseconds);
	if (r == -EPIPE)
		channel_release(&peer->channel); /* a late reply would answer the next question */
	return r;
}
