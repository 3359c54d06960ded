/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layout of LuaJIT's structures in one version (luajit_layout.def). A version that is not there
 * has no layout: nothing is guessed from another version.
 */
#ifndef KEYHOLE_WORKER_RUNTIME_LUAJIT_LAYOUT_H
#define KEYHOLE_WORKER_RUNTIME_LUAJIT_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#define LUAJIT_NONE 0xffffu /* an offset: there is no such field */
#define LUAJIT_BETA 0u	    /* the time of 2.1.0-beta3, which many builds have as their version */

struct luajit_layout {
#define O(field, v2017, v2022, v2023, v2025) uint16_t field;
#include "worker/runtime/luajit_layout.def"
#undef O
};

/*
 * An image shows these of its layout (luajit_build.h): the time, and fields that lua_atpanic(),
 * lua_close() and the interpreter use. Builds of one time differ in the fields.
 */
struct luajit_build {
	uint32_t time; /* of the last change, s; or LUAJIT_BETA */
	uint32_t shared, panic, main;
	uint32_t traces;     /* from shared_trace_base to shared_traces; 0 with short references */
	uint32_t trace_code; /* 0 with short references */
	bool unwinds_traces; /* the unwinder gets rules of traces, since there is snapshot_code */
};

/* Finds the layout of a build. Returns 0, or -ENOTSUP. */
int luajit_layout_find(const struct luajit_build *build, struct luajit_layout *ret_layout);

/* Reads the time in a version: "LuaJIT 2.1.1737090214", "LuaJIT 2.1.0-beta3". The same. */
int luajit_time_read(const char *text, uint32_t *ret_time);

#endif
