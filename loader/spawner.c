/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/spawner.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "generated/install.h"
#include "ipc/guard.h"
#include "ipc/log.h"
#include "loader/priority.h"

#define START_MS 5000
#define LEAVE_MS 50
#define LEFT_MAX 2 /* killed children that may hang at a time */

_Static_assert((int)ROLE_WORKER == PARTY_WORKER && (int)ROLE_EXPORTER == PARTY_EXPORTER &&
		       (int)ROLE_BROKER == PARTY_BROKER,
	       "a role is the party of the same number");

/* ---- the spawner's side -------------------------------------------------------------------- */

struct nursery {
	struct channel channel;
	struct policy_layers layers;
	const char *name;
	int program;	   /* descriptor */
	pid_t child;	   /* 0: none alive */
	int child_fd;	   /* its pidfd, or -1 */
	unsigned int left; /* killed children that a target may still hold in the kernel */
	int error;	   /* why no child starts: not found, or it would have too many rights */
};

/*
 * Runs the program in the child, with an empty environment. Returns a negative errno or not at all.
 */
static int exec_program(const struct nursery *nursery, pid_t spawner, int channel)
{
	char *argv[] = {(char *)(uintptr_t)nursery->name, NULL};
	char *envp[] = {NULL};

	/* The spawner, which may be gone already, has the same uid: the signal is allowed. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == spawner && dup2(channel, CHANNEL_FD) == CHANNEL_FD)
		syscall(SYS_execveat, nursery->program, "", argv, envp, AT_EMPTY_PATH);
	return -errno;
}

static void forget_child(struct nursery *nursery)
{
	close_fd(&nursery->child_fd);
	nursery->child = 0;
}

/*
 * Starts the child. Returns 0 or the negative errno of fork or exec. Until exec the child shares
 * the spawner's memory (vfork), where the child leaves its error.
 */
static int start_program(struct nursery *nursery, int channel)
{
	struct f_owner_ex owner = {.type = F_OWNER_PID};
	pid_t spawner = getpid();
	volatile int error = 0;
	pid_t pid = vfork();

	if (pid == 0) {
		error = exec_program(nursery, spawner, channel);
		_exit(127);
	}
	if (pid < 0)
		return -errno;
	if (error) {
		waitpid(pid, NULL, 0);
		return error;
	}
	nursery->child = pid;
	owner.pid = pid;
	nursery->child_fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (nursery->child_fd < 0 || fcntl(nursery->child_fd, F_SETOWN_EX, &owner))
		return -errno;
	return 0;
}

/* Kills the child; waits only shortly for its end, because a child may hang in the kernel. */
static void leave_child(struct nursery *nursery)
{
	struct pollfd end = {.fd = nursery->child_fd, .events = POLLIN};

	if (nursery->child) {
		kill(nursery->child, SIGKILL);
		poll(&end, 1, LEAVE_MS);
		nursery->left++;
	}
	forget_child(nursery);
	while (nursery->left && waitpid(-1, NULL, WNOHANG) > 0)
		nursery->left--;
}

static int on_spawn(struct nursery *nursery)
{
	struct message_spawned spawned = {.lacking = nursery->layers.lacking,
					  .proven = nursery->layers.proven};
	struct message request;
	int child_fd = -1;
	int r = channel_receive(&nursery->channel, &request);

	if (r <= 0)
		return r;
	leave_child(nursery);
	spawned.error = nursery->error;
	if (nursery->left > LEFT_MAX)
		spawned.error = -EBUSY;
	if (!spawned.error)
		spawned.error = start_program(nursery, request.fd);
	if (!spawned.error)
		child_fd = nursery->child_fd;
	r = channel_reply(&nursery->channel, &request, &spawned, sizeof(spawned), child_fd);
	message_release(&request);
	return r;
}

static int on_exit_of_child(struct nursery *nursery)
{
	struct message_exited exited = {0};

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

static bool leave_terminal_and_folder(void)
{
	const char *debug = getenv("KEYHOLE_DEBUG_STDERR");
	guard_fd int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 || chdir("/"))
		return false;
	if (debug && strcmp(debug, "1") == 0)
		return true;
	return dup2(null, STDERR_FILENO) >= 0;
}

/*
 * Memory files of the worker, and what the exporter keeps of them, count as no process's memory.
 * When memory is short, the kernel ends these two before anybody else. Each may raise its own score
 * (proc_pid_oom_score_adj(5)), and a child inherits the score of its spawner.
 */
static void yield_memory(enum policy_role role)
{
	static const char most[] = "1000";
	guard_fd int fd = -1;

	if (role != ROLE_WORKER && role != ROLE_EXPORTER)
		return;
	fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, most, sizeof(most) - 1) < 0)
		log_warning("start: %s: oom_score_adj: %s",
			    message_party_name((enum message_party)role), strerror(errno));
}

/* Runs the spawner in the forked process; never returns. */
static void spawner_main(enum policy_role role, const struct channel *channel, int program,
			 struct policy_layers layers)
{
	struct nursery nursery = {.channel = *channel,
				  .name = message_party_name((enum message_party)role),
				  .layers = layers,
				  .program = program,
				  .child_fd = -1};

	priority_restore();
	yield_memory(role);
	if (!leave_terminal_and_folder())
		_exit(1);
	/* The stacks of a new process are cut until the worker has listed the mappings and
	 * published their tables. On a saturated machine the worker must not wait for its turn. */
	if (role == ROLE_WORKER)
		priority_raise_worker();
	policy_isolate(role, &nursery.layers);
	nursery.error = policy_become(role);
	if (!nursery.error)
		nursery.error = policy_confine_spawner(role);
	if (program < 0 && !nursery.error)
		nursery.error = program;
	serve(&nursery);
	_exit(0);
}

/* ---- the loader's side --------------------------------------------------------------------- */

static int open_in(const char *folder, const char *name)
{
	guard_fd int fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int program;

	if (fd < 0)
		return -errno;
	program = openat(fd, name, O_PATH | O_CLOEXEC);
	if (program < 0)
		return -errno;
	return program;
}

int spawner_open_program(const char *name)
{
	char own[PATH_MAX] = "";
	int fd;

	if (readlink("/proc/self/exe", own, sizeof(own) - 1) > 0) {
		fd = open_in(dirname(own), name);
		if (fd >= 0)
			return fd;
	}
	return open_in(KEYHOLE_LIBEXECDIR, name);
}

int spawner_start(struct spawner *spawner, enum policy_role role)
{
	int fds[2];
	int r = channel_pair(fds);
	/* Opened here: in a user namespace, root cannot open the folders of every user. */
	guard_fd int program = spawner_open_program(message_party_name((enum message_party)role));
	struct policy_layers layers;
	pid_t pid;

	*spawner = (struct spawner){.role = role, .pid = r, .channel = {.fd = -1}};
	if (r)
		return r;
	pid = policy_fork(role, &layers);
	spawner->pid = channel_forked(&spawner->channel, PARTY_SPAWNER, fds, program, pid);
	if (spawner->pid < 0)
		return spawner->pid;
	if (spawner->pid == 0)
		spawner_main(role, &spawner->channel, program, layers);
	return 0;
}

int spawner_spawn(struct spawner *spawner, struct channel *ret_channel)
{
	int fds[2];
	int r = channel_pair(fds);

	if (r)
		return r;
	channel_init(ret_channel, fds[0], PARTY_LOADER, (enum message_party)spawner->role);
	r = channel_send_bare(&spawner->channel, MESSAGE_SPAWN, fds[1]);
	close(fds[1]);
	if (r)
		channel_release(ret_channel);
	return r;
}

/*
 * Returns the pid in the loader's own namespace: the kernel translates the owner that the spawner
 * set. fdinfo has the pid too, but before Linux 5.14 a process that is not dumpable may not read
 * its own fdinfo.
 */
static pid_t pid_of(int pidfd)
{
	struct f_owner_ex owner = {0};

	if (fcntl(pidfd, F_GETOWN_EX, &owner))
		return -errno;
	if (owner.type != F_OWNER_PID || owner.pid <= 0)
		return -ESRCH;
	return owner.pid;
}

pid_t spawner_started(struct spawner *spawner)
{
	struct message message;
	int r;

	/* An EXITED before the answer, or a late answer, is about an earlier child. */
	for (;;) {
		r = channel_wait(&spawner->channel, START_MS, &message);
		if (r < 0)
			return r;
		if (message.head.reply_to == spawner->channel.sent)
			break;
		message_release(&message);
	}
	spawner->layers = (struct policy_layers){message.SPAWNED.lacking, message.SPAWNED.proven};
	r = message.SPAWNED.error;
	if (r == 0)
		r = pid_of(message.fd);
	message_release(&message);
	return r;
}

void spawner_stop(struct spawner *spawner)
{
	channel_release(&spawner->channel);
	if (spawner->pid > 0)
		waitpid(spawner->pid, NULL, 0);
	spawner->pid = 0;
}
