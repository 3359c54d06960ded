/* SPDX-License-Identifier: Apache-2.0 */
#include "view/check/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char status[] = "Name:\tUid:\t0\\nUid:\t0\n"
			     "Umask:\t0077\n"
			     "Uid:\t65431\t65431\t65431\t65431\n"
			     "Groups:\t \n"
			     "NSpid:\t812\t1\n"
			     "Seccomp_filters:\t2";

static const char *field(const char *text, const char *name)
{
	static char value[TEXT_FIELD_BYTES];

	text_field(text, name, value, sizeof(value));
	return value;
}

/* A process chooses its own name, and a name that looks like a field is no field. */
static void test_text__field_is_that_of_a_line(void **state)
{
	(void)state;
	assert_string_equal(field(status, "Uid"), "65431\t65431\t65431\t65431");
	assert_string_equal(field(status, "Groups"), " ");
	assert_string_equal(field(status, "NSpid"), "812\t1");
	assert_string_equal(field(status, "Seccomp_filters"), "2");
	assert_string_equal(field(status, "Seccomp"), "");
	assert_string_equal(field(status, "Gid"), "");
	assert_string_equal(field("", "Uid"), "");
}

static void test_text__long_field_is_cut(void **state)
{
	char text[1024], value[TEXT_FIELD_BYTES];

	(void)state;
	memset(text, '7', sizeof(text));
	memcpy(text, "Groups:\t", 8);
	text[sizeof(text) - 1] = '\0';
	text_field(text, "Groups", value, sizeof(value));
	assert_int_equal(strlen(value), sizeof(value) - 1);
}

static const char limits[] =
	"Limit                     Soft Limit           Hard Limit           Units     \n"
	"Max file size             unlimited            1073741824           bytes     \n"
	"Max core file size        0                    0                    bytes     \n"
	"Max processes             0                    unlimited            processes \n"
	"Max open files            16";

static void test_text__limit_is_the_hard_one(void **state)
{
	unsigned long long hard = 1;

	(void)state;
	assert_true(text_limit(limits, "Max core file size", &hard));
	assert_int_equal(hard, 0);
	assert_true(text_limit(limits, "Max file size", &hard));
	assert_int_equal(hard, 1073741824);
	assert_false(text_limit(limits, "Max processes", &hard));
	assert_false(text_limit(limits, "Max open files", &hard));
	assert_false(text_limit(limits, "Max data size", &hard));
	assert_false(text_limit("", "Max data size", &hard));
}

static void test_text__tag_is_that_of_a_program(void **state)
{
	char tag[TEXT_TAG_BYTES];

	(void)state;
	assert_true(text_program_tag("pos:\t0\nprog_type:\t7\nprog_tag:\tdeadbeef01234567\n", tag));
	assert_string_equal(tag, "deadbeef01234567");
	assert_false(text_program_tag("link_type:\tperf\nprog_tag:\tdeadbeef01234567\n", tag));
	assert_false(text_program_tag("pos:\t0\nflags:\t02\n", tag));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text__field_is_that_of_a_line),
		cmocka_unit_test(test_text__long_field_is_cut),
		cmocka_unit_test(test_text__limit_is_the_hard_one),
		cmocka_unit_test(test_text__tag_is_that_of_a_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
