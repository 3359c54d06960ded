/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/window.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static int read_all(int fd, uint64_t from, uint8_t *bytes, uint64_t size)
{
	uint64_t at = 0;

	while (at < size) {
		ssize_t got = pread(fd, bytes + at, size - at, (off_t)(from + at));

		if (got < 0)
			return -errno;
		if (got == 0)
			return -EBADMSG;
		at += (uint64_t)got;
	}
	return 0;
}

int window_copy(int fd, uint64_t from, uint64_t size, uint64_t most, uint8_t **ret_bytes)
{
	uint8_t *bytes;
	int r;

	if (size > most)
		return -EFBIG;
	bytes = malloc(size);
	if (!bytes)
		return -ENOMEM;
	r = read_all(fd, from, bytes, size);
	if (r < 0) {
		free(bytes);
		return r;
	}
	*ret_bytes = bytes;
	return 0;
}
