/* SPDX-License-Identifier: Apache-2.0 */
/* A perf-PID.map that grows, shrinks, changes and never ends while it is read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "worker/made/map_file.h"
#include "worker/made/ranges.h"

#define PLENTY (1u << 20)

static char path[] = "/tmp/keyhole-map-XXXXXX";
static int out = -1;
static size_t all;
static struct map_file *file;

static int setup(void **state)
{
	(void)state;
	memcpy(path + sizeof(path) - 7, "XXXXXX", 6);
	out = mkstemp(path);
	file = map_file_new(open(path, O_RDONLY | O_CLOEXEC), &all);
	return out < 0 || !file;
}

static int teardown(void **state)
{
	(void)state;
	map_file_free(file);
	close(out);
	unlink(path);
	return all != 0;
}

static void put(const char *text)
{
	assert_int_equal(write(out, text, strlen(text)), strlen(text));
}

static void check_name(uint64_t address, const char *wanted)
{
	char name[PERF_MAP_NAME_MAX];
	struct made_range range;
	int bytes;

	if (!wanted) {
		assert_false(map_file_find(file, address, &range));
		return;
	}
	assert_true(map_file_find(file, address, &range));
	bytes = map_file_name(file, &range, name);
	assert_int_equal(bytes, strlen(wanted));
	assert_memory_equal(name, wanted, strlen(wanted));
}

static void test_map_file__grows(void **state)
{
	(void)state;
	assert_int_equal(map_file_read(file, PLENTY, UINT64_MAX), 0);
	put("1000 100 one\n2000 10 tw");
	assert_int_equal(map_file_read(file, PLENTY, UINT64_MAX), 0);
	check_name(0x10ff, "one");
	check_name(0x1100, NULL);
	check_name(0x2000, NULL);
	put("o\n1080 8 JS:*three /a.js:1:1\n");
	assert_int_equal(map_file_read(file, PLENTY, UINT64_MAX), 0);
	check_name(0x2000, "two");
	check_name(0x1080, "JS:three /a.js:1:1");
	check_name(0x1088, "one"); /* the rest behind it */
	assert_int_equal(map_file_restarts(file), 0);
	assert_int_equal(map_file_refused(file), 0);
}

static void test_map_file__lines_that_are_none(void **state)
{
	char line[PERF_MAP_LINE_MAX + 100];

	(void)state;
	put("nonsense\n\n1000 10 one\n");
	memset(line, 'a', sizeof(line));
	memcpy(line, "\n1000 10 ", 9);
	line[sizeof(line) - 1] = '\0';
	put(line);
	assert_int_equal(map_file_read(file, PLENTY, UINT64_MAX), 0);
	put("more of it\n2000 10 two\n8000000000000 10 high\n3000 ffffffff large\n");
	assert_int_equal(map_file_read(file, PLENTY, UINT64_MAX), 0);
	check_name(0x1000, "one");
	check_name(0x2000, "two");
	check_name(0x3000, NULL);
	assert_int_equal(map_file_refused(file), 6);
}

static void test_map_file__cut_short(void **state)
{
	(void)state;
	put("1000 10 one\n2000 10 two\n3000 10 three\n");
	assert_int_equal(map_file_read(file, PLENTY, UINT64_MAX), 0);
	assert_int_equal(ftruncate(out, 12), 0);
	assert_int_equal(map_file_read(file, PLENTY, UINT64_MAX), 0);
	assert_int_equal(map_file_restarts(file), 1);
	check_name(0x1000, "one");
	check_name(0x2000, NULL);
}

/* The same inode gets other lines, and more of them. */
static void test_map_file__written_anew(void **state)
{
	(void)state;
	put("1000 10 one\n2000 10 two, whose name is not short\n");
	assert_int_equal(map_file_read(file, PLENTY, UINT64_MAX), 0);
	assert_int_equal(ftruncate(out, 0), 0);
	assert_int_equal(lseek(out, 0, SEEK_SET), 0);
	put("4000 10 four, and this line is long, too, as it is to be\n1000 10 other\n");
	assert_int_equal(map_file_read(file, PLENTY, UINT64_MAX), 0);
	assert_int_equal(map_file_restarts(file), 1);
	check_name(0x1000, "other");
	check_name(0x2000, NULL);
	check_name(0x4000, "four, and this line is long, too, as it is to be");
}

static void test_map_file__changed_behind_a_range(void **state)
{
	char name[PERF_MAP_NAME_MAX];
	struct made_range range;

	(void)state;
	put("1000 10 one\n");
	assert_int_equal(map_file_read(file, PLENTY, UINT64_MAX), 0);
	assert_true(map_file_find(file, 0x1000, &range));
	assert_int_equal(pwrite(out, "5", 1, 0), 1);
	assert_int_equal(map_file_name(file, &range, name), -ESTALE);
	assert_int_equal(ftruncate(out, 3), 0);
	assert_int_equal(map_file_name(file, &range, name), -ESTALE);
}

static void test_map_file__removed(void **state)
{
	(void)state;
	put("1000 10 one\n");
	assert_int_equal(map_file_read(file, PLENTY, UINT64_MAX), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(map_file_read(file, PLENTY, UINT64_MAX), -ESTALE);
	check_name(0x1000, "one");
}

/* 10 GiB without a line feed: no more than the limit is read, a part at a time. */
static void test_map_file__sparse(void **state)
{
	int r = 1, turns = 0;

	(void)state;
	put("1000 10 one\n");
	assert_int_equal(ftruncate(out, 10ll << 30), 0);
	for (; r == 1 && turns < 1000; turns++)
		r = map_file_read(file, PLENTY, UINT64_MAX);
	assert_int_equal(r, 0);
	assert_in_range(turns, MAP_FILE_BYTES_MAX / PLENTY, 2 * MAP_FILE_BYTES_MAX / PLENTY);
	assert_in_range(map_file_bytes(file), MAP_FILE_BYTES_MAX, MAP_FILE_BYTES_MAX + PLENTY);
	check_name(0x1000, "one");
}

/* A program that cuts its file again and again has it read no more than the limit either. */
static void test_map_file__cut_again_and_again(void **state)
{
	char text[1 << 16];

	(void)state;
	for (int i = 0; i < 2000; i++) {
		memset(text, 'a' + i % 26, sizeof(text));
		assert_int_equal(ftruncate(out, 0), 0);
		assert_int_equal(pwrite(out, text, sizeof(text) - (size_t)(i % 2), 0),
				 (ssize_t)sizeof(text) - i % 2);
		assert_true(map_file_read(file, PLENTY, UINT64_MAX) >= 0);
	}
	assert_in_range(map_file_bytes(file), MAP_FILE_BYTES_MAX, MAP_FILE_BYTES_MAX + PLENTY);
}

static void test_map_file__too_many_ranges(void **state)
{
	char line[64];
	int r = 1;
	FILE *stream = fdopen(dup(out), "w");

	(void)state;
	for (uint32_t i = 0; i < MAP_FILE_RANGES_MAX + 1000; i++)
		fprintf(stream, "%x 8 f%u\n", 0x1000 + i * 16, i);
	fclose(stream);
	while (r == 1)
		r = map_file_read(file, PLENTY, UINT64_MAX);
	assert_int_equal(r, 0);
	assert_in_range(all, MAP_FILE_RANGES_MAX - 2, MAP_FILE_RANGES_MAX);
	assert_in_range(map_file_refused(file), 1000, 1002);
	snprintf(line, sizeof(line), "f%u", 1000u);
	check_name(0x1000 + 1000 * 16, line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(test_map_file__##name, setup, teardown)
		TEST(grows),	    TEST(lines_that_are_none),	  TEST(cut_short),
		TEST(written_anew), TEST(changed_behind_a_range), TEST(removed),
		TEST(sparse),	    TEST(cut_again_and_again),	  TEST(too_many_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
