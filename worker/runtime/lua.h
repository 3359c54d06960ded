/* SPDX-License-Identifier: Apache-2.0 */
/* Lua of PUC-Rio, 5.1 to 5.5, also within other programs. LuaJIT is another runtime. */
#ifndef KEYHOLE_WORKER_RUNTIME_LUA_H
#define KEYHOLE_WORKER_RUNTIME_LUA_H

#include "worker/runtime/runtime.h"

extern const struct runtime_handler lua_handler;

#endif
