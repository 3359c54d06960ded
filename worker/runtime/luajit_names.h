/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names that callers have for functions of LuaJIT, and names of those that an event has called.
 */
#ifndef KEYHOLE_WORKER_RUNTIME_LUAJIT_NAMES_H
#define KEYHOLE_WORKER_RUNTIME_LUAJIT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "worker/runtime/told.h"

struct luajit_layout;
struct memory;
struct runtime_config;

/* Says how BPF finds them. */
void luajit_names_set(struct runtime_config *config, const struct luajit_layout *layout);
/*
 * Reads the name at an address, which an event has: a text of the program's, or among packed ones
 * as `named` of struct event_code says. Returns 0, -ENOENT, or -ENODATA: the name is not among the
 * TOLD_PACKED_BYTES that the event has.
 */
int luajit_name_read(const struct luajit_layout *layout, const struct memory *memory,
		     uint64_t address, uint64_t named, char ret_name[TOLD_NAME_BYTES]);
/* As find_name of struct runtime_handler. */
int luajit_name_find(const unsigned char *packed, size_t size, uint64_t named,
		     char ret_name[TOLD_NAME_BYTES]);
/*
 * Names what called a function that the caller's code does not name: "metamethod '__index'", "(for
 * generator)", as debug.traceback() does. instruction: event_code's called_by. Returns false if the
 * function has a name in the code, or none.
 */
bool luajit_names_event(uint32_t instruction, char *ret_name, size_t size);

#endif
