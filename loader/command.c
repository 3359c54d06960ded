/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/command.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ipc/log.h"

/* Never returns. Nothing of the loader stays open. */
static void hold_and_exec(int hold, char **argv, const struct policy_user *user)
{
	char byte;
	int r;

	close_range(STDERR_FILENO + 1, (unsigned int)hold - 1, 0);
	close_range((unsigned int)hold + 1, ~0u, 0);
	r = policy_user_become(user);
	if (read(hold, &byte, 1) != 1)
		_exit(127);
	if (r == 0) {
		execvp(argv[0], argv);
		r = -errno;
	}
	log_error("record: %s: %s", argv[0], strerror(-r));
	_exit(127);
}

int command_start(struct command *ret_command, char **argv, const struct policy_user *user)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	*ret_command = (struct command){.pid = fork(), .hold = ends[1]};
	if (ret_command->pid == 0)
		hold_and_exec(ends[0], argv, user);
	close(ends[0]);
	return ret_command->pid < 0 ? -errno : 0;
}

void command_release(struct command *command)
{
	/* Where nobody reads any more it has ended, which is noticed. */
	if (write(command->hold, "", 1) >= 0)
		close(command->hold);
}

void command_reap(struct command *command)
{
	int status;

	if (command->pid <= 0 || waitpid(command->pid, &status, WNOHANG) != command->pid)
		return;
	command->pid = 0;
	command->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
