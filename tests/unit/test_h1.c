/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exporter/http/session.h"

static struct receiver receiver = {
	.protocol = ENDPOINT_HTTP,
	.compression = CODEC_GZIP,
	.timeout_ns = 1,
	.host = "host",
	.authority = "host:4318",
	.path = "/v1development/profiles",
};
static const struct request request = {&receiver, (const uint8_t *)"body", 4};
static struct answer answer;

struct outcome {
	int error, status;
	const char *body;
	bool reusable, done;
};

static void take_output(void *session)
{
	const uint8_t *bytes;
	size_t size;

	do
		assert_int_equal(session_h1.output(session, &bytes, &size), 0);
	while (size > 0);
}

/* Has a session read the text in pieces of so many bytes. */
static struct outcome read_text(const char *text, size_t size, size_t piece, bool end)
{
	void *session = session_h1.open();
	struct outcome outcome;

	assert_int_equal(session_h1.submit(session, &request, &answer), 0);
	take_output(session);
	for (size_t at = 0; at < size; at += piece) {
		size_t now = size - at < piece ? size - at : piece;

		assert_int_equal(session_h1.input(session, (const uint8_t *)text + at, now), 0);
	}
	if (end)
		session_h1.end(session);
	buffer_put(&answer.body, "", 1);
	outcome = (struct outcome){
		.error = answer.error,
		.status = answer.status,
		.body = (const char *)answer.body.bytes,
		.reusable = session_h1.is_reusable(session),
		.done = session_h1.is_done(session),
	};
	session_h1.close(session);
	return outcome;
}

static void test_h1__answers(void **state)
{
	static const struct {
		const char *text;
		int status;
		const char *body;
		bool reusable, end;
	} cases[] = {
		{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, "ok", true, false},
		{"HTTP/1.1 200\r\ncontent-length:2 \r\n\r\nok", 200, "ok", true, false},
		{"HTTP/1.1 200 OK\nContent-Length: 0\n\n", 200, "", true, false},
		{"HTTP/1.1 204 No\r\n\r\n", 204, "", true, false},
		{"HTTP/1.1 503 No\r\nConnection: Close\r\nContent-Length: 0\r\n\r\n", 503, "",
		 false, false},
		{"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, "ok", false, false},
		{"HTTP/1.1 200 OK\r\n\r\nto the end", 200, "to the end", false, true},
		{"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200,
		 "ok", true, false},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nchu\r\nA;x=y\r\n"
		 "nked body.\r\n0\r\nTrailer: 1\r\n\r\n",
		 200, "chunked body.", true, false},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 200, "", true,
		 false},
		{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200", 200, "ok", false,
		 false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (size_t piece = 1; piece < 100; piece += 7) {
			struct outcome got = read_text(cases[i].text, strlen(cases[i].text), piece,
						       cases[i].end);

			assert_true(got.done);
			assert_int_equal(got.error, 0);
			assert_int_equal(got.status, cases[i].status);
			assert_string_equal(got.body, cases[i].body);
			assert_int_equal(got.reusable, cases[i].reusable);
		}
}

static void test_h1__refuses_what_is_no_answer(void **state)
{
	static const char *const bad[] = {
		"\r\n",
		"SSH-2.0-OpenSSH_9.2p1\r\n",
		"HTTP/2.0 200 OK\r\n\r\n",
		"HTTP/1.1 20 OK\r\n\r\n",
		"HTTP/1.1 2000 OK\r\n\r\n",
		"HTTP/1.1 abc OK\r\n\r\n",
		"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
		"HTTP/1.1 200 OK\r\n: no name\r\n\r\n",
		"HTTP/1.1 200 OK\r\nName : x\r\n\r\n",
		"HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n",
		"HTTP/1.1 101 Switching\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1y\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct outcome got = read_text(bad[i], strlen(bad[i]), 1000, false);

		assert_true(got.done);
		assert_int_equal(got.error, -EBADMSG);
		assert_false(got.reusable);
	}
	assert_int_equal(read_text("HTTP/1.1 200 O\0K\r\n", 18, 100, false).error, -EBADMSG);
}

static void test_h1__bounds_lengths(void **state)
{
	static const char *const bad[] = {
		"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551617\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(read_text(bad[i], strlen(bad[i]), 1000, false).error, -EFBIG);
}

/* Repeats a text behind another until the session has enough. */
static int read_endless(const char *begin, const char *more)
{
	void *session = session_h1.open();
	int error;

	assert_int_equal(session_h1.submit(session, &request, &answer), 0);
	take_output(session);
	session_h1.input(session, (const uint8_t *)begin, strlen(begin));
	for (size_t sent = 0; sent < (8u << 20) && !session_h1.is_done(session);
	     sent += strlen(more))
		session_h1.input(session, (const uint8_t *)more, strlen(more));
	assert_true(session_h1.is_done(session));
	error = answer.error;
	session_h1.close(session);
	return error;
}

static void test_h1__bounds_what_never_ends(void **state)
{
	(void)state;
	assert_int_equal(read_endless("", "x"), -EFBIG);
	assert_int_equal(read_endless("HTTP/1.1 200 OK\r\n", "a: b\r\n"), -EFBIG);
	assert_int_equal(read_endless("HTTP/1.1 200 OK\r\n\r\n", "0123456789abcdef"), -EFBIG);
	assert_int_equal(read_endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
				      "8\r\n01234567\r\n"),
			 -EFBIG);
	assert_int_equal(read_endless("", "HTTP/1.1 100 Continue\r\n\r\n"), -EBADMSG);
}

static void test_h1__an_end_in_the_middle(void **state)
{
	static const char text[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

	(void)state;
	for (size_t size = 0; size < strlen(text); size++)
		assert_int_equal(read_text(text, size, 1000, true).error, -ECONNRESET);
}

static void test_h1__the_request(void **state)
{
	void *session = session_h1.open();
	struct buffer sent = {0};
	const uint8_t *bytes;
	size_t size;

	(void)state;
	assert_int_equal(receiver_add_header(&receiver, "X-Scope-OrgID", "tenant"), 0);
	assert_int_equal(session_h1.submit(session, &request, &answer), 0);
	buffer_reset(&sent, 10000);
	do {
		session_h1.output(session, &bytes, &size);
		buffer_put(&sent, bytes, size);
	} while (size > 0);
	buffer_put(&sent, "", 1);
	assert_ptr_equal(strstr((char *)sent.bytes, "POST /v1development/profiles HTTP/1.1\r\n"
						    "host: host:4318\r\ncontent-length: 4\r\n"),
			 sent.bytes);
	assert_non_null(strstr((char *)sent.bytes, "\r\ncontent-encoding: gzip\r\n"));
	assert_non_null(strstr((char *)sent.bytes, "\r\nx-scope-orgid: tenant\r\n"));
	assert_string_equal(strstr((char *)sent.bytes, "\r\n\r\n"), "\r\n\r\nbody");
	session_h1.close(session);
	receiver_release(&receiver);
	buffer_release(&sent);
}

/* Nothing of the request was sent: another request cannot follow it. */
static void test_h1__an_answer_before_the_request(void **state)
{
	static const char text[] = "HTTP/1.1 413 No\r\nContent-Length: 0\r\n\r\n";
	void *session = session_h1.open();

	(void)state;
	assert_int_equal(session_h1.submit(session, &request, &answer), 0);
	assert_int_equal(session_h1.input(session, (const uint8_t *)text, strlen(text)), 0);
	assert_true(session_h1.is_done(session));
	assert_int_equal(answer.status, 413);
	assert_false(session_h1.is_reusable(session));
	session_h1.close(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_h1__answers),
		cmocka_unit_test(test_h1__refuses_what_is_no_answer),
		cmocka_unit_test(test_h1__bounds_lengths),
		cmocka_unit_test(test_h1__bounds_what_never_ends),
		cmocka_unit_test(test_h1__an_end_in_the_middle),
		cmocka_unit_test(test_h1__the_request),
		cmocka_unit_test(test_h1__an_answer_before_the_request),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	answer_release(&answer);
	return failed;
}
