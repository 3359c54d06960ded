/* SPDX-License-Identifier: Apache-2.0 */
/* The server is nghttp2's own, behind the same bytes. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <nghttp2/nghttp2.h>
#include <stdlib.h>
#include <string.h>

#include "exporter/http/session.h"

static struct receiver receiver = {
	.protocol = ENDPOINT_GRPC,
	.timeout_ns = 1500000000,
	.host = "host",
	.authority = "host:4317",
	.path = "/service/Export",
};

struct rig {
	void *client;
	nghttp2_session *server;
	struct answer answer;
	struct request request;
	struct buffer headers, body; /* of the request, as the server sees it */
	int32_t stream;
	bool complete;
};

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
		     size_t name_size, const uint8_t *value, size_t value_size, uint8_t flags,
		     void *user)
{
	struct rig *rig = user;

	(void)session;
	(void)flags;
	rig->stream = frame->hd.stream_id;
	buffer_put(&rig->headers, name, name_size);
	buffer_put(&rig->headers, "=", 1);
	buffer_put(&rig->headers, value, value_size);
	buffer_put(&rig->headers, "\n", 1);
	return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *bytes,
		   size_t size, void *user)
{
	struct rig *rig = user;

	(void)session;
	(void)flags;
	(void)stream;
	buffer_put(&rig->body, bytes, size);
	return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
	struct rig *rig = user;

	(void)session;
	if (frame->hd.type == NGHTTP2_DATA && frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
		rig->complete = true;
	return 0;
}

static void begin(struct rig *rig, const uint8_t *body, size_t size)
{
	nghttp2_session_callbacks *callbacks;

	*rig = (struct rig){.request = {&receiver, body, size}};
	buffer_reset(&rig->headers, 10000);
	buffer_reset(&rig->body, 10 << 20);
	assert_int_equal(nghttp2_session_callbacks_new(&callbacks), 0);
	nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
	assert_int_equal(nghttp2_session_server_new(&rig->server, callbacks, rig), 0);
	nghttp2_session_callbacks_del(callbacks);
	assert_int_equal(nghttp2_submit_settings(rig->server, 0, NULL, 0), 0);
	rig->client = session_h2.open();
	assert_non_null(rig->client);
	assert_int_equal(session_h2.submit(rig->client, &rig->request, &rig->answer), 0);
}

static void end(struct rig *rig)
{
	session_h2.close(rig->client);
	nghttp2_session_del(rig->server);
	answer_release(&rig->answer);
	buffer_release(&rig->headers);
	buffer_release(&rig->body);
}

/* Moves bytes both ways until there are none. Returns the client's error. */
static int talk(struct rig *rig)
{
	const uint8_t *bytes;
	size_t size;
	ssize_t got;
	int r;

	do {
		r = session_h2.output(rig->client, &bytes, &size);
		if (r == 0 && size > 0)
			nghttp2_session_mem_recv(rig->server, bytes, size);
		got = nghttp2_session_mem_send(rig->server, &bytes);
		if (r == 0 && got > 0)
			r = session_h2.input(rig->client, bytes, (size_t)got);
	} while (r == 0 && (size > 0 || got > 0));
	return r;
}

static void submit_headers(struct rig *rig, uint8_t flags, const char *const *pairs)
{
	nghttp2_nv rows[8];
	size_t count = 0;

	for (; pairs[2 * count]; count++)
		rows[count] =
			(nghttp2_nv){(uint8_t *)(uintptr_t)pairs[2 * count],
				     (uint8_t *)(uintptr_t)pairs[2 * count + 1],
				     strlen(pairs[2 * count]), strlen(pairs[2 * count + 1]), 0};
	assert_true(nghttp2_submit_headers(rig->server, flags, rig->stream, NULL, rows, count,
					   NULL) >= 0);
}

static void test_h2__a_request_and_its_answer(void **state)
{
	static const char *const trailers_only[] = {":status", "200", "grpc-status", "0", NULL};
	static uint8_t body[200000];
	struct rig rig;

	(void)state;
	memset(body, 'b', sizeof(body));
	begin(&rig, body, sizeof(body));
	assert_int_equal(talk(&rig), 0);
	assert_true(rig.complete);
	assert_int_equal(rig.body.size, sizeof(body));
	assert_memory_equal(rig.body.bytes, body, sizeof(body));
	buffer_put(&rig.headers, "", 1);
	assert_ptr_equal(strstr((char *)rig.headers.bytes,
				":method=POST\n:scheme=http\n:path=/service/Export\n"
				":authority=host:4317\nte=trailers\n"
				"content-type=application/grpc+proto\n"),
			 rig.headers.bytes);
	assert_non_null(strstr((char *)rig.headers.bytes, "grpc-timeout=1500m\n"));
	assert_false(session_h2.is_done(rig.client));
	submit_headers(&rig, NGHTTP2_FLAG_END_STREAM, trailers_only);
	assert_int_equal(talk(&rig), 0);
	assert_true(session_h2.is_done(rig.client));
	assert_int_equal(rig.answer.status, 200);
	assert_int_equal(rig.answer.grpc_status, 0);
	assert_int_equal(rig.answer.error, 0);
	assert_true(session_h2.is_reusable(rig.client));
	end(&rig);
}

static void test_h2__a_reset(void **state)
{
	struct rig rig;

	(void)state;
	begin(&rig, (const uint8_t *)"x", 1);
	assert_int_equal(talk(&rig), 0);
	nghttp2_submit_rst_stream(rig.server, 0, rig.stream, NGHTTP2_REFUSED_STREAM);
	assert_int_equal(talk(&rig), 0);
	assert_true(session_h2.is_done(rig.client));
	assert_true(rig.answer.was_reset);
	assert_int_equal(rig.answer.reset_code, NGHTTP2_REFUSED_STREAM);
	end(&rig);
}

/* A stream that GOAWAY does not cover was not looked at. */
static void test_h2__goaway(void **state)
{
	struct rig rig;

	(void)state;
	begin(&rig, (const uint8_t *)"x", 1);
	assert_int_equal(talk(&rig), 0);
	nghttp2_submit_goaway(rig.server, 0, 0, NGHTTP2_NO_ERROR, NULL, 0);
	talk(&rig);
	assert_true(session_h2.is_done(rig.client));
	assert_int_equal(rig.answer.reset_code, NGHTTP2_REFUSED_STREAM);
	assert_false(session_h2.is_reusable(rig.client));
	end(&rig);
}

static void test_h2__an_end_in_the_middle(void **state)
{
	struct rig rig;

	(void)state;
	begin(&rig, (const uint8_t *)"x", 1);
	assert_int_equal(talk(&rig), 0);
	session_h2.end(rig.client);
	assert_true(session_h2.is_done(rig.client));
	assert_int_equal(rig.answer.error, -ECONNRESET);
	end(&rig);
}

static void test_h2__what_is_no_http_2(void **state)
{
	static const char text[] = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n";
	struct rig rig;
	const uint8_t *bytes;
	size_t size;
	int r;

	(void)state;
	begin(&rig, (const uint8_t *)"x", 1);
	r = session_h2.input(rig.client, (const uint8_t *)text, strlen(text));
	while (r == 0) {
		r = session_h2.output(rig.client, &bytes, &size);
		if (size == 0)
			break;
	}
	/* nghttp2 says that the server did not look at the request, which goes again. */
	if (r == 0)
		assert_int_equal(rig.answer.reset_code, NGHTTP2_REFUSED_STREAM);
	assert_false(session_h2.is_reusable(rig.client));
	end(&rig);
}

static void test_h2__bounds_headers(void **state)
{
	static char value[16000];
	const char *const many[] = {":status", "200", "a", value, "b", value, "c", value, NULL};
	struct rig rig;

	(void)state;
	memset(value, 'v', sizeof(value) - 1);
	begin(&rig, (const uint8_t *)"x", 1);
	assert_int_equal(talk(&rig), 0);
	submit_headers(&rig, NGHTTP2_FLAG_END_STREAM, many);
	assert_int_equal(talk(&rig), 0);
	assert_int_equal(rig.answer.error, -EFBIG);
	end(&rig);
}

/* ---- receivers ---- */

static const struct endpoint endpoint = {
	.protocol = ENDPOINT_HTTP,
	.compression = ENDPOINT_ZSTD,
	.is_tls = 1,
	.timeout_ms = 2000,
	.host = "host",
	.authority = "host:4318",
	.path = "/path",
	.headers = "a\0b\0authorization\0Bearer x\0",
};

static void test_h2__receivers(void **state)
{
	struct receiver taken;

	(void)state;
	assert_int_equal(receiver_take(&taken, &endpoint), 0);
	assert_int_equal(taken.compression, CODEC_ZSTD);
	assert_int_equal(taken.timeout_ns, 2000000000);
	assert_int_equal(taken.header_count, 2);
	assert_string_equal(taken.headers[1].name, "authorization");
	assert_string_equal(taken.headers[1].value, "Bearer x");
	receiver_release(&taken);
}

static int take_bad(size_t offset, int byte, size_t size)
{
	struct endpoint bad = endpoint;
	struct receiver taken;
	int r;

	memset((char *)&bad + offset, byte, size);
	r = receiver_take(&taken, &bad);
	receiver_release(&taken);
	return r;
}
#define TAKE_BAD(field, byte) \
	take_bad(offsetof(struct endpoint, field), byte, sizeof(endpoint.field))

static void test_h2__receivers_that_cannot_be(void **state)
{
	(void)state;
	assert_int_equal(TAKE_BAD(protocol, 9), -EBADMSG);
	assert_int_equal(TAKE_BAD(compression, 9), -EBADMSG);
	assert_int_equal(TAKE_BAD(timeout_ms, 0), -EBADMSG);
	assert_int_equal(TAKE_BAD(host, 'h'), -EBADMSG);
	assert_int_equal(TAKE_BAD(host, 0), -EBADMSG);
	assert_int_equal(TAKE_BAD(authority, '\n'), -EBADMSG);
	assert_int_equal(TAKE_BAD(path, 'x'), -EBADMSG);
	assert_int_equal(TAKE_BAD(headers, 'x'), -EBADMSG); /* no NUL */
	assert_int_equal(take_bad(offsetof(struct endpoint, headers), ':', 1), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_h2__a_request_and_its_answer),
		cmocka_unit_test(test_h2__a_reset),
		cmocka_unit_test(test_h2__goaway),
		cmocka_unit_test(test_h2__an_end_in_the_middle),
		cmocka_unit_test(test_h2__what_is_no_http_2),
		cmocka_unit_test(test_h2__bounds_headers),
		cmocka_unit_test(test_h2__receivers),
		cmocka_unit_test(test_h2__receivers_that_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
