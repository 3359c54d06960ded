/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "exporter/otlp/replies.h"
#include "ipc/time.h"
#include "tests/unit/build_request.h"

#define TYPE_PREFIX "type.googleapis.com/"

static void test_replies__partial_success(void **state)
{
	struct buffer reply = {0};
	struct reply_partial partial;
	size_t start;

	(void)state;
	buffer_reset(&reply, 1000);
	start = buffer_open(&reply, 1);
	build_number(&reply, 1, 7);
	build_text(&reply, 2, "too old\x1b[2J");
	buffer_close(&reply, start);
	assert_int_equal(reply_read_response(reply.bytes, reply.size, &partial), 0);
	assert_true(partial.present);
	assert_int_equal(partial.rejected, 7);
	assert_string_equal(partial.text, "too old?[2J");
	buffer_release(&reply);
}

static void test_replies__full_success(void **state)
{
	struct reply_partial partial;

	(void)state;
	assert_int_equal(reply_read_response("", 0, &partial), 0);
	assert_false(partial.present);
	assert_int_equal(reply_read_response("\x0a\x00", 2, &partial), 0);
	assert_false(partial.present);
	assert_int_equal(reply_read_response("\x0a\x05", 2, &partial), -EBADMSG);
	assert_int_equal(reply_read_response("\x0a\x02\x12\x09", 4, &partial), -EBADMSG);
	assert_int_equal(reply_read_response("<html>", 6, &partial), -EBADMSG);
}

/* Puts a detail of a type with a duration. */
static void put_detail(struct buffer *reply, const char *type, int64_t seconds, int64_t nanos)
{
	size_t detail = buffer_open(reply, 3), value, duration;

	build_text(reply, 1, type);
	value = buffer_open(reply, 2);
	duration = buffer_open(reply, 1);
	build_number(reply, 1, (uint64_t)seconds);
	build_number(reply, 2, (uint64_t)nanos);
	buffer_close(reply, duration);
	buffer_close(reply, value);
	buffer_close(reply, detail);
}

static struct reply_status read_retry(const char *type, int64_t seconds, int64_t nanos)
{
	struct buffer reply = {0};
	struct reply_status status;

	buffer_reset(&reply, 1000);
	build_number(&reply, 1, 14);
	build_text(&reply, 2, "come again");
	put_detail(&reply, "google.rpc.DebugInfo", 99, 0);
	put_detail(&reply, type, seconds, nanos);
	assert_int_equal(reply_read_status(reply.bytes, reply.size, &status), 0);
	assert_int_equal(status.code, 14);
	assert_string_equal(status.text, "come again");
	buffer_release(&reply);
	return status;
}

static void test_replies__retry_info(void **state)
{
	static const char type[] = TYPE_PREFIX "google.rpc.RetryInfo";
	struct reply_status status = read_retry(type, 3, 500000000);

	(void)state;
	assert_true(status.has_retry);
	assert_int_equal(status.retry_ns, 3500 * NS_PER_MS);
	assert_int_equal(read_retry(type, 0, 0).retry_ns, 0);
	assert_true(read_retry(type, 0, 0).has_retry);
	assert_int_equal(read_retry(type, -5, 0).retry_ns, 0);
	assert_int_equal(read_retry(type, 1, -1).retry_ns, 0);
	assert_int_equal(read_retry(type, INT64_MAX, 0).retry_ns, UINT64_MAX);
	assert_int_equal(read_retry(type, 1, INT64_MAX).retry_ns, 2 * NS_PER_SECOND - 1);
	assert_false(read_retry(TYPE_PREFIX "google.rpc.RetryInformation", 3, 0).has_retry);
	assert_false(read_retry("google.rpc.RetryInfo", 3, 0).has_retry);
	assert_false(read_retry("", 3, 0).has_retry);
}

static void test_replies__statuses_that_end_early(void **state)
{
	struct buffer reply = {0};
	struct reply_status status;

	(void)state;
	buffer_reset(&reply, 1000);
	put_detail(&reply, TYPE_PREFIX "google.rpc.RetryInfo", 300, 5);
	for (size_t size = 1; size < reply.size; size++)
		assert_int_equal(reply_read_status(reply.bytes, size, &status), -EBADMSG);
	buffer_release(&reply);
}

static void test_replies__text_is_bounded(void **state)
{
	char text[REPLY_TEXT_BYTES], long_text[1000];

	(void)state;
	memset(long_text, 'a', sizeof(long_text));
	reply_text(text, long_text, sizeof(long_text));
	assert_int_equal(strlen(text), REPLY_TEXT_BYTES - 1);
	reply_text(text,
		   "a\n\x7f\x80"
		   "b",
		   5);
	assert_string_equal(text, "a???b");
	reply_text(text, NULL, 0);
	assert_string_equal(text, "");
}

static void test_replies__base64(void **state)
{
	static const struct {
		const char *text;
		int64_t size;
		const char *bytes;
	} cases[] = {
		{"", 0, ""},
		{"Zg==", 1, "f"},
		{"Zg", 1, "f"},
		{"Zm8=", 2, "fo"},
		{"Zm9v", 3, "foo"},
		{"Zm9vYmFy", 6, "foobar"},
		{"Zm9v\n", -EBADMSG, ""},
		{"Z=9v", -EBADMSG, ""},
		{"Zm9vYmFyIQ", -EFBIG, ""},
	};
	uint8_t bytes[6];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(reply_decode_base64(cases[i].text, strlen(cases[i].text), bytes,
						     sizeof(bytes)),
				 cases[i].size);
		if (cases[i].size > 0)
			assert_memory_equal(bytes, cases[i].bytes, (size_t)cases[i].size);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replies__partial_success),
		cmocka_unit_test(test_replies__full_success),
		cmocka_unit_test(test_replies__retry_info),
		cmocka_unit_test(test_replies__statuses_that_end_early),
		cmocka_unit_test(test_replies__text_is_bounded),
		cmocka_unit_test(test_replies__base64),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
