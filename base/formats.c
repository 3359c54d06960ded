/* SPDX-License-Identifier: Apache-2.0 */
#include "base/formats.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define LIST_BYTES 512

struct row {
	enum profile_format id;
	const char *name, *suffix;
};

static const struct row rows[] = {
#define F(number, id, name, suffix, help) {FORMAT_##id, name, suffix},
#include "ipc/formats.def"
#undef F
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

enum profile_format formats_by_name(const char *name)
{
	for (size_t i = 0; i < ROWS; i++)
		if (!strcmp(rows[i].name, name))
			return rows[i].id;
	return FORMAT_NONE;
}

/* A path that is nothing but the suffix has no name. */
static bool ends_in(const char *path, const char *suffix)
{
	size_t length = strlen(path), tail = strlen(suffix);

	return length > tail && !strcmp(path + length - tail, suffix);
}

enum profile_format formats_by_suffix(const char *path)
{
	enum profile_format found = FORMAT_NONE;
	size_t longest = 0;

	for (size_t i = 0; i < ROWS; i++) {
		size_t length = strlen(rows[i].suffix);

		if (length <= longest || !ends_in(path, rows[i].suffix))
			continue;
		found = rows[i].id;
		longest = length;
	}
	return found;
}

static const char *name_of(const struct row *row)
{
	return row->name;
}

static const char *suffix_of(const struct row *row)
{
	return row->suffix;
}

static const char *text_of(enum profile_format format, const char *(*get)(const struct row *row))
{
	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].id == format)
			return get(&rows[i]);
	return "";
}

const char *formats_name(enum profile_format format)
{
	return text_of(format, name_of);
}

const char *formats_suffix(enum profile_format format)
{
	return text_of(format, suffix_of);
}

static const char *list(const char *word, const char *(*get)(const struct row *row))
{
	static char text[LIST_BYTES];
	size_t used = 0;

	for (size_t i = 0; i < ROWS && used < sizeof(text); i++) {
		const char *before = ", ";

		if (i == 0)
			before = "";
		else if (i == ROWS - 1)
			before = word;
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", before,
					 get(&rows[i]));
	}
	return text;
}

const char *formats_names(const char *word)
{
	return list(word, name_of);
}

const char *formats_suffixes(const char *word)
{
	return list(word, suffix_of);
}
