/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what an event tells of a function of LuaJIT. */
#ifndef KEYHOLE_WORKER_RUNTIME_LUAJIT_CODE_H
#define KEYHOLE_WORKER_RUNTIME_LUAJIT_CODE_H

#include <stdint.h>

struct cpython_types;
struct memory;
struct runtime_setup;
struct told;
struct told_lines;

/* As read_code and find_line of struct runtime_handler. */
int luajit_code_read(const struct runtime_setup *setup, const struct cpython_types *types,
		     const struct memory *memory, uint64_t code, struct told *ret_told);
uint32_t luajit_code_line(const struct told_lines *lines, uint32_t instruction);

#endif
