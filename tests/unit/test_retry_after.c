/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "exporter/http/retry_after.h"
#include "ipc/time.h"

#define EXAMPLE 784111777 /* RFC 9110, 5.6.7 */

static void test_retry_after__three_forms_of_a_date(void **state)
{
	static const char *const forms[] = {
		"Sun, 06 Nov 1994 08:49:37 GMT",
		"Sunday, 06-Nov-94 08:49:37 GMT",
		"Sun Nov  6 08:49:37 1994",
	};
	int64_t seconds;

	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		assert_int_equal(http_date_parse(forms[i], &seconds), 0);
		assert_int_equal(seconds, EXAMPLE);
	}
}

/* Every day of 140 years, as the C library counts. */
static void test_retry_after__days_of_the_calendar(void **state)
{
	char text[64];
	int64_t seconds;

	(void)state;
	for (time_t day = 0; day < 140ll * 366 * 86400; day += 86400) {
		struct tm tm;

		gmtime_r(&day, &tm);
		strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &tm);
		assert_int_equal(http_date_parse(text, &seconds), 0);
		assert_int_equal(seconds, day);
	}
}

static void test_retry_after__refuses_what_is_no_date(void **state)
{
	static const char *const bad[] = {
		"",
		"Sun",
		"Sun, 06 Nov 1994 08:49:37",
		"Sun, 06 Nov 1994 08:49:37 UTC",
		"Sun, 6 Nov 1994 08:49:37 GMT",
		"Sun, 06 Nov 1994 24:49:37 GMT",
		"Sun, 32 Nov 1994 08:49:37 GMT",
		"Sun, 06 Nev 1994 08:49:37 GMT",
		"Day, 06 Nov 1994 08:49:37 GMT",
		"Sun, 06 Nov 1960 08:49:37 GMT",
		"Sun Nov  6 08:49:37 1994 GMT",
		"Sun, 06 Nov 1994 08:49:37 GMT ",
	};
	int64_t seconds;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(http_date_parse(bad[i], &seconds), -EBADMSG);
}

static void test_retry_after__both_forms(void **state)
{
	static const char date[] = "Sun, 06 Nov 1994 08:49:37 GMT";
	static const struct {
		const char *text, *date;
		int64_t now;
		int r;
		uint64_t seconds;
	} cases[] = {
		{"0", "", 0, 0, 0},
		{"120", "", 0, 0, 120},
		{"99999999999999999999999", "", 0, 0, 365 * 86400},
		{"-1", "", 0, -EBADMSG, 0},
		{"1.5", "", 0, -EBADMSG, 0},
		{"", "", 0, -EBADMSG, 0},
		{"soon", "", 0, -EBADMSG, 0},
		{date, "", EXAMPLE - 10, 0, 10},
		{date, "", EXAMPLE + 10, 0, 0}, /* it has passed */
		/* the server's clock counts, not ours */
		{"Sun, 06 Nov 1994 08:50:37 GMT", date, 5, 0, 60},
		{date, "no date", EXAMPLE - 7, 0, 7},
		{"Sun, 06 Nov 2094 08:49:37 GMT", date, 0, 0, 365 * 86400},
	};
	uint64_t ns = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(retry_after_parse(cases[i].text, cases[i].date, cases[i].now, &ns),
				 cases[i].r);
		if (cases[i].r == 0)
			assert_int_equal(ns, cases[i].seconds * NS_PER_SECOND);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_retry_after__three_forms_of_a_date),
		cmocka_unit_test(test_retry_after__days_of_the_calendar),
		cmocka_unit_test(test_retry_after__refuses_what_is_no_date),
		cmocka_unit_test(test_retry_after__both_forms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
