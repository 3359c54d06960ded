/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory_file.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

int memory_file(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);

	/* Linux 6.3, 105ff5339f49 "mm/memfd: add MFD_NOEXEC_SEAL and MFD_EXEC" */
	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	return fd;
}

int memory_file_rewind(int fd)
{
	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	return 0;
}
