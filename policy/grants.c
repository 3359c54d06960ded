/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/grants.h"

#include <string.h>

static const char *const names[] = {
#define G(name) name,
#include "policy/grants.def"
#undef G
};

/* Returns whether a name ends before this character, or goes on with a version. */
static bool is_end(char next)
{
	return next == '\0' || next == '.' || next == '-' || (next >= '0' && next <= '9');
}

bool grant_fits_name(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/'), *file = path;
	const size_t length = strlen(name);

	if (slash)
		file = slash + 1;
	return strncmp(file, name, length) == 0 && is_end(file[length]);
}

bool grant_is_by_name(const char *path)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (grant_fits_name(path, names[i]))
			return true;
	return false;
}
