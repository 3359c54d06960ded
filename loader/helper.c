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

#define VARIABLES_MAX 4 /* the end among them */

static const enum policy_role roles[] = {
	[PARTY_COMMITTER] = ROLE_OUTPUT, [PARTY_KERNEL_SYMBOLS] = ROLE_KERNEL_SYMBOLS,
	[PARTY_OPTIONS] = ROLE_OPTIONS,	 [PARTY_AUDITOR] = ROLE_AUDIT,
	[PARTY_RULES] = ROLE_RULES,
};

/* Fills in what a helper without rights gets of our environment. */
static void select_variables(const char *ret_list[VARIABLES_MAX])
{
	static const char *const names[] = {"TZ=", "SUDO_USER="};
	size_t count = 0;

	ret_list[count++] = "KEYHOLE_BUILD=" KEYHOLE_VERSION;
	for (char **entry = environ; *entry; entry++)
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
			if (!strncmp(*entry, names[i], strlen(names[i])) &&
			    count < VARIABLES_MAX - 1)
				ret_list[count++] = *entry;
	ret_list[count] = NULL;
}

/* Never returns. What is open is close-on-exec, or the helper closes it: our caller's. */
static void exec_helper(enum message_party party, int program, int channel, const char *const *argv,
			const struct policy_user *user)
{
	const char *own[VARIABLES_MAX];
	int r = 0;

	select_variables(own);
	/* Where policy_become() fails, the loader's own does later, and nothing is sampled. */
	if (user)
		r = policy_user_join_groups(user);
	else
		policy_become(roles[party]);
	if (user && r == 0)
		r = policy_user_become(user);
	if (r == 0 && dup2(channel, CHANNEL_FD) == CHANNEL_FD)
		syscall(SYS_execveat, program, "", argv, user ? (const char *const *)environ : own,
			AT_EMPTY_PATH);
	log_error("start: %s: %s", message_party_name(party), strerror(r ? -r : errno));
	_exit(127);
}

pid_t helper_start(enum message_party party, const char *const *argv,
		   const struct policy_user *user, struct channel *ret_channel)
{
	const char *name = message_party_name(party);
	/* In this order: neither the second end nor the program is CHANNEL_FD. */
	int fds[2] = {-1, -1}, r = channel_pair(fds);
	guard_fd int program = r ? r : spawner_open_program(name);
	pid_t pid;

	channel_init(ret_channel, fds[0], PARTY_LOADER, party);
	pid = program < 0 ? program : fork();
	if (pid == 0)
		exec_helper(party, program, fds[1], argv, user);
	r = program >= 0 && pid < 0 ? -errno : pid;
	if (r < 0)
		log_error("start: %s: %s", name, strerror(-r));
	close(fds[1]);
	return r;
}
