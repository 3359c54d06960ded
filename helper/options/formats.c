/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/options/formats.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define LIST_BYTES 512
#define NAME_BYTES 64

static const struct {
	enum profile_format id;
	const char *name, *suffix;
} formats[] = {
#define F(number, name, suffix) {FORMAT_##name, #name, suffix},
#include "ipc/formats.def"
#undef F
};
#define FORMATS (sizeof(formats) / sizeof(formats[0]))

/* As people write it; valid until the next call. */
static const char *name_of(size_t index)
{
	static char text[NAME_BYTES];

	snprintf(text, sizeof(text), "%s", formats[index].name);
	for (char *at = text; (at = strchr(at, '_'));)
		*at = '-';
	return text;
}

enum profile_format formats_by_name(const char *name)
{
	for (size_t i = 0; i < FORMATS; i++)
		if (!strcmp(name_of(i), name))
			return formats[i].id;
	return FORMAT_NONE;
}

enum profile_format formats_by_suffix(const char *path)
{
	enum profile_format found = FORMAT_NONE;
	size_t length = strlen(path), longest = 0;

	for (size_t i = 0; i < FORMATS; i++) {
		size_t size = strlen(formats[i].suffix);

		if (size <= longest || size >= length ||
		    strcmp(path + length - size, formats[i].suffix) != 0)
			continue;
		found = formats[i].id;
		longest = size;
	}
	return found;
}

const char *formats_suffix(enum profile_format format)
{
	for (size_t i = 0; i < FORMATS; i++)
		if (formats[i].id == format)
			return formats[i].suffix;
	return "";
}

static const char *list(const char *word, const char *(*text_of)(size_t index))
{
	static char text[LIST_BYTES];
	size_t used = 0;

	for (size_t i = 0; i < FORMATS && used < sizeof(text); i++) {
		const char *before = i == 0 ? "" : i + 1 < FORMATS ? ", " : word;

		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", before,
					 text_of(i));
	}
	return text;
}

static const char *suffix_of(size_t index)
{
	return formats[index].suffix;
}

const char *formats_names(const char *word)
{
	return list(word, name_of);
}

const char *formats_suffixes(const char *word)
{
	return list(word, suffix_of);
}
