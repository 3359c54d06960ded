/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads what an event tells of code of HotSpot, as struct runtime_handler says. The bytes are from
 * a process, which may be hostile. The code is one of these:
 *   - a function: a name as "java.util.Map.get(Object)", its file, and its lines
 *   - a place in compiled code: the functions that are inlined there, and their places
 *   - a piece of code that belongs to no function: HotSpot's name for it
 */
#ifndef KEYHOLE_WORKER_RUNTIME_HOTSPOT_CODE_H
#define KEYHOLE_WORKER_RUNTIME_HOTSPOT_CODE_H

#include <stdint.h>

struct cpython_types;
struct memory;
struct runtime_setup;
struct told;
struct told_lines;

/* Returns 0, -EFAULT for bytes that are not there, or -EPROTO: this is no function. */
int hotspot_code_read(const struct runtime_setup *setup, const struct cpython_types *types,
		      const struct memory *memory, uint64_t code, struct told *ret_told);
uint32_t hotspot_code_line(const struct told_lines *lines, uint32_t instruction);

#endif
