/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what an event about code tells of a function of Perl: struct event_code of bpf/abi.h. */
#ifndef KEYHOLE_WORKER_RUNTIME_PERL_CODE_H
#define KEYHOLE_WORKER_RUNTIME_PERL_CODE_H

#include <stdint.h>

struct cpython_types;
struct memory;
struct runtime_setup;
struct told;
struct told_lines;

/* As runtime_handler.read_code. No function has a first line: Perl keeps none. */
int perl_code_read(const struct runtime_setup *setup, const struct cpython_types *types,
		   const struct memory *memory, uint64_t code, struct told *ret_told);
/* As runtime_handler.find_line: the instruction of a frame is its line. */
uint32_t perl_code_line(const struct told_lines *lines, uint32_t instruction);

#endif
