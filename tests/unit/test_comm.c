/* SPDX-License-Identifier: Apache-2.0 */
/* Names of processes and threads, matched by an expression, and the memory of earlier matches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "worker/sample/comm.h"

static bool matches(struct comm_filter *filter, const char *name)
{
	char padded[ABI_COMM_BYTES] = "";

	memcpy(padded, name, strnlen(name, sizeof(padded)));
	return comm_filter_matches(filter, padded);
}

static void test_comm__expressions(void **state)
{
	static const struct {
		const char *expression, *name;
		bool matches;
	} cases[] = {
		{"x", "nginx", true},
		{"^nginx$", "nginx", true},
		{"^nginx$", "nginx-debug", false},
		{"^(a|b)[0-9]+$", "b12", true},
		{"^(a|b)[0-9]+$", "c12", false},
		{".", "", false},
		{"^$", "", true},
		{"xyz$", "exactly-16-b-xyz", true}, /* no NUL behind it */
		{"\\[.*\\]", "[hostile", false},
		{"\xff", "\xfe\xff", true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct comm_filter *filter;

		assert_int_equal(comm_filter_new(cases[i].expression, &filter), 0);
		for (int twice = 0; twice < 2; twice++)
			assert_int_equal(matches(filter, cases[i].name), cases[i].matches);
		comm_filter_free(filter);
	}
}

static void test_comm__more_names_than_are_remembered(void **state)
{
	struct comm_filter *filter;
	char name[ABI_COMM_BYTES];

	(void)state;
	assert_int_equal(comm_filter_new("[02468]$", &filter), 0);
	for (int twice = 0; twice < 2; twice++)
		for (int i = 0; i < 5000; i++) {
			snprintf(name, sizeof(name), "thread-%d", i);
			assert_int_equal(matches(filter, name), i % 2 == 0);
		}
	comm_filter_free(filter);
}

static void test_comm__what_is_no_expression(void **state)
{
	struct comm_filter *filter;

	(void)state;
	assert_int_equal(comm_filter_new("(", &filter), -EINVAL);
	assert_int_equal(comm_filter_new("[", &filter), -EINVAL);
	comm_filter_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_comm__expressions),
		cmocka_unit_test(test_comm__more_names_than_are_remembered),
		cmocka_unit_test(test_comm__what_is_no_expression),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
