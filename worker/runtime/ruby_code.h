/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what an event about code tells of a function of Ruby: struct event_code of bpf/abi.h. */
#ifndef KEYHOLE_WORKER_RUNTIME_RUBY_CODE_H
#define KEYHOLE_WORKER_RUNTIME_RUBY_CODE_H

#include <stdint.h>

struct cpython_types;
struct memory;
struct ruby_layout;
struct runtime_setup;
struct told;
struct told_lines;

/* As runtime_handler.read_code. A function in C has a name alone. */
int ruby_code_read(const struct runtime_setup *setup, const struct cpython_types *types,
		   const struct memory *memory, uint64_t code, struct told *ret_told);
/* As runtime_handler.find_line. */
uint32_t ruby_lines_find(const struct told_lines *lines, uint32_t instruction);
/* Fills in the table of lines of code, as far as the event has what leads to them. */
void ruby_lines_read(const struct ruby_layout *layout, const struct memory *memory, uint64_t code,
		     struct told *told);

#endif
