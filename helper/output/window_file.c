/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/output/window_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "ipc/guard.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW)

int window_file_check(int memfd, uint64_t bytes)
{
	const int seals = fcntl(memfd, F_GET_SEALS);

	if (seals < 0 || (seals & SEALS) != SEALS)
		return -EPERM;
	if (bytes > WINDOW_FILE_MAX)
		return -EFBIG;
	return 0;
}

static int copy(int to, int memfd, uint64_t bytes)
{
	off_t at = 0;

	while (bytes > 0) {
		const ssize_t copied = sendfile(to, memfd, &at, bytes);

		if (copied < 0)
			return -errno;
		if (copied == 0)
			return -EBADMSG;
		bytes -= (uint64_t)copied;
	}
	return 0;
}

static int write_head(int fd, const void *head, size_t size)
{
	const ssize_t written = write(fd, head, size);

	if (written < 0)
		return -errno;
	if ((size_t)written != size)
		return -ENOSPC;
	return 0;
}

static int write_new(const char *name, const void *head, size_t head_size, int memfd,
		     uint64_t bytes)
{
	const int flags = O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC;
	guard_fd int fd = open(name, flags, 0600);
	int r = 0;

	if (fd < 0)
		return -errno;
	if (head_size > 0)
		r = write_head(fd, head, head_size);
	if (r < 0)
		return r;
	return copy(fd, memfd, bytes);
}

int window_file_write(const char *name, const char *temporary, const void *head, size_t head_size,
		      int memfd, uint64_t bytes)
{
	int r;

	unlink(temporary);
	r = write_new(temporary, head, head_size, memfd, bytes);
	if (r == 0 && rename(temporary, name))
		r = -errno;
	if (r < 0)
		unlink(temporary);
	return r;
}
