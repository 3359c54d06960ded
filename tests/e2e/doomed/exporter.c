/* SPDX-License-Identifier: Apache-2.0 */
/* An exporter that ends with half of the profile written, the first time. */
#include <sys/stat.h>
#include <unistd.h>

#include "tests/e2e/doomed/doomed.h"

ssize_t __real_write(int fd, const void *bytes, size_t size);
ssize_t __wrap_write(int fd, const void *bytes, size_t size);
ssize_t __wrap_write(int fd, const void *bytes, size_t size)
{
	struct stat status;

	if (doom_is(MOMENT_WRITE) && !fstat(fd, &status) && status.st_size == 0 &&
	    __real_write(fd, bytes, size / 2) > 0)
		doom_at(MOMENT_WRITE);
	return __real_write(fd, bytes, size);
}
