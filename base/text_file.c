/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text_file.h"

#include <errno.h>
#include <unistd.h>

ssize_t text_file_read(int fd, char *ret_text, size_t size)
{
	size_t used = 0;
	ssize_t got;

	do {
		got = read(fd, ret_text + used, size - used);
		if (got < 0 && errno != EINTR)
			return -errno;
		if (got > 0)
			used += (size_t)got;
	} while (got != 0 && used < size);
	return (ssize_t)used;
}
