/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmocka.h>
#include <pty.h>

#include "helper/output/screen.h"

static char shown[1024];

static const char *print(const char *text, unsigned int columns)
{
	FILE *stream = fmemopen(shown, sizeof(shown), "w");

	shown[0] = '\0'; /* when nothing is printed */
	screen_print(text, columns, stream);
	fclose(stream);
	return shown;
}

static void test_screen__columns(void **state)
{
	const struct winsize size = {.ws_row = 10, .ws_col = 43};
	int terminal, other, pipes[2];

	(void)state;
	assert_int_equal(openpty(&terminal, &other, NULL, NULL, NULL), 0);
	assert_int_equal(pipe(pipes), 0);
	unsetenv("COLUMNS");
	setenv("TERM", "xterm", 1);
	assert_int_equal(screen_columns(pipes[1]), 0);
	assert_int_equal(screen_columns(other), 80);
	assert_int_equal(ioctl(terminal, TIOCSWINSZ, &size), 0);
	assert_int_equal(screen_columns(other), 43);
	setenv("COLUMNS", "60", 1);
	assert_int_equal(screen_columns(other), 60);
	setenv("COLUMNS", "1", 1);
	assert_int_equal(screen_columns(other), SCREEN_COLUMNS_MIN);
	setenv("COLUMNS", "-1", 1);
	assert_int_equal(screen_columns(other), 43);
	setenv("COLUMNS", "2000", 1);
	assert_int_equal(screen_columns(other), SCREEN_COLUMNS_MAX);
	setenv("COLUMNS", "wide", 1);
	assert_int_equal(screen_columns(other), 43);
	setenv("TERM", "dumb", 1);
	assert_int_equal(screen_columns(other), 0);
}

static void test_screen__a_line_that_is_replaced_is_cut(void **state)
{
	FILE *stream = fmemopen(shown, sizeof(shown), "w");

	(void)state;
	screen_replace_line("12345678901234567890123", 20, stream);
	fclose(stream);
	assert_string_equal(shown, "\r1234567890123456789\033[K");
}

static void test_screen__lines_are_broken_at_blanks(void **state)
{
	(void)state;
	assert_string_equal(print("aaaa bbbb cccc dddd eeee\nshort\n", 0),
			    "aaaa bbbb cccc dddd eeee\nshort\n");
	assert_string_equal(print("aaaa bbbb cccc dddd eeee\nshort\n\n", 20),
			    "aaaa bbbb cccc dddd\n    eeee\nshort\n\n");
	assert_string_equal(print("aaaa bbbb cccc ddd  eeee", 20),
			    "aaaa bbbb cccc ddd\n    eeee\n");
	/* without a blank, inside a word; not behind the indent alone */
	assert_string_equal(print("  a 89012345678901234567", 20),
			    "  a 890123456789012\n    34567\n");
	assert_string_equal(print("", 20), "");
}

/* No line is wider than the terminal. Only blanks come and go. */
static void test_screen__every_width(void **state)
{
	static const char text[] = "  cut  cut_not_ready: 9  (process not known to the worker yet)";

	(void)state;
	for (unsigned int columns = SCREEN_COLUMNS_MIN; columns < 80; columns++) {
		const char *from = text;

		for (const char *at = print(text, columns); *at; at++) {
			assert_true(strcspn(at, "\n") < columns);
			if (*at == ' ' || *at == '\n')
				continue;
			from += strspn(from, " ");
			assert_int_equal(*from++, *at);
		}
		assert_int_equal(*from, '\0');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_screen__columns),
		cmocka_unit_test(test_screen__a_line_that_is_replaced_is_cut),
		cmocka_unit_test(test_screen__lines_are_broken_at_blanks),
		cmocka_unit_test(test_screen__every_width),
	};

	return cmocka_run_group_tests_name("screen", tests, NULL, NULL);
}
