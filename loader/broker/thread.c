/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/broker/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#define PATH_BYTES 64

int thread_open(uint32_t pid, uint32_t thread, const char *name)
{
	char path[PATH_BYTES];
	int fd;

	snprintf(path, sizeof(path), "%u/task/%u/%s", pid, thread, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	return fd;
}
