/* SPDX-License-Identifier: Apache-2.0 */
/* The owner of a process and its own id, in the status that the kernel writes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "loader/broker/code_file.h"

#define UIDS "Uid:\t1000\t1001\t1002\t1003\nGid:\t7\t7\t7\t7\nFDSize:\t64\nGroups:\t7 9 \n"

static void check(const char *status, uint32_t uid, uint32_t pid)
{
	struct code_file_owner owner;

	assert_int_equal(code_file_parse(status, &owner), 0);
	assert_int_equal(owner.uid, uid);
	assert_int_equal(owner.pid, pid);
}

static void test_code_file__status(void **state)
{
	(void)state;
	check("Name:\tnode\n" UIDS "NStgid:\t4242\nNSpid:\t4243\n", 1001, 4242);
	check("Name:\tnode\n" UIDS "NStgid:\t4242\t17\t3\nNSpid:\t4243\t18\t4\n", 1001, 3);
	/* as the kernel writes a name with line feeds */
	check("Name:\ta\\nUid:\\t0\\t0\n" UIDS "NStgid:\t5\n", 1001, 5);
}

static void test_code_file__cut(void **state)
{
	static const char *const texts[] = {
		"",
		"Name:\tnode\n",
		"Name:\tnode\n" UIDS,
		"Name:\tnode\n" UIDS "NStgid:\t",
		"Name:\tnode\n" UIDS "NStgid:\t42",
		"Name:\tnode\nNStgid:\t42\n",
		"Name:\tnode\n" UIDS "NStgid:\t0\n",
		"Name:\tnode\nUid:\tx\tx\nNStgid:\t42\n",
		"Name:\tnode\n" UIDS "NStgid:\t99999999999\n",
	};
	struct code_file_owner owner;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		assert_int_equal(code_file_parse(texts[i], &owner), -E2BIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_code_file__status),
		cmocka_unit_test(test_code_file__cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
