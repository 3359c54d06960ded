/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/target/debug_files.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/channel.h"
#include "ipc/guard.h"
#include "ipc/time.h"

struct debug_files {
	struct channel peer;
	uint64_t waited; /* ns */
};

struct debug_files *debug_files_new(int fd)
{
	struct debug_files *files = calloc(1, sizeof(*files));

	if (!files)
		return NULL;
	channel_init(&files->peer, fd, PARTY_WORKER, PARTY_COMMITTER);
	files->peer.phase = PHASE_RUN;
	return files;
}

void debug_files_free(struct debug_files *files)
{
	if (!files)
		return;
	channel_release(&files->peer);
	free(files);
}

static int ask(struct debug_files *files, const struct message_debug_file *request)
{
	uint64_t left = DEBUG_FILES_WAIT_MS - files->waited / NS_PER_MS;
	struct message message;
	int r = channel_send(&files->peer, MESSAGE_DEBUG_FILE, request, sizeof(*request), -1);

	if (r == 0)
		r = channel_expect(&files->peer, MESSAGE_DEBUG_FILE_REPLY, (int)left, &message);
	if (r < 0)
		return -EPIPE;
	r = message.DEBUG_FILE_REPLY.error;
	return r < 0 ? r : take_fd(&message.fd);
}

int debug_files_open(struct debug_files *files, const char *path)
{
	struct message_debug_file request = {0};
	uint64_t began = time_now();
	int r;

	if (strlen(path) >= sizeof(request.path))
		return -ENAMETOOLONG;
	if (files->waited >= DEBUG_FILES_WAIT_MS * NS_PER_MS)
		return -EPIPE;
	memcpy(request.path, path, strlen(path));
	r = ask(files, &request);
	/* an answer that comes late would be taken for another one's */
	files->waited = r == -EPIPE ? UINT64_MAX : files->waited + time_now() - began;
	return r;
}

int debug_files_lines(struct debug_files *files, int file, int addresses,
		      const struct message_lines *question)
{
	struct message message;
	int r = files->waited == UINT64_MAX ? -EPIPE : 0;

	r = r ? r : channel_send_bare(&files->peer, MESSAGE_LINES_FILE, file);
	if (r == 0)
		r = channel_send(&files->peer, MESSAGE_LINES, question, sizeof(*question),
				 addresses);
	if (r == 0)
		r = channel_expect(&files->peer, MESSAGE_LINES_REPLY,
				   (int)question->milliseconds + DEBUG_FILES_SLACK_MS, &message);
	if (r < 0) {
		files->waited = UINT64_MAX;
		return -EPIPE;
	}
	r = message.LINES_REPLY.error;
	return r < 0 ? r : take_fd(&message.fd);
}
