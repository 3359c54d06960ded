/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the line of an instruction in the line table of a CPython code object. The table comes from
 * the memory of a target.
 *
 * Layouts: Objects/lnotab_notes.txt of CPython 3.9 and 3.10, Objects/locations.md of 3.11 (later
 * InternalDocs/code_objects.md).
 */
#ifndef KEYHOLE_WORKER_RUNTIME_CPYTHON_LINES_H
#define KEYHOLE_WORKER_RUNTIME_CPYTHON_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cpython_lines {
	CPYTHON_LNOTAB,	   /* 3.9 and before: co_lnotab */
	CPYTHON_LINETABLE, /* 3.10: co_linetable */
	CPYTHON_LOCATIONS, /* 3.11 and later: co_linetable */
	CPYTHON_LINES_COUNT
};

/*
 * Returns the line of the instruction at an offset, in bytes from the start of the code. first_line
 * is co_firstlineno.
 *   > 0       the line
 *   -ENOENT   the table has no line for the instruction, or the instruction is behind the table
 *   -EBADMSG  the table is damaged
 */
int64_t cpython_line(enum cpython_lines format, const void *table, size_t size, uint32_t first_line,
		     uint32_t offset);
/*
 * Returns whether the first bytes of a table tell the line of an instruction. Without this question
 * a cut table of 3.9 gives all instructions behind its end the last line.
 */
bool cpython_lines_reach(enum cpython_lines format, const void *table, size_t size,
			 uint32_t offset);

#endif
