/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/spawner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ipc/guard.h"

#ifndef KEYHOLE_LIBEXECDIR
#define KEYHOLE_LIBEXECDIR "/usr/local/libexec/keyhole"
#endif

#define START_MS   5000
#define SOCKET_FD  3 /* the spawner's socket; in the program: its channel to the loader */
#define PROGRAM_FD 4

static const enum message_party parties[ROLE_COUNT] = {
	[ROLE_LOADER] = PARTY_LOADER,
	[ROLE_WORKER] = PARTY_WORKER,
	[ROLE_EXPORTER] = PARTY_EXPORTER,
	[ROLE_BROKER] = PARTY_BROKER,
};

/* ---- the spawner's side -------------------------------------------------------------------- */

struct nursery {
	struct channel channel;
	const char *program;
	pid_t child; /* 0: none alive */
	int signals; /* signalfd of SIGCHLD */
};

/* In the child, returns a negative errno or not at all. The environment is empty. */
static int exec_program(const struct nursery *nursery, pid_t spawner, int channel)
{
	char *argv[] = {(char *)(uintptr_t)nursery->program, NULL};
	char *envp[] = {NULL, NULL};
	sigset_t none;

#ifdef KEYHOLE_DEBUG
	if (getenv("KEYHOLE_SECCOMP_LOG"))
		envp[0] = (char[]){"KEYHOLE_SECCOMP_LOG=1"};
#endif
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* The same uid, so the signal is allowed; the spawner may be gone already. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == spawner && dup2(channel, SOCKET_FD) == SOCKET_FD)
		syscall(SYS_execveat, PROGRAM_FD, "", argv, envp, AT_EMPTY_PATH);
	return -errno;
}

/* The pid, or the negative errno of fork or exec: of the child's memory until then, by vfork. */
static pid_t start_program(const struct nursery *nursery, int channel)
{
	pid_t spawner = getpid();
	volatile int error = 0;
	pid_t pid = vfork();

	if (pid == 0) {
		error = exec_program(nursery, spawner, channel);
		_exit(127);
	}
	if (pid < 0)
		return -errno;
	if (error)
		waitpid(pid, NULL, 0);
	return error ? error : pid;
}

static int on_spawn(struct nursery *nursery)
{
	struct message_spawned spawned = {0};
	struct message request;
	int r = channel_receive(&nursery->channel, &request);

	if (r <= 0)
		return r;
	/* Not waited for: one that hangs in the kernel is left behind. */
	if (nursery->child)
		kill(nursery->child, SIGKILL);
	spawned.pid = start_program(nursery, request.fd);
	nursery->child = spawned.pid > 0 ? spawned.pid : 0;
	r = channel_reply(&nursery->channel, &request, MESSAGE_SPAWNED, &spawned, sizeof(spawned),
			  -1);
	message_release(&request);
	return r;
}

static int on_exit_of_children(struct nursery *nursery)
{
	struct signalfd_siginfo info;
	struct message_exited exited;
	int status, r = 0;

	if (read(nursery->signals, &info, sizeof(info)) < 0 && errno != EAGAIN)
		return -errno;
	while (r == 0 && (exited.pid = waitpid(-1, &status, WNOHANG)) > 0) {
		exited.status = status;
		if (exited.pid == nursery->child)
			nursery->child = 0;
		r = channel_send(&nursery->channel, MESSAGE_EXITED, &exited, sizeof(exited), -1);
	}
	return r;
}

static void serve(struct nursery *nursery)
{
	struct pollfd fds[] = {{.fd = nursery->channel.fd, .events = POLLIN},
			       {.fd = nursery->signals, .events = POLLIN}};
	int r = 0;

	while (r == 0) {
		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[1].revents)
			r = on_exit_of_children(nursery);
		if (fds[0].revents && r == 0)
			r = on_spawn(nursery);
	}
	if (nursery->child)
		kill(nursery->child, SIGKILL);
}

/* 0-2 are /dev/null, 3 the socket, 4 the program; nothing of the loader's stays open. */
static int take_descriptors(int socket, int program, bool keep_stderr)
{
	guard_fd int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	guard_fd int high_socket = fcntl(socket, F_DUPFD_CLOEXEC, 10);
	guard_fd int high_program = fcntl(program, F_DUPFD_CLOEXEC, 10);

	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 ||
	    (!keep_stderr && dup2(null, 2) < 0) || dup3(high_socket, SOCKET_FD, O_CLOEXEC) < 0 ||
	    dup3(high_program, PROGRAM_FD, O_CLOEXEC) < 0)
		return -errno;
	null = high_socket = high_program = -1;
	return close_range(PROGRAM_FD + 1, ~0u, 0) ? -errno : 0;
}

static int prepare(struct nursery *nursery, enum policy_role role)
{
	sigset_t signals;

	/* A terminal's Ctrl-C is the loader's affair, and no handler of the loader runs here. */
	setsid();
	umask(077);
	sigfillset(&signals);
	sigprocmask(SIG_SETMASK, &signals, NULL);
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	nursery->signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (nursery->signals < 0 || chdir("/") || prctl(PR_SET_NAME, "keyhole-spawner"))
		return -errno;
	return policy_become(role);
}

/* Never returns. */
static void spawner_main(enum policy_role role, int socket, int program)
{
	const char *debug = getenv("KEYHOLE_DEBUG_STDERR");
	struct nursery nursery = {.program = policy_role_name(role)};
	struct message_spawned self;

	if (take_descriptors(socket, program, debug && strcmp(debug, "1") == 0))
		_exit(1);
	channel_init(&nursery.channel, SOCKET_FD, PARTY_SPAWNER, PARTY_LOADER);
	self = (struct message_spawned){.pid = prepare(&nursery, role)};
	if (self.pid == 0)
		self.pid = getpid();
	if (channel_send(&nursery.channel, MESSAGE_SPAWNED, &self, sizeof(self), -1) == 0 &&
	    self.pid > 0)
		serve(&nursery);
	_exit(0);
}

/* ---- the loader's side --------------------------------------------------------------------- */

static int open_in(const char *folder, const char *name)
{
	char path[4096];
	int fd;

	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* By descriptor: the role's uid need not be able to reach the folder it lies in. */
static int open_program(enum policy_role role)
{
	char folder[4096];
	ssize_t length = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
	char *slash;
	int fd = -ENOENT;

	if (length > 0) {
		folder[length] = '\0';
		slash = strrchr(folder, '/');
		if (slash)
			*slash = '\0';
		fd = open_in(folder, policy_role_name(role));
	}
	return fd >= 0 ? fd : open_in(KEYHOLE_LIBEXECDIR, policy_role_name(role));
}

/* The SPAWNED to what was sent last; what it says of replaced children is of no interest. */
static int receive_spawned(struct spawner *spawner)
{
	struct message message;
	int r;

	do
		r = channel_wait(&spawner->channel, START_MS, &message);
	while (r == 1 && (message.head.type == MESSAGE_EXITED ||
			  message.head.reply_to != spawner->channel.sent));
	if (r < 0)
		return r;
	return message.SPAWNED.pid ? message.SPAWNED.pid : -EPROTO;
}

int spawner_start(struct spawner *ret_spawner, enum policy_role role)
{
	struct spawner spawner = {.role = role};
	guard_fd int program = open_program(role);
	int fds[2];
	int r;

	if (program < 0)
		return program;
	r = channel_pair(fds);
	if (r)
		return r;
	spawner.pid = fork();
	if (spawner.pid == 0)
		spawner_main(role, fds[1], program);
	r = spawner.pid < 0 ? -errno : 0;
	close(fds[1]);
	channel_init(&spawner.channel, fds[0], PARTY_LOADER, PARTY_SPAWNER);
	if (r == 0)
		r = receive_spawned(&spawner);
	if (r < 0) {
		spawner_stop(&spawner);
		return r;
	}
	*ret_spawner = spawner;
	return 0;
}

int spawner_spawn(struct spawner *spawner, struct channel *ret_channel, pid_t *ret_pid)
{
	const struct message_none none = {0};
	int fds[2];
	int r;

	r = channel_pair(fds);
	if (r)
		return r;
	r = channel_send(&spawner->channel, MESSAGE_SPAWN, &none, sizeof(none), fds[1]);
	close(fds[1]);
	if (r == 0)
		r = receive_spawned(spawner);
	if (r < 0) {
		close(fds[0]);
		return r;
	}
	spawner->child = *ret_pid = r;
	channel_init(ret_channel, fds[0], PARTY_LOADER, parties[spawner->role]);
	return 0;
}

int spawner_exited(struct spawner *spawner, int *ret_status)
{
	struct message message;
	int r = channel_receive(&spawner->channel, &message);

	if (r <= 0)
		return r;
	if (message.head.type != MESSAGE_EXITED)
		return -EPROTO;
	if (message.EXITED.pid != spawner->child)
		return 0;
	spawner->child = 0;
	*ret_status = message.EXITED.status;
	return 1;
}

void spawner_stop(struct spawner *spawner)
{
	channel_release(&spawner->channel);
	if (spawner->pid > 0)
		waitpid(spawner->pid, NULL, 0);
	spawner->pid = spawner->child = 0;
}
