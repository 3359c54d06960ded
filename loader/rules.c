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
#define FILES_MAX    2

struct files {
	const char *names[FILES_MAX];
	unsigned int count;
};

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

/* Sends the file that keyhole-rules asks for. Returns 0 or a negative errno. */
static int send_object(struct channel *channel, struct message_policy_path *wanted, int *left)
{
	if ((*left)-- <= 0)
		return -EPROTO;
	wanted->path[POLICY_PATH_BYTES - 1] = 0;
	return send_file(channel, MESSAGE_POLICY_OBJECT, wanted->path, O_PATH);
}

/* Takes a rule for the brokers, which check what the rule says. */
static int take_grant_rule(struct rules *rules, const struct message_grant_rule *rule)
{
	if (rules->memory_count >= GRANT_RULES_MAX)
		return -EPROTO;
	rules->memory[rules->memory_count++] = *rule;
	return 0;
}

/*
 * Sends each file that keyhole-rules asks for, and takes the rules about memory. Returns 0 with the
 * next other message.
 */
static int answer_questions(struct channel *channel, struct rules *rules,
			    struct message *ret_message)
{
	int left = DENY_KEYS_MAX, r = 0;

	while (r == 0) {
		r = channel_wait(channel, ANSWER_MS, ret_message);
		if (r < 0)
			return r;
		if (ret_message->head.type == MESSAGE_POLICY_PATH)
			r = send_object(channel, &ret_message->POLICY_PATH, &left);
		else if (ret_message->head.type == MESSAGE_POLICY_GRANT)
			r = take_grant_rule(rules, &ret_message->POLICY_GRANT);
		else
			return 0;
	}
	return r;
}

/* Has keyhole-rules read the files. Returns 0 or a negative errno. */
static int exchange(struct channel *channel, const struct files *files, struct rules *ret_rules)
{
	const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY;
	struct message message;
	int r = 0;

	for (unsigned int i = 0; i < files->count && r == 0; i++)
		r = send_file(channel, MESSAGE_POLICY_FILE, files->names[i], flags);
	/* keyhole-rules may have refused the first file and ended: its answer says so */
	if (r && r != -EPIPE)
		return r;
	ret_rules->memory_count = 0;
	r = answer_questions(channel, ret_rules, &message);
	if (r)
		return r;
	ret_rules->said = message.POLICY_KEYS;
	ret_rules->keys = message.fd;
	return message.POLICY_KEYS.error;
}

static enum exit_status read_files(const struct files *files, const char *verb,
				   struct rules *ret_rules)
{
	const char *const argv[] = {message_party_name(PARTY_RULES), verb, files->names[0],
				    files->names[1], NULL};
	struct channel channel;
	pid_t pid = helper_start(PARTY_RULES, argv, NULL, &channel);
	int r;

	if (pid < 0)
		return EXIT_FAILED; /* which was logged */
	r = exchange(&channel, files, ret_rules);
	channel_release(&channel);
	kill(pid, SIGKILL); /* keyhole-rules has nothing more to do */
	waitpid(pid, NULL, 0);
	if (r == 0)
		return EXIT_DONE;
	if (r == -EINVAL)
		return EXIT_USAGE; /* keyhole-rules has said why */
	if (ret_rules->said.error == -EPIPE)
		return EXIT_PIPE; /* nobody reads the rules that RULES_VERB_CHECK prints */
	return failed("policy", files->names[files->count - 1], r);
}

/* The administrator's file holds for everybody who may run keyhole, whatever the file adds. */
enum exit_status rules_read(const char *file, const char *verb, struct rules *ret_rules)
{
	const bool checks = strcmp(verb, RULES_VERB_CHECK) == 0;
	struct files files = {{NULL, NULL}, 0};

	if (checks && file)
		files.names[files.count++] = file;
	else if (checks || !has_none())
		files.names[files.count++] = RULES_FILE;
	if (!checks && file)
		files.names[files.count++] = file;
	if (files.count == 0)
		return EXIT_DONE;
	return read_files(&files, verb, ret_rules);
}

_Static_assert(sizeof(((struct policy_rule *)0)->key) == sizeof(struct deny_key),
	       "a rule has a key of BPF's table");

int rules_read_keys(int file, struct deny_key ret_keys[DENY_KEYS_MAX])
{
	if (file < 0)
		return 0;
	for (unsigned int count = 0;; count++) {
		struct policy_rule rule;
		ssize_t got = read(file, &rule, sizeof(rule));

		if (got == 0)
			return (int)count;
		if (got != sizeof(rule))
			return -EIO;
		if (count == DENY_KEYS_MAX)
			return -E2BIG;
		memcpy(&ret_keys[count], rule.key, sizeof(rule.key));
	}
}
