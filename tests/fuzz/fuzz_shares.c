/* SPDX-License-Identifier: Apache-2.0 */
/* Rows and sums of the accounts as a worker sends them: the page stays in its format. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "exporter/metrics/figures.h"
#include "exporter/metrics/otlp.h"
#include "exporter/metrics/page.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ROW_BYTES  64 /* of the input: the rest of a row is 0 */
#define PAGE_BYTES (4u << 20)

/* A line has the form NAME{LABELS} NUMBER, and quotes within labels are escaped. */
static void check_line(const char *line, const char *end)
{
	bool quoted = false;

	for (const char *at = line; at < end; at++) {
		if (*at == '\\' && quoted)
			at++;
		else if (*at == '"')
			quoted = !quoted;
		else if ((unsigned char)*at < ' ' && *at != '\t')
			__builtin_trap();
	}
	if (quoted)
		__builtin_trap();
}

static void check_page(const char *page, size_t size)
{
	const char *end = page + size;

	while (page < end) {
		const char *stop = memchr(page, '\n', (size_t)(end - page));

		if (!stop)
			__builtin_trap();
		if (*page != '#')
			check_line(page, stop);
		page = stop + 1;
	}
}

static void take(struct shares *shares, const uint8_t *data, size_t size)
{
	struct message_account row = {0};

	row.kind = data[0] % 4;
	row.pid = data[1] % 8;
	row.id = data[2] % 4;
	row.epoch = data[3] % 2;
	memcpy(&row.values, data + 4, 16);
	memcpy(row.name, data + 20, 16);
	memcpy(row.group, data + 36, size - 36);
	if (shares_take(shares, &row) < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct figures figures;
	struct buffer buffer = {0};

	figures_init(&figures);
	for (; size >= ROW_BYTES; data += ROW_BYTES, size -= ROW_BYTES) {
		struct message_account_sums sums = {0};

		memcpy(&sums, data, ROW_BYTES);
		if (data[0] == 0xff)
			shares_take_sums(&figures.shares, &sums);
		else
			take(&figures.shares, data, ROW_BYTES);
	}
	shares_take_sums(&figures.shares, &(struct message_account_sums){0});
	buffer_reset(&buffer, PAGE_BYTES);
	page_write(&figures, PAGE_OPENMETRICS, &buffer);
	if (buffer.error)
		__builtin_trap();
	check_page((const char *)buffer.bytes, buffer.size);
	buffer_reset(&buffer, PAGE_BYTES);
	otlp_write(&figures, 1, &buffer);
	if (buffer.error)
		__builtin_trap();
	buffer_release(&buffer);
	figures_release(&figures);
	return 0;
}
