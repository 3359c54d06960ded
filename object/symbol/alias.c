/* SPDX-License-Identifier: Apache-2.0 */
#include "object/symbol/alias.h"

#include <string.h>

struct alias alias_make(const char *name, size_t length)
{
	struct alias alias = {.name = name, .length = length};

	while (alias.underscores < length && name[alias.underscores] == '_')
		alias.underscores++;
	return alias;
}

bool alias_is_better(const struct alias *a, const struct alias *b)
{
	if (a->underscores != b->underscores)
		return a->underscores < b->underscores;
	if (a->length != b->length)
		return a->length < b->length;
	return memcmp(a->name, b->name, a->length) < 0;
}
