/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "generated/version.h"
#include "ipc/guard.h"
#include "ipc/log.h"
#include "loader/priority.h"
#include "loader/spawner.h"

#define VARIABLES_MAX 40 /* the terminating NULL among them */

/* Helpers without a user; any other party has ROLE_LOADER here. */
static const enum policy_role roles[PARTY_ASKER + 1] = {
	[PARTY_KERNEL_SYMBOLS] = ROLE_KERNEL_SYMBOLS,
	[PARTY_OPTIONS] = ROLE_OPTIONS,
	[PARTY_AUDITOR] = ROLE_AUDIT,
	[PARTY_RULES] = ROLE_RULES,
	[PARTY_CONNECTOR] = ROLE_CONNECTOR,
};

/* Takes the rights from a forked child that the helper must not have. Returns a negative errno. */
static int become(enum message_party party, const struct policy_user *user)
{
	int r;

	if (user || party == PARTY_AUDITOR || party == PARTY_CONNECTOR)
		priority_restore();
	if (user) {
		r = policy_user_join_groups(user);
		if (r < 0)
			return r;
		return policy_user_become(user);
	}
	if (roles[party] == ROLE_LOADER)
		return -EINVAL;
	/* An error is no reason to stop: the loader's own call fails later, and samples nothing. */
	policy_become(roles[party]);
	return 0;
}

/*
 * Beginnings of the variables that a helper without rights gets of the environment. keyhole-audit
 * names the user. keyhole-options reads where the agent's profiles go.
 */
static const struct {
	enum message_party party;
	const char *begin;
} passed_on[] = {
	{PARTY_KERNEL_SYMBOLS, "TZ="},	 {PARTY_OPTIONS, "TZ="},
	{PARTY_AUDITOR, "TZ="},		 {PARTY_RULES, "TZ="},
	{PARTY_AUDITOR, "SUDO_USER="},	 {PARTY_OPTIONS, "OTEL_"},
	{PARTY_OPTIONS, "http_proxy="},	 {PARTY_OPTIONS, "https_proxy="},
	{PARTY_OPTIONS, "HTTPS_PROXY="}, {PARTY_OPTIONS, "no_proxy="},
	{PARTY_OPTIONS, "NO_PROXY="},
};

static bool is_passed_on(enum message_party party, const char *variable)
{
	if (!strncmp(variable, LOG_VARIABLE "=", strlen(LOG_VARIABLE "=")))
		return true;
	for (size_t i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++)
		if (passed_on[i].party == party &&
		    !strncmp(variable, passed_on[i].begin, strlen(passed_on[i].begin)))
			return true;
	return false;
}

static void select_variables(enum message_party party, const char *ret_list[VARIABLES_MAX])
{
	size_t count = 0;

	ret_list[count++] = "KEYHOLE_BUILD=" KEYHOLE_VERSION;
	for (char **entry = environ; *entry && count < VARIABLES_MAX - 1; entry++)
		if (is_passed_on(party, *entry))
			ret_list[count++] = *entry;
	ret_list[count] = NULL;
}

/* Returns a negative errno or not at all. */
static int exec_program(enum message_party party, int program, int channel, const char *const *argv,
			const struct policy_user *user)
{
	const char *own[VARIABLES_MAX];
	const char *const *environment = own;

	select_variables(party, own);
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
static void exec_helper(enum message_party party, int program, int channel, const char *const *argv,
			const struct policy_user *user)
{
	int r = become(party, user);

	if (r == 0)
		r = exec_program(party, program, channel, argv, user);
	log_error("start: %s: %s", message_party_name(party), strerror(-r));
	_exit(127);
}

/* Forks. Returns the pid, or a negative errno. */
static pid_t start(enum message_party party, int channel, const char *const *argv,
		   const struct policy_user *user)
{
	guard_fd int program = spawner_open_program(message_party_name(party));
	pid_t pid;

	if (program < 0)
		return program;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0)
		exec_helper(party, program, channel, argv, user);
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
		r = start(party, child, argv, user);
	if (r < 0)
		log_error("start: %s: %s", name, strerror(-r));
	return r;
}
