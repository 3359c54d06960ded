/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of clients of the page of metrics. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporter/metrics/query.h"

static struct query read_whole(const char *text)
{
	/* a copy of its size, so that a sanitizer sees each byte behind it */
	const size_t size = strlen(text);
	char *bytes = malloc(size);
	struct query query;

	assert_non_null(bytes);
	memcpy(bytes, text, size);
	assert_true(query_read(bytes, size, &query));
	free(bytes);
	return query;
}

static void test_query__first_line(void **state)
{
	static const struct {
		const char *text;
		int status;
	} rows[] = {
		{"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", 200},
		{"GET /metrics HTTP/1.0\n\n", 200},
		{"GET /metrics?x=y HTTP/1.1\r\n\r\n", 200},
		{"GET http://127.0.0.1:9464/metrics HTTP/1.1\r\n\r\n", 200},
		{"HEAD /metrics HTTP/1.1\r\n\r\n", 200},
		{"GET / HTTP/1.1\r\n\r\n", 404},
		{"GET http://x HTTP/1.1\r\n\r\n", 404},
		{"GET /metricsx HTTP/1.1\r\n\r\n", 404},
		{"POST /metrics HTTP/1.1\r\n\r\n", 405},
		{"get /metrics HTTP/1.1\r\n\r\n", 405},
		{"GET /metrics HTTP/2.0\r\n\r\n", 505},
		{"GET /metrics\r\n\r\n", 400},
		{"\r\n\r\n", 400},
		{" \n\n", 400},
		{"\x16\x03\x01\x02\n\n", 400},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(read_whole(rows[i].text).status, rows[i].status);
	assert_true(read_whole("HEAD /metrics HTTP/1.1\r\n\r\n").is_head);
	assert_false(read_whole("GET /metrics HTTP/1.1\r\n\r\n").is_head);
}

static enum page_form form_for(const char *accept)
{
	char text[1024];

	snprintf(text, sizeof(text), "GET /metrics HTTP/1.1\r\nX: y\r\nACCEPT:%s\r\n\r\n", accept);
	return read_whole(text).form;
}

static void test_query__forms(void **state)
{
	static const struct {
		const char *accept;
		enum page_form form;
	} rows[] = {
		{"*/*", PAGE_PROMETHEUS},
		{" ", PAGE_PROMETHEUS},
		{"text/html, nothing/known;q=1", PAGE_PROMETHEUS},
		{" application/openmetrics-text", PAGE_OPENMETRICS},
		{"Application/OpenMetrics-Text; Version=1.0.0", PAGE_OPENMETRICS},
		{"application/openmetrics-text;version=0.0.1", PAGE_PROMETHEUS},
		{"application/openmetrics-text;q=0", PAGE_PROMETHEUS},
		{"application/openmetrics-text;q=0.2,text/plain;q=0.3", PAGE_PROMETHEUS},
		{"text/*,application/openmetrics-text", PAGE_OPENMETRICS},
		{"application/openmetrics-text;q=x", PAGE_PROMETHEUS},
		/* Prometheus 2 and 3 */
		{"application/openmetrics-text;version=1.0.0;q=0.5,"
		 "application/openmetrics-text;version=0.0.1;q=0.4,"
		 "text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
		 PAGE_OPENMETRICS},
		{"application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
		 "application/openmetrics-text;version=0.0.1;q=0.5,"
		 "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.9,"
		 "text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
		 PAGE_OPENMETRICS},
		{"text/plain;version=0.0.4;q=1,*/*;q=0.1", PAGE_PROMETHEUS},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(form_for(rows[i].accept), rows[i].form);
	assert_int_equal(read_whole("GET /metrics HTTP/1.1\r\n\r\n").form, PAGE_PROMETHEUS);
}

static void test_query__waits_for_the_end(void **state)
{
	static const char text[] = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
	struct query query;

	(void)state;
	for (size_t i = 0; i < sizeof(text) - 1; i++)
		assert_false(query_read(text, i, &query));
	assert_true(query_read(text, sizeof(text) - 1, &query));
}

static void test_query__too_long(void **state)
{
	static char text[QUERY_BYTES_MAX];
	struct query query;

	(void)state;
	memset(text, 'a', sizeof(text));
	assert_false(query_read(text, sizeof(text) - 1, &query));
	assert_true(query_read(text, sizeof(text), &query));
	assert_int_equal(query.status, 431);
	memset(text, '\0', sizeof(text));
	assert_true(query_read(text, sizeof(text), &query));
	assert_int_equal(query.status, 431);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_query__first_line),
		cmocka_unit_test(test_query__forms),
		cmocka_unit_test(test_query__waits_for_the_end),
		cmocka_unit_test(test_query__too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
