/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Started in place of a role's program, by the real spawner. Takes the same steps as the role, and
 * then what it is told to. An answer means that it is alive.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/escape/mask.h"
#include "tests/escape/prisoner.h"

const struct surroundings *around;
int order_fd = -1;

static enum policy_role own_role(const char *name)
{
	enum policy_role role = ROLE_LOADER;

	while (role < ROLE_SUPERVISED && strcmp(name, policy_role(role)->program))
		role++;
	return role;
}

static bool take(struct order *order)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = {order, sizeof(*order)};
	struct msghdr packet = {.msg_iov = &part,
				.msg_iovlen = 1,
				.msg_control = control.bytes,
				.msg_controllen = sizeof(control.bytes)};

	struct pollfd poll_fd = {.fd = ORDER_FD, .events = POLLIN};

	/* the socket does not block: who confined itself waits by poll() */
	if (poll(&poll_fd, 1, -1) != 1 ||
	    recvmsg(ORDER_FD, &packet, MSG_CMSG_CLOEXEC) != sizeof(*order))
		return false;
	order_fd = -1;
	if (CMSG_FIRSTHDR(&packet))
		memcpy(&order_fd, CMSG_DATA(CMSG_FIRSTHDR(&packet)), sizeof(order_fd));
	return true;
}

static bool answer(int64_t result)
{
	struct reply reply = {.result = result};
	struct iovec part = {&reply, sizeof(reply)};
	struct msghdr packet = {.msg_iov = &part, .msg_iovlen = 1};

	return sendmsg(ORDER_FD, &packet, MSG_NOSIGNAL) == sizeof(reply);
}

static uint64_t real_argument(uint64_t argument)
{
	static const char root[] = "/", empty[] = "";

	if (argument == ORDER_ROOT_PATH)
		return (uintptr_t)root;
	return argument == ORDER_EMPTY_PATH ? (uintptr_t)empty : argument;
}

static int64_t call(const struct order *order)
{
	uint64_t a[6];
	int64_t result;

	for (int i = 0; i < 6; i++)
		a[i] = real_argument(order->argument[i]);
	result = syscall((int)order->number, a[0], a[1], a[2], a[3], a[4], a[5]);
	return result == -1 ? -errno : result;
}

static int64_t call_int80(uint32_t number)
{
#if defined(__x86_64__)
	int64_t result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(number), "b"(-1l), "c"(-1l), "d"(-1l), "S"(-1l), "D"(-1l)
			 : "memory", "r8", "r9", "r10", "r11");
	return (int32_t)result;
#else
	return number ? -ENOSYS : 0;
#endif
}

static int64_t obey(const struct order *order)
{
	switch (order->kind) {
	case ORDER_CALL:
		return call(order);
	case ORDER_INT80:
		return call_int80(order->number);
	case ORDER_ATTEMPT:
		return attempt(order->number);
	case ORDER_HELD:
		return held_try(order->number);
	default:
		return 0;
	}
}

static int become_prisoner(enum policy_role role, const struct order *order)
{
	struct policy_layers layers;
	int r = 0;

	escape_off = order->off;
	if (order->kind == ORDER_ATTEMPT)
		attempt_prepare(order->number);
	if (role == ROLE_LOADER)
		r = policy_become(role);
	if (!order->spawner)
		policy_confine(role, &layers);
	return r;
}

int main(int argc, char **argv)
{
	static struct order order;
	enum policy_role role = own_role(argv[0]);

	/* Executed by an attempt: what did that gain? */
	if (role == ROLE_SUPERVISED)
		return argc > 1 || geteuid() == 0 ? 0 : 1;
	around = &order.around;
	if (!take(&order) || become_prisoner(role, &order))
		return 90;
	do {
		if (!answer(obey(&order)))
			return 91;
		if (order_fd >= 0)
			close(order_fd);
	} while (take(&order));
	return 0;
}
