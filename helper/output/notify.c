/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/output/notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

static int manager = -1;

int notify_open(void)
{
	const char *path = getenv("NOTIFY_SOCKET");
	size_t length = path ? strlen(path) : 0;
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	if (!length)
		return 0;
	if (!strchr("/@", *path) || length >= sizeof(address.sun_path))
		return -EINVAL;
	/* "@" stands for the zero byte of an abstract name */
	memcpy(address.sun_path, path, length);
	address.sun_path[0] = *path == '@' ? '\0' : '/';
	length += offsetof(struct sockaddr_un, sun_path);
	manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	return connect(manager, (struct sockaddr *)&address, (socklen_t)length) ? -errno : 0;
}

void notify_send(const char *state)
{
	struct iovec line = {(void *)(uintptr_t)state, strlen(state)};
	const struct msghdr message = {.msg_iov = &line, .msg_iovlen = 1};

	sendmsg(manager, &message, 0);
}
