/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How BPF finds the names that functions of Lua have in the code of their callers, and names of
 * those that an event has called.
 */
#ifndef KEYHOLE_WORKER_RUNTIME_LUA_NAMES_H
#define KEYHOLE_WORKER_RUNTIME_LUA_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lua_layout;
struct runtime_config;

void lua_names_set(struct runtime_config *config, const struct lua_layout *layout);

/*
 * Names what called a function that the caller's code does not name: "metamethod 'index'", "for
 * iterator", "hook '?'", as debug.traceback() of the version does. instruction, frame: event_code's
 * called_by and called_in. Returns false if the function has a name in the code, or none.
 */
bool lua_names_event(const struct lua_layout *layout, uint32_t instruction, uint32_t frame,
		     char *ret_name, size_t size);

#endif
