/* SPDX-License-Identifier: Apache-2.0 */
/* The first byte says what the rest is: a response, a status, base64 of one, or a Retry-After. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "exporter/http/retry_after.h"
#include "exporter/otlp/replies.h"
#include "ipc/time.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char text[REPLY_TEXT_BYTES])
{
	if (strnlen(text, REPLY_TEXT_BYTES) == REPLY_TEXT_BYTES)
		__builtin_trap();
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			__builtin_trap();
}

static void read_status(const uint8_t *data, size_t size)
{
	struct reply_status status;

	if (reply_read_status(data, size, &status) == 0 && !status.has_retry && status.retry_ns)
		__builtin_trap();
	check_text(status.text);
}

static void read_base64(const uint8_t *data, size_t size)
{
	uint8_t bytes[100];
	int64_t r = reply_decode_base64((const char *)data, size, bytes, sizeof(bytes));

	if (r > (int64_t)sizeof(bytes))
		__builtin_trap();
	if (r > 0)
		read_status(bytes, (size_t)r);
}

/* The text is cut in two at a newline: the header, and the server's date. */
static void read_retry_after(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size), *date;
	uint64_t ns = 0;

	if (!text)
		abort();
	date = strchr(text, '\n');
	if (date)
		*date++ = '\0';
	retry_after_parse(text, date ? date : "", 784111777, &ns);
	if (ns > 365ull * 86400 * NS_PER_SECOND)
		__builtin_trap();
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reply_partial partial;

	if (size == 0)
		return 0;
	switch (data[0] % 4) {
	case 0:
		reply_read_response(data + 1, size - 1, &partial);
		check_text(partial.text);
		break;
	case 1:
		read_status(data + 1, size - 1);
		break;
	case 2:
		read_base64(data + 1, size - 1);
		break;
	default:
		read_retry_after(data + 1, size - 1);
	}
	return 0;
}
