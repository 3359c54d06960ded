/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layout of LuaJIT's structures in one version (luajit_layout.def). A version that is not there
 * has no layout: nothing is guessed from another version.
 */
#ifndef KEYHOLE_WORKER_RUNTIME_LUAJIT_LAYOUT_H
#define KEYHOLE_WORKER_RUNTIME_LUAJIT_LAYOUT_H

#include <stdint.h>

#define LUAJIT_NONE 0xffffu /* an offset: there is no such field */
#define LUAJIT_BETA 0u	    /* the time of 2.1.0-beta3, which many builds have as their version */

struct luajit_layout {
#define O(field, v2017, v2022, v2025) uint16_t field;
#include "worker/runtime/luajit_layout.def"
#undef O
};

/* Layouts differ in the time, or in offsets that lua_atpanic() and lua_close() use. */
struct luajit_build {
	uint32_t time; /* of the last change, s; or LUAJIT_BETA */
	uint32_t shared, panic, main;
};

/* Finds the layout of a build. Returns 0, or -ENOTSUP. */
int luajit_layout_find(const struct luajit_build *build, struct luajit_layout *ret_layout);

/* Reads the time in a version: "LuaJIT 2.1.1737090214", "LuaJIT 2.1.0-beta3". The same. */
int luajit_time_read(const char *text, uint32_t *ret_time);

#endif
