/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/spool_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exporter/window.h"
#include "ipc/spool.h"

#define FNV_BASIS 0xcbf29ce484222325ull
#define FNV_PRIME 0x100000001b3ull

uint64_t spool_file_checksum(const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	uint64_t hash = FNV_BASIS;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ at[i]) * FNV_PRIME;
	return hash;
}

/* Returns whether the head is one of ours, and the file as long as it says. */
static bool is_whole(const struct spool_head *head, const struct stat *status)
{
	const uint64_t size = (uint64_t)status->st_size;

	if (!S_ISREG(status->st_mode) || size < sizeof(*head))
		return false;
	return head->magic == SPOOL_MAGIC && head->version == SPOOL_VERSION && head->bytes > 0 &&
	       head->bytes == size - sizeof(*head);
}

static int read_head(int fd, struct spool_head *ret_head)
{
	struct stat status;
	ssize_t got;

	if (fstat(fd, &status))
		return -errno;
	got = pread(fd, ret_head, sizeof(*ret_head), 0);
	if (got < 0)
		return -errno;
	if (got != sizeof(*ret_head) || !is_whole(ret_head, &status))
		return -EBADMSG;
	return 0;
}

int spool_file_read(int fd, uint64_t most, uint8_t **ret_bytes, uint64_t *ret_size)
{
	struct spool_head head;
	int r = read_head(fd, &head);

	if (r < 0)
		return r;
	r = window_copy(fd, sizeof(head), head.bytes, most, ret_bytes);
	if (r < 0)
		return r;
	*ret_size = head.bytes;
	if (spool_file_checksum(*ret_bytes, head.bytes) == head.checksum)
		return 0;
	free(*ret_bytes);
	return -EBADMSG;
}
