/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/output/screen.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/terminal.h"

#define INDENT 4

unsigned int screen_columns(int fd)
{
	const char *term = getenv("TERM");

	if (!isatty(fd) || (term && !strcmp(term, "dumb")))
		return 0;
	return terminal_width(fd, SCREEN_COLUMNS_MIN, SCREEN_COLUMNS_MAX);
}

void screen_replace_line(const char *line, unsigned int columns, FILE *stream)
{
	/* the last column stays free, because some terminals wrap there */
	fprintf(stream, "\r%.*s\033[K", (int)columns - 1, line);
}

/* Returns how many bytes of the line fit into `room` columns: up to a blank, if there is one. */
static size_t fit(const char *line, size_t length, size_t room)
{
	size_t end = room;

	if (length <= room)
		return length;
	while (end > room / 2 && line[end] != ' ')
		end--;
	if (line[end] != ' ')
		return room;
	while (line[end - 1] == ' ')
		end--;
	return end;
}

static void print_line(const char *line, size_t length, unsigned int columns, FILE *stream)
{
	size_t indent = 0;

	for (;;) {
		size_t part = columns ? fit(line, length, columns - 1 - indent) : length;

		fprintf(stream, "%*s%.*s\n", (int)indent, "", (int)part, line);
		while (part < length && line[part] == ' ')
			part++;
		line += part;
		length -= part;
		if (!length)
			return;
		indent = INDENT;
	}
}

void screen_print(const char *text, unsigned int columns, FILE *stream)
{
	while (*text) {
		size_t length = strcspn(text, "\n");

		print_line(text, length, columns, stream);
		text += length + (text[length] == '\n');
	}
}
