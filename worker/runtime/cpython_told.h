/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what an event tells of a function of CPython, as struct runtime_handler says. */
#ifndef KEYHOLE_WORKER_RUNTIME_CPYTHON_TOLD_H
#define KEYHOLE_WORKER_RUNTIME_CPYTHON_TOLD_H

#include <stdint.h>

struct cpython_types;
struct memory;
struct runtime_setup;
struct told;
struct told_lines;

int cpython_told_read(const struct runtime_setup *setup, const struct cpython_types *types,
		      const struct memory *memory, uint64_t code, struct told *ret_told);
uint32_t cpython_told_line(const struct told_lines *lines, uint32_t instruction);

#endif
