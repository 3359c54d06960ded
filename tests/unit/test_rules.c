/* SPDX-License-Identifier: Apache-2.0 */
/* The loader takes all deny rules of keyhole-rules, or refuses the file. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "ipc/guard.h"
#include "loader/rules.h"

#define RULE_BYTES sizeof(struct policy_rule)

static struct policy_rule rules[DENY_KEYS_MAX + 1];

static int set_up(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < DENY_KEYS_MAX; i++)
		rules[i] = (struct policy_rule){{1, i, 0}, "deny"};
	return 0;
}

/* Returns what rules_read_keys() makes of a file with the first bytes of rules[]. */
static int read_back(size_t bytes, struct deny_key ret_keys[DENY_KEYS_MAX])
{
	guard_fd int file = memfd_create("keys", MFD_CLOEXEC);

	assert_true(file >= 0);
	assert_int_equal(write(file, rules, bytes), bytes);
	assert_int_equal(lseek(file, 0, SEEK_SET), 0);
	return rules_read_keys(file, ret_keys);
}

static void test_rules__takes_every_key(void **state)
{
	static const unsigned int counts[] = {0, 1, 2, DENY_KEYS_MAX};

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct deny_key got[DENY_KEYS_MAX];

		assert_int_equal(read_back(counts[i] * RULE_BYTES, got), counts[i]);
		for (unsigned int j = 0; j < counts[i]; j++)
			assert_memory_equal(&got[j], rules[j].key, sizeof(got[j]));
	}
}

static void test_rules__no_policy_file_has_no_keys(void **state)
{
	struct deny_key got[DENY_KEYS_MAX];

	(void)state;
	assert_int_equal(rules_read_keys(-1, got), 0);
}

static void test_rules__refuses_a_part_of_a_key(void **state)
{
	struct deny_key got[DENY_KEYS_MAX];

	(void)state;
	assert_int_equal(read_back(1, got), -EIO);
	assert_int_equal(read_back(RULE_BYTES / 2, got), -EIO);
	assert_int_equal(read_back(3 * RULE_BYTES - 1, got), -EIO);
}

static void test_rules__refuses_too_many_keys(void **state)
{
	struct deny_key got[DENY_KEYS_MAX];

	(void)state;
	assert_int_equal(read_back(sizeof(rules), got), -E2BIG);
	assert_int_equal(read_back(DENY_KEYS_MAX * RULE_BYTES + 1, got), -EIO);
}

static void test_rules__refuses_an_unreadable_file(void **state)
{
	struct deny_key got[DENY_KEYS_MAX];
	int pair[2];

	(void)state;
	assert_int_equal(pipe(pair), 0);
	assert_int_equal(rules_read_keys(pair[1], got), -EIO); /* open to write */
	close(pair[0]);
	close(pair[1]);
	assert_int_equal(rules_read_keys(pair[0], got), -EIO); /* closed */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules__takes_every_key),
		cmocka_unit_test(test_rules__no_policy_file_has_no_keys),
		cmocka_unit_test(test_rules__refuses_a_part_of_a_key),
		cmocka_unit_test(test_rules__refuses_too_many_keys),
		cmocka_unit_test(test_rules__refuses_an_unreadable_file),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
