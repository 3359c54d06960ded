/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/naming/debug_files.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/channel.h"
#include "ipc/guard.h"
#include "ipc/time.h"

struct debug_files {
	struct channel peer;
	uint64_t left;	  /* ns */
	bool asked;	  /* and not answered yet */
	uint64_t unasked; /* files */
};

struct debug_files *debug_files_new(int fd)
{
	struct debug_files *files = calloc(1, sizeof(*files));

	if (!files)
		return NULL;
	channel_init(&files->peer, fd, PARTY_WORKER, PARTY_COMMITTER);
	files->peer.phase = PHASE_RUN;
	files->left = DEBUG_FILES_WAIT_MS * NS_PER_MS;
	return files;
}

void debug_files_free(struct debug_files *files)
{
	if (!files)
		return;
	channel_release(&files->peer);
	free(files);
}

void debug_files_allow(struct debug_files *files, unsigned int milliseconds)
{
	if (files)
		files->left = milliseconds * NS_PER_MS;
}

uint64_t debug_files_unasked(const struct debug_files *files)
{
	return files ? files->unasked : 0;
}

/* Of this kind, to what was asked last. A peer that breaks a rule is asked nothing any more. */
static int await(struct debug_files *files, enum message_type type, uint64_t time,
		 struct message *ret_message)
{
	int r = channel_expect(&files->peer, type, (int)(time / NS_PER_MS), ret_message);

	files->asked = r == -ETIMEDOUT;
	if (r < 0 && !files->asked)
		channel_release(&files->peer);
	return r;
}

/* One that came too late is not taken for another one's. */
static int skip_late(struct debug_files *files)
{
	struct message message;
	const bool late = files->asked;
	int r = late ? await(files, MESSAGE_DEBUG_FILE_REPLY, files->left, &message) : 0;

	if (late && r == 0)
		message_release(&message);
	return r;
}

static int ask(struct debug_files *files, const struct message_debug_file *request)
{
	struct message message;
	int r = skip_late(files);

	r = r ? r : channel_send(&files->peer, MESSAGE_DEBUG_FILE, request, sizeof(*request), -1);
	r = r ? r : await(files, MESSAGE_DEBUG_FILE_REPLY, files->left, &message);
	if (r < 0)
		return -EPIPE;
	r = message.DEBUG_FILE_REPLY.error;
	return r < 0 ? r : take_fd(&message.fd);
}

int debug_files_open(struct debug_files *files, const char *path)
{
	struct message_debug_file request = {0};
	uint64_t began = time_now(), spent;
	int r;

	if (strlen(path) >= sizeof(request.path))
		return -ENAMETOOLONG;
	if (files->left == 0) {
		files->unasked++;
		return -EPIPE;
	}
	memcpy(request.path, path, strlen(path));
	r = ask(files, &request);
	spent = time_now() - began;
	files->left -= spent < files->left ? spent : files->left;
	return r;
}

int debug_files_lines(struct debug_files *files, int file, int addresses,
		      const struct message_lines *question)
{
	struct message message;
	int r = skip_late(files);

	r = r ? r : channel_send_bare(&files->peer, MESSAGE_LINES_FILE, file);
	if (r == 0)
		r = channel_send(&files->peer, MESSAGE_LINES, question, sizeof(*question),
				 addresses);
	if (r == 0)
		r = channel_expect(&files->peer, MESSAGE_LINES_REPLY,
				   (int)question->milliseconds + DEBUG_FILES_SLACK_MS, &message);
	if (r < 0) {
		channel_release(&files->peer); /* what comes late would be another one's */
		return -EPIPE;
	}
	r = message.LINES_REPLY.error;
	return r < 0 ? r : take_fd(&message.fd);
}
