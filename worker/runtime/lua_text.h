/* SPDX-License-Identifier: Apache-2.0 */
/* How Lua says where its functions are, in all implementations of it. */
#ifndef KEYHOLE_WORKER_RUNTIME_LUA_TEXT_H
#define KEYHOLE_WORKER_RUNTIME_LUA_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memory;
struct told_code;

/*
 * Fills in the file and the name of a function whose first line is there. source: "@file", "=name",
 * or the program's text.
 */
void lua_text_write(struct told_code *code, const char *source);
/*
 * Reads a text of at most size - 1 bytes, which ends with a NUL or where the bytes end. Returns 0
 * or a negative errno; -EFAULT: there is no byte.
 */
int lua_text_read(const struct memory *memory, uint64_t address, char *ret_text, size_t size);
/* Returns whether a text can be a name: Lua's own, as "(for state)", are none. */
bool lua_text_is_name(const char *text);

#endif
