/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/connector/connection.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "ipc/guard.h"
#include "ipc/time.h"

#define SOCKET_FLAGS (SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK)

/* A dead peer is noticed within that time, although nobody answers what was sent. */
#define UNANSWERED_MS 20000

int connection_wait(int fd, short what, uint64_t until)
{
	struct pollfd poll_fd = {.fd = fd, .events = what};
	const uint64_t now = time_now();

	if (now >= until || poll(&poll_fd, 1, (int)((until - now) / NS_PER_MS) + 1) <= 0)
		return -ETIMEDOUT;
	return 0;
}

/* Waits until the socket is connected. Returns 0 or a negative errno. */
static int await_connection(int fd, uint64_t until)
{
	socklen_t size = sizeof(int);
	int error = 0;

	if (connection_wait(fd, POLLOUT, until) < 0)
		return -ETIMEDOUT;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size))
		return -errno;
	return -error;
}

/* Options that only make a connection better: a kernel that refuses one still connects. */
static void tune(int fd)
{
	const int on = 1, unanswered = UNANSWERED_MS;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unanswered, sizeof(unanswered));
}

static int connect_to(const struct addrinfo *address, uint64_t until)
{
	guard_fd int fd = socket(address->ai_family, SOCKET_FLAGS, 0);
	int r = 0;

	if (fd < 0)
		return -errno;
	if (connect(fd, address->ai_addr, address->ai_addrlen))
		r = -errno;
	if (r == -EINPROGRESS)
		r = await_connection(fd, until);
	if (r < 0)
		return r;
	tune(fd);
	return take_fd(&fd);
}

static int look_up(const char *host, uint32_t port, struct addrinfo **ret_list)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
	char service[16];
	int r;

	snprintf(service, sizeof(service), "%u", port);
	r = getaddrinfo(host, service, &hints, ret_list);
	switch (r) {
	case 0:
		return 0;
	case EAI_AGAIN:
		return -EAGAIN;
	case EAI_MEMORY:
		return -ENOMEM;
	default:
		return -EHOSTUNREACH;
	}
}

static uint64_t count_addresses(const struct addrinfo *list)
{
	uint64_t count = 0;

	for (; list; list = list->ai_next)
		count++;
	return count;
}

static int connect_to_any(const struct addrinfo *list, uint64_t until)
{
	uint64_t left = count_addresses(list);
	int r = -EHOSTUNREACH;

	for (; list && r < 0; list = list->ai_next, left--) {
		const uint64_t now = time_now();

		if (now >= until)
			return -ETIMEDOUT;
		r = connect_to(list, now + (until - now) / left);
	}
	return r;
}

int connection_open(const char *host, uint32_t port, uint64_t until)
{
	struct addrinfo *list;
	int r = look_up(host, port, &list);

	if (r < 0)
		return r;
	r = connect_to_any(list, until);
	freeaddrinfo(list);
	return r;
}

int connection_open_path(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	guard_fd int fd = -1;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCKET_FLAGS, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)))
		return -errno;
	return take_fd(&fd);
}
