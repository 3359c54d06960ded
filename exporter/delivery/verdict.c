/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/delivery/verdict.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "exporter/http/retry_after.h"

#define OTHER_VERSION                                                                         \
	"the server speaks another version of OTLP profiles; keyhole speaks 1.10 (Collector " \
	"0.148 "                                                                              \
	"and newer, Pyroscope 2)"
#define PROFILES_OFF                                                                               \
	"the server takes no profiles (a Collector needs --feature-gates=service.profilesSupport " \
	"and a pipeline)"

enum retry {
	RETRY_NEVER,
	RETRY_ALWAYS,
	RETRY_TOLD
};

enum grpc_code {
#define G(number, name, retry) GRPC_##name = (number),
#include "exporter/delivery/grpc_codes.def"
#undef G
	GRPC_CODES
};

static const struct {
	const char *name;
	enum retry retry;
} grpc_codes[GRPC_CODES] = {
#define G(number, name, retry) [number] = {#name, RETRY_##retry},
#include "exporter/delivery/grpc_codes.def"
#undef G
};

/* Texts by which servers say that a request is too large, or is no request to them. */
static const char *const too_large_texts[] = {"too large", "larger than max"};
static const char *const version_texts[] = {"wrong wireType", "illegal wireType",
					    "cannot parse invalid wire-format"};

/* Texts by which gRPC and HTTP servers say that they cannot unpack a request. */
static const char *const packing_texts[] = {
	"compress", "content-encoding", "content encoding", "grpc-encoding", "gzip", "zstd"};

static bool has_text(const char *text, const char *const *wanted, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcasestr(text, wanted[i]))
			return true;
	return false;
}
#define HAS_TEXT(text, wanted) has_text(text, wanted, sizeof(wanted) / sizeof(*(wanted)))

__attribute__((format(printf, 2, 3))) static void say(struct verdict *verdict, const char *format,
						      ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(verdict->text, sizeof(verdict->text), format, arguments);
	va_end(arguments);
}

/* Says a name and, where the server sent one, its text. */
static void say_with(struct verdict *verdict, const char *name, const char *text)
{
	if (text[0])
		say(verdict, "%s: %s", name, text);
	else
		say(verdict, "%s", name);
}

/* ---- success ---- */

/* The data were taken: an answer that cannot be read changes nothing about that. */
static void judge_success(const struct answer *answer, enum endpoint_protocol protocol,
			  struct buffer *scratch, struct verdict *verdict)
{
	struct reply_partial partial = {0};
	int r = answer_unpack(answer, protocol, scratch);

	if (answer->is_page) {
		say(verdict, "the answer is a web page: is the address that of an OTLP receiver?");
		return;
	}
	verdict->outcome = OUTCOME_DELIVERED;
	if (r == 0)
		r = reply_read_response(scratch->bytes, scratch->size, &partial);
	if (r < 0) {
		verdict->bad_answer = true;
		return;
	}
	if (!partial.present)
		return;
	verdict->partial = true;
	verdict->rejected = partial.rejected;
	say(verdict, "%llu profiles rejected: %s", (unsigned long long)partial.rejected,
	    partial.text);
}

/* ---- gRPC ---- */

static int code_of_http(int status)
{
	switch (status) {
	case 400:
		return GRPC_INTERNAL;
	case 401:
		return GRPC_UNAUTHENTICATED;
	case 403:
		return GRPC_PERMISSION_DENIED;
	case 404:
		return GRPC_UNIMPLEMENTED;
	case 429:
	case 502:
	case 503:
	case 504:
		return GRPC_UNAVAILABLE;
	default:
		return GRPC_UNKNOWN;
	}
}

/* RST_STREAM's codes, RFC 9113 section 7, and what gRPC over HTTP/2 has for them. */
static int code_of_reset(uint32_t reset)
{
	switch (reset) {
	case 7: /* REFUSED_STREAM */
		return GRPC_UNAVAILABLE;
	case 8: /* CANCEL */
		return GRPC_CANCELLED;
	case 11: /* ENHANCE_YOUR_CALM */
		return GRPC_RESOURCE_EXHAUSTED;
	case 12: /* INADEQUATE_SECURITY */
		return GRPC_PERMISSION_DENIED;
	default:
		return GRPC_INTERNAL;
	}
}

static void take_retry_after(const struct answer *answer, int64_t now, struct verdict *verdict)
{
	if (answer->retry_after[0] &&
	    retry_after_parse(answer->retry_after, answer->date, now, &verdict->wait_ns) < 0)
		verdict->bad_answer = true;
}

/* Returns whether the server said when to come again. */
static bool take_retry_info(const struct answer *answer, struct verdict *verdict)
{
	struct reply_status status;

	if (answer->details_size == 0)
		return false;
	if (reply_read_status(answer->details, answer->details_size, &status) < 0) {
		verdict->bad_answer = true;
		return false;
	}
	verdict->wait_ns = status.retry_ns;
	return status.has_retry;
}

static enum outcome outcome_of_code(int code, bool told)
{
	if (code < 0 || code >= GRPC_CODES)
		return OUTCOME_REFUSED;
	if (grpc_codes[code].retry == RETRY_ALWAYS)
		return OUTCOME_RETRY;
	if (grpc_codes[code].retry == RETRY_TOLD && told)
		return OUTCOME_RETRY;
	return OUTCOME_REFUSED;
}

static const char *name_of_code(int code)
{
	if (code < 0 || code >= GRPC_CODES)
		return "unknown gRPC status";
	return grpc_codes[code].name;
}

/* A server's bare RESOURCE_EXHAUSTED is about size more often than not. */
static bool is_too_large(int code, const struct answer *answer, const struct verdict *verdict)
{
	if (verdict->outcome != OUTCOME_REFUSED || answer->was_reset)
		return false;
	return code == GRPC_RESOURCE_EXHAUSTED || HAS_TEXT(answer->grpc_message, too_large_texts);
}

static void explain(const char *text, bool is_off, struct verdict *verdict)
{
	if (HAS_TEXT(text, version_texts))
		say(verdict, OTHER_VERSION);
	else if (is_off)
		say(verdict, PROFILES_OFF);
}

/* grpc-go has INTERNAL for bytes that do not unpack, other servers INVALID_ARGUMENT. */
static bool is_about_packing(int code, const char *text)
{
	if (code != GRPC_UNIMPLEMENTED && code != GRPC_INVALID_ARGUMENT && code != GRPC_INTERNAL)
		return false;
	return HAS_TEXT(text, packing_texts);
}

static void judge_code(const struct answer *answer, int code, struct verdict *verdict)
{
	bool told = take_retry_info(answer, verdict);

	verdict->outcome = outcome_of_code(code, told);
	say_with(verdict, name_of_code(code), answer->grpc_message);
	if (is_too_large(code, answer, verdict))
		verdict->outcome = OUTCOME_TOO_LARGE;
	if (verdict->outcome != OUTCOME_REFUSED)
		return;
	verdict->packing = is_about_packing(code, answer->grpc_message);
	if (!verdict->packing)
		explain(answer->grpc_message, code == GRPC_UNIMPLEMENTED, verdict);
}

static void judge_grpc(const struct answer *answer, int64_t now, struct buffer *scratch,
		       struct verdict *verdict)
{
	if (answer->was_reset) {
		judge_code(answer, code_of_reset(answer->reset_code), verdict);
	} else if (answer->grpc_status == GRPC_OK) {
		judge_success(answer, ENDPOINT_GRPC, scratch, verdict);
	} else if (answer->grpc_status > 0) {
		judge_code(answer, answer->grpc_status, verdict);
	} else {
		judge_code(answer, code_of_http(answer->status), verdict);
		take_retry_after(answer, now, verdict);
		if (answer->status != 200)
			say(verdict, "HTTP status %d", answer->status);
		if (answer->status == 413)
			verdict->outcome = OUTCOME_TOO_LARGE;
	}
}

/* ---- HTTP ---- */

/* Returns the text that a refusal came with: a Status, or what a proxy wrote. */
static void text_of_refusal(const struct answer *answer, struct buffer *scratch,
			    struct verdict *verdict, char ret_text[REPLY_TEXT_BYTES])
{
	struct reply_status status;
	int r = answer_unpack(answer, ENDPOINT_HTTP, scratch);

	ret_text[0] = '\0';
	if (r == 0 && !answer->is_protobuf) {
		reply_text(ret_text, scratch->bytes, scratch->size);
		return;
	}
	if (r == 0)
		r = reply_read_status(scratch->bytes, scratch->size, &status);
	if (r == 0)
		memcpy(ret_text, status.text, sizeof(status.text));
	else
		verdict->bad_answer = true;
}

static bool is_retryable(int status)
{
	return status == 429 || (status >= 502 && status <= 504);
}

static void judge_http(const struct answer *answer, int64_t now, struct buffer *scratch,
		       struct verdict *verdict)
{
	char text[REPLY_TEXT_BYTES], name[32];

	if (answer->status >= 200 && answer->status <= 299) {
		judge_success(answer, ENDPOINT_HTTP, scratch, verdict);
		return;
	}
	text_of_refusal(answer, scratch, verdict, text);
	snprintf(name, sizeof(name), "HTTP status %d", answer->status);
	say_with(verdict, name, text);
	if (is_retryable(answer->status)) {
		verdict->outcome = OUTCOME_RETRY;
		take_retry_after(answer, now, verdict);
	} else if (answer->status == 413 ||
		   (answer->status == 400 && HAS_TEXT(text, too_large_texts))) {
		verdict->outcome = OUTCOME_TOO_LARGE;
	} else if (answer->status == 415 ||
		   (answer->status == 400 && HAS_TEXT(text, packing_texts))) {
		verdict->packing = true;
	} else {
		explain(text, answer->status == 404, verdict);
	}
}

/* ---- any ---- */

/* No whole answer came. A server that answers with too many bytes does so again. */
static void judge_failure(const struct answer *answer, const char *reason, struct verdict *verdict)
{
	if (answer->error == -EFBIG) {
		verdict->bad_answer = true;
		say(verdict, "the answer is too large");
		return;
	}
	verdict->outcome = OUTCOME_RETRY;
	verdict->bad_answer = answer->error == -EBADMSG;
	if (answer->error == -EBADMSG)
		say(verdict, "the answer is no HTTP");
	else
		say(verdict, "%s", reason);
}

void verdict_of(const struct answer *answer, enum endpoint_protocol protocol, int64_t now,
		const char *reason, struct buffer *scratch, struct verdict *ret_verdict)
{
	*ret_verdict = (struct verdict){.outcome = OUTCOME_REFUSED};
	if (answer->error && !answer->was_reset)
		judge_failure(answer, reason, ret_verdict);
	else if (protocol == ENDPOINT_GRPC)
		judge_grpc(answer, now, scratch, ret_verdict);
	else if (answer->was_reset)
		judge_failure(answer, "the server reset the stream", ret_verdict);
	else
		judge_http(answer, now, scratch, ret_verdict);
}
