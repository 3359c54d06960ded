/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "exporter/delivery/verdict.h"
#include "ipc/time.h"
#include "tests/unit/build_request.h"

static struct answer answer;
static struct buffer scratch;

static void put(const char *name, const char *value)
{
	answer_header(&answer, name, strlen(name), value, strlen(value));
}

static struct verdict judge(enum endpoint_protocol protocol)
{
	struct verdict verdict;

	verdict_of(&answer, protocol, 784111777, "the reason", &scratch, &verdict);
	return verdict;
}

/* An answer of gRPC with a status, and with HTTP's 200. */
static void begin_grpc(int status, const char *message)
{
	answer_begin(&answer);
	answer.status = 200;
	answer.grpc_status = status;
	put("grpc-message", message);
}

static void begin_http(int status, const char *type, const char *body)
{
	answer_begin(&answer);
	answer.status = status;
	put("content-type", type);
	answer_body(&answer, body, strlen(body));
}

/* A Status with a RetryInfo of so many seconds. */
static void put_retry_info(uint64_t seconds)
{
	struct buffer status = {0};
	size_t detail, value, duration;

	buffer_reset(&status, ANSWER_DETAILS_MAX);
	detail = buffer_open(&status, 3);
	build_text(&status, 1, "type.googleapis.com/google.rpc.RetryInfo");
	value = buffer_open(&status, 2);
	duration = buffer_open(&status, 1);
	build_number(&status, 1, seconds);
	buffer_close(&status, duration);
	buffer_close(&status, value);
	buffer_close(&status, detail);
	memcpy(answer.details, status.bytes, status.size);
	answer.details_size = status.size;
	buffer_release(&status);
}

/* By the OTLP specification; RESOURCE_EXHAUSTED without RetryInfo is about size here. */
static void test_verdict__each_status_of_grpc(void **state)
{
	static const enum outcome expected[] = {
		[0] = OUTCOME_DELIVERED, [1] = OUTCOME_RETRY,	 [2] = OUTCOME_REFUSED,
		[3] = OUTCOME_REFUSED,	 [4] = OUTCOME_RETRY,	 [5] = OUTCOME_REFUSED,
		[6] = OUTCOME_REFUSED,	 [7] = OUTCOME_REFUSED,	 [8] = OUTCOME_TOO_LARGE,
		[9] = OUTCOME_REFUSED,	 [10] = OUTCOME_RETRY,	 [11] = OUTCOME_RETRY,
		[12] = OUTCOME_REFUSED,	 [13] = OUTCOME_REFUSED, [14] = OUTCOME_RETRY,
		[15] = OUTCOME_RETRY,	 [16] = OUTCOME_REFUSED, [17] = OUTCOME_REFUSED,
	};

	(void)state;
	for (int code = 0; code <= 17; code++) {
		begin_grpc(code, "why");
		assert_int_equal(judge(ENDPOINT_GRPC).outcome, expected[code]);
	}
}

static void test_verdict__retry_info(void **state)
{
	struct verdict verdict;

	(void)state;
	begin_grpc(8, "quota");
	put_retry_info(9);
	verdict = judge(ENDPOINT_GRPC);
	assert_int_equal(verdict.outcome, OUTCOME_RETRY);
	assert_int_equal(verdict.wait_ns, 9 * NS_PER_SECOND);
	assert_string_equal(verdict.text, "RESOURCE_EXHAUSTED: quota");
	begin_grpc(14, "");
	put_retry_info(4);
	verdict = judge(ENDPOINT_GRPC);
	assert_int_equal(verdict.wait_ns, 4 * NS_PER_SECOND);
	assert_string_equal(verdict.text, "UNAVAILABLE");
	begin_grpc(13, ""); /* a code that is never sent again */
	put_retry_info(4);
	assert_int_equal(judge(ENDPOINT_GRPC).outcome, OUTCOME_REFUSED);
	begin_grpc(14, "");
	put_retry_info(4);
	answer.details_size--;
	assert_true(judge(ENDPOINT_GRPC).bad_answer);
	assert_int_equal(judge(ENDPOINT_GRPC).outcome, OUTCOME_RETRY);
}

static void test_verdict__statuses_of_http_instead(void **state)
{
	static const struct {
		int status;
		enum outcome outcome;
	} cases[] = {
		{200, OUTCOME_REFUSED}, {400, OUTCOME_REFUSED}, {401, OUTCOME_REFUSED},
		{403, OUTCOME_REFUSED}, {404, OUTCOME_REFUSED}, {413, OUTCOME_TOO_LARGE},
		{429, OUTCOME_RETRY},	{500, OUTCOME_REFUSED}, {502, OUTCOME_RETRY},
		{503, OUTCOME_RETRY},	{504, OUTCOME_RETRY},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		answer_begin(&answer);
		answer.status = cases[i].status;
		put("retry-after", "7");
		assert_int_equal(judge(ENDPOINT_GRPC).outcome, cases[i].outcome);
	}
	assert_int_equal(judge(ENDPOINT_GRPC).wait_ns, 7 * NS_PER_SECOND);
}

static void test_verdict__resets(void **state)
{
	static const struct {
		uint32_t code;
		enum outcome outcome;
		const char *text;
	} cases[] = {
		{7, OUTCOME_RETRY, "UNAVAILABLE"},
		{8, OUTCOME_RETRY, "CANCELLED"},
		{11, OUTCOME_REFUSED, "RESOURCE_EXHAUSTED"},
		{12, OUTCOME_REFUSED, "PERMISSION_DENIED"},
		{0, OUTCOME_REFUSED, "INTERNAL"},
		{2, OUTCOME_REFUSED, "INTERNAL"},
		{99, OUTCOME_REFUSED, "INTERNAL"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		answer_begin(&answer);
		answer.error = -ECONNRESET;
		answer.was_reset = true;
		answer.reset_code = cases[i].code;
		assert_int_equal(judge(ENDPOINT_GRPC).outcome, cases[i].outcome);
		assert_string_equal(judge(ENDPOINT_GRPC).text, cases[i].text);
		assert_int_equal(judge(ENDPOINT_HTTP).outcome, OUTCOME_RETRY);
	}
}

static void test_verdict__each_status_of_http(void **state)
{
	(void)state;
	for (int status = 200; status < 600; status++) {
		enum outcome expected = OUTCOME_REFUSED;

		begin_http(status, "text/plain", "");
		if (status < 300)
			expected = OUTCOME_DELIVERED;
		else if (status == 429 || status == 502 || status == 503 || status == 504)
			expected = OUTCOME_RETRY;
		else if (status == 413)
			expected = OUTCOME_TOO_LARGE;
		assert_int_equal(judge(ENDPOINT_HTTP).outcome, expected);
	}
}

static void test_verdict__retry_after(void **state)
{
	(void)state;
	begin_http(503, "text/plain", "down");
	put("retry-after", "30");
	assert_int_equal(judge(ENDPOINT_HTTP).wait_ns, 30 * NS_PER_SECOND);
	assert_string_equal(judge(ENDPOINT_HTTP).text, "HTTP status 503: down");
	put("retry-after", "Sun, 06 Nov 1994 08:49:57 GMT");
	assert_int_equal(judge(ENDPOINT_HTTP).wait_ns, 20 * NS_PER_SECOND);
	put("retry-after", "tomorrow");
	assert_true(judge(ENDPOINT_HTTP).bad_answer);
	assert_int_equal(judge(ENDPOINT_HTTP).outcome, OUTCOME_RETRY);
}

static void test_verdict__too_large(void **state)
{
	(void)state;
	begin_grpc(8, "grpc: received message larger than max (5000000 vs. 4194304)");
	assert_int_equal(judge(ENDPOINT_GRPC).outcome, OUTCOME_TOO_LARGE);
	begin_http(400, "application/x-protobuf", "\x12\x20http: request body too large!!!!");
	answer.body.bytes[1] = (uint8_t)(answer.body.size - 2);
	assert_int_equal(judge(ENDPOINT_HTTP).outcome, OUTCOME_TOO_LARGE);
	assert_string_equal(judge(ENDPOINT_HTTP).text,
			    "HTTP status 400: http: request body too large!!!!");
}

static void test_verdict__another_version(void **state)
{
	static const char text[] = "proto: wrong wireType = 2 for field LinkIndex";

	(void)state;
	begin_grpc(13, text);
	assert_int_equal(judge(ENDPOINT_GRPC).outcome, OUTCOME_REFUSED);
	assert_non_null(strstr(judge(ENDPOINT_GRPC).text, "another version"));
	begin_http(400, "text/plain", text);
	assert_non_null(strstr(judge(ENDPOINT_HTTP).text, "another version"));
}

static void test_verdict__profiles_are_off(void **state)
{
	(void)state;
	begin_grpc(12, "unknown service opentelemetry.proto.collector.profiles...");
	assert_non_null(strstr(judge(ENDPOINT_GRPC).text, "takes no profiles"));
	begin_http(404, "text/plain", "404 page not found");
	assert_non_null(strstr(judge(ENDPOINT_HTTP).text, "takes no profiles"));
	begin_grpc(12, "grpc: Decompressor is not installed for grpc-encoding \"zstd\"");
	assert_non_null(strstr(judge(ENDPOINT_GRPC).text, "Decompressor"));
}

static void test_verdict__partial_success(void **state)
{
	struct verdict verdict;

	(void)state;
	begin_http(200, "application/x-protobuf", "\x0a\x09\x08\x03\x12\x05stale");
	verdict = judge(ENDPOINT_HTTP);
	assert_int_equal(verdict.outcome, OUTCOME_DELIVERED);
	assert_true(verdict.partial);
	assert_int_equal(verdict.rejected, 3);
	assert_string_equal(verdict.text, "3 profiles rejected: stale");
	begin_http(200, "application/x-protobuf", "");
	verdict = judge(ENDPOINT_HTTP);
	assert_false(verdict.partial);
	assert_string_equal(verdict.text, "");
}

/* The server said that it took the data: garbage behind that changes nothing. */
static void test_verdict__success_with_garbage(void **state)
{
	(void)state;
	begin_http(200, "application/x-protobuf", "\x0a\xff");
	assert_int_equal(judge(ENDPOINT_HTTP).outcome, OUTCOME_DELIVERED);
	assert_true(judge(ENDPOINT_HTTP).bad_answer);
	begin_grpc(0, "");
	answer_body(&answer, "garbage", 7);
	assert_int_equal(judge(ENDPOINT_GRPC).outcome, OUTCOME_DELIVERED);
	assert_true(judge(ENDPOINT_GRPC).bad_answer);
}

/* Some servers answer any request with their page. */
static void test_verdict__a_web_page_is_no_success(void **state)
{
	(void)state;
	begin_http(200, "text/html; charset=utf-8", "<html>");
	assert_int_equal(judge(ENDPOINT_HTTP).outcome, OUTCOME_REFUSED);
}

static void test_verdict__no_whole_answer(void **state)
{
	static const struct {
		int error;
		enum outcome outcome;
		bool bad;
		const char *text;
	} cases[] = {
		{-ECONNRESET, OUTCOME_RETRY, false, "the reason"},
		{-ETIMEDOUT, OUTCOME_RETRY, false, "the reason"},
		{-EBADMSG, OUTCOME_RETRY, true, "the answer is no HTTP"},
		{-EFBIG, OUTCOME_REFUSED, true, "the answer is too large"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct verdict verdict;

		answer_begin(&answer);
		answer.error = cases[i].error;
		verdict = judge(ENDPOINT_HTTP);
		assert_int_equal(verdict.outcome, cases[i].outcome);
		assert_int_equal(verdict.bad_answer, cases[i].bad);
		assert_string_equal(verdict.text, cases[i].text);
	}
}

static int release(void **state)
{
	(void)state;
	answer_release(&answer);
	buffer_release(&scratch);
	return 0;
}

/* Texts of grpc-go, tonic and the Collector. Other refusals are not about compression. */
static void test_verdict__refused_compression(void **state)
{
	static const struct {
		int code;
		const char *text;
		bool packing;
	} rows[] = {
		{12, "grpc: Decompressor is not installed for grpc-encoding \"zstd\"", true},
		{12, "Content is compressed with `zstd` which isn't supported", true},
		{13, "grpc: failed to decompress the received message: gzip: invalid header", true},
		{3, "unsupported Content-Encoding", true},
		{12, "unknown service opentelemetry", false},
		{3, "invalid UTF-8 encoding", false},
		{7, "gzip", false},
		{14, "gzip", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		begin_grpc(rows[i].code, rows[i].text);
		assert_int_equal(judge(ENDPOINT_GRPC).packing, rows[i].packing);
	}
	begin_http(415, "text/plain", "");
	assert_true(judge(ENDPOINT_HTTP).packing);
	begin_http(400, "text/plain", "unsupported Content-Encoding: zstd");
	assert_true(judge(ENDPOINT_HTTP).packing);
	begin_http(400, "text/plain", "bad request");
	assert_false(judge(ENDPOINT_HTTP).packing);
	begin_http(503, "text/plain", "gzip");
	assert_false(judge(ENDPOINT_HTTP).packing);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdict__refused_compression),
		cmocka_unit_test(test_verdict__each_status_of_grpc),
		cmocka_unit_test(test_verdict__retry_info),
		cmocka_unit_test(test_verdict__statuses_of_http_instead),
		cmocka_unit_test(test_verdict__resets),
		cmocka_unit_test(test_verdict__each_status_of_http),
		cmocka_unit_test(test_verdict__retry_after),
		cmocka_unit_test(test_verdict__too_large),
		cmocka_unit_test(test_verdict__another_version),
		cmocka_unit_test(test_verdict__profiles_are_off),
		cmocka_unit_test(test_verdict__partial_success),
		cmocka_unit_test(test_verdict__success_with_garbage),
		cmocka_unit_test(test_verdict__a_web_page_is_no_success),
		cmocka_unit_test(test_verdict__no_whole_answer),
	};

	return cmocka_run_group_tests(tests, NULL, release);
}
