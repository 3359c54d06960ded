/* SPDX-License-Identifier: Apache-2.0 */
#include "view/check/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct report report;
static char *text;
static size_t size;

static void begin(bool json)
{
	memset(&report, 0, sizeof(report));
	report.stream = open_memstream(&text, &size);
	report.json = json;
	report_open(&report, NULL, '{');
}

static const char *end(int *ret_status)
{
	*ret_status = report_end(&report);
	report_close(&report);
	fclose(report.stream);
	return text;
}

static void write_some(void)
{
	report_number(&report, "format", 1);
	report_open(&report, "list", '[');
	report_text(&report, NULL, "a\"\\\n\033\303");
	report_text(&report, NULL, NULL);
	report_open(&report, NULL, '{');
	report_bool(&report, "b", true);
	report_close(&report);
	report_close(&report);
	report_open(&report, "empty", '{');
	report_close(&report);
}

static void test_report__json(void **state)
{
	int status;

	(void)state;
	begin(true);
	write_some();
	assert_string_equal(end(&status), "{\n  \"format\": 1,\n  \"list\": [\n"
					  "    \"a\\\\x22\\\\x5c\\\\x0a\\\\x1b\\\\xc3\",\n"
					  "    null,\n    {\n      \"b\": true\n    }\n  ],\n"
					  "  \"empty\": {},\n  \"deviations\": [],\n"
					  "  \"unknown\": [],\n  \"result\": \"ok\"\n}\n");
	assert_int_equal(status, 0);
	free(text);
}

static void test_report__text(void **state)
{
	int status;

	(void)state;
	begin(false);
	write_some();
	assert_non_null(strstr(end(&status), "- a\\x22\\x5c\\x0a\\x1b\\xc3\n"));
	assert_non_null(strstr(text, "result: ok\n"));
	free(text);
}

static void test_report__status(void **state)
{
	int status;

	(void)state;
	begin(true);
	report_add(&report, FINDING_UNKNOWN, "x", "%d", 5);
	assert_non_null(strstr(end(&status), "\"what\": \"5\""));
	assert_int_equal(status, 3);
	free(text);
	begin(true);
	report_add(&report, FINDING_UNKNOWN, "x", "5");
	for (int i = 0; i < 2 * REPORT_FINDINGS_MAX; i++)
		report_add(&report, FINDING_DEVIATION, "y", "%d;", i);
	end(&status);
	assert_int_equal(status, 1);
	assert_non_null(strstr(text, "\"254;\""));
	assert_null(strstr(text, "\"255;\""));
	assert_non_null(strstr(text, "\"others\""));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_report__json),
		cmocka_unit_test(test_report__text),
		cmocka_unit_test(test_report__status),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
