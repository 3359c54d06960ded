/* SPDX-License-Identifier: Apache-2.0 */
/* How Lua says where its functions are, in all implementations of it. */
#ifndef KEYHOLE_WORKER_RUNTIME_LUA_TEXT_H
#define KEYHOLE_WORKER_RUNTIME_LUA_TEXT_H

#include <stdbool.h>

struct told_code;

/*
 * Fills in the file and the name of a function whose first line is there. source: "@file", "=name",
 * or the program's text.
 */
void lua_text_write(struct told_code *code, const char *source);
/* Returns whether a text can be a name: Lua's own, as "(for state)", are none. */
bool lua_text_is_name(const char *text);

#endif
