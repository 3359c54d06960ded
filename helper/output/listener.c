/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/output/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "ipc/guard.h"
#include "ipc/log.h"

#define SOCKET_FLAGS (SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK)
#define BACKLOG	     8
#define NAME_BYTES   128

union socket_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un path;
};

/* ---- what was asked for -------------------------------------------------------------------- */

static bool is_local(const struct listener *listener)
{
	static const struct in6_addr loopback = IN6ADDR_LOOPBACK_INIT;

	switch (listener->family) {
	case AF_INET:
		return listener->address[0] == 127 && listener->port <= UINT16_MAX;
	case AF_INET6:
		return memcmp(listener->address, &loopback, sizeof(loopback)) == 0 &&
		       listener->port <= UINT16_MAX;
	case AF_UNIX:
		return listener->path[0] == '/' &&
		       memchr(listener->path, '\0', sizeof(listener->path));
	default:
		return false;
	}
}

int listener_read(int file, struct listener *ret_listener)
{
	if (pread(file, ret_listener, sizeof(*ret_listener), 0) != sizeof(*ret_listener))
		return -EBADMSG;
	if (!is_local(ret_listener))
		return -EBADMSG;
	return 0;
}

static socklen_t make_address(const struct listener *listener, union socket_address *ret_address)
{
	memset(ret_address, 0, sizeof(*ret_address));
	ret_address->any.sa_family = (sa_family_t)listener->family;
	if (listener->family == AF_UNIX) {
		snprintf(ret_address->path.sun_path, sizeof(ret_address->path.sun_path), "%s",
			 listener->path);
		return sizeof(ret_address->path);
	}
	if (listener->family == AF_INET6) {
		ret_address->v6.sin6_port = htons((uint16_t)listener->port);
		memcpy(&ret_address->v6.sin6_addr, listener->address,
		       sizeof(ret_address->v6.sin6_addr));
		return sizeof(ret_address->v6);
	}
	ret_address->v4.sin_port = htons((uint16_t)listener->port);
	memcpy(&ret_address->v4.sin_addr, listener->address, sizeof(ret_address->v4.sin_addr));
	return sizeof(ret_address->v4);
}

static void spell(const struct listener *listener, char ret_name[NAME_BYTES])
{
	char text[INET6_ADDRSTRLEN] = "";

	if (listener->family == AF_UNIX) {
		snprintf(ret_name, NAME_BYTES, "unix:%s", listener->path);
		return;
	}
	inet_ntop((int)listener->family, listener->address, text, sizeof(text));
	if (listener->family == AF_INET6)
		snprintf(ret_name, NAME_BYTES, "[%s]:%u", text, listener->port);
	else
		snprintf(ret_name, NAME_BYTES, "%s:%u", text, listener->port);
}

/* ---- the socket ---------------------------------------------------------------------------- */

static bool is_socket(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0 && S_ISSOCK(status.st_mode);
}

/* Removes a socket that an agent has left behind, at which nobody listens any more. */
static void remove_stale(const struct listener *listener)
{
	union socket_address address;
	const socklen_t size = make_address(listener, &address);
	guard_fd int fd = -1;

	if (!is_socket(listener->path))
		return;
	fd = socket(AF_UNIX, SOCKET_FLAGS, 0);
	if (fd >= 0 && connect(fd, &address.any, size) < 0 && errno == ECONNREFUSED)
		unlink(listener->path);
}

static int listen_at(const struct listener *listener)
{
	const int on = 1;
	union socket_address address;
	const socklen_t size = make_address(listener, &address);
	guard_fd int fd = socket((int)listener->family, SOCKET_FLAGS, 0);

	if (fd < 0)
		return -errno;
	if (listener->family == AF_UNIX)
		remove_stale(listener);
	else
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, &address.any, size))
		return -errno;
	if (listener->family == AF_UNIX && chmod(listener->path, 0660))
		return -errno;
	if (listen(fd, BACKLOG))
		return -errno;
	return take_fd(&fd);
}

int listener_open(const struct listener *listener)
{
	char name[NAME_BYTES];
	int fd = listen_at(listener);

	if (fd >= 0)
		return fd;
	spell(listener, name);
	log_error("agent: %s: %s; no numbers can be shown there: --metrics", name, strerror(-fd));
	return fd;
}

void listener_remove(const struct listener *listener)
{
	if (listener->family == AF_UNIX && is_socket(listener->path))
		unlink(listener->path);
}
