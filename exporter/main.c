/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keyhole-exporter: copies the finished profile, of a stream one after another, from the worker's
 * sealed memfd to the output that the loader gave it. Sealed, because nobody may change the bytes
 * once their size was checked.
 */
#include <errno.h>
#include <limits.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ipc/channel.h"
#include "ipc/guard.h"
#include "ipc/log.h"
#include "policy/policy.h"

#define LOADER_FD 3
#define START_MS  INT_MAX /* however long loading takes; the end of the loader is seen */
#ifndef PROFILE_BYTES
#define PROFILE_BYTES (1ull << 30) /* at most */
#endif
#define COPY_BYTES 65536
#define SEALS	   (F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

struct exporter {
	struct channel loader, worker;
	int output;
	uint64_t bytes; /* of a stream, so far */
	bool torn;	/* the output may end in the middle of a profile */
};

static int start(struct exporter *exporter)
{
	struct policy_layers layers;
	struct message output, peer;
	int r;

	channel_init(&exporter->loader, LOADER_FD, PARTY_EXPORTER, PARTY_LOADER);
	log_init(message_party_name(PARTY_EXPORTER), LOG_LEVEL_INFO);
	log_to_channel(&exporter->loader);
	/* `| head` is an error to report, not an end without a word. */
	signal(SIGPIPE, SIG_IGN);
	policy_confine(ROLE_EXPORTER, &layers);
	r = channel_send_ready(&exporter->loader, layers.lacking, layers.proven);
	if (r || (r = channel_expect(&exporter->loader, MESSAGE_OUTPUT, START_MS, &output)))
		return r;
	exporter->output = output.fd;
	r = channel_expect(&exporter->loader, MESSAGE_PROFILE_PEER, START_MS, &peer);
	if (r)
		return r;
	channel_init(&exporter->worker, peer.fd, PARTY_EXPORTER, PARTY_WORKER);
	exporter->loader.phase = exporter->worker.phase = PHASE_RUN;
	return 0;
}

/*
 * 1 with a profile; -EPIPE when the loader or the worker is gone; -ECONNRESET when nobody can read
 * what comes.
 */
static int wait_profile(struct exporter *exporter, struct message *ret_message)
{
	struct pollfd fds[] = {{.fd = exporter->worker.fd, .events = POLLIN},
			       {.fd = exporter->loader.fd, .events = POLLIN},
			       {.fd = exporter->output}};
	int r = 0;

	while (r == 0) {
		if (poll(fds, 3, -1) < 0 && errno != EINTR)
			return -errno;
		if (fds[2].revents & (POLLERR | POLLHUP | POLLNVAL)) /* pipe, socket, none */
			return -ECONNRESET;
		r = channel_receive(&exporter->worker, ret_message);
		if (r == 0)
			r = channel_receive(&exporter->loader, ret_message);
	}
	return r;
}

static int check_profile(int profile, uint64_t bytes)
{
	int seals = fcntl(profile, F_GET_SEALS);
	struct stat status;

	if (seals < 0 || (seals & SEALS) != SEALS)
		return -EPERM;
	if (bytes == 0)
		return -ENODATA;
	if (bytes > PROFILE_BYTES)
		return -EFBIG;
	if (fstat(profile, &status))
		return -errno;
	return (uint64_t)status.st_size == bytes ? 0 : -EBADMSG;
}

/* Standard output can be a pipe that somebody made non-blocking. */
static int write_all(int output, const unsigned char *bytes, size_t size)
{
	struct pollfd poll_fd = {.fd = output, .events = POLLOUT};

	while (size) {
		ssize_t written = write(output, bytes, size);

		if (written >= 0) {
			bytes += written;
			size -= (size_t)written;
		} else if (errno == EAGAIN) {
			poll(&poll_fd, 1, -1);
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}

static int copy_profile(int profile, uint64_t bytes, int output)
{
	static unsigned char buffer[COPY_BYTES];
	uint64_t at = 0;
	int r = 0;

	while (at < bytes && r == 0) {
		ssize_t got = pread(profile, buffer, sizeof(buffer), (off_t)at);

		if (got <= 0)
			return got < 0 ? -errno : -EBADMSG;
		r = write_all(output, buffer, (size_t)got);
		at += (uint64_t)got;
	}
	return r;
}

/* EINVAL: a pipe or a terminal, which have nothing to sync. */
static int sync_output(int output)
{
	return fsync(output) && errno != EINVAL && errno != EROFS ? -errno : 0;
}

/* A worker that is not ours any more must not fill a disk, one window after another. */
static bool has_room(const struct exporter *exporter, uint64_t bytes)
{
	struct stat status;

	return exporter->bytes + bytes <= PROFILE_BYTES ||
	       (!fstat(exporter->output, &status) && !S_ISREG(status.st_mode));
}

static int copy_checked(struct exporter *exporter, const struct message *message)
{
	const uint64_t bytes = message->PROFILE.bytes; /* or WINDOW: the same */
	int r = check_profile(message->fd, bytes);

	/* nothing happened since the last window */
	if (r == -ENODATA && exporter->bytes)
		return 0;
	if (r == 0 && !has_room(exporter, bytes))
		return -EFBIG;
	if (r)
		return r;
	r = copy_profile(message->fd, bytes, exporter->output);
	exporter->torn = r != 0;
	exporter->bytes += bytes;
	return r;
}

static int say_written(struct exporter *exporter, int error)
{
	const struct message_written written = {
		.error = error,
		.bytes = error				? 0
			 : exporter->bytes < UINT32_MAX ? (uint32_t)exporter->bytes
							: UINT32_MAX,
	};

	return channel_send(&exporter->loader, MESSAGE_WRITTEN, &written, sizeof(written), -1);
}

/* All windows of a stream, and the profile: 0 once it was said what became of them. */
static int export_all(struct exporter *exporter)
{
	struct message message;
	bool last = false;
	int r = 0;

	while (r == 0 && !last) {
		r = wait_profile(exporter, &message);
		if (r == -ECONNRESET)
			return say_written(exporter, -EPIPE);
		if (r < 0)
			return r;
		last = message.head.type == MESSAGE_PROFILE;
		r = copy_checked(exporter, &message);
		message_release(&message);
		if (r == 0 && !last)
			channel_send_bare(&exporter->worker, MESSAGE_WINDOW_WRITTEN, -1);
	}
	r = r ? r : sync_output(exporter->output);
	return say_written(exporter, r);
}

static int run(struct exporter *exporter)
{
	struct message message;
	int r = export_all(exporter);

	/* The loader has nothing more to say: its end is ours. */
	while (r == 0) {
		struct pollfd poll_fd = {.fd = exporter->loader.fd, .events = POLLIN};

		poll(&poll_fd, 1, -1);
		r = channel_receive(&exporter->loader, &message);
	}
	return r;
}

int main(void)
{
	struct exporter exporter;
	int r;

	memset(&exporter, 0, sizeof(exporter));
	r = start(&exporter);
	if (r == 0)
		r = run(&exporter);
	if (r < 0 && r != -EPIPE)
		log_error("exporter: %s", strerror(-r));
	return (r < 0 && r != -EPIPE) || exporter.torn;
}
