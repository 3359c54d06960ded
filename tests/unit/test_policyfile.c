/* SPDX-License-Identifier: Apache-2.0 */
/* The policy file as text: the meaning of each line, refusals, and the hash of a policy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "helper/rules/parser.h"
#include "base/sha256.h"

static struct policy_rows rows;

static int parse(const char *text)
{
	return policy_parse(text, strlen(text), &rows);
}

static void check_row(size_t i, uint32_t kind, uint32_t line, uint32_t value, const char *text)
{
	assert_true(i < rows.count);
	assert_int_equal(rows.row[i].kind, kind);
	assert_int_equal(rows.row[i].line, line);
	assert_int_equal(rows.row[i].value, value);
	assert_string_equal(rows.row[i].text, text);
	for (size_t at = strlen(text); at < POLICY_PATH_BYTES; at++)
		assert_int_equal(rows.row[i].text[at], 0);
}

static void test_policyfile__each_kind_of_line(void **state)
{
	(void)state;
	assert_int_equal(parse("names function hash\n"
			       "\n"
			       "   # deny uid 5\n"
			       "deny executable /opt/a b/c\n"
			       "\tdeny\tcomm   two words  \n"
			       "deny cgroup /sys/fs/cgroup/x\n"
			       "deny uid 4294967294\n"
			       "deny uid 0\n"
			       "max-frequency 99\n"
			       "names comm drop"),
			 0);
	assert_int_equal(rows.count, 8);
	check_row(0, ROW_UID, 8, 0, "0");
	check_row(1, ROW_UID, 7, 4294967294u, "4294967294");
	check_row(2, ROW_CGROUP, 6, 0, "/sys/fs/cgroup/x");
	check_row(3, ROW_COMM, 5, 0, "two words");
	check_row(4, ROW_EXECUTABLE, 4, 0, "/opt/a b/c");
	check_row(5, ROW_FREQUENCY, 9, 99, "99");
	check_row(6, ROW_NAMES, 10, NAMES_COMM, "comm drop");
	assert_int_equal(rows.row[6].mode, NAMES_DROP);
	check_row(7, ROW_NAMES, 1, NAMES_FUNCTION, "function hash");
	assert_int_equal(rows.row[7].mode, NAMES_HASH);
}

static void test_policyfile__lines_about_memory(void **state)
{
	(void)state;
	assert_int_equal(parse("runtime my-python_3.1+\n"
			       "deny  memory\texecutable /usr/bin/x\n"
			       "deny memory comm sshd\n"
			       "deny memory comm ssh agent\n"
			       "deny memory uid 7\n"
			       "deny memory cgroup /sys/fs/cgroup/a\n"
			       "deny comm memory\n"),
			 0);
	assert_int_equal(rows.count, 7);
	check_row(0, ROW_COMM, 7, 0, "memory");
	check_row(1, ROW_MEMORY_CGROUP, 6, 0, "/sys/fs/cgroup/a");
	check_row(2, ROW_MEMORY_UID, 5, 7, "7");
	check_row(3, ROW_MEMORY_COMM, 4, 0, "ssh agent");
	check_row(4, ROW_MEMORY_COMM, 3, 0, "sshd");
	check_row(5, ROW_MEMORY_EXECUTABLE, 2, 0, "/usr/bin/x");
	check_row(6, ROW_RUNTIME, 1, 0, "my-python_3.1+");
}

static void test_policyfile__lines_about_what_processes_say(void **state)
{
	char text[1024] = "";

	(void)state;
	assert_int_equal(parse("process-contexts yes\nperf-maps yes\ngo-stacks yes\n"), 0);
	assert_int_equal(rows.count, 0);
	assert_int_equal(parse("go-stacks no\n"), 0);
	assert_int_equal(rows.count, 1);
	assert_int_equal(rows.row[0].kind, ROW_GO_STACKS);
	assert_int_equal(parse("environment REGION\n"
			       "process-contexts no\n"
			       "environment OTEL_SERVICE_NAME\n"
			       "environment REGION\n"),
			 0);
	assert_int_equal(rows.count, 3);
	assert_int_equal(rows.row[0].kind, ROW_CONTEXTS);
	assert_int_equal(rows.row[1].kind, ROW_VARIABLE);
	assert_string_equal(rows.row[1].text, "OTEL_SERVICE_NAME");
	assert_string_equal(rows.row[2].text, "REGION");
	for (unsigned int i = 0; i < GRANT_VARIABLES_MAX; i++)
		snprintf(text + strlen(text), 32, "environment V%u\n", i);
	assert_int_equal(parse(text), 0);
	snprintf(text + strlen(text), 32, "environment W\n");
	assert_int_equal(parse(text), -EINVAL);
}

static void test_policyfile__nothing_is_no_rule(void **state)
{
	static const char *const texts[] = {
		"", "\n\n", "# a\n", "   \t ", "names path keep\n", "version 1\n\tversion\t1"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		assert_int_equal(parse(texts[i]), 0);
		assert_int_equal(rows.count, 0);
	}
}

static void test_policyfile__what_is_refused(void **state)
{
	static const char *const lines[] = {
		"version",
		"version 0",
		"version 01",
		"version 2",
		"version 1 2",
		"version 4294967297",
		"versions 1",
		"deny",
		"deny ",
		"deny uid",
		"deny uid -1",
		"process-contexts",
		"process-contexts maybe",
		"go-stacks",
		"go-stacks maybe",
		"environment",
		"environment A=B",
		"environment A B",
		"environment 01234567890123456789012345678901",
		"deny uid 01",
		"deny uid 4294967295",
		"deny uid 99999999999",
		"deny uid 5 6",
		"deny uid 0x5",
		"deny user 5",
		"deny comm",
		"deny comm sixteen-letters-",
		"deny cgroup x",
		"deny cgroup /x/",
		"deny cgroup //x",
		"deny executable /x//y",
		"deny executable /x/./y",
		"deny executable /x/..",
		"deny executable ../x",
		"max-frequency",
		"max-frequency 0",
		"max-frequency 10001",
		"deny memory",
		"deny memory 5",
		"deny memory uid",
		"deny memory uid x",
		"deny memory cgroup x",
		"deny memory cgroup /x/",
		"deny memory comm",
		"deny memory executable x",
		"deny memory memory uid 5",
		"deny memory a-word-that-is-longer-than-any-word-of-a-rule-may-ever-be 5",
		"runtime",
		"runtime x",
		"runtime a/b",
		"runtime a b",
		"runtime python*",
		"runtime thirty-two-letters-are-too-many-",
		"names",
		"names comm",
		"names comm rot13",
		"names uid drop",
		"names comm drop now",
		"denyuid 5",
		"Deny uid 5",
		"allow uid 5",
		"deny comm \x1b[2J",
		"deny comm \xc3\xa4",
		"deny comm a\tb",
		"deny executable /a\tb",
		"deny uid 5\r",
		"a-word-that-is-longer-than-any-word-of-a-rule",
		"deny a-word-that-is-longer-than-any-word 5",
	};
	char text[128];

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		snprintf(text, sizeof(text), "deny uid 1\n%s\ndeny uid x\n", lines[i]);
		if (parse(text) != -EINVAL || rows.line != 2 || !rows.reason)
			fail_msg("%s: line %u", lines[i], rows.line);
	}
}

static void test_policyfile__a_nul_is_no_end(void **state)
{
	static const char text[] = "deny uid 1\0\ndeny uid 2\n";

	(void)state;
	assert_int_equal(policy_parse(text, sizeof(text) - 1, &rows), -EINVAL);
	assert_int_equal(rows.line, 1);
}

static void test_policyfile__said_twice(void **state)
{
	(void)state;
	assert_int_equal(parse("deny uid 1\ndeny uid 1\nmax-frequency 9\nmax-frequency 9\n"), 0);
	assert_int_equal(rows.count, 2);
	assert_int_equal(parse("max-frequency 9\nmax-frequency 8\n"), -EINVAL);
	assert_int_equal(rows.line, 2);
	assert_int_equal(parse("names path drop\nnames path hash\n"), -EINVAL);
	assert_int_equal(parse("names path drop\nnames comm hash\n"), 0);
}

static void test_policyfile__limits(void **state)
{
	static char text[POLICY_FILE_BYTES + 2];
	size_t used = 0;

	(void)state;
	for (unsigned int i = 0; i < DENY_RULES_MAX; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "deny uid %u\ndeny comm c%u\n", i, i);
	assert_int_equal(policy_parse(text, used, &rows), 0);
	assert_int_equal(rows.count, 2 * DENY_RULES_MAX);
	used += (size_t)snprintf(text + used, sizeof(text) - used, "deny uid 64\n");
	assert_int_equal(policy_parse(text, used, &rows), -EINVAL);
	assert_int_equal(rows.line, 2 * DENY_RULES_MAX + 1);
	memset(text, '\n', sizeof(text));
	assert_int_equal(policy_parse(text, POLICY_FILE_BYTES, &rows), 0);
	assert_int_equal(policy_parse(text, POLICY_FILE_BYTES + 1, &rows), -EINVAL);
	assert_int_equal(rows.line, 0);
	memset(text, 'x', sizeof(text));
	memcpy(text, "deny cgroup /", 13);
	assert_int_equal(policy_parse(text, 12 + POLICY_PATH_BYTES - 1, &rows), 0);
	assert_int_equal(policy_parse(text, 12 + POLICY_PATH_BYTES, &rows), -EINVAL);
}

static void test_policyfile__equal_policies_have_equal_hashes(void **state)
{
	char a[POLICY_HASH_BYTES], b[POLICY_HASH_BYTES];

	(void)state;
	parse("deny uid 1\ndeny comm x\n");
	policy_hash(&rows, a);
	parse("# same\n deny  comm x\ndeny uid 1\ndeny uid 1\nnames comm keep\n");
	policy_hash(&rows, b);
	assert_string_equal(a, b);
	parse("deny uid 1\ndeny comm y\n");
	policy_hash(&rows, b);
	assert_string_not_equal(a, b);
}

/* FIPS 180-4's examples (NIST, "Examples with Intermediate Values"), and lengths about a block. */
static void test_policyfile__sha256(void **state)
{
	static const struct {
		const char *text;
		uint8_t first[4];
	} cases[] = {
		{"", {0xe3, 0xb0, 0xc4, 0x42}},
		{"abc", {0xba, 0x78, 0x16, 0xbf}},
		{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		 {0x24, 0x8d, 0x6a, 0x61}},
		{"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
		 "ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
		 {0xcf, 0x5b, 0x16, 0xa7}},
	};
	uint8_t digest[SHA256_BYTES];
	struct sha256 sha;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		sha256_init(&sha);
		sha256_add(&sha, cases[i].text, strlen(cases[i].text));
		sha256_end(&sha, digest);
		assert_memory_equal(digest, cases[i].first, 4);
	}
}

static int add(const char *text)
{
	return policy_parse_more(text, strlen(text), &rows);
}

/* Whatever a second file says, the first one holds. */
static void test_policyfile__a_further_file_only_adds(void **state)
{
	char first[POLICY_HASH_BYTES], both[POLICY_HASH_BYTES];

	(void)state;
	assert_int_equal(parse("deny uid 7\nmax-frequency 50\nnames path hash\nnames comm drop\n"),
			 0);
	policy_hash(&rows, first);
	assert_int_equal(add("deny uid 7\nmax-frequency 99\nnames path keep\nnames comm hash\n"),
			 0);
	policy_hash(&rows, both);
	assert_string_equal(both, first);
	assert_int_equal(add("max-frequency 20\ndeny uid 5\nnames path drop\n"), 0);
	assert_int_equal(rows.count, 5);
	check_row(0, ROW_UID, 2, 5, "5");
	assert_int_equal(rows.row[0].file, 2);
	check_row(1, ROW_UID, 1, 7, "7");
	assert_int_equal(rows.row[1].file, 0);
	check_row(2, ROW_FREQUENCY, 1, 20, "20");
	check_row(3, ROW_NAMES, 4, NAMES_COMM, "comm drop");
	check_row(4, ROW_NAMES, 3, NAMES_PATH, "path drop");
	policy_hash(&rows, both);
	assert_string_not_equal(both, first);
	assert_int_equal(add("max-frequency 30\nmax-frequency 40\n"), 0);
	assert_int_equal(add("deny uid x\n"), -EINVAL);
	assert_int_equal(rows.file, 4);
	assert_int_equal(rows.line, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_policyfile__each_kind_of_line),
		cmocka_unit_test(test_policyfile__a_further_file_only_adds),
		cmocka_unit_test(test_policyfile__lines_about_memory),
		cmocka_unit_test(test_policyfile__lines_about_what_processes_say),
		cmocka_unit_test(test_policyfile__nothing_is_no_rule),
		cmocka_unit_test(test_policyfile__what_is_refused),
		cmocka_unit_test(test_policyfile__a_nul_is_no_end),
		cmocka_unit_test(test_policyfile__said_twice),
		cmocka_unit_test(test_policyfile__limits),
		cmocka_unit_test(test_policyfile__equal_policies_have_equal_hashes),
		cmocka_unit_test(test_policyfile__sha256),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
