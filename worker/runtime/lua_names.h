/* SPDX-License-Identifier: Apache-2.0 */
/* How BPF finds the names that functions of Lua have in the code of their callers. */
#ifndef KEYHOLE_WORKER_RUNTIME_LUA_NAMES_H
#define KEYHOLE_WORKER_RUNTIME_LUA_NAMES_H

struct lua_layout;
struct runtime_config;

void lua_names_set(struct runtime_config *config, const struct lua_layout *layout);

#endif
