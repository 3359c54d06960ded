/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/options/pairs.h"

#include <string.h>

/* Returns the bytes of the pair at a place of the list. */
static size_t size_at(const struct pairs *pairs, size_t at)
{
	const size_t name = strlen(pairs->list + at) + 1;

	return name + strlen(pairs->list + at + name) + 1;
}

/* Returns the bytes that remain without the pair of that name. */
static size_t drop(struct pairs *pairs, const char *name)
{
	size_t at = 0;

	while (pairs->list[at]) {
		const size_t size = size_at(pairs, at);

		if (strcmp(pairs->list + at, name) != 0) {
			at += size;
			continue;
		}
		memmove(pairs->list + at, pairs->list + at + size, pairs->size - at - size);
		memset(pairs->list + pairs->size - size, 0, size);
	}
	return at;
}

bool pairs_put(struct pairs *pairs, const char *name, const char *value)
{
	const size_t name_size = strlen(name) + 1, value_size = strlen(value) + 1;
	const size_t used = drop(pairs, name);

	/* an empty name ends the list */
	if (used + name_size + value_size + 1 > pairs->size)
		return false;
	memcpy(pairs->list + used, name, name_size);
	memcpy(pairs->list + used + name_size, value, value_size);
	return true;
}

size_t pairs_count(const struct pairs *pairs)
{
	size_t count = 0;

	for (size_t at = 0; pairs->list[at]; at += size_at(pairs, at))
		count++;
	return count;
}

char *pairs_trim(char *text)
{
	size_t length;

	text += strspn(text, " \t");
	length = strlen(text);
	while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t'))
		length--;
	text[length] = '\0';
	return text;
}
