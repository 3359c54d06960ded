/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The input is what a server sends over HTTP/1.1, or over HTTP/2 behind a first byte that is odd.
 * The second byte says how the input is cut, the third how the server's words are judged.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "exporter/delivery/verdict.h"
#include "exporter/http/session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct receiver receiver = {
	.timeout_ns = 1,
	.host = "host",
	.authority = "host:1",
	.path = "/",
};
static struct answer answer;
static struct buffer scratch;

static int take_output(const struct session_kind *kind, void *session)
{
	const uint8_t *bytes;
	size_t size;
	int r;

	do
		r = kind->output(session, &bytes, &size);
	while (r == 0 && size > 0);
	return r;
}

static void check_text(const char *text, size_t room)
{
	if (strnlen(text, room) == room)
		__builtin_trap();
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			__builtin_trap();
}

static void check(enum endpoint_protocol protocol)
{
	struct verdict verdict;

	verdict_of(&answer, protocol, 784111777, "reason", &scratch, &verdict);
	check_text(verdict.text, sizeof(verdict.text));
	check_text(answer.grpc_message, sizeof(answer.grpc_message));
	if (answer.body.size > ANSWER_BYTES_MAX + 5 || scratch.size > ANSWER_BYTES_MAX)
		__builtin_trap();
	if (verdict.outcome > OUTCOME_REFUSED)
		__builtin_trap();
}

static void feed(const struct session_kind *kind, void *session, const uint8_t *data, size_t size,
		 size_t piece)
{
	int r = take_output(kind, session);

	for (size_t at = 0; r == 0 && at < size; at += piece) {
		size_t now = size - at < piece ? size - at : piece;

		r = kind->input(session, data + at, now);
		if (r == 0)
			r = take_output(kind, session);
	}
	if (r == 0)
		kind->end(session);
	if (r == 0 && !kind->is_done(session))
		__builtin_trap();
	if (r < 0 && !answer.error)
		answer.error = r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct session_kind *kind = &session_h1;
	const struct request request = {&receiver, (const uint8_t *)"body", 4};
	void *session;

	if (size < 3)
		return 0;
	if (data[0] & 1)
		kind = &session_h2;
	receiver.protocol = data[2] & 1 ? ENDPOINT_GRPC : ENDPOINT_HTTP;
	session = kind->open();
	if (!session || kind->submit(session, &request, &answer) < 0)
		abort();
	feed(kind, session, data + 3, size - 3, 1u + data[1]);
	kind->close(session);
	check(receiver.protocol);
	return 0;
}
