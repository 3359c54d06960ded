/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ipc/guard.h"
#include "ipc/log.h"
#include "loader/spawner.h"

/* Never returns. What is open is close-on-exec, or the helper closes it: our caller's. */
static void exec_helper(int program, int channel, const char *const *argv,
			const struct policy_user *user)
{
	char *empty[] = {NULL};
	int r = 0;

	/* Where policy_become() fails, the loader's own does later, and nothing is sampled. */
	if (user)
		r = policy_user_become(user);
	else
		policy_become(ROLE_LOADER);
	if (r == 0 && dup2(channel, CHANNEL_FD) == CHANNEL_FD)
		syscall(SYS_execveat, program, "", argv, user ? environ : empty, AT_EMPTY_PATH);
	log_error("start: %s: %s", argv[0], strerror(r ? -r : errno));
	_exit(127);
}

pid_t helper_start(enum message_party party, const char *const *argv,
		   const struct policy_user *user, struct channel *ret_channel)
{
	/* In this order: neither the second end nor the program is CHANNEL_FD. */
	int fds[2], r = channel_pair(fds);
	guard_fd int program = spawner_open_program(message_party_name(party));
	pid_t pid;

	ret_channel->fd = -1;
	if (r)
		return r;
	channel_init(ret_channel, fds[0], PARTY_LOADER, party);
	pid = program < 0 ? program : fork();
	if (pid == 0)
		exec_helper(program, fds[1], argv, user);
	r = program >= 0 && pid < 0 ? -errno : pid;
	close(fds[1]);
	return r;
}
