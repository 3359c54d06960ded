/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/broker/maps_line.h"

#include <stdlib.h>
#include <string.h>

#define CODE_COLUMN 2 /* of "r-xp" */
#define PERMISSIONS 4

void maps_line_init(struct maps_line *line, uint64_t address)
{
	*line = (struct maps_line){.address = address};
}

/* Reads a number and the byte behind it. Returns false where either is missing. */
static bool take_number(const char **at, int base, char behind, uint64_t *ret_number)
{
	char *end;

	*ret_number = strtoull(*at, &end, base);
	if (end == *at || *end != behind)
		return false;
	*at = end + 1;
	return true;
}

static bool take_permissions(const char **at, bool *ret_is_code)
{
	if (strcspn(*at, " ") != PERMISSIONS || !(*at)[PERMISSIONS])
		return false;
	*ret_is_code = (*at)[CODE_COLUMN] == 'x';
	*at += PERMISSIONS + 1;
	return true;
}

/* The blank behind the inode is there without a name as well. */
static bool take_file(const char **at, struct maps_line *line)
{
	uint64_t offset, major, minor;

	if (!take_number(at, 16, ' ', &offset) || !take_number(at, 16, ':', &major) ||
	    !take_number(at, 16, ' ', &minor) || !take_number(at, 10, ' ', &line->inode))
		return false;
	line->major = (uint32_t)major;
	line->minor = (uint32_t)minor;
	return true;
}

/* As show_map_vma() of fs/proc/task_mmu.c writes a line. Returns whether it has the address. */
static bool is_found(struct maps_line *line)
{
	const char *at = line->text;

	line->text[line->length] = '\0';
	if (!take_number(&at, 16, '-', &line->start) || !take_number(&at, 16, ' ', &line->end))
		return false;
	if (line->address < line->start || line->address >= line->end)
		return false;
	if (!take_permissions(&at, &line->is_code) || !take_file(&at, line))
		return false;
	line->name = at + strspn(at, " ");
	return true;
}

bool maps_line_take(struct maps_line *line, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (text[i] == '\n') {
			if (is_found(line))
				return true;
			line->length = 0;
		} else if (line->length < sizeof(line->text) - 1) {
			line->text[line->length++] = text[i];
		}
	}
	return false;
}
