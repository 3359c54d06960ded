/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/spawner.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
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

_Static_assert((int)ROLE_WORKER == PARTY_WORKER && (int)ROLE_EXPORTER == PARTY_EXPORTER &&
		       (int)ROLE_BROKER == PARTY_BROKER,
	       "a role is the party of the same number");

/* ---- the spawner's side -------------------------------------------------------------------- */

struct nursery {
	struct channel channel;
	const char *program;
	struct policy_layers layers;
	pid_t child;  /* 0: none alive */
	int child_fd; /* its pidfd, or -1 */
	int error;    /* why no program may be started: it would have too many rights */
};

/* In the child, returns a negative errno or not at all. The environment is empty. */
static int exec_program(const struct nursery *nursery, pid_t spawner, int channel)
{
	char *argv[] = {(char *)(uintptr_t)nursery->program, NULL};
	char *envp[] = {NULL};

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

static void forget_child(struct nursery *nursery)
{
	guard_fd_(&nursery->child_fd);
	nursery->child_fd = -1;
	nursery->child = 0;
}

static int start_child(struct nursery *nursery, int channel)
{
	pid_t pid = nursery->error ? nursery->error : start_program(nursery, channel);
	const struct f_owner_ex owner = {F_OWNER_PID, pid};

	if (pid < 0)
		return pid;
	nursery->child = pid;
	nursery->child_fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (nursery->child_fd < 0 || fcntl(nursery->child_fd, F_SETOWN_EX, &owner))
		return -errno;
	return 0;
}

static int on_spawn(struct nursery *nursery)
{
	struct message_spawned spawned = {.lacking = nursery->layers.lacking,
					  .proven = nursery->layers.proven};
	struct message request;
	int r = channel_receive(&nursery->channel, &request);

	if (r <= 0)
		return r;
	/* Not waited for: one that hangs in the kernel is left behind. */
	if (nursery->child)
		kill(nursery->child, SIGKILL);
	forget_child(nursery);
	spawned.error = start_child(nursery, request.fd);
	r = channel_reply(&nursery->channel, &request, MESSAGE_SPAWNED, &spawned, sizeof(spawned),
			  spawned.error ? -1 : nursery->child_fd);
	message_release(&request);
	return r;
}

static int on_exit_of_child(struct nursery *nursery)
{
	struct message_exited exited = {.pid = nursery->child};

	waitpid(nursery->child, &exited.status, 0);
	forget_child(nursery);
	return channel_send(&nursery->channel, MESSAGE_EXITED, &exited, sizeof(exited), -1);
}

static void serve(struct nursery *nursery)
{
	struct pollfd fds[] = {{.fd = nursery->channel.fd, .events = POLLIN},
			       {.fd = -1, .events = POLLIN}};
	int r = 0;

	while (r == 0) {
		fds[1].fd = nursery->child_fd;
		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[1].revents)
			r = on_exit_of_child(nursery);
		if (fds[0].revents && r == 0)
			r = on_spawn(nursery);
	}
	if (nursery->child)
		kill(nursery->child, SIGKILL);
}

/* 0-2 are /dev/null, 3 the socket, 4 the program; nothing of the loader's stays open. */
static int take_descriptors(int socket, int program)
{
	const char *debug = getenv("KEYHOLE_DEBUG_STDERR");
	bool keep_stderr = debug && strcmp(debug, "1") == 0;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int high_socket = fcntl(socket, F_DUPFD_CLOEXEC, 10);
	int high_program = fcntl(program, F_DUPFD_CLOEXEC, 10);

	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 ||
	    (!keep_stderr && dup2(null, 2) < 0) || dup3(high_socket, SOCKET_FD, O_CLOEXEC) < 0 ||
	    dup3(high_program, PROGRAM_FD, O_CLOEXEC) < 0)
		return -errno;
	return close_range(PROGRAM_FD + 1, ~0u, 0) ? -errno : 0;
}

/*
 * A new process is unwound only once the worker has listed its mappings and published their
 * tables; what it samples until then is cut. On a saturated machine the worker must not wait
 * behind everything it profiles to do that within milliseconds. The group is what counts between
 * sessions where CONFIG_SCHED_AUTOGROUP gives each its own. Where it is refused, the recording is
 * less complete, no more.
 */
static void raise_priority(void)
{
	static const char value[] = "-10";
	guard_fd int group = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);

	if (setpriority(PRIO_PROCESS, 0, -10) || write(group, value, sizeof(value) - 1) < 0)
		return;
}

/* Never returns. A terminal's Ctrl-C is the loader's affair, therefore the session. */
static void spawner_main(enum policy_role role, int socket, int program,
			 struct policy_layers layers)
{
	struct nursery nursery = {
		.program = policy_role_name(role), .layers = layers, .child_fd = -1};

	setsid();
	prctl(PR_SET_NAME, "keyhole-spawner");
	if (take_descriptors(socket, program) || chdir("/"))
		_exit(1);
	channel_init(&nursery.channel, SOCKET_FD, PARTY_SPAWNER, PARTY_LOADER);
	if (role == ROLE_WORKER)
		raise_priority();
	policy_isolate(role, &nursery.layers);
	nursery.error = policy_become(role);
	if (nursery.error == 0)
		nursery.error = policy_confine_spawner(role);
	serve(&nursery);
	_exit(0);
}

/* ---- the loader's side --------------------------------------------------------------------- */

/*
 * Beside our own program, else where it gets installed. By descriptor: the role's uid need not be
 * able to reach the folder it lies in.
 */
static int open_program(const char *name)
{
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	int fd = -1;

	while (length > 0 && path[length - 1] != '/')
		length--;
	if (length > 0) {
		snprintf(path + length, sizeof(path) - (size_t)length, "%s", name);
		fd = open(path, O_PATH | O_CLOEXEC);
	}
	if (fd < 0) {
		snprintf(path, sizeof(path), KEYHOLE_LIBEXECDIR "/%s", name);
		fd = open(path, O_PATH | O_CLOEXEC);
	}
	return fd < 0 ? -errno : fd;
}

int spawner_start(struct spawner *spawner, enum policy_role role)
{
	guard_fd int program = open_program(policy_role_name(role));
	struct policy_layers layers;
	int fds[2];
	int r;

	*spawner = (struct spawner){.role = role, .channel = {.fd = -1}};
	if (program < 0)
		return program;
	r = channel_pair(fds);
	if (r)
		return r;
	spawner->pid = policy_fork(role, &layers);
	if (spawner->pid == 0)
		spawner_main(role, fds[1], program, layers);
	r = spawner->pid < 0 ? -errno : 0;
	close(fds[1]);
	channel_init(&spawner->channel, fds[0], PARTY_LOADER, PARTY_SPAWNER);
	return r;
}

int spawner_spawn(struct spawner *spawner, struct channel *ret_channel)
{
	int fds[2];
	int r;

	r = channel_pair(fds);
	if (r)
		return r;
	channel_init(ret_channel, fds[0], PARTY_LOADER, (enum message_party)spawner->role);
	r = channel_send_bare(&spawner->channel, MESSAGE_SPAWN, fds[1]);
	close(fds[1]);
	return r;
}

/*
 * The number in our own namespace, as the kernel translates the owner that the spawner set.
 * Before Linux 5.14 a process that is not dumpable may not read its own fdinfo.
 */
static pid_t pid_of(int pidfd)
{
	struct f_owner_ex owner = {0};

	if (fcntl(pidfd, F_GETOWN_EX, &owner))
		return -errno;
	return owner.type == F_OWNER_PID && owner.pid > 0 ? owner.pid : -ESRCH;
}

pid_t spawner_started(struct spawner *spawner)
{
	struct message message;
	int r;

	/* An EXITED before it is about a child that was there earlier. */
	do {
		r = channel_wait(&spawner->channel, START_MS, &message);
		if (r < 0)
			return r;
	} while (message.head.reply_to != spawner->channel.sent);
	spawner->layers = (struct policy_layers){message.SPAWNED.lacking, message.SPAWNED.proven};
	r = message.SPAWNED.error ? message.SPAWNED.error : pid_of(message.fd);
	message_release(&message);
	return r ? r : -EPROTO;
}

int spawner_exited(struct spawner *spawner, int milliseconds, int *ret_status)
{
	struct message message;
	int r = channel_expect(&spawner->channel, MESSAGE_EXITED, milliseconds, &message);

	if (r == 0)
		*ret_status = message.EXITED.status;
	return r;
}

void spawner_stop(struct spawner *spawner)
{
	channel_release(&spawner->channel);
	if (spawner->pid > 0)
		waitpid(spawner->pid, NULL, 0);
	spawner->pid = 0;
}
