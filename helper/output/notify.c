/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/output/notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "ipc/guard.h"

int notify_open(void)
{
	const char *path = getenv("NOTIFY_SOCKET");
	size_t length = path ? strlen(path) : 0;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	guard_fd int fd = -1;

	if (!length)
		return -ENODATA;
	if (!strchr("/@", *path) || length >= sizeof(address.sun_path))
		return -EINVAL;
	/* "@" stands for the zero byte of an abstract name */
	memcpy(address.sun_path, path, length);
	address.sun_path[0] = *path == '@' ? '\0' : '/';
	length += offsetof(struct sockaddr_un, sun_path);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (connect(fd, (struct sockaddr *)&address, (socklen_t)length))
		return -errno;
	return take_fd(&fd);
}
