/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads what a CPython code object says of its function. The bytes are from a process, which may be
 * hostile. Each length is bounded, and pointers lead to bytes of that process alone.
 *
 * All functions return 0, -EFAULT for bytes that are not there, or -EBADMSG for what cannot be.
 */
#ifndef KEYHOLE_WORKER_RUNTIME_CPYTHON_CODE_H
#define KEYHOLE_WORKER_RUNTIME_CPYTHON_CODE_H

#include <stddef.h>
#include <stdint.h>

struct cpython_layout;
struct cpython_types;
struct memory;
struct told_code;

/*
 * Checks that the code, its name, its file and its line table are objects of the types of the
 * process. A line table that is not there is none. Returns -EPROTO for an object of another type.
 */
int cpython_code_check(const struct cpython_layout *layout, const struct cpython_types *types,
		       const struct memory *memory, uint64_t address);

int cpython_code_read(const struct cpython_layout *layout, const struct memory *memory,
		      uint64_t address, struct told_code *ret_code);

/*
 * Reads the line table for cpython_line(): at most `size` bytes, and no more than are there.
 * Returns 1 when the table is cut: see cpython_lines_reach().
 */
int cpython_code_lines(const struct cpython_layout *layout, const struct memory *memory,
		       uint64_t address, void *ret_table, size_t size, size_t *ret_size);

/* Reads a text (str) as UTF-8, cut to `size` with its NUL, or to the characters that are there. */
int cpython_text(const struct cpython_layout *layout, const struct memory *memory, uint64_t address,
		 char *ret_text, size_t size);

#endif
