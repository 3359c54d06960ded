/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/options/configuration.h"

#include <stdbool.h>
#include <string.h>

#include "base/nearest.h"
#include "ipc/guard.h"

#define VERSION_LINE "version 1"

struct reader {
	const struct option_row *rows;
	size_t count;
	uint32_t verbs;
	void *target;
};

static bool is_read(const struct reader *reader, const struct option_row *row)
{
	return row->name && (row->verbs & reader->verbs);
}

static const char *unknown(const struct reader *reader, const char *name)
{
	static char text[128];
	const char *names[OPTION_ROWS_MAX + 1] = {NULL}, *found;
	size_t used = 0;

	for (size_t i = 0; i < reader->count && used < OPTION_ROWS_MAX; i++)
		if (is_read(reader, &reader->rows[i]))
			names[used++] = reader->rows[i].name;
	found = nearest(name, names);
	if (!found)
		return "not an option of this file";
	snprintf(text, sizeof(text), "not an option of this file; did you mean %s?", found);
	return text;
}

static const struct option_row *find(const struct reader *reader, const char *name)
{
	for (size_t i = 0; i < reader->count; i++)
		if (is_read(reader, &reader->rows[i]) && !strcmp(reader->rows[i].name, name))
			return &reader->rows[i];
	return NULL;
}

/* The line has no blank at its ends. */
static const char *take_line(const struct reader *reader, char *line)
{
	char *argument = line + strcspn(line, " \t");
	const struct option_row *row;

	if (*argument)
		*argument++ = '\0';
	argument += strspn(argument, " \t");
	row = find(reader, line);
	if (!row)
		return unknown(reader, line);
	if (row->argument && row->argument[0] != '[' && !*argument)
		return "needs an argument";
	if (!row->argument && *argument)
		return "takes no argument";
	return row->set(reader->target, *argument ? argument : NULL, row->value);
}

static char *trim(char *line)
{
	size_t length;

	line += strspn(line, " \t\r");
	length = strlen(line);
	while (length > 0 && strchr(" \t\r", line[length - 1]))
		length--;
	line[length] = '\0';
	return line;
}

static const char *take_lines(const struct reader *reader, char *text, unsigned int *ret_line)
{
	const char *reason = NULL;
	bool is_versioned = false;

	while (text && !reason) {
		char *line = trim(strsep(&text, "\n"));

		++*ret_line;
		if (!*line || *line == '#')
			continue;
		if (is_versioned)
			reason = take_line(reader, line);
		else if (strcmp(line, VERSION_LINE) != 0)
			reason = "the first line is: " VERSION_LINE;
		is_versioned = true;
	}
	return reason;
}

const char *configuration_read(const char *text, size_t size, const struct option_row *rows,
			       size_t count, uint32_t verbs, void *target, unsigned int *ret_line)
{
	const struct reader reader = {rows, count, verbs, target};
	guard_free char *lines = NULL;

	*ret_line = 0;
	if (size > CONFIGURATION_BYTES_MAX)
		return "the file is larger than 64 KiB";
	if (memchr(text, '\0', size))
		return "the file is no text";
	lines = strndup(text, size);
	if (!lines)
		return "no memory";
	return take_lines(&reader, lines, ret_line);
}
