/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads what an event tells of a function of Lua (Proto), as struct runtime_handler says. The bytes
 * are from a process, which may be hostile.
 *
 * A function has no name of its own. The name is the one that its caller has for it, or as
 * debug.traceback() names a function without a name: "main chunk", "function <script.lua:12>".
 */
#ifndef KEYHOLE_WORKER_RUNTIME_LUA_CODE_H
#define KEYHOLE_WORKER_RUNTIME_LUA_CODE_H

#include <stdint.h>

struct cpython_types;
struct memory;
struct runtime_setup;
struct told;
struct told_lines;

/* Returns 0, -EFAULT for bytes that are not there, or -EPROTO: this is no function. */
int lua_code_read(const struct runtime_setup *setup, const struct cpython_types *types,
		  const struct memory *memory, uint64_t code, struct told *ret_told);
uint32_t lua_code_line(const struct told_lines *lines, uint32_t instruction);

#endif
