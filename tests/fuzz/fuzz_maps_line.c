/* SPDX-License-Identifier: Apache-2.0 */
/* A list of mappings, in two pieces. A line that is found is the same in one piece. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "loader/broker/maps_line.h"

#define ADDRESS 0x401234u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first bytes of a line are all that counts of a name. */
static void check(const struct maps_line *line)
{
	if (line->start > ADDRESS || line->end <= ADDRESS)
		abort();
	if (line->name < line->text || line->name > line->text + line->length)
		abort();
	if (memchr(line->text, '\n', line->length) || line->text[line->length] != '\0')
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	const size_t first = size > 0 ? data[0] % size : 0;
	struct maps_line line, whole;
	bool found;

	maps_line_init(&whole, ADDRESS);
	maps_line_init(&line, ADDRESS);
	found = maps_line_take(&line, text, first) ||
		maps_line_take(&line, text + first, size - first);
	if (found != maps_line_take(&whole, text, size))
		abort();
	if (!found)
		return 0;
	check(&line);
	if (line.inode != whole.inode || line.is_code != whole.is_code ||
	    strcmp(line.name, whole.name) != 0)
		abort();
	return 0;
}
