/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what an event tells of a function of JavaScript, or of a script: bpf/walk/v8.bpf.h. */
#ifndef KEYHOLE_WORKER_RUNTIME_V8_CODE_H
#define KEYHOLE_WORKER_RUNTIME_V8_CODE_H

#include <stdint.h>

struct cpython_types;
struct memory;
struct runtime_setup;
struct told;
struct told_lines;

/* As of struct runtime_handler. */
int v8_code_read(const struct runtime_setup *setup, const struct cpython_types *types,
		 const struct memory *memory, uint64_t code, struct told *ret_told);
/* The place in the text of the script, as of struct told_script, or 0. */
uint32_t v8_code_place(const struct told_lines *lines, uint32_t instruction);

#endif
