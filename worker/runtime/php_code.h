/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what an event about code tells of a function of PHP: struct event_code of bpf/abi.h. */
#ifndef KEYHOLE_WORKER_RUNTIME_PHP_CODE_H
#define KEYHOLE_WORKER_RUNTIME_PHP_CODE_H

#include <stdint.h>

struct cpython_types;
struct memory;
struct runtime_setup;
struct told;
struct told_lines;

/* As runtime_handler.read_code. A function in C has a name alone. */
int php_code_read(const struct runtime_setup *setup, const struct cpython_types *types,
		  const struct memory *memory, uint64_t code, struct told *ret_told);
/* As runtime_handler.find_line. */
uint32_t php_code_line(const struct told_lines *lines, uint32_t instruction);

#endif
