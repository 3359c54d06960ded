/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "profile/format/names.h"
#include "profile/profile.h"

static void assert_clean(const char *name, const char *expected)
{
	char text[64];

	format_clean_name(text, sizeof(text), name);
	assert_string_equal(text, expected);
}

static void test_names__good_ones_stay(void **state)
{
	(void)state;
	assert_clean("", "");
	assert_clean("std::vector<int, std::allocator<int> >",
		     "std::vector<int, std::allocator<int> >");
	assert_clean("h\303\251 \342\202\254 \360\237\231\202",
		     "h\303\251 \342\202\254 \360\237\231\202");
	assert_clean("\364\217\277\277", "\364\217\277\277"); /* U+10FFFF */
}

static void test_names__control_characters_are_replaced(void **state)
{
	(void)state;
	assert_clean("a\nb\rc\td\033[31m\177", "a?b?c?d?[31m?");
	assert_clean("c1 \302\233 nel \302\205", "c1 ? nel ?");
	assert_clean("rlo \342\200\256 ls \342\200\250 bom \357\273\277", "rlo ? ls ? bom ?");
	assert_clean("isolate \342\201\246", "isolate ?");
}

static void test_names__bytes_that_are_not_utf8_are_replaced(void **state)
{
	(void)state;
	assert_clean("\377\376", "??");
	assert_clean("\200x", "?x");
	assert_clean("\300\257", "??");		/* overlong slash */
	assert_clean("\340\200\257", "???");	/* overlong */
	assert_clean("\355\240\200", "?");	/* surrogate */
	assert_clean("\364\220\200\200", "?");	/* above U+10FFFF */
	assert_clean("cut \342\202", "cut ??"); /* the text ends within a character */
	assert_clean("\360\237\231x", "???x");
}

static void test_names__long_ones_are_cut_between_characters(void **state)
{
	static const char euros[] = "\342\202\254\342\202\254\342\202\254\342\202\254";
	char text[16];

	(void)state;
	format_clean_name(text, 13, euros);
	assert_string_equal(text, euros);
	format_clean_name(text, 12, euros);
	assert_string_equal(text, "\342\202\254\342\202\254...");
	format_clean_name(text, 10, euros);
	assert_string_equal(text, "\342\202\254\342\202\254...");
	format_clean_name(text, 9, euros);
	assert_string_equal(text, "\342\202\254...");
	format_clean_name(text, 5, "123456");
	assert_string_equal(text, "1...");
	format_clean_name(text, 3, "123456");
	assert_string_equal(text, "..");
	format_clean_name(text, 1, "123456");
	assert_string_equal(text, "");
	memset(text, 'x', sizeof(text));
	format_clean_name(text, 0, "123456");
	assert_int_equal(text[0], 'x');
}

static void test_names__base_names(void **state)
{
	(void)state;
	assert_string_equal(format_base_name("/usr/lib/libc.so.6"), "libc.so.6");
	assert_string_equal(format_base_name("program"), "program");
	assert_string_equal(format_base_name("/usr/lib/"), "/usr/lib/");
	assert_string_equal(format_base_name(""), "");
}

static void test_names__empty_ones_are_unknown(void **state)
{
	(void)state;
	assert_string_equal(format_known_name("a"), "a");
	assert_string_equal(format_known_name(""), PROFILE_UNKNOWN);
}

static void test_names__of_threads(void **state)
{
	char text[FORMAT_THREAD_MAX], longest[2 * FORMAT_NAME_MAX];
	const char end[] = "a.../4294967295";

	(void)state;
	format_thread_name(text, "w\n1", 7);
	assert_string_equal(text, "w?1/7");
	format_thread_name(text, "", 7);
	assert_string_equal(text, "/7");
	memset(longest, 'a', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	format_thread_name(text, longest, UINT32_MAX);
	assert_int_equal(strlen(text), FORMAT_NAME_MAX - 1 + strlen("/4294967295"));
	assert_string_equal(text + strlen(text) - strlen(end), end);
}

static void test_names__titles(void **state)
{
	struct profile_times times = {.event = NULL};
	char title[FORMAT_TITLE_MAX], longest[2 * FORMAT_TITLE_MAX];

	(void)state;
	format_title(title, &times);
	assert_string_equal(title, "keyhole");
	times.event = "page\nfaults";
	format_title(title, &times);
	assert_string_equal(title, "keyhole: page\nfaults"); /* raw */
	memset(longest, 'a', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	times.event = longest;
	format_title(title, &times);
	assert_int_equal(strlen(title), FORMAT_TITLE_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names__good_ones_stay),
		cmocka_unit_test(test_names__control_characters_are_replaced),
		cmocka_unit_test(test_names__bytes_that_are_not_utf8_are_replaced),
		cmocka_unit_test(test_names__long_ones_are_cut_between_characters),
		cmocka_unit_test(test_names__base_names),
		cmocka_unit_test(test_names__empty_ones_are_unknown),
		cmocka_unit_test(test_names__of_threads),
		cmocka_unit_test(test_names__titles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
