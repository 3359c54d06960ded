/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keyhole-rules VERB FILE [FILE]: reads the policy files that the loader opened, answers with the
 * keys of all and ends. A further file adds rules, and takes none away. The loader opens the
 * objects at the paths of rules. This process has the loader's uid, no rights, and a filter that
 * allows it to read, and to write to descriptors that it was given. Problems of a file are logged
 * here, with their line.
 *
 * VERB "check-config" prints the rules. "record --comm" refuses a policy that hides the names of
 * processes or threads, because the samples that --comm selects would tell the names.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text_file.h"
#include "helper/rules/keys.h"
#include "helper/rules/parser.h"
#include "ipc/channel.h"
#include "ipc/guard.h"
#include "ipc/log.h"
#include "policy/policy.h"

#define START_MS  10000
#define FILES_MAX 2

/* ---- the file -------------------------------------------------------------------------------- */

static struct policy {
	struct channel loader;
	const char *names[FILES_MAX];
	uint32_t files;
	struct policy_rows rows;
	int keys; /* memfd of struct policy_rule */
} policy;

/* Logs the problem of a line, or of the whole file for line 0. Returns -EINVAL. */
static int refuse(uint32_t file, uint32_t line, const char *reason)
{
	if (line)
		log_error("%s:%u: %s", policy.names[file], line, reason);
	else
		log_error("policy: %s: %s", policy.names[file], reason);
	return -EINVAL;
}

static bool is_roots(int fd)
{
	struct stat status;

	if (fstat(fd, &status) || !S_ISREG(status.st_mode) || status.st_uid != 0)
		return false;
	return !(status.st_mode & (S_IWGRP | S_IWOTH));
}

static int parse_file(uint32_t file, int fd)
{
	static char text[POLICY_FILE_BYTES + 1]; /* a byte more tells a file that is too large */
	ssize_t size;
	int r;

	if (!is_roots(fd))
		return refuse(file, 0,
			      "not a file that only root can write; run: chown root, chmod go-w");
	size = text_file_read(fd, text, sizeof(text));
	if (size < 0)
		return refuse(file, 0, strerror((int)-size));
	if (file == 0)
		r = policy_parse(text, (size_t)size, &policy.rows);
	else
		r = policy_parse_more(text, (size_t)size, &policy.rows);
	if (r < 0)
		return refuse(file, policy.rows.line, policy.rows.reason);
	return 0;
}

/* ---- the keys -------------------------------------------------------------------------------- */

/* Has the loader open the row's path with O_PATH. *ret_fd is -1 for a row without a path. */
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
	if (r)
		return r;
	r = channel_expect(&policy.loader, MESSAGE_POLICY_OBJECT, START_MS, &message);
	if (r)
		return r;
	*ret_fd = message.fd;
	if (message.POLICY_OBJECT.error)
		return refuse(row->file, row->line, strerror(-message.POLICY_OBJECT.error));
	return 0;
}

static int make_key(const struct policy_row *row, uint64_t ret_key[3])
{
	struct deny_key key;
	const char *reason;
	guard_fd int fd = -1;
	int r = ask_path(row, &fd);

	if (r)
		return r;
	reason = key_of_row(row, fd, &key);
	if (reason)
		return refuse(row->file, row->line, reason);
	memcpy(ret_key, &key, sizeof(key));
	return 0;
}

/* Sends a rule about memory or files, which the loader passes on to each broker. */
static int send_grant_rule(const struct policy_row *row)
{
	struct message_grant_rule rule = {0};
	int r = 0;

	if (row->kind == ROW_PERF_MAPS)
		rule.key[0] = GRANT_RULE_NO_CODE_FILES;
	else if (row->kind == ROW_CONTEXTS)
		rule.key[0] = GRANT_RULE_NO_CONTEXTS;
	else if (row->kind == ROW_VARIABLE)
		rule.key[0] = GRANT_RULE_VARIABLE;
	if (row->kind == ROW_RUNTIME || row->kind == ROW_VARIABLE)
		memcpy(rule.name, row->text, sizeof(rule.name));
	else if (!rule.key[0])
		r = make_key(row, rule.key);
	if (r)
		return r;
	return channel_send(&policy.loader, MESSAGE_POLICY_GRANT, &rule, sizeof(rule), -1);
}

static int add_key(const struct policy_row *row, struct message_policy_keys *keys)
{
	struct policy_rule rule = {{0}, ""};
	int r = make_key(row, rule.key);

	if (r)
		return r;
	snprintf(rule.text, sizeof(rule.text), "%s%s", policy_words[row->kind], row->text);
	if (write(policy.keys, &rule, sizeof(rule)) != sizeof(rule))
		return -EIO;
	keys->kinds |= DENY_BIT(rule.key[0]);
	return 0;
}

static int take_rows(struct message_policy_keys *keys)
{
	int r = 0;

	for (size_t i = 0; i < policy.rows.count && r == 0; i++) {
		const struct policy_row *row = &policy.rows.row[i];

		if (row->kind == ROW_FREQUENCY) {
			keys->frequency_max = row->value;
		} else if (row->kind == ROW_GO_STACKS) {
			keys->no_go_stacks = 1;
		} else if (row->kind == ROW_NAMES) {
			keys->names[row->value] = (uint8_t)row->mode;
		} else if (row->kind >= ROW_MEMORY_UID) {
			r = send_grant_rule(row);
		} else {
			r = add_key(row, keys);
		}
	}
	if (r)
		return r;
	policy_hash(&policy.rows, keys->hash);
	if (lseek(policy.keys, 0, SEEK_SET) < 0)
		return -errno;
	return 0;
}

static int print_rules(const char *hash)
{
	for (size_t i = 0; i < policy.rows.count; i++)
		printf("%s%s\n", policy_words[policy.rows.row[i].kind], policy.rows.row[i].text);
	printf("hash %s\n", hash);
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	if (errno == EPIPE) /* the reader has seen enough */
		return -EPIPE;
	return -EIO;
}

static int refuse_unopened(uint32_t file, int error)
{
	const char *advice = "name another, or write it: keyhole-policy.conf(5)";
	char text[160];

	if (error == EACCES)
		advice = "run as root";
	snprintf(text, sizeof(text), "%s; %s", strerror(error), advice);
	return refuse(file, 0, text);
}

/* Blames the last file, which is the one that the command line names. */
static int check_names(const struct message_policy_keys *keys)
{
	if (keys->names[NAMES_COMM] == NAMES_KEEP && keys->names[NAMES_THREAD] == NAMES_KEEP)
		return 0;
	return refuse(policy.files - 1, 0,
		      "it hides names of processes or threads: --comm is refused");
}

static int take_file(uint32_t file)
{
	struct message message;
	int r = channel_expect(&policy.loader, MESSAGE_POLICY_FILE, START_MS, &message);

	if (r)
		return r;
	if (message.POLICY_FILE.error)
		return refuse_unopened(file, -message.POLICY_FILE.error);
	r = parse_file(file, message.fd);
	message_release(&message);
	return r;
}

static int make_keys(const char *verb, struct message_policy_keys *keys)
{
	int r = 0;

	for (uint32_t i = 0; i < policy.files && r == 0; i++)
		r = take_file(i);
	if (r)
		return r;
	r = take_rows(keys);
	if (r)
		return r;
	if (!strcmp(verb, RULES_VERB_CHECK))
		return print_rules(keys->hash);
	if (!strcmp(verb, RULES_VERB_COMM))
		return check_names(keys);
	return 0;
}

static int serve(const char *verb)
{
	struct message_policy_keys keys = {0};
	int r, fd;

	policy.keys = memfd_create("keyhole-rules", MFD_CLOEXEC);
	if (policy.keys < 0)
		return -errno;
	r = policy_confine_self(ROLE_RULES, NULL);
	if (r)
		return r;
	r = make_keys(verb, &keys);
	fd = policy.keys;
	if (r) {
		keys = (struct message_policy_keys){.error = r};
		fd = -1;
	}
	return channel_send(&policy.loader, MESSAGE_POLICY_KEYS, &keys, sizeof(keys), fd);
}

int main(int argc, char **argv)
{
	static char printed[BUFSIZ];
	int r;

	if (argc < 3 || argc > 2 + FILES_MAX || close_range(CHANNEL_FD + 1, ~0u, 0))
		return 1;
	prctl(PR_SET_NAME, message_party_name(PARTY_RULES));
	prctl(PR_SET_DUMPABLE, 0);
	log_init("keyhole", LOG_LEVEL_INFO);
	policy.files = (uint32_t)argc - 2;
	memcpy(policy.names, argv + 2, policy.files * sizeof(*policy.names));
	channel_init(&policy.loader, CHANNEL_FD, PARTY_RULES, PARTY_LOADER);
	signal(SIGPIPE, SIG_IGN);
	/* with a buffer of its own, stdio makes no ioctl() to learn whether it is a terminal */
	setvbuf(stdout, printed, _IOFBF, sizeof(printed));
	r = serve(argv[1]);
	if (r)
		log_error("policy: keyhole-rules: %s", strerror(-r));
	return r != 0;
}
