/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/broker/maps_line.h"

#include <stdio.h>

/* As show_vma_header_prefix() of fs/proc/task_mmu.c writes the addresses. */
void maps_line_init(struct maps_line *line, uint64_t start, uint64_t end)
{
	*line = (struct maps_line){0};
	line->length = (size_t)snprintf(line->key, sizeof(line->key), "%08llx-%08llx ",
					(unsigned long long)start, (unsigned long long)end);
}

/* Returns whether this was the last byte of the permissions. */
static bool take(struct maps_line *line, char byte)
{
	const size_t column = line->column++;

	if (line->other)
		return false;
	if (column < line->length) {
		line->other = byte != line->key[column];
		return false;
	}
	line->permissions[column - line->length] = byte;
	return column - line->length == MAPS_LINE_PERMISSIONS - 1;
}

bool maps_line_take(struct maps_line *line, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (text[i] == '\n') {
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
	return line->permissions[2] == 'x' && line->permissions[4] == ' ';
}
