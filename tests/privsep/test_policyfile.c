/* SPDX-License-Identifier: Apache-2.0 */
/* keyhole-policy as it runs; the test is the loader, with the loader's own look at its rows. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loader/rules.h"
#include "tests/privsep/child.h"
#include "tests/privsep/privsep.h"

static int file_of(const char *text)
{
	int fd = memfd_create("policy", MFD_CLOEXEC);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static int read_rules(const char *text, struct rules *ret_rules)
{
	struct child child;
	int fd = file_of(text), r;

	memset(ret_rules, 0, sizeof(*ret_rules));
	child_start(&child, ROLE_POLICY);
	child_give(&child, MESSAGE_POLICY_FILE, fd);
	r = rules_receive(&child.loader, "policy", false, ret_rules);
	assert_int_equal(WEXITSTATUS(child_wait_exit(&child)), 0);
	child_stop(&child);
	close(fd);
	return r;
}

static void test_policyfile__rows_become_keys(void **state)
{
	struct stat status;
	struct rules rules;

	(void)state;
	assert_int_equal(stat("/usr/bin/env", &status), 0);
	assert_int_equal(read_rules("deny uid 5\ndeny comm abc\ndeny executable /usr/bin/env\n"
				    "max-frequency 7\nnames path hash\nnames comm drop\n",
				    &rules),
			 0);
	assert_int_equal(rules.count, 3);
	assert_int_equal(rules.kinds,
			 DENY_BIT(DENY_UID) | DENY_BIT(DENY_COMM) | DENY_BIT(DENY_EXECUTABLE));
	assert_int_equal(rules.keys[0].kind, DENY_UID);
	assert_int_equal(rules.keys[0].first, 5);
	assert_int_equal(rules.keys[0].second, 0);
	assert_int_equal(rules.keys[1].kind, DENY_COMM);
	assert_memory_equal(&rules.keys[1].first, "abc\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	assert_int_equal(rules.keys[2].first,
			 (uint64_t)major(status.st_dev) << 20 | minor(status.st_dev));
	assert_int_equal(rules.keys[2].second, status.st_ino);
	assert_int_equal(rules.frequency_max, 7);
	assert_int_equal(rules.names,
			 NAMES_BITS(NAMES_PATH, NAMES_HASH) | NAMES_BITS(NAMES_COMM, NAMES_DROP));
	assert_int_equal(strlen(rules.hash), 64);
}

static void test_policyfile__as_many_rules_as_there_may_be(void **state)
{
	static char text[20000];
	struct rules rules;
	size_t used = 0;

	(void)state;
	for (unsigned int i = 0; i < DENY_RULES_MAX; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "deny uid %u\ndeny comm c%u\n", i, i);
	assert_int_equal(read_rules(text, &rules), 0);
	assert_int_equal(rules.count, 2 * DENY_RULES_MAX);
}

static void test_policyfile__errors_are_no_rules(void **state)
{
	struct rules rules;

	(void)state;
	assert_int_equal(read_rules("deny uid x\n", &rules), -EINVAL);
	assert_int_equal(read_rules("deny executable /nonexistent\n", &rules), -EINVAL);
	assert_int_equal(read_rules("deny cgroup /usr\n", &rules), -EINVAL);
}

/* Rows that keyhole-policy would not send: the loader takes no more than it knows. */
static void test_policyfile__bad_rows_are_refused(void **state)
{
	static const struct message_policy_row bad[] = {
		{.kind = ROW_KINDS, .text = "x"},
		{.kind = ~0u},
		{.kind = ROW_UID, .text = "\x1b[2J"},
		{.kind = ROW_EXECUTABLE, .text = "/usr/bin/env\0x"},
		{.kind = ROW_ERROR, .text = "no"},
	};
	struct message_policy_row full = {.kind = ROW_CGROUP};

	(void)state;
	memset(full.text, 'x', sizeof(full.text));
	for (size_t i = 0; i <= sizeof(bad) / sizeof(*bad); i++) {
		const struct message_policy_row *row =
			i < sizeof(bad) / sizeof(*bad) ? &bad[i] : &full;
		struct channel loader, child;
		struct rules rules = {.count = 0};
		int fds[2];

		assert_int_equal(channel_pair(fds), 0);
		channel_init(&loader, fds[0], PARTY_LOADER, PARTY_POLICY);
		channel_init(&child, fds[1], PARTY_POLICY, PARTY_LOADER);
		assert_int_equal(channel_send(&child, MESSAGE_POLICY_ROW, row, sizeof(*row), -1),
				 0);
		assert_int_equal(rules_receive(&loader, "policy", false, &rules), -EINVAL);
		assert_int_equal(rules.count, 0);
		channel_release(&loader);
		channel_release(&child);
	}
}

/* One that goes on and on. */
static void test_policyfile__more_rows_than_there_may_be(void **state)
{
	const struct message_policy_row row = {.kind = ROW_UID, .value = 1, .text = "1"};
	struct rules rules = {.count = DENY_KEYS_MAX - 3};
	struct channel loader, child;
	int fds[2];

	(void)state;
	assert_int_equal(channel_pair(fds), 0);
	channel_init(&loader, fds[0], PARTY_LOADER, PARTY_POLICY);
	channel_init(&child, fds[1], PARTY_POLICY, PARTY_LOADER);
	for (int i = 0; i < 4; i++)
		assert_int_equal(channel_send(&child, MESSAGE_POLICY_ROW, &row, sizeof(row), -1),
				 0);
	assert_int_equal(rules_receive(&loader, "policy", false, &rules), -EINVAL);
	assert_int_equal(rules.count, DENY_KEYS_MAX);
	channel_release(&loader);
	channel_release(&child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_policyfile__rows_become_keys),
		cmocka_unit_test(test_policyfile__as_many_rules_as_there_may_be),
		cmocka_unit_test(test_policyfile__errors_are_no_rules),
		cmocka_unit_test(test_policyfile__bad_rows_are_refused),
		cmocka_unit_test(test_policyfile__more_rows_than_there_may_be),
	};

	privsep_need_root();
	return cmocka_run_group_tests(tests, privsep_link_programs, NULL);
}
