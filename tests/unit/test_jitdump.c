/* SPDX-License-Identifier: Apache-2.0 */
/* Records of jit-PID.dump: whole, cut and wrong, and a file of them that grows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/build_jitdump.h"
#include "worker/made/jitdump.h"
#include "worker/made/map_file.h"
#include "worker/made/ranges.h"

#define PLENTY (1u << 20)

static struct build_jitdump dump;
static char path[] = "/tmp/keyhole-dump-XXXXXX";

static void test_jitdump__header(void **state)
{
	struct jitdump_header header;

	(void)state;
	build_jitdump_begin(&dump, 0);
	assert_true(jitdump_is(dump.bytes, 4));
	assert_false(jitdump_is(dump.bytes, 3));
	assert_false(jitdump_is("1000 10 x\n", 10));
	assert_int_equal(jitdump_begin(dump.bytes, dump.size, &header), 0);
	assert_int_equal(header.bytes, 40);
	assert_true(header.is_timed);
	assert_int_equal(jitdump_begin(dump.bytes, dump.size - 1, &header), -EINVAL);
	build_jitdump_begin(&dump, 1);
	assert_int_equal(jitdump_begin(dump.bytes, dump.size, &header), 0);
	assert_false(header.is_timed);
	dump.bytes[4] = 2; /* the version */
	assert_int_equal(jitdump_begin(dump.bytes, dump.size, &header), -EINVAL);
	dump.bytes[4] = 1;
	dump.bytes[8] = 39; /* the size */
	assert_int_equal(jitdump_begin(dump.bytes, dump.size, &header), -EINVAL);
}

static void test_jitdump__records(void **state)
{
	struct jitdump_record record;

	(void)state;
	dump.size = 0;
	build_jitdump_load(&dump, 5, 0x1000, 32, "f");
	assert_int_equal(jitdump_parse(dump.bytes, dump.size, &record), 0);
	assert_int_equal(record.kind, JITDUMP_LOAD);
	assert_int_equal(record.bytes, dump.size);
	assert_int_equal(record.time, 5);
	assert_int_equal(record.start, 0x1000);
	assert_int_equal(record.size, 32);
	assert_int_equal(record.name_bytes, 1);
	/* the code is not needed, and the rest is */
	assert_int_equal(jitdump_parse(dump.bytes, 58, &record), 0);
	assert_int_equal(record.kind, JITDUMP_LOAD);
	for (size_t size = 0; size < 58; size++)
		assert_int_equal(jitdump_parse(dump.bytes, size, &record), -EAGAIN);
	dump.size = 0;
	build_jitdump_move(&dump, 6, 0x1000, 0x2000, 32);
	assert_int_equal(jitdump_parse(dump.bytes, dump.size, &record), 0);
	assert_int_equal(record.kind, JITDUMP_MOVE);
	assert_int_equal(record.from, 0x1000);
	assert_int_equal(record.start, 0x2000);
	dump.size = 0;
	build_jitdump_other(&dump, 6, 100);
	assert_int_equal(jitdump_parse(dump.bytes, 16, &record), 0);
	assert_int_equal(record.kind, JITDUMP_OTHER);
	assert_int_equal(record.bytes, 116);
}

/* Records too short for their fields are left out; one too short for its size ends the file. */
static void test_jitdump__wrong_records(void **state)
{
	struct jitdump_record record;

	(void)state;
	dump.size = 0;
	build_jitdump_load(&dump, 5, 0x1000, 32, "f");
	for (unsigned char bytes = 16; bytes < 58; bytes++) {
		dump.bytes[4] = bytes;
		assert_int_equal(jitdump_parse(dump.bytes, dump.size, &record), 0);
		assert_int_equal(record.kind, JITDUMP_OTHER);
	}
	dump.bytes[4] = 15;
	assert_int_equal(jitdump_parse(dump.bytes, dump.size, &record), -EINVAL);
}

static void check_name(const struct map_file *file, uint64_t address, const char *wanted)
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

static struct map_file *open_dump(int *ret_fd, size_t *all)
{
	memcpy(path + sizeof(path) - 7, "XXXXXX", 6);
	*ret_fd = mkstemp(path);
	assert_true(*ret_fd >= 0);
	return map_file_new(dup(*ret_fd), all);
}

static void write_dump(int fd, size_t size)
{
	assert_int_equal(pwrite(fd, dump.bytes, size, 0), size);
}

static void test_jitdump__up_to_a_time(void **state)
{
	size_t all = 0;
	int fd;
	struct map_file *file = open_dump(&fd, &all);

	(void)state;
	build_jitdump_begin(&dump, 0);
	build_jitdump_load(&dump, 10, 0x1000, 64, "JS:*f /a.js:1:1");
	build_jitdump_other(&dump, 11, 5000);
	build_jitdump_move(&dump, 20, 0x1000, 0x3000, 64);
	build_jitdump_load(&dump, 30, 0x1000, 64, "g");
	write_dump(fd, dump.size);
	assert_int_equal(map_file_read(file, PLENTY, 9), 0);
	assert_true(map_file_is_timed(file));
	check_name(file, 0x1000, NULL);
	assert_int_equal(map_file_read(file, PLENTY, 19), 0);
	check_name(file, 0x103f, "JS:f /a.js:1:1");
	check_name(file, 0x3000, NULL);
	assert_int_equal(map_file_read(file, PLENTY, 25), 0);
	check_name(file, 0x3000, "JS:f /a.js:1:1");
	assert_int_equal(map_file_read(file, PLENTY, 30), 0);
	check_name(file, 0x1000, "g");
	check_name(file, 0x3000, "JS:f /a.js:1:1");
	map_file_free(file);
	unlink(path);
	close(fd);
	assert_int_equal(all, 0);
}

/* The file grows within a record, byte by byte. */
static void test_jitdump__grows(void **state)
{
	size_t all = 0;
	int fd;
	struct map_file *file = open_dump(&fd, &all);

	(void)state;
	build_jitdump_begin(&dump, 1);
	build_jitdump_load(&dump, 10, 0x1000, 64, "f");
	for (size_t size = 0; size < dump.size; size++) {
		write_dump(fd, size);
		assert_int_equal(map_file_read(file, PLENTY, 0), 0);
		check_name(file, 0x1000, NULL);
	}
	write_dump(fd, dump.size);
	assert_int_equal(map_file_read(file, PLENTY, 0), 0);
	check_name(file, 0x1000, "f");
	assert_int_equal(map_file_restarts(file), 0);
	map_file_free(file);
	unlink(path);
	close(fd);
}

static const struct build_jitdump_line lines[] = {
	{0x1000, 7, "/srv/f.js"}, {0x1010, 9, NULL},	    {0x1018, 3, "/srv/inlined.js"},
	{0x101c, 4, NULL},	  {0x1020, 8, "/srv/f.js"},
};
#define LINES (sizeof(lines) / sizeof(*lines))

static uint32_t line_at(uint64_t address)
{
	struct jitdump_line found;

	assert_int_equal(jitdump_find_line(dump.bytes, dump.size, address, &found), 0);
	assert_int_equal(found.file_bytes, strlen("/srv/f.js"));
	assert_memory_equal(found.file, "/srv/f.js", found.file_bytes);
	return found.line;
}

/* Lines of inlined code are none of the function's file. */
static void test_jitdump__lines(void **state)
{
	struct jitdump_record record;
	struct jitdump_line found;

	(void)state;
	dump.size = 0;
	build_jitdump_lines(&dump, 5, 0x1000, lines, LINES);
	assert_int_equal(jitdump_parse(dump.bytes, dump.size, &record), 0);
	assert_int_equal(record.kind, JITDUMP_LINES);
	assert_int_equal(record.start, 0x1000);
	assert_int_equal(line_at(0xfff), 0);
	assert_int_equal(line_at(0x1000), 7);
	assert_int_equal(line_at(0x100f), 7);
	assert_int_equal(line_at(0x1010), 9);
	assert_int_equal(line_at(0x1018), 0);
	assert_int_equal(line_at(0x101f), 0);
	assert_int_equal(line_at(0x5000), 8);
	for (size_t size = 0; size < dump.size; size++)
		assert_int_equal(jitdump_find_line(dump.bytes, size, 0x1000, &found), -EINVAL);
	dump.bytes[32 + 8 + 3] = 1; /* a line of more than 24 bits */
	assert_int_equal(jitdump_find_line(dump.bytes, dump.size, 0x1000, &found), -EINVAL);
	dump.size = 0;
	build_jitdump_lines(&dump, 5, 0x1000, lines, 0);
	assert_int_equal(jitdump_find_line(dump.bytes, dump.size, 0x1000, &found), -EINVAL);
}

static int source_at(struct map_file *file, uint64_t address, struct map_file_source *ret_source)
{
	struct made_range range;

	assert_true(map_file_find(file, address, &range));
	return map_file_source(file, &range, address, ret_source);
}

/* Lines belong to the code that comes next, if it starts where they do. */
static void test_jitdump__sources(void **state)
{
	const struct build_jitdump_line of_v8[] = {{0x3040, 1, "/srv/g.js"}};
	struct map_file_source source;
	struct map_file *file;
	size_t all = 0;
	int fd;

	(void)state;
	build_jitdump_begin(&dump, 0);
	build_jitdump_lines(&dump, 1, 0x1000, lines, LINES);
	build_jitdump_load(&dump, 1, 0x1000, 64, "f");
	build_jitdump_load(&dump, 2, 0x2000, 64, "without");
	build_jitdump_lines(&dump, 3, 0x3000, of_v8, 1);
	build_jitdump_load(&dump, 3, 0x3000, 128, "JS:*g /srv/g.js:1:1");
	build_jitdump_lines(&dump, 4, 0x1000, lines, LINES);
	build_jitdump_load(&dump, 4, 0x4000, 64, "of other lines");
	build_jitdump_load(&dump, 5, 0x1000 + 0x8000, 64, "later");
	build_jitdump_move(&dump, 6, 0x1000, 0x7000, 64);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, dump.bytes, dump.size), dump.size);
	file = map_file_new(fd, &all);
	assert_non_null(file);
	assert_int_equal(map_file_read(file, PLENTY, UINT64_MAX), 0);
	assert_int_equal(source_at(file, 0x1010, &source), 0);
	assert_string_equal(source.file, "/srv/f.js");
	assert_int_equal(source.line, 9);
	assert_int_equal(source_at(file, 0x2000, &source), -ENOENT);
	assert_int_equal(source_at(file, 0x3050, &source), -ENOENT);
	assert_int_equal(source_at(file, 0x4000, &source), -ENOENT);
	assert_int_equal(source_at(file, 0x9000, &source), -ENOENT);
	assert_int_equal(source_at(file, 0x7010, &source), -ENOENT);
	map_file_free(file);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_jitdump__header),
		cmocka_unit_test(test_jitdump__lines),
		cmocka_unit_test(test_jitdump__sources),
		cmocka_unit_test(test_jitdump__records),
		cmocka_unit_test(test_jitdump__wrong_records),
		cmocka_unit_test(test_jitdump__up_to_a_time),
		cmocka_unit_test(test_jitdump__grows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
