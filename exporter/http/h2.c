/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP/2 (RFC 9113) by nghttp2, which bounds a block of headers by 64 KiB and keeps the windows.
 * No PING is ever sent: servers of gRPC count those as abuse.
 */
#include <errno.h>
#include <nghttp2/nghttp2.h>
#include <stdlib.h>
#include <string.h>

#include "exporter/http/session.h"

#define HEADER_LIST_MAX 32768u /* of an answer, as we tell the server */
#define PSEUDO_HEADERS	4u

struct h2 {
	nghttp2_session *session;
	struct answer *answer; /* NULL: no request is under way */
	const struct request *request;
	size_t sent;	     /* of the request's body */
	size_t header_bytes; /* of the answer, trailers and all */
	uint64_t received;   /* bytes since the request */
	int32_t stream;
	bool done, going_away, was_reset;
	bool answered; /* the server ended its side of the stream */
};

/* ---- what nghttp2 tells ---- */

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
		     size_t name_size, const uint8_t *value, size_t value_size, uint8_t flags,
		     void *user)
{
	struct h2 *h2 = user;

	(void)session;
	(void)flags;
	if (!h2->answer || frame->hd.stream_id != h2->stream)
		return 0;
	h2->header_bytes += name_size + value_size;
	if (h2->header_bytes > HEADER_LIST_MAX) {
		h2->answer->error = -EFBIG;
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE; /* resets the stream */
	}
	/* nghttp2 has checked that the status is three digits. */
	if (name_size == 7 && memcmp(name, ":status", 7) == 0 && value_size == 3)
		h2->answer->status =
			(value[0] - '0') * 100 + (value[1] - '0') * 10 + value[2] - '0';
	else
		answer_header(h2->answer, (const char *)name, name_size, (const char *)value,
			      value_size);
	return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *bytes,
		   size_t size, void *user)
{
	struct h2 *h2 = user;

	(void)flags;
	if (!h2->answer || stream != h2->stream || h2->answer->error)
		return 0;
	h2->answer->error = answer_body(h2->answer, bytes, size);
	if (h2->answer->error)
		nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, stream, NGHTTP2_CANCEL);
	return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
	struct h2 *h2 = user;

	if (frame->hd.type == NGHTTP2_GOAWAY)
		h2->going_away = true;
	if (frame->hd.type == NGHTTP2_RST_STREAM && frame->hd.stream_id == h2->stream)
		h2->was_reset = true;
	if (frame->hd.type != NGHTTP2_DATA && frame->hd.type != NGHTTP2_HEADERS)
		return 0;
	if (!h2->answer || frame->hd.stream_id != h2->stream ||
	    !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
		return 0;
	h2->answered = true;
	/* Nobody reads the rest of the request. */
	if (h2->sent < h2->request->size)
		nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, h2->stream, NGHTTP2_CANCEL);
	return 0;
}

static int on_stream_close(nghttp2_session *session, int32_t stream, uint32_t code, void *user)
{
	struct h2 *h2 = user;

	(void)session;
	if (!h2->answer || stream != h2->stream)
		return 0;
	h2->done = true;
	/* A server that has answered may reset the stream to be sent no more of the request. */
	if (h2->answered || h2->answer->error)
		return 0;
	/* nghttp2 closes streams that GOAWAY leaves out, and all when the server breaks a rule. */
	if (!h2->was_reset && code != NGHTTP2_REFUSED_STREAM) {
		h2->answer->error = -EBADMSG;
		return 0;
	}
	h2->answer->was_reset = true;
	h2->answer->reset_code = code;
	h2->answer->error = -ECONNRESET;
	return 0;
}

static ssize_t read_body(nghttp2_session *session, int32_t stream, uint8_t *buffer, size_t room,
			 uint32_t *flags, nghttp2_data_source *source, void *user)
{
	struct h2 *h2 = user;
	size_t size = h2->request->size - h2->sent;

	(void)session;
	(void)stream;
	(void)source;
	if (size > room)
		size = room;
	memcpy(buffer, h2->request->body + h2->sent, size);
	h2->sent += size;
	if (h2->sent == h2->request->size)
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	return (ssize_t)size;
}

/* ---- life ---- */

static nghttp2_session *new_session(struct h2 *h2)
{
	nghttp2_session_callbacks *callbacks;
	nghttp2_session *session = NULL;

	if (nghttp2_session_callbacks_new(&callbacks))
		return NULL;
	nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
	nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
	if (nghttp2_session_client_new(&session, callbacks, h2))
		session = NULL;
	nghttp2_session_callbacks_del(callbacks);
	return session;
}

static void h2_close(void *session)
{
	struct h2 *h2 = session;

	h2->answer = NULL;
	nghttp2_session_del(h2->session);
	free(h2);
}

static void *h2_open(void)
{
	static const nghttp2_settings_entry settings[] = {
		{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
		{NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, HEADER_LIST_MAX},
	};
	struct h2 *h2 = calloc(1, sizeof(*h2));

	if (!h2)
		return NULL;
	h2->session = new_session(h2);
	if (h2->session && nghttp2_submit_settings(h2->session, NGHTTP2_FLAG_NONE, settings,
						   sizeof(settings) / sizeof(*settings)) == 0)
		return h2;
	h2_close(h2);
	return NULL;
}

/* ---- request ---- */

static nghttp2_nv pair(const char *name, const char *value)
{
	return (nghttp2_nv){(uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value, strlen(name),
			    strlen(value), NGHTTP2_NV_FLAG_NONE};
}

/* The user's headers may hold secrets: no table of a connection keeps them. */
static nghttp2_nv secret_pair(const char *name, const char *value)
{
	nghttp2_nv row = pair(name, value);

	row.flags = NGHTTP2_NV_FLAG_NO_INDEX;
	return row;
}

static const char *scheme(const struct receiver *receiver)
{
	if (receiver->tls)
		return "https";
	return "http";
}

static int h2_submit(void *session, const struct request *request, struct answer *answer)
{
	struct h2 *h2 = session;
	struct request_headers headers;
	nghttp2_nv rows[PSEUDO_HEADERS + REQUEST_HEADERS_MAX];
	nghttp2_data_provider provider = {.read_callback = read_body};
	size_t count = 0;

	request_list_headers(request, &headers);
	rows[count++] = pair(":method", "POST");
	rows[count++] = pair(":scheme", scheme(request->receiver));
	rows[count++] = pair(":path", request->receiver->path);
	rows[count++] = pair(":authority", request->receiver->authority);
	for (size_t i = 0; i < headers.count; i++)
		rows[count++] = secret_pair(headers.row[i].name, headers.row[i].value);
	answer_begin(answer);
	h2->request = request;
	h2->answer = answer;
	h2->sent = 0;
	h2->received = 0;
	h2->header_bytes = 0;
	h2->done = h2->answered = h2->was_reset = false;
	h2->stream = nghttp2_submit_request(h2->session, NULL, rows, count, &provider, NULL);
	if (h2->stream < 0)
		return -EPROTO;
	return 0;
}

/* The session is at its end by GOAWAY, or because the server broke a rule and was told so. */
static int check_end(struct h2 *h2)
{
	if (nghttp2_session_want_read(h2->session))
		return 0;
	h2->going_away = true;
	if (h2->answer && !h2->done)
		return -EBADMSG;
	return 0;
}

static int h2_output(void *session, const uint8_t **ret_bytes, size_t *ret_size)
{
	struct h2 *h2 = session;
	ssize_t size = nghttp2_session_mem_send(h2->session, ret_bytes);

	*ret_size = 0;
	if (size < 0)
		return -EPROTO;
	*ret_size = (size_t)size;
	if (size == 0)
		return check_end(h2);
	return 0;
}

/* ---- answer ---- */

static int h2_input(void *session, const uint8_t *bytes, size_t size)
{
	struct h2 *h2 = session;
	ssize_t taken;

	h2->received += size;
	if (h2->received > SESSION_INPUT_MAX)
		return -EFBIG;
	taken = nghttp2_session_mem_recv(h2->session, bytes, size);
	if (taken < 0 || (size_t)taken != size)
		return -EBADMSG;
	return check_end(h2);
}

static void h2_end(void *session)
{
	struct h2 *h2 = session;

	h2->going_away = true;
	if (!h2->answer || h2->done)
		return;
	h2->done = true;
	h2->answer->error = -ECONNRESET;
}

static bool h2_is_done(const void *session)
{
	const struct h2 *h2 = session;

	return h2->done;
}

static bool h2_is_reusable(const void *session)
{
	const struct h2 *h2 = session;

	return !h2->going_away && nghttp2_session_check_request_allowed(h2->session);
}

const struct session_kind session_h2 = {
	.name = "HTTP/2",
	.open = h2_open,
	.close = h2_close,
	.submit = h2_submit,
	.output = h2_output,
	.input = h2_input,
	.end = h2_end,
	.is_done = h2_is_done,
	.is_reusable = h2_is_reusable,
};
