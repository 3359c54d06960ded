/* SPDX-License-Identifier: Apache-2.0 */
/* Names of files whose processes' memory may be read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/grants.h"

static void test_grants__runtimes(void **state)
{
	static const char *const paths[] = {
		"/usr/bin/python3.11",
		"/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0",
		"/usr/sbin/php-fpm8.2",
		"/opt/jdk/lib/server/libjvm.so",
		"/usr/lib/erlang/erts-13.1.5/bin/beam.smp",
		"/usr/bin/luajit-2.1.0-beta3",
		"python",
		"/redis-server",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		assert_true(grant_is_by_name(paths[i]));
}

static void test_grants__nothing_else(void **state)
{
	static const char *const paths[] = {
		"/usr/sbin/sshd",
		"/usr/bin/pythonic",
		"/usr/bin/cpython3",
		"/usr/bin/PYTHON3",
		"/python3/sshd",
		"/srv/python3.11/",
		"",
		"/",
		"/usr/bin/nodes",
		"/usr/bin/lua_x",
		"/usr/bin/xlibjvm.so",
		"/usr/lib/libpytho",
		" python3",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		assert_false(grant_is_by_name(paths[i]));
}

/* The kernel marks a file that was removed behind its name, and a blank ends no name. */
static void test_grants__removed_files(void **state)
{
	(void)state;
	assert_false(grant_is_by_name("/usr/bin/python (deleted)"));
	assert_true(grant_is_by_name("/usr/bin/python3.11 (deleted)"));
}

static void test_grants__other_names(void **state)
{
	(void)state;
	assert_true(grant_fits_name("/opt/mypython3.12", "mypython"));
	assert_true(grant_fits_name("mypython", "mypython"));
	assert_false(grant_fits_name("/opt/mypythons", "mypython"));
	assert_false(grant_fits_name("/mypython/x", "mypython"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grants__runtimes),
		cmocka_unit_test(test_grants__nothing_else),
		cmocka_unit_test(test_grants__removed_files),
		cmocka_unit_test(test_grants__other_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
