/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/rules.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "ipc/guard.h"
#include "ipc/log.h"

#define ROW_MS 5000

int rules_open(const char *file)
{
	guard_fd int fd = open(file, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat status;
	int r = fd < 0 || fstat(fd, &status) ? -errno : 0;

	if (!r &&
	    (!S_ISREG(status.st_mode) || status.st_uid || status.st_mode & (S_IWGRP | S_IWOTH)))
		r = -EPERM;
	if (r && (r != -ENOENT || strcmp(file, RULES_FILE) != 0))
		log_error("policy: %s: %s", file,
			  r == -EPERM ? "not a file that only root can write" : strerror(-r));
	return r ? r : take_fd(&fd);
}

/* stat() has other device numbers than the kernel's own for files of overlay and btrfs. */
static const char *look_up(const struct message_policy_row *row, struct deny_key *key)
{
	struct statfs system;
	struct stat status;

	if (stat(row->text, &status) || statfs(row->text, &system))
		return strerror(errno);
	if (key->kind == DENY_CGROUP) {
		key->first = status.st_ino;
		return system.f_type == CGROUP2_SUPER_MAGIC && S_ISDIR(status.st_mode)
			       ? NULL
			       : "not a cgroup v2 directory";
	}
	key->first = (uint64_t)major(status.st_dev) << DENY_DEVICE_MINORS | minor(status.st_dev);
	key->second = status.st_ino;
	if (system.f_type == OVERLAYFS_SUPER_MAGIC || system.f_type == BTRFS_SUPER_MAGIC)
		return "its file system does not tell its device";
	return S_ISREG(status.st_mode) ? NULL : "not a regular file";
}

static const char *add_key(const struct message_policy_row *row, struct rules *rules)
{
	struct deny_key *key = &rules->keys[rules->count];
	const char *reason = NULL;

	if (rules->count == DENY_KEYS_MAX)
		return "too many rules";
	key->kind = row->kind - ROW_UID;
	if (row->kind == ROW_UID)
		key->first = row->value;
	else if (row->kind == ROW_COMM)
		memcpy(&key->first, row->text, sizeof(key->first) + sizeof(key->second));
	else
		reason = look_up(row, key);
	rules->kinds |= DENY_BIT(key->kind);
	rules->count++;
	return reason;
}

/* NULL, or why this cannot be obeyed. */
static const char *take(const struct message_policy_row *row, struct rules *rules)
{
	const size_t length = strnlen(row->text, sizeof(row->text) - 1);

	for (size_t i = 0; i < sizeof(row->text); i++)
		if (row->text[i] && (row->text[i] < ' ' || row->text[i] > '~' || i >= length))
			return "malformed row";
	switch (row->kind) {
	case ROW_ERROR:
		return row->text;
	case ROW_FREQUENCY:
		rules->frequency_max = row->value;
		return NULL;
	case ROW_NAMES:
		rules->names |= row->value;
		return NULL;
	case ROW_END:
		memcpy(rules->hash, row->text, sizeof(rules->hash));
		return NULL;
	}
	return row->kind < ROW_KINDS ? add_key(row, rules) : "malformed row";
}

int rules_receive(struct channel *channel, const char *file, bool print, struct rules *ret_rules)
{
	static const char *const words[] = POLICY_ROW_WORDS;
	struct message message = {0};
	struct message_policy_row *row = &message.POLICY_ROW;
	const char *reason = NULL;

	do {
		int r = channel_expect(channel, MESSAGE_POLICY_ROW, ROW_MS, &message);

		reason = r ? strerror(-r) : take(row, ret_rules);
		if (print && !reason)
			printf("%s%s\n", words[row->kind], row->text);
	} while (!reason && row->kind != ROW_END);
	if (reason)
		log_error("%s:%u: %s", file, row->line, reason);
	return reason ? -EINVAL : 0;
}
