/* SPDX-License-Identifier: Apache-2.0 */
/* A list of mappings, in two pieces. The result is that of a plain search by lines. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "loader/broker/maps_line.h"

#define START 0x401000u
#define END   0x402000u
#define KEY   "00401000-00402000 "

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Returns the permissions in the first line that has all of them behind the key, or NULL. */
static const char *find(const char *text, size_t size)
{
	const size_t key = strlen(KEY);

	for (size_t at = 0; at < size; at++) {
		const char *line = text + at;

		if (at > 0 && line[-1] != '\n')
			continue;
		if (size - at < key + MAPS_LINE_PERMISSIONS || memcmp(line, KEY, key) != 0)
			continue;
		if (!memchr(line + key, '\n', MAPS_LINE_PERMISSIONS))
			return line + key;
	}
	return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *expected;
	const size_t first = size > 0 ? data[0] % size : 0;
	struct maps_line line;
	bool found;

	expected = find(text, size);
	maps_line_init(&line, START, END);
	found = maps_line_take(&line, text, first) ||
		maps_line_take(&line, text + first, size - first);
	if (found != (expected != NULL))
		abort();
	if (found && maps_line_is_code(&line) != (expected[2] == 'x' && expected[4] == ' '))
		abort();
	return 0;
}
