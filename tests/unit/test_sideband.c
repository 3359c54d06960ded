/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include "tests/unit/build_sideband.h"

static int setup(void **state)
{
	struct build_sideband *build = calloc(1, sizeof(*build));

	build_sideband_init(build);
	*state = build;
	return 0;
}

static int teardown(void **state)
{
	build_sideband_release(*state);
	free(*state);
	return 0;
}

static void test_sideband__mapping(void **state)
{
	struct build_sideband *build = *state;
	struct sideband_record record;

	build_mmap(build, 123, 7, 0x10000, 0x2000, 0x3000, 99, PROT_READ, "/data");
	build_mmap(build, 124, 7, 0x10000, 0x2000, 0x3000, 99, PROT_READ | PROT_EXEC, "/lib/x.so");
	assert_true(sideband_next(&build->sideband, &record));
	assert_int_equal(record.kind, SIDEBAND_MMAP);
	assert_int_equal(record.time, 124);
	assert_int_equal(record.pid, 7);
	assert_int_equal(record.start, 0x10000);
	assert_int_equal(record.end, 0x12000);
	assert_int_equal(record.offset, 0x3000);
	assert_int_equal(record.device, makedev(8, 1));
	assert_int_equal(record.inode, 99);
	assert_int_equal(record.inode_generation, 77);
	assert_string_equal(record.text, "/lib/x.so");
	assert_false(sideband_next(&build->sideband, &record));
	assert_int_equal(build->sideband.discarded, 0);
}

static void test_sideband__names_and_losses(void **state)
{
	struct build_sideband *build = *state;
	struct sideband_record record;

	build_comm(build, 1, 7, 8, "renamed", 0);
	build_comm(build, 2, 7, 7, "new", 1);
	build_lost(build, 3, 42);
	assert_true(sideband_next(&build->sideband, &record));
	assert_int_equal(record.kind, SIDEBAND_COMM);
	assert_int_equal(record.tid, 8);
	assert_string_equal(record.text, "renamed");
	assert_true(sideband_next(&build->sideband, &record));
	assert_int_equal(record.kind, SIDEBAND_EXEC);
	assert_true(sideband_next(&build->sideband, &record));
	assert_int_equal(record.kind, SIDEBAND_LOST);
	assert_int_equal(record.lost, 42);
	assert_int_equal(record.time, 3);
}

static void test_sideband__records_wrap(void **state)
{
	struct build_sideband *build = *state;
	struct sideband_record record;
	char path[64] = "/";

	for (unsigned int i = 0; i < 1000; i++) {
		memset(path + 1, 'a' + (int)(i % 26), i % 60);
		path[1 + i % 60] = 0;
		build_mmap(build, i, 7, 0x1000, 0x1000, 0, 1, PROT_EXEC, path);
		assert_true(sideband_next(&build->sideband, &record));
		assert_int_equal(record.time, i);
		assert_string_equal(record.text, path);
		assert_false(sideband_next(&build->sideband, &record));
	}
}

/* A reader that is as fast as the writers must come to an end. */
static void test_sideband__what_comes_meanwhile_is_read_later(void **state)
{
	struct build_sideband *build = *state;
	struct sideband_record record;

	build_comm(build, 1, 7, 7, "a", 0);
	build_comm(build, 2, 7, 7, "b", 0);
	assert_true(sideband_next(&build->sideband, &record));
	build_comm(build, 3, 7, 7, "c", 0);
	assert_true(sideband_next(&build->sideband, &record));
	assert_string_equal(record.text, "b");
	assert_false(sideband_next(&build->sideband, &record));
	assert_true(sideband_next(&build->sideband, &record));
	assert_string_equal(record.text, "c");
}

static void test_sideband__senseless_sizes_skip_to_the_end(void **state)
{
	static const uint16_t sizes[] = {0, 4, 12, 65528};
	struct build_sideband *build = *state;
	struct sideband_record record;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct perf_event_header header = {.type = PERF_RECORD_MMAP2, .size = sizes[i]};

		build_raw(build, &header, sizeof(header));
		build_comm(build, 1, 7, 7, "x", 0);
		assert_false(sideband_next(&build->sideband, &record));
		build_comm(build, 1, 7, 7, "y", 0);
		assert_true(sideband_next(&build->sideband, &record));
		assert_string_equal(record.text, "y");
		assert_false(sideband_next(&build->sideband, &record));
	}
	assert_int_equal(build->sideband.discarded, 4);
}

static void test_sideband__records_of_threads_are_ignored(void **state)
{
	struct build_sideband *build = *state;
	const uint64_t record[6] = {PERF_RECORD_FORK | (uint64_t)sizeof(record) << 48};
	struct sideband_record ret;

	build_raw(build, record, sizeof(record));
	build_comm(build, 1, 7, 7, "x", 0);
	assert_true(sideband_next(&build->sideband, &ret));
	assert_false(sideband_next(&build->sideband, &ret));
	assert_int_equal(build->sideband.records, 2);
	assert_int_equal(build->sideband.discarded, 0);
}

static void test_sideband__short_records_are_refused(void **state)
{
	unsigned char bytes[128] = {PERF_RECORD_MMAP2};
	struct sideband_record record;

	(void)state;
	for (size_t size = 0; size < 89; size++)
		assert_int_equal(sideband_parse(bytes, size, &record), -EBADMSG);
	bytes[0] = PERF_RECORD_FORK;
	assert_int_equal(sideband_parse(bytes, sizeof(bytes), &record), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_sideband__mapping, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sideband__names_and_losses, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sideband__records_of_threads_are_ignored,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_sideband__records_wrap, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sideband__what_comes_meanwhile_is_read_later,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_sideband__senseless_sizes_skip_to_the_end,
						setup, teardown),
		cmocka_unit_test(test_sideband__short_records_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
