/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/broker/maps_line.h"

#include <stdio.h>
#include <string.h>

/* As show_vma_header_prefix() of fs/proc/task_mmu.c writes the addresses. */
void maps_line_init(struct maps_line *line, uint64_t start, uint64_t end)
{
	*line = (struct maps_line){0};
	line->length = (size_t)snprintf(line->key, sizeof(line->key), "%08llx-%08llx ",
					(unsigned long long)start, (unsigned long long)end);
}

/* Returns whether this was the last byte that the search wants. */
static bool take(struct maps_line *line, char byte)
{
	const size_t column = line->column++;
	size_t wanted = MAPS_LINE_PERMISSIONS;

	if (line->other)
		return false;
	if (column < line->length) {
		line->other = byte != line->key[column];
		return false;
	}
	if (line->whole)
		wanted = MAPS_LINE_REST;
	line->rest[line->rest_length++] = byte;
	return line->rest_length == wanted;
}

static bool is_end(const struct maps_line *line)
{
	return line->whole && line->rest_length > 0;
}

bool maps_line_take(struct maps_line *line, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (text[i] == '\n') {
			if (is_end(line))
				return true;
			line->column = 0;
			line->other = false;
		} else if (take(line, text[i])) {
			return true;
		}
	}
	return false;
}

bool maps_line_is_code(const struct maps_line *line)
{
	return line->rest_length >= MAPS_LINE_PERMISSIONS && line->rest[2] == 'x' &&
	       line->rest[4] == ' ';
}

/* "r--p 00000000 00:01 123    NAME": four columns without blanks, and blanks up to a name. */
bool maps_line_is_named(const struct maps_line *line, const char *name)
{
	const char *end = line->rest + line->rest_length, *at = line->rest;

	for (int column = 0; column < 4; column++) {
		while (at < end && *at != ' ')
			at++;
		while (at < end && *at == ' ')
			at++;
	}
	return (size_t)(end - at) == strlen(name) && memcmp(at, name, strlen(name)) == 0;
}
