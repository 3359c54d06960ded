/* SPDX-License-Identifier: Apache-2.0 */
/* One mapping, in a list that comes in pieces and has names of the target's. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "loader/broker/maps_line.h"

#define CONTEXT "/memfd:OTEL_CTX (deleted)"

static const char list[] =
	"00400000-00401000 r--p 00000000 fe:00 11 /usr/bin/python3.11\n"
	"00401000-00402000 r-xp 00001000 fe:00 11 /usr/bin/python3.11\n"
	"7f0000000000-7f0000001000 r--s 00000000 fe:00 12 /srv/x\\01200500000-00501000 r-xp \n"
	"7f0000001000-7f0000002000 rwxp 00000000 00:00 0 00600000-00601000 r-xp 0 fe:00 1 /a\n"
	"7f0000002000-7f0000004000 r--p 00000000 00:01 2057                   " CONTEXT "\n"
	"7f0000004000-7f0000005000 rw-p 00000000 00:00 0                      [anon:OTEL_CTX]\n"
	"7f0000005000-7f0000006000 rw-p 00000000 00:00 0 \n"
	"7f0000006000-7f0000007000 r--p 00000000 fe:00 13                     /tmp/x " CONTEXT "\n"
	"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n";

enum finding {
	ABSENT,
	DATA,
	CODE
};

/* Looks through the list in pieces of so many bytes. */
static enum finding look(const char *text, uint64_t address, size_t piece,
			 struct maps_line *ret_line)
{
	const size_t size = strlen(text);

	maps_line_init(ret_line, address);
	for (size_t at = 0; at < size; at += piece) {
		const size_t left = size - at;

		if (maps_line_take(ret_line, text + at, left < piece ? left : piece))
			return ret_line->is_code ? CODE : DATA;
	}
	return ABSENT;
}

static void check(const char *text, uint64_t start, uint64_t end, enum finding expected)
{
	struct maps_line line;

	for (size_t piece = 1; piece <= 80; piece++)
		assert_int_equal(look(text, start, piece, &line), expected);
	assert_int_equal(look(text, end - 1, 4096, &line), expected);
	if (expected == ABSENT)
		return;
	assert_int_equal(line.start, start);
	assert_int_equal(line.end, end);
}

static void test_maps_line__each_line(void **state)
{
	(void)state;
	check(list, 0x400000, 0x401000, DATA);
	check(list, 0x401000, 0x402000, CODE);
	check(list, 0x7f0000000000, 0x7f0000001000, DATA);
	check(list, 0x7f0000001000, 0x7f0000002000, CODE);
	check(list, 0x7f0000005000, 0x7f0000006000, DATA);
	check(list, 0xffffffffff600000, 0xffffffffff601000, CODE);
}

static void test_maps_line__no_such_line(void **state)
{
	(void)state;
	check(list, 0x402000, 0x500000, ABSENT);
	check(list, 0x0, 0x1000, ABSENT);
	check(list, 0xffffffffff601000, 0xffffffffff602000, ABSENT);
	check("", 0x400000, 0x401000, ABSENT);
	check("\n\n", 0x400000, 0x401000, ABSENT);
}

/* A target chooses the names, and the kernel escapes the end of a line in them. */
static void test_maps_line__names_are_no_lines(void **state)
{
	(void)state;
	check(list, 0x500000, 0x501000, ABSENT);
	check(list, 0x600000, 0x601000, ABSENT);
}

static void check_name(const char *text, uint64_t address, const char *name)
{
	struct maps_line line;

	for (size_t piece = 1; piece <= 100; piece++) {
		assert_int_not_equal(look(text, address, piece, &line), ABSENT);
		assert_string_equal(line.name, name);
	}
}

static void test_maps_line__names(void **state)
{
	(void)state;
	check_name(list, 0x401000, "/usr/bin/python3.11");
	check_name(list, 0x7f0000000000, "/srv/x\\01200500000-00501000 r-xp ");
	check_name(list, 0x7f0000002fff, CONTEXT);
	check_name(list, 0x7f0000004000, "[anon:OTEL_CTX]");
	check_name(list, 0x7f0000005000, "");
	check_name(list, 0x7f0000006000, "/tmp/x " CONTEXT);
}

/* A long name is cut, and the next line begins behind it. */
static void test_maps_line__names_that_are_long(void **state)
{
	const char columns[] = "00400000-00401000 r--p 00000000 fe:00 11 ";
	const size_t room = MAPS_LINE_BYTES - 1 - strlen(columns);

	(void)state;
	for (size_t length = room - 2; length <= room + 2; length++) {
		char text[2 * MAPS_LINE_BYTES], name[MAPS_LINE_BYTES + 2];

		memset(name, 'x', length);
		name[length] = '\0';
		snprintf(text, sizeof(text), "%s%s\n00500000-00501000 r--p 0 fe:00 12 /y\n",
			 columns, name);
		name[length < room ? length : room] = '\0';
		check_name(text, 0x400000, name);
		check_name(text, 0x500000, "/y");
	}
}

static void test_maps_line__files(void **state)
{
	struct maps_line line;

	(void)state;
	assert_int_equal(look(list, 0x401000, 4096, &line), CODE);
	assert_int_equal(line.major, 0xfe);
	assert_int_equal(line.minor, 0);
	assert_int_equal(line.inode, 11);
	assert_int_equal(look(list, 0x7f0000003000, 4096, &line), DATA);
	assert_int_equal(line.major, 0);
	assert_int_equal(line.minor, 1);
	assert_int_equal(line.inode, 2057);
	assert_int_equal(look(list, 0x7f0000005000, 4096, &line), DATA);
	assert_int_equal(line.inode, 0);
}

static void test_maps_line__columns_that_are_cut(void **state)
{
	static const char *const texts[] = {
		"00400000-00401000 r-xp 0 fe:00 11 /x", /* no end of the line */
		"00400000-00401000 r-xp 0 fe:00 11\n",
		"00400000-00401000 r-xp 0 fe:00\n",
		"00400000-00401000 r-xp 0 fe 11 /x\n",
		"00400000-00401000 r-xp\n",
		"00400000-00401000 r-xpp 0 fe:00 11 /x\n",
		"00400000-00401000 r-x 0 fe:00 11 /x\n",
		"00400000-00401000\n",
		"00400000\n",
		"-00401000 r-xp 0 fe:00 11 /x\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		check(texts[i], 0x400000, 0x401000, ABSENT);
	check("00400000-00401000 r-xp 0 fe:00 11 \n", 0x400000, 0x401000, CODE);
	check("00400000-00401000 r-x\n00400000-00401000 r--p 0 0:0 0 \n", 0x400000, 0x401000, DATA);
}

/* As the running kernel writes it: this function is code, the list above is data. */
static void test_maps_line__of_this_process(void **state)
{
	static char text[1 << 20];
	const uint64_t places[] = {(uintptr_t)test_maps_line__of_this_process, (uintptr_t)list};
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t size = 0;
	ssize_t got;

	(void)state;
	assert_true(fd >= 0);
	while ((got = read(fd, text + size, sizeof(text) - 1 - size)) > 0)
		size += (size_t)got;
	close(fd);
	for (int i = 0; i < 2; i++) {
		unsigned long long start = 0, end = 0;
		const char *at = text;

		while (!(start <= places[i] && places[i] < end)) {
			assert_int_equal(sscanf(at, "%llx-%llx", &start, &end), 2);
			at = strchr(at, '\n') + 1;
		}
		check(text, start, end, i == 0 ? CODE : DATA);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_maps_line__each_line),
		cmocka_unit_test(test_maps_line__no_such_line),
		cmocka_unit_test(test_maps_line__names_are_no_lines),
		cmocka_unit_test(test_maps_line__names),
		cmocka_unit_test(test_maps_line__names_that_are_long),
		cmocka_unit_test(test_maps_line__files),
		cmocka_unit_test(test_maps_line__columns_that_are_cut),
		cmocka_unit_test(test_maps_line__of_this_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
