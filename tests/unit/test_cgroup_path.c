/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/abi.h"
#include "worker/sample/cgroup_path.h"
#include "worker/sample/cgroups.h"

#define HEAD sizeof(struct event)

static struct event_cgroup record;
static char path[CGROUP_PATH_BYTES];

static int setup(void **state)
{
	(void)state;
	memset(&record, 0, sizeof(record));
	return 0;
}

static int read_path(void)
{
	return cgroup_path_read((const char *)&record + HEAD, sizeof(record) - HEAD, path);
}

static void add(const char *name)
{
	memcpy(record.name[record.levels++], name, strlen(name));
}

static void test_cgroup_path__names_are_joined(void **state)
{
	(void)state;
	assert_int_equal(read_path(), 0);
	assert_string_equal(path, "/");
	add("b \"\033[2J");
	assert_int_equal(read_path(), 0);
	assert_string_equal(path, "/b \"\033[2J");
	add("a.slice");
	assert_int_equal(read_path(), 0);
	assert_string_equal(path, "/a.slice/b \"\033[2J");
}

static void test_cgroup_path__what_is_left_out_is_marked(void **state)
{
	char whole[CGROUP_NAME_BYTES - 1] = "", wanted[CGROUP_PATH_BYTES];

	(void)state;
	memset(whole, 'w', sizeof(whole) - 1);
	add(whole);
	add("top");
	record.cut = 1;
	assert_int_equal(read_path(), 0);
	snprintf(wanted, sizeof(wanted), ".../top/%s", whole);
	assert_string_equal(path, wanted);
	record.name[0][sizeof(whole) - 1] = 'w'; /* fills its field */
	assert_int_equal(read_path(), 0);
	snprintf(wanted, sizeof(wanted), ".../top/%sw...", whole);
	assert_string_equal(path, wanted);
}

static void test_cgroup_path__the_largest_fits(void **state)
{
	(void)state;
	memset(record.name, 'x', sizeof(record.name)); /* without an end */
	record.levels = CGROUP_LEVELS;
	record.cut = 1;
	assert_int_equal(read_path(), 0);
	assert_int_equal(strlen(path), 3 + CGROUP_LEVELS * (1 + CGROUP_NAME_BYTES - 1 + 3));
}

static void test_cgroup_path__odd_records_have_none(void **state)
{
	(void)state;
	add("a");
	for (size_t size = 0; size < 8 + CGROUP_NAME_BYTES; size++) {
		assert_int_equal(cgroup_path_read((const char *)&record + HEAD, size, path),
				 -EBADMSG);
		assert_string_equal(path, "");
	}
	record.levels = 2; /* an empty name */
	assert_int_equal(read_path(), -EBADMSG);
	record.levels = CGROUP_LEVELS + 1;
	assert_int_equal(read_path(), -EBADMSG);
	record.levels = 1;
	memcpy(record.name[0], "a/b", 4);
	assert_int_equal(read_path(), -EBADMSG);
	assert_string_equal(path, "");
}

static void test_cgroups__paths_by_id(void **state)
{
	struct cgroups *cgroups = cgroups_new();

	(void)state;
	assert_null(cgroups_find(cgroups, 7));
	cgroups_add(cgroups, 7, "/a");
	cgroups_add(cgroups, 8, "/b");
	assert_string_equal(cgroups_find(cgroups, 7), "/a");
	assert_string_equal(cgroups_find(cgroups, 8), "/b");
	cgroups_add(cgroups, 7, "/c");
	assert_string_equal(cgroups_find(cgroups, 7), "/c");
	cgroups_add(cgroups, 7, ""); /* a record that was not read */
	assert_string_equal(cgroups_find(cgroups, 7), "/c");
	cgroups_add(cgroups, 0, "/d");
	assert_null(cgroups_find(cgroups, 0));
	cgroups_free(cgroups);
	cgroups_free(NULL);
}

/* Cgroups come and go: the path that nobody asked for makes room. */
static void test_cgroups__are_bounded(void **state)
{
	struct cgroups *cgroups = cgroups_new();

	(void)state;
	for (uint64_t id = 1; id <= CGROUPS_MAX; id++)
		cgroups_add(cgroups, id, "/x");
	assert_non_null(cgroups_find(cgroups, 1));
	cgroups_add(cgroups, CGROUPS_MAX + 1, "/y");
	cgroups_add(cgroups, CGROUPS_MAX + 2, "/z");
	assert_non_null(cgroups_find(cgroups, 1));
	assert_null(cgroups_find(cgroups, 2));
	assert_null(cgroups_find(cgroups, 3));
	assert_non_null(cgroups_find(cgroups, 4));
	assert_string_equal(cgroups_find(cgroups, CGROUPS_MAX + 1), "/y");
	assert_string_equal(cgroups_find(cgroups, CGROUPS_MAX + 2), "/z");
	cgroups_free(cgroups);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_cgroup_path__names_are_joined, setup),
		cmocka_unit_test_setup(test_cgroup_path__what_is_left_out_is_marked, setup),
		cmocka_unit_test_setup(test_cgroup_path__the_largest_fits, setup),
		cmocka_unit_test_setup(test_cgroup_path__odd_records_have_none, setup),
		cmocka_unit_test(test_cgroups__paths_by_id),
		cmocka_unit_test(test_cgroups__are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
