/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "exporter/http/answer.h"

static void put(struct answer *answer, const char *name, const char *value)
{
	answer_header(answer, name, strlen(name), value, strlen(value));
}

static void test_answer_http__headers(void **state)
{
	static struct answer answer;

	(void)state;
	answer_begin(&answer);
	put(&answer, "GRPC-Status", "14");
	put(&answer, "grpc-message", "100%25 of%0A%zz %4");
	put(&answer, "grpc-status-details-bin", "Zm9vYmFy");
	put(&answer, "grpc-encoding", "gzip");
	put(&answer, "Retry-After", "120");
	put(&answer, "Date", "Sun, 06 Nov 1994 08:49:37 GMT");
	put(&answer, "Content-Type", "application/x-protobuf; charset=x");
	put(&answer, "x-unknown", "9");
	assert_int_equal(answer.grpc_status, 14);
	assert_string_equal(answer.grpc_message, "100% of?%zz %4");
	assert_int_equal(answer.details_size, 6);
	assert_memory_equal(answer.details, "foobar", 6);
	assert_int_equal(answer.codec, CODEC_GZIP);
	assert_string_equal(answer.retry_after, "120");
	assert_string_equal(answer.date, "Sun, 06 Nov 1994 08:49:37 GMT");
	assert_true(answer.is_protobuf);
	answer_begin(&answer);
	assert_int_equal(answer.grpc_status, -1);
	assert_int_equal(answer.details_size, 0);
	answer_release(&answer);
}

static void test_answer_http__statuses_that_are_none(void **state)
{
	static const char *const bad[] = {"", "x", "-1", "1x", "99999999999999", " 1"};
	static struct answer answer;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		answer_begin(&answer);
		put(&answer, "grpc-status", bad[i]);
		assert_int_equal(answer.grpc_status, -1);
	}
	answer_release(&answer);
}

static void test_answer_http__long_values(void **state)
{
	static struct answer answer;
	static char value[8000];

	(void)state;
	memset(value, 'A', sizeof(value) - 1);
	answer_begin(&answer);
	put(&answer, "grpc-message", value);
	put(&answer, "grpc-status-details-bin", value);
	put(&answer, "retry-after", value);
	put(&answer, "grpc-encoding", value);
	assert_int_equal(strlen(answer.grpc_message), REPLY_TEXT_BYTES - 1);
	assert_int_equal(answer.details_size, 0);
	assert_string_equal(answer.retry_after, "");
	assert_int_equal(answer.codec, CODEC_UNKNOWN);
	answer_release(&answer);
}

/* Begins an answer of gRPC with this length before the message. */
static void begin_grpc(struct answer *answer, unsigned char flag, uint32_t length)
{
	unsigned char prefix[5] = {flag, (unsigned char)(length >> 24),
				   (unsigned char)(length >> 16), (unsigned char)(length >> 8),
				   (unsigned char)length};

	answer_begin(answer);
	assert_int_equal(answer_body(answer, prefix, sizeof(prefix)), 0);
}

static void test_answer_http__messages_of_grpc(void **state)
{
	static struct answer answer;
	struct buffer message = {0};

	(void)state;
	answer_begin(&answer);
	assert_int_equal(answer_unpack(&answer, ENDPOINT_GRPC, &message), 0);
	assert_int_equal(message.size, 0);
	begin_grpc(&answer, 0, 2);
	answer_body(&answer, "ab", 2);
	assert_int_equal(answer_unpack(&answer, ENDPOINT_GRPC, &message), 0);
	assert_int_equal(message.size, 2);
	begin_grpc(&answer, 0, 3);
	answer_body(&answer, "ab", 2);
	assert_int_equal(answer_unpack(&answer, ENDPOINT_GRPC, &message), -EBADMSG);
	begin_grpc(&answer, 2, 0);
	assert_int_equal(answer_unpack(&answer, ENDPOINT_GRPC, &message), -EBADMSG);
	begin_grpc(&answer, 1, 2);
	answer_body(&answer, "ab", 2);
	put(&answer, "grpc-encoding", "brotli");
	assert_int_equal(answer_unpack(&answer, ENDPOINT_GRPC, &message), -ENOTSUP);
	put(&answer, "grpc-encoding", "gzip");
	assert_int_equal(answer_unpack(&answer, ENDPOINT_GRPC, &message), -EBADMSG);
	begin_grpc(&answer, 0, UINT32_MAX);
	assert_int_equal(answer_unpack(&answer, ENDPOINT_GRPC, &message), -EBADMSG);
	answer_release(&answer);
	buffer_release(&message);
}

static void test_answer_http__bounds_bodies(void **state)
{
	static struct answer answer;
	static uint8_t piece[65536];
	size_t taken = 0;
	int r = 0;

	(void)state;
	answer_begin(&answer);
	for (; r == 0; taken += sizeof(piece))
		r = answer_body(&answer, piece, sizeof(piece));
	assert_int_equal(r, -EFBIG);
	assert_true(taken <= ANSWER_BYTES_MAX + 2 * sizeof(piece));
	answer_release(&answer);
}

/* ---- codecs ---- */

static void test_answer_http__codecs_there_and_back(void **state)
{
	static uint8_t bytes[300000];

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * i >> 7);
	for (unsigned int codec = 0; codec < CODECS; codec++)
		for (size_t size = 0; size <= sizeof(bytes); size = size * 7 + 1) {
			struct buffer packed = {0}, back = {0};

			buffer_reset(&packed, 1 << 20);
			buffer_reset(&back, size);
			assert_int_equal(codec_pack((enum codec)codec, bytes, size, &packed), 0);
			assert_int_equal(
				codec_unpack((enum codec)codec, packed.bytes, packed.size, &back),
				0);
			assert_int_equal(back.size, size);
			if (size > 0)
				assert_memory_equal(back.bytes, bytes, size);
			buffer_release(&packed);
			buffer_release(&back);
		}
}

/* A bomb unpacks to the limit and no further. */
static void test_answer_http__codecs_bound_what_they_unpack(void **state)
{
	static uint8_t zeros[8 << 20];

	(void)state;
	for (unsigned int codec = CODEC_GZIP; codec < CODECS; codec++) {
		struct buffer packed = {0}, back = {0};

		buffer_reset(&packed, 1 << 20);
		assert_int_equal(codec_pack((enum codec)codec, zeros, sizeof(zeros), &packed), 0);
		assert_true(packed.size < 100000);
		buffer_reset(&back, ANSWER_BYTES_MAX);
		assert_int_equal(codec_unpack((enum codec)codec, packed.bytes, packed.size, &back),
				 -EFBIG);
		assert_true(back.capacity <= 2 * ANSWER_BYTES_MAX);
		buffer_release(&packed);
		buffer_release(&back);
	}
}

static void test_answer_http__codecs_refuse_damage(void **state)
{
	static const char text[] = "some text, some text, some text";

	(void)state;
	for (unsigned int codec = CODEC_GZIP; codec < CODECS; codec++) {
		struct buffer packed = {0}, back = {0};

		buffer_reset(&packed, 1000);
		assert_int_equal(codec_pack((enum codec)codec, text, sizeof(text), &packed), 0);
		for (size_t size = 1; size < packed.size; size++) {
			buffer_reset(&back, 1000);
			assert_int_equal(codec_unpack((enum codec)codec, packed.bytes, size, &back),
					 -EBADMSG);
		}
		buffer_put(&packed, "x", 1);
		buffer_reset(&back, 1000);
		assert_int_equal(codec_unpack((enum codec)codec, packed.bytes, packed.size, &back),
				 -EBADMSG);
		buffer_release(&packed);
		buffer_release(&back);
	}
}

/* ---- receivers ---- */

static void test_answer_http__headers_of_the_user(void **state)
{
	static const struct {
		const char *name, *value;
		int r;
	} cases[] = {
		{"Authorization", "Bearer x", 0},
		{"x-bin", "", 0},
		{"", "x", -EINVAL},
		{"two words", "x", -EINVAL},
		{":path", "/", -EINVAL},
		{"name\r\n", "x", -EINVAL},
		{"name", "a\r\nb: c", -EINVAL},
		{"name", "a\nb", -EINVAL},
		{"Content-Length", "0", -EPERM},
		{"Transfer-Encoding", "chunked", -EPERM},
		{"grpc-timeout", "1S", -EPERM},
		{"HOST", "x", -EPERM},
	};
	static struct receiver receiver;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(receiver_add_header(&receiver, cases[i].name, cases[i].value),
				 cases[i].r);
	assert_int_equal(receiver.header_count, 2);
	assert_string_equal(receiver.headers[0].name, "authorization");
	while (receiver.header_count < RECEIVER_HEADERS_MAX)
		assert_int_equal(receiver_add_header(&receiver, "x", "y"), 0);
	assert_int_equal(receiver_add_header(&receiver, "x", "y"), -E2BIG);
	receiver_release(&receiver);
}

static void test_answer_http__receivers_that_no_request_can_name(void **state)
{
	static const struct receiver good = {
		.timeout_ns = 1, .host = "h", .authority = "h:1", .path = "/"};
	struct receiver receiver = good;

	(void)state;
	assert_true(receiver_is_valid(&receiver));
	receiver.path[0] = 'x';
	assert_false(receiver_is_valid(&receiver));
	receiver = good;
	memcpy(receiver.authority, "a b", 4);
	assert_false(receiver_is_valid(&receiver));
	memcpy(receiver.authority, "a\r\n", 4);
	assert_false(receiver_is_valid(&receiver));
	receiver = good;
	memset(receiver.host, 'h', sizeof(receiver.host));
	assert_false(receiver_is_valid(&receiver));
	receiver = good;
	receiver.timeout_ns = 0;
	assert_false(receiver_is_valid(&receiver));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answer_http__headers),
		cmocka_unit_test(test_answer_http__statuses_that_are_none),
		cmocka_unit_test(test_answer_http__long_values),
		cmocka_unit_test(test_answer_http__messages_of_grpc),
		cmocka_unit_test(test_answer_http__bounds_bodies),
		cmocka_unit_test(test_answer_http__codecs_there_and_back),
		cmocka_unit_test(test_answer_http__codecs_bound_what_they_unpack),
		cmocka_unit_test(test_answer_http__codecs_refuse_damage),
		cmocka_unit_test(test_answer_http__headers_of_the_user),
		cmocka_unit_test(test_answer_http__receivers_that_no_request_can_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
