/* SPDX-License-Identifier: Apache-2.0 */
/* Makes events about code, as BPF reads it from Lua, and images that look like interpreters. */
#ifndef KEYHOLE_TESTS_UNIT_BUILD_LUA_H
#define KEYHOLE_TESTS_UNIT_BUILD_LUA_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"

struct image;
struct lua_layout;

#define BUILD_LUA_ANCHORS 64u

struct build_lua {
	const char *source; /* as Lua has it: "@file", "=name", or a program */
	uint32_t first_line;
	const void *lines; /* differences, or numbers of 4 bytes */
	uint32_t lines_bytes, lines_count;
	uint32_t anchors[BUILD_LUA_ANCHORS][2]; /* instruction, line */
	uint32_t anchors_count;
	const char *called;	       /* what the caller calls it; NULL: no caller does */
	uint32_t called_by, called_in; /* as event_code has them */
};
#define BUILD_LUA_CODE 0x7f0000010000ull

struct event_code build_lua(const struct lua_layout *layout, const struct build_lua *code);

/*
 * Returns an image whose lua_ident is a text; NULL: it has none. The exported function `caller`
 * calls a small function, which calls a large one of so many bytes.
 */
#define BUILD_LUA_SMALL 0x1100u
#define BUILD_LUA_LARGE 0x1200u /* address */
struct image *build_lua_image(const char *ident, const char *caller, size_t size);

#endif
