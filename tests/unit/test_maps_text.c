/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "worker/process/maps_text.h"

static struct maps_line line;

static int parse(const char *text)
{
	struct reader reader;

	reader_init(&reader, text, strlen(text));
	return maps_text_next(&reader, &line);
}

static void test_maps_text__all_fields(void **state)
{
	(void)state;
	assert_int_equal(parse("7f01aa000000-7f01aa021000 r-xp 00026000 fd:1a 1234567            "
			       "        /usr/lib/my lib.so (deleted)\n"),
			 1);
	assert_int_equal(line.start, 0x7f01aa000000);
	assert_int_equal(line.end, 0x7f01aa021000);
	assert_int_equal(line.offset, 0x26000);
	assert_int_equal(line.device, makedev(0xfd, 0x1a));
	assert_int_equal(line.inode, 1234567);
	assert_true(line.executable);
	assert_string_equal(line.path, "/usr/lib/my lib.so (deleted)");
}

static void test_maps_text__lines_without_a_path(void **state)
{
	(void)state;
	assert_int_equal(parse("1000-2000 rw-p 00000000 00:00 0 \n"), 1);
	assert_false(line.executable);
	assert_string_equal(line.path, "");
	assert_int_equal(parse("1000-2000 rwxp 00000000 00:00 0"), 1);
	assert_true(line.executable);
	assert_int_equal(line.inode, 0);
}

static void test_maps_text__newline_in_a_path(void **state)
{
	(void)state;
	assert_int_equal(parse("1000-2000 r-xp 0 08:01 5 /a\\012b\\0123\\x\n"), 1);
	assert_string_equal(line.path, "/a\nb\n3\\x");
}

static void test_maps_text__other_lines_are_refused(void **state)
{
	static const char *const texts[] = {
		"\n",
		"1000-2000\n",
		"2000-1000 r-xp 0 08:01 5 /a\n",
		"1000-1000 r-xp 0 08:01 5 /a\n",
		"10000000000000000-20000000000000000 r-xp 0 08:01 5 /a\n",
		"1000-2000 r-yp 0 08:01 5 /a\n",
		"1000-2000 r-xp 0 0801 5 /a\n",
		"1000-2000 r-xp 0 08:01 5x /a\n",
		"1000-2000 r-xp  08:01 5 /a\n",
		"g000-h000 r-xp 0 08:01 5 /a\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		assert_int_equal(parse(texts[i]), -EBADMSG);
}

static void test_maps_text__goes_on_after_a_bad_line(void **state)
{
	const char *text = "nonsense\n1000-2000 r-xp 0 08:01 5 /a\n";
	struct reader reader;

	(void)state;
	reader_init(&reader, text, strlen(text));
	assert_int_equal(maps_text_next(&reader, &line), -EBADMSG);
	assert_int_equal(maps_text_next(&reader, &line), 1);
	assert_string_equal(line.path, "/a");
	assert_int_equal(maps_text_next(&reader, &line), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_maps_text__all_fields),
		cmocka_unit_test(test_maps_text__lines_without_a_path),
		cmocka_unit_test(test_maps_text__newline_in_a_path),
		cmocka_unit_test(test_maps_text__other_lines_are_refused),
		cmocka_unit_test(test_maps_text__goes_on_after_a_bad_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
