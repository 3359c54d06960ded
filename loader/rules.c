/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/rules.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ipc/guard.h"
#include "loader/failed.h"
#include "loader/helper.h"

#define RULES_FOLDER "/etc/keyhole"
#define RULES_FILE   RULES_FOLDER "/policy.conf"
#define ANSWER_MS    10000

static bool is_nowhere(const char *path)
{
	return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) && errno == ENOENT;
}

/*
 * Returns whether this machine has no default policy file. A link that leads nowhere is an error
 * instead: elsewhere, the link may lead to rules.
 */
static bool has_none(void)
{
	if (is_nowhere(RULES_FOLDER))
		return true;
	return !access(RULES_FOLDER, F_OK) && is_nowhere(RULES_FILE);
}

/*
 * Sends a file that keyhole-rules has no right to open: to be read, or (O_PATH) only to be
 * identified.
 */
static int send_file(struct channel *channel, enum message_type type, const char *path, int flags)
{
	guard_fd int fd = open(path, flags | O_CLOEXEC);
	struct message_reply reply = {0};

	if (fd < 0)
		reply.error = -errno;
	return channel_send(channel, type, &reply, sizeof(reply), fd);
}

/* Sends each file that keyhole-rules asks for. Returns 0 with the next other message. */
static int send_objects(struct channel *channel, struct message *ret_message)
{
	char *path = ret_message->POLICY_PATH.path;

	for (int left = DENY_KEYS_MAX;; left--) {
		int r = channel_wait(channel, ANSWER_MS, ret_message);

		if (r < 0)
			return r;
		if (ret_message->head.type != MESSAGE_POLICY_PATH)
			return 0;
		if (left <= 0)
			return -EPROTO;
		path[POLICY_PATH_BYTES - 1] = 0;
		r = send_file(channel, MESSAGE_POLICY_OBJECT, path, O_PATH);
		if (r)
			return r;
	}
}

/* Has keyhole-rules read the file. Returns 0 or a negative errno. */
static int exchange(struct channel *channel, const char *name, struct rules *ret_rules)
{
	const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY;
	struct message message;
	int r = send_file(channel, MESSAGE_POLICY_FILE, name, flags);

	if (r)
		return r;
	r = send_objects(channel, &message);
	if (r)
		return r;
	*ret_rules = (struct rules){message.POLICY_KEYS, message.fd};
	return message.POLICY_KEYS.error;
}

enum exit_status rules_read(const char *file, const char *verb, struct rules *ret_rules)
{
	const char *name = file ? file : RULES_FILE;
	const char *const argv[] = {message_party_name(PARTY_RULES), verb, name, NULL};
	struct channel channel;
	pid_t pid;
	int r;

	if (!file && strcmp(verb, RULES_VERB_CHECK) && has_none())
		return EXIT_DONE;
	pid = helper_start(PARTY_RULES, argv, NULL, &channel);
	if (pid < 0)
		return EXIT_FAILED; /* which was logged */
	r = exchange(&channel, name, ret_rules);
	channel_release(&channel);
	kill(pid, SIGKILL); /* keyhole-rules has nothing more to do */
	waitpid(pid, NULL, 0);
	if (r == 0)
		return EXIT_DONE;
	if (r == -EINVAL)
		return EXIT_USAGE; /* keyhole-rules has said why */
	if (ret_rules->said.error == -EPIPE)
		return EXIT_PIPE; /* nobody reads the rules that RULES_VERB_CHECK prints */
	return failed("policy", name, r);
}

int rules_read_keys(int file, struct deny_key ret_keys[DENY_KEYS_MAX])
{
	if (file < 0)
		return 0;
	for (unsigned int count = 0;; count++) {
		struct deny_key key;
		ssize_t got = read(file, &key, sizeof(key));

		if (got == 0)
			return (int)count;
		if (got != sizeof(key))
			return -EIO;
		if (count == DENY_KEYS_MAX)
			return -E2BIG;
		ret_keys[count] = key;
	}
}
