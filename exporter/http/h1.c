/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As much of HTTP/1.1 (RFC 9112) as a client needs. An answer is a status line, headers, and a
 * body. The body ends by its length, comes in chunks, or goes on up to the end of the connection.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/hex.h"
#include "exporter/http/session.h"

#define LINE_BYTES     8192u	    /* of one line of the head, and of the size of a chunk */
#define LINES_BYTES    32768u	    /* of all these lines of an answer */
#define INFORMAL_MAX   8u	    /* informational answers before the one that counts */
#define HEAD_BYTES     (128u << 10) /* of a request */
#define LENGTH_UNKNOWN UINT64_MAX

enum state {
	STATE_IDLE,
	STATE_STATUS,
	STATE_HEADERS,
	STATE_BODY, /* of a known length */
	STATE_BODY_TO_END,
	STATE_CHUNK_SIZE,
	STATE_CHUNK,
	STATE_CHUNK_END, /* the empty line behind a chunk */
	STATE_TRAILERS,
	STATE_DONE
};

struct h1 {
	enum state state;
	struct answer *answer;
	const struct request *request;
	struct buffer head; /* of the request */
	unsigned int sent;  /* parts of the request: the head, then the body */
	bool close;	    /* no other request may follow */
	bool chunked;
	uint64_t length; /* of the body, or what is left of it or of a chunk */
	unsigned int informal;
	char line[LINE_BYTES];
	size_t line_size, lines_size;
};

static void *h1_open(void)
{
	struct h1 *h1 = calloc(1, sizeof(*h1));

	if (h1)
		h1->state = STATE_IDLE;
	return h1;
}

static void h1_close(void *session)
{
	struct h1 *h1 = session;

	/* The head has the user's headers. */
	if (h1->head.bytes)
		explicit_bzero(h1->head.bytes, h1->head.size);
	buffer_release(&h1->head);
	free(h1);
}

/* ---- request ---- */

static void put_text(struct buffer *buffer, const char *text)
{
	buffer_put(buffer, text, strlen(text));
}

static void put_header(struct buffer *buffer, const char *name, const char *value)
{
	put_text(buffer, name);
	put_text(buffer, ": ");
	put_text(buffer, value);
	put_text(buffer, "\r\n");
}

static void put_head(struct buffer *buffer, const struct request *request)
{
	struct request_headers headers;
	char length[REQUEST_TEXT_BYTES];

	put_text(buffer, "POST ");
	put_text(buffer, request->receiver->path);
	put_text(buffer, " HTTP/1.1\r\n");
	put_header(buffer, "host", request->receiver->authority);
	snprintf(length, sizeof(length), "%zu", request->size);
	put_header(buffer, "content-length", length);
	request_list_headers(request, &headers);
	for (size_t i = 0; i < headers.count; i++)
		put_header(buffer, headers.row[i].name, headers.row[i].value);
	put_text(buffer, "\r\n");
}

/* Forgets what an earlier answer, or an informational one, had said. */
static void begin_answer(struct h1 *h1)
{
	h1->state = STATE_STATUS;
	h1->chunked = false;
	h1->length = LENGTH_UNKNOWN;
	h1->line_size = 0;
}

static int h1_submit(void *session, const struct request *request, struct answer *answer)
{
	struct h1 *h1 = session;

	h1->request = request;
	h1->answer = answer;
	h1->sent = 0;
	h1->informal = 0;
	h1->lines_size = 0;
	answer_begin(answer);
	begin_answer(h1);
	buffer_reset(&h1->head, HEAD_BYTES);
	put_head(&h1->head, request);
	return h1->head.error;
}

static int h1_output(void *session, const uint8_t **ret_bytes, size_t *ret_size)
{
	struct h1 *h1 = session;

	*ret_bytes = NULL;
	*ret_size = 0;
	if (h1->state == STATE_IDLE || h1->state == STATE_DONE)
		return 0;
	if (h1->sent == 0) {
		*ret_bytes = h1->head.bytes;
		*ret_size = h1->head.size;
	} else if (h1->sent == 1) {
		*ret_bytes = h1->request->body;
		*ret_size = h1->request->size;
	}
	if (h1->sent < 2)
		h1->sent++;
	return 0;
}

/* ---- answer ---- */

static void finish(struct h1 *h1, int error)
{
	h1->answer->error = error;
	h1->state = STATE_DONE;
	if (error || h1->sent < 2)
		h1->close = true;
}

/* "HTTP/1.1 200 OK" */
static int take_status_line(struct h1 *h1)
{
	const char *line = h1->line;

	if (h1->line_size < 12 || strncmp(line, "HTTP/1.", 7) != 0 || line[8] != ' ')
		return -EBADMSG;
	for (unsigned int i = 9; i < 12; i++)
		if (line[i] < '0' || line[i] > '9')
			return -EBADMSG;
	if (line[12] != '\0' && line[12] != ' ')
		return -EBADMSG;
	h1->answer->status = (line[9] - '0') * 100 + (line[10] - '0') * 10 + line[11] - '0';
	if (line[7] == '0')
		h1->close = true;
	h1->state = STATE_HEADERS;
	return 0;
}

static int take_length(struct h1 *h1, const char *value)
{
	uint64_t length = 0;

	if (*value == '\0' || h1->length != LENGTH_UNKNOWN)
		return -EBADMSG;
	for (; *value; value++) {
		if (*value < '0' || *value > '9')
			return -EBADMSG;
		length = length * 10 + (uint64_t)(*value - '0');
		if (length > SESSION_INPUT_MAX)
			return -EFBIG;
	}
	h1->length = length;
	return 0;
}

static int take_header(struct h1 *h1, const char *name, const char *value)
{
	if (strcasecmp(name, "content-length") == 0)
		return take_length(h1, value);
	if (strcasecmp(name, "transfer-encoding") == 0) {
		if (h1->chunked || strcasecmp(value, "chunked") != 0)
			return -EBADMSG;
		h1->chunked = true;
	} else if (strcasecmp(name, "connection") == 0 && strcasestr(value, "close")) {
		h1->close = true;
	} else {
		answer_header(h1->answer, name, strlen(name), value, strlen(value));
	}
	return 0;
}

/* Cuts "name: value" in two, and calls take_header(). */
static int take_header_line(struct h1 *h1)
{
	char *name = h1->line, *value = strchr(name, ':'), *end = name + h1->line_size;

	if (!value || value == name || value[-1] == ' ' || value[-1] == '\t')
		return -EBADMSG;
	*value++ = '\0';
	while (*value == ' ' || *value == '\t')
		value++;
	while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
		*--end = '\0';
	return take_header(h1, name, value);
}

static bool has_no_body(int status)
{
	return status == 204 || status == 304;
}

/* Chooses how the body ends. A length beside chunks could be read in two ways. */
static int begin_body(struct h1 *h1)
{
	if (h1->answer->status < 200) {
		if (h1->answer->status == 101 || ++h1->informal > INFORMAL_MAX)
			return -EBADMSG;
		begin_answer(h1);
		return 0;
	}
	if (h1->chunked && h1->length != LENGTH_UNKNOWN)
		return -EBADMSG;
	if (has_no_body(h1->answer->status) || h1->length == 0) {
		finish(h1, 0);
	} else if (h1->chunked) {
		h1->state = STATE_CHUNK_SIZE;
	} else if (h1->length != LENGTH_UNKNOWN) {
		h1->state = STATE_BODY;
	} else {
		h1->close = true;
		h1->state = STATE_BODY_TO_END;
	}
	return 0;
}

static int take_chunk_size(struct h1 *h1)
{
	const char *at = h1->line;
	uint64_t size = 0;

	if (hex_digit(*at) < 0)
		return -EBADMSG;
	for (; hex_digit(*at) >= 0; at++) {
		size = size << 4 | (uint64_t)hex_digit(*at);
		if (size > SESSION_INPUT_MAX)
			return -EFBIG;
	}
	if (*at != '\0' && *at != ';' && *at != ' ' && *at != '\t')
		return -EBADMSG;
	h1->length = size;
	h1->state = STATE_CHUNK;
	if (size == 0)
		h1->state = STATE_TRAILERS;
	return 0;
}

static int take_line(struct h1 *h1)
{
	switch (h1->state) {
	case STATE_STATUS:
		return take_status_line(h1);
	case STATE_HEADERS:
		if (h1->line_size == 0)
			return begin_body(h1);
		return take_header_line(h1);
	case STATE_CHUNK_SIZE:
		return take_chunk_size(h1);
	case STATE_CHUNK_END:
		h1->state = STATE_CHUNK_SIZE;
		return h1->line_size == 0 ? 0 : -EBADMSG;
	default: /* STATE_TRAILERS, which tell nothing that is wanted */
		if (h1->line_size == 0)
			finish(h1, 0);
		return 0;
	}
}

static bool is_body(enum state state)
{
	return state == STATE_BODY || state == STATE_BODY_TO_END || state == STATE_CHUNK;
}

/* Takes one byte of a line. A NUL or a bare CR would let two readers disagree. */
static int take_line_byte(struct h1 *h1, uint8_t byte)
{
	int r;

	if (++h1->lines_size > LINES_BYTES || h1->line_size == LINE_BYTES - 1)
		return -EFBIG;
	if (byte != '\n') {
		if (byte == '\0')
			return -EBADMSG;
		h1->line[h1->line_size++] = (char)byte;
		return 0;
	}
	if (h1->line_size > 0 && h1->line[h1->line_size - 1] == '\r')
		h1->line_size--;
	h1->line[h1->line_size] = '\0';
	if (memchr(h1->line, '\r', h1->line_size))
		return -EBADMSG;
	r = take_line(h1);
	h1->line_size = 0;
	return r;
}

/* Takes bytes of the body. Returns how many, or a negative errno. */
static int64_t take_body(struct h1 *h1, const uint8_t *bytes, size_t size)
{
	int r;

	if (h1->state != STATE_BODY_TO_END && size > h1->length)
		size = (size_t)h1->length;
	r = answer_body(h1->answer, bytes, size);
	if (r < 0)
		return r;
	if (h1->state == STATE_BODY_TO_END)
		return (int64_t)size;
	h1->length -= size;
	if (h1->length == 0 && h1->state == STATE_CHUNK)
		h1->state = STATE_CHUNK_END;
	else if (h1->length == 0)
		finish(h1, 0);
	return (int64_t)size;
}

static int64_t take_some(struct h1 *h1, const uint8_t *bytes, size_t size)
{
	int r;

	if (is_body(h1->state))
		return take_body(h1, bytes, size);
	r = take_line_byte(h1, *bytes);
	if (r < 0)
		return r;
	return 1;
}

/*
 * Bytes without a request, or behind an answer, belong to nothing: the connection is not used
 * again.
 */
static int h1_input(void *session, const uint8_t *bytes, size_t size)
{
	struct h1 *h1 = session;
	int64_t taken;

	while (size > 0) {
		if (h1->state == STATE_IDLE || h1->state == STATE_DONE) {
			h1->close = true;
			return 0;
		}
		taken = take_some(h1, bytes, size);
		if (taken < 0) {
			finish(h1, (int)taken);
			return 0;
		}
		bytes += taken;
		size -= (size_t)taken;
	}
	return 0;
}

static void h1_end(void *session)
{
	struct h1 *h1 = session;

	h1->close = true;
	if (h1->state == STATE_IDLE || h1->state == STATE_DONE)
		return;
	if (h1->state == STATE_BODY_TO_END)
		finish(h1, 0);
	else
		finish(h1, -ECONNRESET);
}

static bool h1_is_done(const void *session)
{
	const struct h1 *h1 = session;

	return h1->state == STATE_DONE;
}

static bool h1_is_reusable(const void *session)
{
	const struct h1 *h1 = session;

	return !h1->close;
}

const struct session_kind session_h1 = {
	.name = "HTTP/1.1",
	.open = h1_open,
	.close = h1_close,
	.submit = h1_submit,
	.output = h1_output,
	.input = h1_input,
	.end = h1_end,
	.is_done = h1_is_done,
	.is_reusable = h1_is_reusable,
};
