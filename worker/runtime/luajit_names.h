/* SPDX-License-Identifier: Apache-2.0 */
/* The names that callers have for functions of LuaJIT. */
#ifndef KEYHOLE_WORKER_RUNTIME_LUAJIT_NAMES_H
#define KEYHOLE_WORKER_RUNTIME_LUAJIT_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct luajit_layout;
struct memory;
struct runtime_config;

#define LUAJIT_NAME_BYTES 64u /* with a NUL */

/* Says how BPF finds them. */
void luajit_names_set(struct runtime_config *config, const struct luajit_layout *layout);
/*
 * Reads the name at an address, which an event has: a text of the program's, or among packed ones
 * as `named` of struct event_code says. Returns 0, or -ENOENT.
 */
int luajit_name_read(const struct luajit_layout *layout, const struct memory *memory,
		     uint64_t address, uint64_t named, char ret_name[LUAJIT_NAME_BYTES]);

#endif
