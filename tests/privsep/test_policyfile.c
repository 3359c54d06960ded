/* SPDX-License-Identifier: Apache-2.0 */
/* keyhole-rules as the loader starts it, and what the loader takes from one taken over. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "helper/rules/parser.h"
#include "ipc/guard.h"
#include "loader/helper.h"
#include "loader/rules.h"
#include "policy/policy_impl.h"
#include "tests/privsep/privsep.h"

/* ---- the program ----------------------------------------------------------------------------- */

static int read_rules_for(const char *verb, const char *text, struct rules *ret_rules)
{
	char name[] = "/tmp/keyhole-policy-XXXXXX";
	int fd = mkstemp(name), r;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	*ret_rules = (struct rules){.keys = -1};
	r = rules_read(name, verb, ret_rules);
	unlink(name);
	return r;
}

static int read_rules(const char *text, struct rules *ret_rules)
{
	return read_rules_for("record", text, ret_rules);
}

static void test_policyfile__rows_become_keys(void **state)
{
	struct policy_rule row[4];
	struct deny_key keys[3];
	struct stat status;
	struct rules rules;

	(void)state;
	assert_int_equal(stat("/usr/bin/env", &status), 0);
	assert_int_equal(read_rules("deny uid 5\ndeny comm abc\ndeny executable /usr/bin/env\n"
				    "max-frequency 7\nnames path hash\nnames comm drop\n",
				    &rules),
			 EXIT_DONE);
	assert_int_equal(rules.said.kinds,
			 DENY_BIT(DENY_UID) | DENY_BIT(DENY_COMM) | DENY_BIT(DENY_EXECUTABLE));
	assert_int_equal(read(rules.keys, row, sizeof(row)), 3 * sizeof(row[0]));
	for (int i = 0; i < 3; i++)
		memcpy(&keys[i], row[i].key, sizeof(keys[i]));
	assert_string_equal(row[0].text, "deny uid 5");
	assert_string_equal(row[2].text, "deny executable /usr/bin/env");
	assert_int_equal(keys[0].kind, DENY_UID);
	assert_int_equal(keys[0].first, 5);
	assert_int_equal(keys[0].second, 0);
	assert_int_equal(keys[1].kind, DENY_COMM);
	assert_memory_equal(&keys[1].first, "abc\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	assert_int_equal(keys[2].kind, DENY_EXECUTABLE);
	assert_int_equal(keys[2].first,
			 (uint64_t)major(status.st_dev) << 20 | minor(status.st_dev));
	assert_int_equal(keys[2].second, status.st_ino);
	assert_int_equal(rules.said.frequency_max, 7);
	assert_int_equal(rules.said.names[NAMES_PATH], NAMES_HASH);
	assert_int_equal(rules.said.names[NAMES_COMM], NAMES_DROP);
	assert_int_equal(rules.said.names[NAMES_THREAD], NAMES_KEEP);
	assert_int_equal(rules.said.names[NAMES_FUNCTION], NAMES_KEEP);
	assert_int_equal(strlen(rules.said.hash), 64);
	close(rules.keys);
}

/* Rules about memory go to the brokers, and BPF's table has those about cgroups alone. */
static void test_policyfile__rules_about_memory(void **state)
{
	struct stat status;
	struct rules rules;

	(void)state;
	assert_int_equal(stat("/usr/bin/env", &status), 0);
	assert_int_equal(read_rules("runtime mypython\ndeny memory executable /usr/bin/env\n"
				    "deny memory comm abc\ndeny memory uid 5\n",
				    &rules),
			 EXIT_DONE);
	assert_int_equal(rules.said.kinds, 0);
	assert_int_equal(lseek(rules.keys, 0, SEEK_END), 0);
	assert_int_equal(rules.memory_count, 4);
	assert_int_equal(rules.memory[0].key[0], DENY_UID);
	assert_int_equal(rules.memory[0].key[1], 5);
	assert_int_equal(rules.memory[1].key[0], DENY_COMM);
	assert_memory_equal(&rules.memory[1].key[1], "abc\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	assert_int_equal(rules.memory[2].key[0], DENY_EXECUTABLE);
	assert_int_equal(rules.memory[2].key[2], status.st_ino);
	for (int i = 0; i < 3; i++)
		assert_int_equal(rules.memory[i].name[0], 0);
	assert_string_equal(rules.memory[3].name, "mypython");
	close(rules.keys);
}

static void test_policyfile__as_many_rules_as_there_may_be(void **state)
{
	static char text[20000];
	struct stat status;
	struct rules rules;
	size_t used = 0;

	(void)state;
	for (unsigned int i = 0; i < DENY_RULES_MAX; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "deny uid %u\ndeny comm c%u\n", i, i);
	assert_int_equal(read_rules(text, &rules), EXIT_DONE);
	assert_int_equal(fstat(rules.keys, &status), 0);
	assert_int_equal(status.st_size, 2 * DENY_RULES_MAX * sizeof(struct policy_rule));
	close(rules.keys);
}

static void test_policyfile__errors_are_no_rules(void **state)
{
	struct rules rules;

	(void)state;
	assert_int_equal(read_rules("deny uid 5\ndeny uid x\n", &rules), EXIT_USAGE);
	assert_int_equal(read_rules("deny uid 5\ndeny executable /nonexistent\n", &rules),
			 EXIT_USAGE);
	assert_int_equal(read_rules("deny uid 5\ndeny cgroup /usr\n", &rules), EXIT_USAGE);
	assert_int_equal(rules.keys, -1);
	assert_int_equal(rules.said.kinds, 0);
	assert_int_equal(rules_read("/nonexistent", "record", &rules), EXIT_USAGE);
}

/* With names that are hidden, nobody may learn who has one that an expression matches. */
static void test_policyfile__hidden_names_are_not_asked_for(void **state)
{
	static const struct {
		const char *text;
		int r;
	} cases[] = {
		{"names comm drop\n", EXIT_USAGE},   {"names comm hash\n", EXIT_USAGE},
		{"names thread drop\n", EXIT_USAGE}, {"names thread hash\n", EXIT_USAGE},
		{"names path drop\n", EXIT_DONE},    {"names function drop\n", EXIT_DONE},
		{"names comm keep\n", EXIT_DONE},    {"deny uid 5\n", EXIT_DONE},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct rules rules;

		assert_int_equal(read_rules_for("record --comm", cases[i].text, &rules),
				 cases[i].r);
		close(rules.keys);
		assert_int_equal(read_rules_for("record", cases[i].text, &rules), EXIT_DONE);
		close(rules.keys);
	}
}

/* As root, which the loader's fork is when it could not give that up. */
static void test_policyfile__nothing_is_read_with_rights(void **state)
{
	const struct message_reply none = {.error = -ENOENT};
	struct channel channel;
	struct message message;
	int fds[2], status;
	pid_t pid;

	(void)state;
	assert_int_equal(channel_pair(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		char path[4096] = "";

		if (readlink("/proc/self/exe", path, sizeof(path) - 20) < 0 ||
		    dup2(fds[1], CHANNEL_FD) != CHANNEL_FD)
			_exit(2);
		memcpy(strrchr(path, '/'), "/keyhole-rules", sizeof("/keyhole-rules"));
		execl(path, "keyhole-rules", "record", "file", NULL);
		_exit(2);
	}
	close(fds[1]);
	channel_init(&channel, fds[0], PARTY_LOADER, PARTY_RULES);
	channel_send(&channel, MESSAGE_POLICY_FILE, &none, sizeof(none), -1);
	assert_true(channel_wait(&channel, 10000, &message) < 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 1 << 8);
	channel_release(&channel);
}

/* ---- one that was taken over ----------------------------------------------------------------- */

static struct message_policy_path bad_path;

/* The loader's end of the channel is in the other process: this is all that it can reach. */
static int ask(struct channel *loader, const char *path, struct message *ret_message)
{
	snprintf(bad_path.path, sizeof(bad_path.path), "%s", path);
	return channel_send(loader, MESSAGE_POLICY_PATH, &bad_path, sizeof(bad_path), -1) ||
	       channel_expect(loader, MESSAGE_POLICY_OBJECT, 10000, ret_message);
}

static int finish(struct channel *loader)
{
	const struct message_policy_keys keys = {.hash = "taken over"};

	return channel_send(loader, MESSAGE_POLICY_KEYS, &keys, sizeof(keys), 0);
}

/* Returns 0 if the descriptor that the process gets cannot be read, only looked at. */
static int cannot_read(struct channel *loader)
{
	struct message message;
	char byte;

	if (ask(loader, "/etc/passwd", &message) || message.fd < 0 ||
	    read(message.fd, &byte, 1) != -1 || errno != EBADF)
		return 1;
	return finish(loader);
}

static int without_end(struct channel *loader)
{
	struct message message;

	memset(bad_path.path, '/', sizeof(bad_path.path));
	return channel_send(loader, MESSAGE_POLICY_PATH, &bad_path, sizeof(bad_path), -1) ||
	       channel_expect(loader, MESSAGE_POLICY_OBJECT, 10000, &message) || finish(loader);
}

static int hangs_up(struct channel *loader)
{
	(void)loader;
	return 0;
}

static int says_something_else(struct channel *loader)
{
	const struct message_reply reply = {0};
	struct channel other;

	channel_init(&other, loader->fd, PARTY_KERNEL_SYMBOLS, PARTY_LOADER);
	return channel_send(&other, MESSAGE_SYMBOLS, &reply, sizeof(reply), 0);
}

static int keys_without_a_file(struct channel *loader)
{
	const struct message_policy_keys keys = {.kinds = 1};

	return channel_send(loader, MESSAGE_POLICY_KEYS, &keys, sizeof(keys), -1);
}

static const struct {
	const char *name;
	int (*act)(struct channel *loader);
	int expected;
} acts[] = {
	{"cannot-read", cannot_read, EXIT_DONE},
	{"without-end", without_end, EXIT_DONE}, /* the path is cut */
	{"hangs-up", hangs_up, EXIT_FAILED},
	{"says-something-else", says_something_else, EXIT_FAILED},
	{"keys-without-a-file", keys_without_a_file, EXIT_FAILED},
};

/* This program, started in place of keyhole-rules. */
static int act(const char *name)
{
	struct channel loader;
	struct message file;

	channel_init(&loader, CHANNEL_FD, PARTY_RULES, PARTY_LOADER);
	if (channel_expect(&loader, MESSAGE_POLICY_FILE, 10000, &file))
		return 1;
	for (size_t i = 0; i < sizeof(acts) / sizeof(*acts); i++)
		if (!strcmp(name, acts[i].name))
			return acts[i].act(&loader);
	return 1;
}

/* Copies this program, to be the loader that finds itself as keyhole-rules beside it. */
static void copy_ourselves(const char *folder)
{
	char path[PATH_MAX], block[65536];
	guard_fd int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), to = -1;
	ssize_t size;

	snprintf(path, sizeof(path), "%s/loader", folder);
	to = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	assert_true(from >= 0 && to >= 0);
	while ((size = read(from, block, sizeof(block))) > 0)
		assert_int_equal(write(to, block, (size_t)size), size);
	snprintf(path, sizeof(path), "%s/keyhole-rules", folder);
	assert_int_equal(symlink("loader", path), 0);
}

static void be_loader(const void *command)
{
	const char *const *argv = command;

	execv(argv[0], (char *const *)(uintptr_t)argv);
	_exit(127);
}

static void test_policyfile__one_that_was_taken_over(void **state)
{
	char folder[] = "/tmp/keyhole-policy-XXXXXX", loader[PATH_MAX], link[PATH_MAX];

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(loader, sizeof(loader), "%s/loader", folder);
	snprintf(link, sizeof(link), "%s/keyhole-rules", folder);
	copy_ourselves(folder);
	for (size_t i = 0; i < sizeof(acts) / sizeof(*acts); i++) {
		const char *const argv[] = {loader, "read", acts[i].name, NULL};
		int status = privsep_run(be_loader, argv);

		if (status != acts[i].expected << 8)
			fail_msg("%s: %#x", acts[i].name, (unsigned int)status);
	}
	unlink(link);
	unlink(loader);
	rmdir(folder);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_policyfile__rows_become_keys),
		cmocka_unit_test(test_policyfile__rules_about_memory),
		cmocka_unit_test(test_policyfile__as_many_rules_as_there_may_be),
		cmocka_unit_test(test_policyfile__errors_are_no_rules),
		cmocka_unit_test(test_policyfile__hidden_names_are_not_asked_for),
		cmocka_unit_test(test_policyfile__nothing_is_read_with_rights),
		cmocka_unit_test(test_policyfile__one_that_was_taken_over),
	};

	if (argc == 3 && !strcmp(argv[0], "keyhole-rules"))
		return act(argv[2]);
	if (argc == 3)
		return rules_read(argv[2], "record", &(struct rules){.keys = -1});
	privsep_need_root();
	return cmocka_run_group_tests(tests, privsep_link_programs, NULL);
}
