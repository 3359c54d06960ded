/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keyhole-rules VERB FILE: reads the policy file that the loader opened, asks it for what paths in
 * it lead to, answers with keys and ends. It has the loader's uid and no rights, and a filter that
 * leaves it to read, and to write what it was given. What is wrong is said here, with its line.
 * VERB "check-config": the rules are printed. "record --comm": names of processes and threads must
 * be kept, else what --comm finds would tell them.
 */
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "helper/filter.h"
#include "helper/rules/keys.h"
#include "helper/rules/parser.h"
#include "ipc/channel.h"
#include "ipc/guard.h"
#include "ipc/log.h"

#define START_MS 10000

/* ---- confinement ----------------------------------------------------------------------------- */

static bool has_rights(void)
{
	cap_t none = cap_init(), own = cap_get_proc();
	bool has = !none || !own || cap_compare(none, own) != 0;

	cap_free(none);
	cap_free(own);
	return has;
}

static int limit_ourselves(void)
{
	static const int more[] = {SCMP_SYS(read), SCMP_SYS(fstatfs)};

	return has_rights() ? -EPERM : filter_put_on(more, sizeof(more) / sizeof(*more));
}

/* ---- the file -------------------------------------------------------------------------------- */

static struct policy {
	struct channel loader;
	const char *name;
	struct policy_rows rows;
	int keys; /* memfd of struct deny_key */
} policy;

static int say(uint32_t line, const char *reason)
{
	if (line)
		log_error("%s:%u: %s", policy.name, line, reason);
	else
		log_error("policy: %s: %s", policy.name, reason);
	return -EINVAL;
}

/* The whole file, and a byte more of one that is too large. */
static ssize_t read_file(int fd, char *ret_text, size_t size)
{
	size_t used = 0;
	ssize_t got;

	do {
		got = read(fd, ret_text + used, size - used);
		if (got < 0 && errno != EINTR)
			return -errno;
		used += got > 0 ? (size_t)got : 0;
	} while (got != 0 && used < size);
	return (ssize_t)used;
}

static int parse(int fd)
{
	static char text[POLICY_FILE_BYTES + 1];
	struct stat status;
	ssize_t size;

	if (fstat(fd, &status) || !S_ISREG(status.st_mode) || status.st_uid ||
	    status.st_mode & (S_IWGRP | S_IWOTH))
		return say(0, "not a file that only root can write; run: chown root, chmod go-w");
	size = read_file(fd, text, sizeof(text));
	if (size < 0)
		return say(0, strerror((int)-size));
	return policy_parse(text, (size_t)size, &policy.rows)
		       ? say(policy.rows.line, policy.rows.reason)
		       : 0;
}

/* ---- the keys -------------------------------------------------------------------------------- */

/* The loader opens it, to be looked at only. -1: none is needed. */
static int ask_path(const struct policy_row *row, int *ret_fd)
{
	struct message_policy_path path;
	struct message message;
	int r;

	*ret_fd = -1;
	if (!row_has_path(row))
		return 0;
	memcpy(path.path, row->text, sizeof(path.path));
	r = channel_send(&policy.loader, MESSAGE_POLICY_PATH, &path, sizeof(path), -1);
	r = r ? r : channel_expect(&policy.loader, MESSAGE_POLICY_OBJECT, START_MS, &message);
	if (r)
		return r;
	*ret_fd = message.fd;
	return message.POLICY_OBJECT.error ? say(row->line, strerror(-message.POLICY_OBJECT.error))
					   : 0;
}

static int add_key(const struct policy_row *row)
{
	struct deny_key key;
	const char *reason;
	guard_fd int fd = -1;
	int r = ask_path(row, &fd);

	if (r)
		return r;
	reason = key_of_row(row, fd, &key);
	if (reason)
		return say(row->line, reason);
	return write(policy.keys, &key, sizeof(key)) == sizeof(key) ? 0 : -EIO;
}

static int take_rows(struct message_policy_keys *keys)
{
	int r = 0;

	for (size_t i = 0; i < policy.rows.count && r == 0; i++) {
		const struct policy_row *row = &policy.rows.row[i];

		if (row->kind == ROW_FREQUENCY) {
			keys->frequency_max = row->value;
		} else if (row->kind == ROW_NAMES) {
			keys->names[row->value] = (uint8_t)row->mode;
		} else {
			keys->kinds |= DENY_BIT(row->kind);
			r = add_key(row);
		}
	}
	policy_hash(&policy.rows, keys->hash);
	return r ? r : (int)lseek(policy.keys, 0, SEEK_SET);
}

static int print(const char *hash)
{
	for (size_t i = 0; i < policy.rows.count; i++)
		printf("%s%s\n", policy_words[policy.rows.row[i].kind], policy.rows.row[i].text);
	printf("hash %s\n", hash);
	return fflush(stdout) || ferror(stdout) ? -EIO : 0;
}

static int say_unopened(int error)
{
	char text[160];

	snprintf(text, sizeof(text), "%s; %s", strerror(error),
		 error == EACCES ? "run as root"
				 : "name another, or write it: keyhole-policy.conf(5)");
	return say(0, text);
}

static int check_names(const struct message_policy_keys *keys)
{
	if (keys->names[NAMES_COMM] == NAMES_KEEP && keys->names[NAMES_THREAD] == NAMES_KEEP)
		return 0;
	return say(0, "it hides names of processes or threads: --comm is refused");
}

static int answer(const struct message *file, const char *verb)
{
	struct message_policy_keys keys = {0};
	int error = file->POLICY_FILE.error;
	int r = error ? say_unopened(-error) : parse(file->fd);

	r = r ? r : take_rows(&keys);
	if (!r && !strcmp(verb, "check-config"))
		r = print(keys.hash);
	if (!r && !strcmp(verb, "record --comm"))
		r = check_names(&keys);
	if (r)
		keys = (struct message_policy_keys){.error = r};
	return channel_send(&policy.loader, MESSAGE_POLICY_KEYS, &keys, sizeof(keys),
			    r ? -1 : policy.keys);
}

int main(int argc, char **argv)
{
	const struct rlimit none = {0, 0};
	static char printed[BUFSIZ];
	struct message file;
	int r;

	if (argc != 3 || close_range(CHANNEL_FD + 1, ~0u, 0))
		return 1;
	prctl(PR_SET_NAME, message_party_name(PARTY_RULES));
	prctl(PR_SET_DUMPABLE, 0);
	setrlimit(RLIMIT_CORE, &none);
	log_init("keyhole", LOG_LEVEL_INFO);
	policy.name = argv[2];
	policy.keys = memfd_create("keyhole-rules", MFD_CLOEXEC);
	channel_init(&policy.loader, CHANNEL_FD, PARTY_RULES, PARTY_LOADER);
	setvbuf(stdout, printed, _IOFBF,
		sizeof(printed)); /* else it asks whether it is a terminal */
	r = policy.keys < 0 ? -errno : limit_ourselves();
	r = r ? r : channel_expect(&policy.loader, MESSAGE_POLICY_FILE, START_MS, &file);
	r = r ? r : answer(&file, argv[1]);
	if (r)
		log_error("policy: keyhole-rules: %s", strerror(-r));
	return r != 0;
}
