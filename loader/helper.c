/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "generated/version.h"
#include "ipc/guard.h"
#include "ipc/log.h"
#include "loader/spawner.h"

/* Takes the rights from a forked child that the helper must not have. Returns a negative errno. */
static int become(const struct policy_user *user)
{
	if (user)
		return policy_user_become(user);
	/* An error is no reason to stop: the loader's own call fails later, and samples nothing. */
	policy_become(ROLE_LOADER);
	return 0;
}

/* Returns a negative errno or not at all. */
static int exec_program(int program, int channel, const char *const *argv,
			const struct policy_user *user)
{
	const char *own[] = {"KEYHOLE_BUILD=" KEYHOLE_VERSION, NULL, NULL};
	const char *const *environment = own;
	const char *zone = getenv("TZ");

	if (zone)
		own[1] = zone - strlen("TZ="); /* getenv() points behind the name */
	if (user)
		environment = (const char *const *)environ;
	if (dup2(channel, CHANNEL_FD) == CHANNEL_FD)
		syscall(SYS_execveat, program, "", argv, environment, AT_EMPTY_PATH);
	return -errno;
}

/*
 * Runs the helper in the forked child; never returns. The descriptors of the loader are
 * close-on-exec. The helper closes those that the loader inherited.
 */
static void exec_helper(const char *name, int program, int channel, const char *const *argv,
			const struct policy_user *user)
{
	int r = become(user);

	if (r == 0)
		r = exec_program(program, channel, argv, user);
	log_error("start: %s: %s", name, strerror(-r));
	_exit(127);
}

/* Forks. Returns the pid, or a negative errno. */
static pid_t start(const char *name, int channel, const char *const *argv,
		   const struct policy_user *user)
{
	guard_fd int program = spawner_open_program(name);
	pid_t pid;

	if (program < 0)
		return program;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0)
		exec_helper(name, program, channel, argv, user);
	return pid;
}

pid_t helper_start(enum message_party party, const char *const *argv,
		   const struct policy_user *user, struct channel *ret_channel)
{
	const char *name = message_party_name(party);
	int fds[2] = {-1, -1};
	/*
	 * The pair is opened before the program: so neither fds[1] nor the program is CHANNEL_FD.
	 */
	int r = channel_pair(fds);
	guard_fd int child = fds[1];

	channel_init(ret_channel, fds[0], PARTY_LOADER, party);
	if (r == 0)
		r = start(name, child, argv, user);
	if (r < 0)
		log_error("start: %s: %s", name, strerror(-r));
	return r;
}
