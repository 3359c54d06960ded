/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layout of Lua's structures in one version (lua_layout.def). A version that is not there has
 * no layout: nothing is guessed from another version. The builds are those of the usual luaconf.h.
 */
#ifndef KEYHOLE_WORKER_RUNTIME_LUA_LAYOUT_H
#define KEYHOLE_WORKER_RUNTIME_LUA_LAYOUT_H

#include <stdint.h>

#define LUA_NONE 0xffffu /* an offset: there is no such field */

/* As Py_Version: a byte for each part. */
#define LUA_VERSION(minor, release) (5u << 24 | (uint32_t)(minor) << 16 | (uint32_t)(release) << 8)
#define LUA_MINOR(version)	    ((version) >> 16 & 0xff)

struct lua_layout {
#define O(field, v1, v2, v3, v4_1, v4_3, v5) uint16_t field;
#include "worker/runtime/lua_layout.def"
#undef O
	uint32_t version; /* LUA_VERSION() */
};

/* Finds the layout of a version. Returns 0, or -ENOTSUP. */
int lua_layout_find(uint32_t version, struct lua_layout *ret_layout);

/* Reads the version in the text of lua_ident: "$LuaVersion: Lua 5.4.7  Copyright ...". The same. */
int lua_version_read(const char *text, uint32_t *ret_version);

#endif
