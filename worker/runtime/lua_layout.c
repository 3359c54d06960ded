/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/lua_layout.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "worker/runtime/layout.h"

#define COLUMNS 6u

static const uint16_t rows[][COLUMNS] = {
#define O(name, ...) {__VA_ARGS__},
#include "worker/runtime/lua_layout.def"
#undef O
};

/* The versions of the columns. */
static const struct {
	uint32_t first, last;
} columns[COLUMNS] = {
	{LUA_VERSION(1, 5), LUA_VERSION(1, 5)}, {LUA_VERSION(2, 4), LUA_VERSION(2, 4)},
	{LUA_VERSION(3, 3), LUA_VERSION(3, 6)}, {LUA_VERSION(4, 1), LUA_VERSION(4, 2)},
	{LUA_VERSION(4, 3), LUA_VERSION(4, 9)}, {LUA_VERSION(5, 0), LUA_VERSION(5, 1)},
};

int lua_layout_find(uint32_t version, struct lua_layout *ret_layout)
{
	struct lua_layout layout = {.version = version};
	size_t column = 0;

	while (column < COLUMNS &&
	       (version < columns[column].first || version > columns[column].last))
		column++;
	if (column == COLUMNS)
		return -ENOTSUP;
	LAYOUT_COPY(rows, column, &layout);
	*ret_layout = layout;
	return 0;
}

static const char *const starts[] = {"$LuaVersion: Lua 5.", "$Lua: Lua 5."};

int lua_version_read(const char *text, uint32_t *ret_version)
{
	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++) {
		const size_t size = strlen(starts[i]);
		const char *part = text + size;

		if (strncmp(text, starts[i], size) != 0)
			continue;
		if (part[0] < '0' || part[0] > '9' || part[1] != '.' || part[2] < '0' ||
		    part[2] > '9' || part[3] != ' ')
			return -ENOTSUP;
		*ret_version = LUA_VERSION(part[0] - '0', part[2] - '0');
		return 0;
	}
	return -ENOTSUP;
}
