/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/rules.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "ipc/guard.h"
#include "loader/helper.h"
#include "loader/recording.h"

#define RULES_FOLDER "/etc/keyhole"
#define RULES_FILE   RULES_FOLDER "/policy.conf"
#define ANSWER_MS    10000

static bool is_nowhere(const char *path)
{
	return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) && errno == ENOENT;
}

/* A link that leads nowhere is an error: rules may be what it leads to elsewhere. */
static bool has_none(void)
{
	return is_nowhere(RULES_FOLDER) || (!access(RULES_FOLDER, F_OK) && is_nowhere(RULES_FILE));
}

/* What the helper has no right to look at: to be read, or (O_PATH) only to be identified. */
static int send_file(struct channel *channel, enum message_type type, const char *path, int flags)
{
	guard_fd int fd = open(path, flags | O_CLOEXEC);
	const struct message_reply reply = {.error = fd < 0 ? -errno : 0};

	return channel_send(channel, type, &reply, sizeof(reply), fd);
}

int rules_read(const char *file, const char *verb, struct rules *ret_rules)
{
	const char *name = file ? file : RULES_FILE;
	const char *const argv[] = {message_party_name(PARTY_RULES), verb, name, NULL};
	struct message message;
	struct channel channel;
	pid_t pid;
	int r, left = DENY_KEYS_MAX;

	if (!file && strcmp(verb, "check-config") && has_none())
		return EXIT_DONE;
	pid = helper_start(PARTY_RULES, argv, NULL, &channel);
	if (pid < 0)
		return EXIT_FAILED; /* it was said why */
	r = send_file(&channel, MESSAGE_POLICY_FILE, name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	while (!r && (r = channel_wait(&channel, ANSWER_MS, &message)) == 1 &&
	       message.head.type == MESSAGE_POLICY_PATH) {
		message.POLICY_PATH.path[POLICY_PATH_BYTES - 1] = 0;
		r = left-- > 0 ? send_file(&channel, MESSAGE_POLICY_OBJECT,
					   message.POLICY_PATH.path, O_PATH)
			       : -EPROTO;
	}
	if (r == 1) {
		*ret_rules = (struct rules){message.POLICY_KEYS, message.fd};
		r = message.POLICY_KEYS.error;
	}
	channel_release(&channel);
	kill(pid, SIGKILL); /* that was all */
	waitpid(pid, NULL, 0);
	if (r && r != -EINVAL)
		return failed("policy", name, r);
	return r ? EXIT_USAGE : EXIT_DONE;
}
