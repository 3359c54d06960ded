/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/printable.h"

#define COPY_BYTES 65536
#define KEEP_MS	   30000 /* for a file: disks can be slow */
#define SEALS	   (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

void output_begin(struct output *ret_output, int fd)
{
	struct stat status;

	*ret_output = (struct output){.fd = fd, .keeper.fd = -1};
	ret_output->is_terminal = fstat(fd, &status) == 0 && S_ISCHR(status.st_mode);
}

void output_keep_by(struct output *output, int channel)
{
	channel_init(&output->keeper, channel, PARTY_EXPORTER, PARTY_COMMITTER);
	output->keeper.phase = PHASE_RUN;
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
	if ((uint64_t)status.st_size < bytes)
		return -EBADMSG;
	return 0;
}

/* A worker that somebody took over must not fill a disk, one window after another. */
static bool has_room(const struct output *output, uint64_t bytes)
{
	struct stat status;

	if (output->bytes + bytes <= PROFILE_BYTES)
		return true;
	return fstat(output->fd, &status) == 0 && !S_ISREG(status.st_mode);
}

/* Standard output can be a pipe that somebody made non-blocking. */
static int write_all(int fd, const unsigned char *bytes, size_t size)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};

	while (size > 0) {
		ssize_t written = write(fd, bytes, size);

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

static size_t at_most(uint64_t bytes)
{
	if (bytes < COPY_BYTES)
		return (size_t)bytes;
	return COPY_BYTES;
}

static int copy(const struct output *output, int profile, uint64_t bytes)
{
	static unsigned char buffer[COPY_BYTES];
	uint64_t at = 0;

	while (at < bytes) {
		ssize_t got = pread(profile, buffer, at_most(bytes - at), (off_t)at);
		size_t done;
		int r;

		if (got < 0)
			return -errno;
		if (got == 0)
			return -EBADMSG;
		done = (size_t)got;
		if (output->is_terminal)
			done = printable_mask(buffer, done, at + done < bytes);
		r = write_all(output->fd, buffer, done);
		if (r < 0)
			return r;
		at += done;
	}
	return 0;
}

/* Waits until keyhole-output has made a file of the profile. Returns 0 or a negative errno. */
static int keep(struct output *output, int profile, uint64_t bytes)
{
	const struct message_profile window = {.bytes = bytes};
	struct message message;
	int r = channel_send(&output->keeper, MESSAGE_KEEP, &window, sizeof(window), profile);

	if (r < 0)
		return r;
	r = channel_expect(&output->keeper, MESSAGE_KEPT, KEEP_MS, &message);
	if (r < 0)
		return r;
	if (message.KEPT.error == 0)
		output->bytes += bytes;
	return 0;
}

int output_append(struct output *output, int profile, uint64_t bytes)
{
	int r = check_profile(profile, bytes);

	/* Nothing happened since the last window. */
	if (r == -ENODATA && (output->bytes > 0 || output->keeper.fd >= 0))
		return 0;
	if (r < 0)
		return r;
	if (output->keeper.fd >= 0)
		return keep(output, profile, bytes);
	if (!has_room(output, bytes))
		return -EFBIG;
	r = copy(output, profile, bytes);
	output->torn = r < 0;
	output->bytes += bytes;
	return r;
}

int output_sync(const struct output *output)
{
	if (fsync(output->fd) == 0 || errno == EINVAL || errno == EROFS)
		return 0;
	return -errno;
}

bool output_is_closed(const struct output *output)
{
	struct pollfd poll_fd = {.fd = output->fd};

	return poll(&poll_fd, 1, 0) > 0 && (poll_fd.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0;
}
