/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of instructions, by tables as CPython 3.9, 3.10 and 3.11 write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "worker/runtime/cpython_lines.h"

#define FIRST 100

/* Asks for the line at an offset in a table of exactly these bytes. */
#define LINE(format, offset, ...)                              \
	cpython_line((format), (const uint8_t[]){__VA_ARGS__}, \
		     sizeof((const uint8_t[]){__VA_ARGS__}), FIRST, (uint32_t)(offset))

static void test_cpython_lines__lnotab(void **state)
{
	(void)state;
	/* line 100 for 6 bytes, 101 for 4, 99 for the rest */
	for (int offset = 0; offset < 6; offset += 2)
		assert_int_equal(LINE(CPYTHON_LNOTAB, offset, 6, 1, 4, 0xfe), 100);
	assert_int_equal(LINE(CPYTHON_LNOTAB, 6, 6, 1, 4, 0xfe), 101);
	assert_int_equal(LINE(CPYTHON_LNOTAB, 9, 6, 1, 4, 0xfe), 101);
	assert_int_equal(LINE(CPYTHON_LNOTAB, 10, 6, 1, 4, 0xfe), 99);
	assert_int_equal(LINE(CPYTHON_LNOTAB, 100000, 6, 1, 4, 0xfe), 99);
}

static void test_cpython_lines__lnotab_with_large_steps(void **state)
{
	(void)state;
	/* 300 bytes, and 200 lines */
	assert_int_equal(LINE(CPYTHON_LNOTAB, 299, 255, 0, 45, 127, 0, 73), 100);
	assert_int_equal(LINE(CPYTHON_LNOTAB, 300, 255, 0, 45, 127, 0, 73), 300);
	/* a pair without its second byte counts as none */
	assert_int_equal(LINE(CPYTHON_LNOTAB, 9, 2, 1, 3), 101);
	assert_int_equal(cpython_line(CPYTHON_LNOTAB, "", 0, FIRST, 7), FIRST);
}

/* Behind the end of a cut table, nobody knows the line. */
static void test_cpython_lines__cut_tables(void **state)
{
	static const uint8_t table[] = {6, 1, 4, 0xfe};

	(void)state;
	assert_true(cpython_lines_reach(CPYTHON_LNOTAB, table, sizeof(table), 9));
	assert_false(cpython_lines_reach(CPYTHON_LNOTAB, table, sizeof(table), 10));
	assert_false(cpython_lines_reach(CPYTHON_LNOTAB, table, 3, 6));
	assert_false(cpython_lines_reach(CPYTHON_LNOTAB, table, 0, 0));
	assert_true(cpython_lines_reach(CPYTHON_LOCATIONS, table, 0, 0));
}

static void test_cpython_lines__linetable(void **state)
{
	(void)state;
	/* 4 bytes of line 100, 2 bytes without a line, 4 bytes of line 103, 2 of 98 */
	assert_int_equal(LINE(CPYTHON_LINETABLE, 3, 4, 0, 2, 0x80, 4, 3, 2, 0xfb), 100);
	assert_int_equal(LINE(CPYTHON_LINETABLE, 4, 4, 0, 2, 0x80, 4, 3, 2, 0xfb), -ENOENT);
	assert_int_equal(LINE(CPYTHON_LINETABLE, 6, 4, 0, 2, 0x80, 4, 3, 2, 0xfb), 103);
	assert_int_equal(LINE(CPYTHON_LINETABLE, 11, 4, 0, 2, 0x80, 4, 3, 2, 0xfb), 98);
	assert_int_equal(LINE(CPYTHON_LINETABLE, 12, 4, 0, 2, 0x80, 4, 3, 2, 0xfb), -ENOENT);
	/* an empty range only moves the line */
	assert_int_equal(LINE(CPYTHON_LINETABLE, 0, 0, 127, 2, 1), 228);
	assert_int_equal(LINE(CPYTHON_LINETABLE, 4, 4, 0, 2), -EBADMSG);
}

/* The head of an entry of 3.11: the code, and units of two bytes of code. */
#define HEAD(code, units) (0x80 | (code) << 3 | ((units)-1))

static void test_cpython_lines__locations(void **state)
{
	const uint8_t table[] = {
		HEAD(0, 1),  0x12,	       /* short: 100 */
		HEAD(9, 2),  0x12,	       /* short: 100 */
		HEAD(12, 1), 1,	   2,	       /* two lines on: 102 */
		HEAD(15, 8),		       /* none */
		HEAD(13, 1), 0x07,	       /* three lines back: 99 */
		HEAD(14, 1), 0x48, 3, 0, 1, 2, /* 8 + 3 * 64 = 200, so 100 on: 199 */
		HEAD(11, 1), 0,	   0,	       /* one line on: 200 */
	};
	const int64_t wanted[] = {100,	   100,	    100,     102,     -ENOENT, -ENOENT,
				  -ENOENT, -ENOENT, -ENOENT, -ENOENT, -ENOENT, -ENOENT,
				  99,	   199,	    200,     -ENOENT};

	(void)state;
	for (uint32_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		assert_int_equal(
			cpython_line(CPYTHON_LOCATIONS, table, sizeof(table), FIRST, 2 * i),
			wanted[i]);
		assert_int_equal(
			cpython_line(CPYTHON_LOCATIONS, table, sizeof(table), FIRST, 2 * i + 1),
			wanted[i]);
	}
}

static void test_cpython_lines__damaged_locations(void **state)
{
	(void)state;
	assert_int_equal(LINE(CPYTHON_LOCATIONS, 0, 0x12), -EBADMSG); /* no head */
	assert_int_equal(LINE(CPYTHON_LOCATIONS, 0, HEAD(0, 1)), -EBADMSG);
	assert_int_equal(LINE(CPYTHON_LOCATIONS, 0, HEAD(10, 1), 1), -EBADMSG);
	assert_int_equal(LINE(CPYTHON_LOCATIONS, 0, HEAD(14, 1), 0, 1, 2), -EBADMSG);
	/* a number without end */
	assert_int_equal(LINE(CPYTHON_LOCATIONS, 0, HEAD(13, 1), 0x40, 0x40, 0x40, 0x40, 0x40, 0x40,
			      0x40, 1),
			 -EBADMSG);
	/* lines that nobody wrote: 0 is that of code before a module, below is none */
	assert_int_equal(LINE(CPYTHON_LOCATIONS, 0, HEAD(13, 1), 0x49, 3), -ENOENT);
	assert_int_equal(LINE(CPYTHON_LOCATIONS, 0, HEAD(13, 1), 0x4b, 3), -EBADMSG);
	assert_int_equal(cpython_line(CPYTHON_LINES_COUNT, "", 0, FIRST, 0), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cpython_lines__lnotab),
		cmocka_unit_test(test_cpython_lines__lnotab_with_large_steps),
		cmocka_unit_test(test_cpython_lines__cut_tables),
		cmocka_unit_test(test_cpython_lines__linetable),
		cmocka_unit_test(test_cpython_lines__locations),
		cmocka_unit_test(test_cpython_lines__damaged_locations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
