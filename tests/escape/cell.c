/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/escape/cell.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_MS 10000

static unsigned int passed, failed;
static char program[PATH_MAX];

/* ---- TAP ---- */

_Noreturn void give_up(const char *what)
{
	printf("not ok - %s: %s\n", what, strerror(errno));
	exit(1);
}

void tap(bool good, const char *format, ...)
{
	va_list arguments;

	printf(good ? "ok %u - " : "not ok %u - ", passed + failed + 1);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
	fflush(stdout);
	passed += good;
	failed += !good;
}

int tap_end(void)
{
	printf("1..%u\n", passed + failed);
	return failed != 0;
}

/* ---- cells ---- */

void cell_setup(void)
{
	struct rlimit files;
	ssize_t length;

	if (geteuid()) {
		fputs("not root\n", stderr);
		exit(77);
	}
	if (POLICY_UNCONFINED) {
		fputs("a sanitizer allows no confinement\n", stderr);
		exit(77);
	}
	signal(SIGPIPE, SIG_IGN);
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	length = readlink("/proc/self/exe", program, sizeof(program) - 32);
	if (length <= 0 || unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		give_up("mount namespace");
	program[length] = '\0';
	dirname(program);
	memcpy(program + strlen(program), "/keyhole", sizeof("/keyhole"));
}

/* The loader is no spawner's child. */
static pid_t start_loader(struct channel *channel)
{
	char *argv[] = {(char *)(uintptr_t)policy_role(ROLE_LOADER)->program, NULL};
	char *envp[] = {NULL};
	int fds[2];
	pid_t pid;

	if (channel_pair(fds))
		give_up("socketpair");
	channel_init(channel, fds[0], PARTY_LOADER, PARTY_SPAWNER);
	pid = vfork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (dup2(fds[1], ORDER_FD) != ORDER_FD || close_range(4, ~0u, 0))
			_exit(92);
		execve(program, argv, envp);
		_exit(93);
	}
	close(fds[1]);
	return pid;
}

static void start(struct cell *cell)
{
	if (cell->role == ROLE_LOADER) {
		cell->pid = start_loader(&cell->channel);
	} else {
		if (spawner_spawn(&cell->spawner, &cell->channel))
			give_up("spawn");
		cell->pid = spawner_started(&cell->spawner);
	}
	errno = cell->pid < 0 ? -cell->pid : 0;
	if (cell->pid <= 0)
		give_up("start of a prisoner");
	fcntl(cell->channel.fd, F_SETFL, 0);
	cell->alive = true;
	cell->started++;
}

int cell_await_exit(struct spawner *spawner, int milliseconds, int *ret_status)
{
	struct message message;
	int r = channel_expect(&spawner->channel, MESSAGE_EXITED, milliseconds, &message);

	if (r == 0)
		*ret_status = message.EXITED.status;
	return r;
}

static void await_death(struct cell *cell)
{
	channel_release(&cell->channel);
	cell->alive = false;
	if (cell->role == ROLE_LOADER)
		waitpid(cell->pid, &cell->status, 0);
	else if (cell_await_exit(&cell->spawner, WAIT_MS, &cell->status))
		give_up("end of a prisoner");
}

void cell_open(struct cell *cell, enum policy_role role, uint32_t off)
{
	*cell = (struct cell){.role = role, .off = off, .channel = {.fd = -1}};
	escape_off = off;
	if (role != ROLE_LOADER && spawner_start(&cell->spawner, role))
		give_up("spawner");
}

void cell_renew(struct cell *cell)
{
	if (!cell->alive)
		return;
	kill(cell->pid, SIGKILL);
	await_death(cell);
}

void cell_close(struct cell *cell)
{
	cell_renew(cell);
	if (cell->role != ROLE_LOADER)
		spawner_stop(&cell->spawner);
}

static void send_order(const struct cell *cell, const struct order *order, int fd)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.head = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
	struct iovec part = {(void *)(uintptr_t)order, sizeof(*order)};
	struct msghdr packet = {.msg_iov = &part, .msg_iovlen = 1};

	if (fd >= 0) {
		memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
		packet.msg_control = control.bytes;
		packet.msg_controllen = sizeof(control.bytes);
	}
	if (sendmsg(cell->channel.fd, &packet, 0) != sizeof(*order))
		give_up("order");
}

enum outcome cell_do(struct cell *cell, struct order *order, int fd, int64_t *ret_result)
{
	struct pollfd poll_fd;
	struct reply reply;

	if (!cell->alive)
		start(cell);
	order->off = cell->off;
	order->spawner = cell->as_spawner;
	send_order(cell, order, fd);
	poll_fd = (struct pollfd){.fd = cell->channel.fd, .events = POLLIN};
	if (poll(&poll_fd, 1, WAIT_MS) != 1) {
		errno = ETIMEDOUT;
		give_up("a prisoner's answer");
	}
	if (recv(cell->channel.fd, &reply, sizeof(reply), 0) == sizeof(reply)) {
		*ret_result = reply.result;
		return OUTCOME_RETURNED;
	}
	await_death(cell);
	return WIFSIGNALED(cell->status) && WTERMSIG(cell->status) == SIGSYS ? OUTCOME_KILLED
									     : OUTCOME_ENDED;
}

enum policy_role cell_role(const char *name)
{
	enum policy_role role = ROLE_LOADER;

	while (role < ROLE_SUPERVISED && strcmp(name, policy_role(role)->program))
		role++;
	return role;
}
