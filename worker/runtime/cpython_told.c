/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/cpython_told.h"

#include "worker/runtime/cpython_code.h"
#include "worker/runtime/cpython_lines.h"
#include "worker/runtime/runtime.h"
#include "worker/runtime/told.h"

/* Offsets beyond this one are of a frame that has not begun: RUNTIME_OFFSET_NONE, and more. */
#define INSTRUCTION_MAX (RUNTIME_OFFSET_NONE - 1)

int cpython_told_read(const struct runtime_setup *setup, const struct cpython_types *types,
		      const struct memory *memory, uint64_t code, struct told *ret_told)
{
	const struct cpython_layout *layout = &setup->layout.cpython;
	struct told_lines *lines = &ret_told->lines;
	int r = cpython_code_check(layout, types, memory, code);

	if (r == 0)
		r = cpython_code_read(layout, memory, code, &ret_told->code);
	if (r < 0)
		return r;
	lines->format = layout->lines;
	lines->unit = layout->instruction_unit;
	r = cpython_code_lines(layout, memory, code, ret_told->table, TOLD_TABLE_BYTES,
			       &lines->size);
	lines->is_cut = r != 0;
	if (r < 0)
		lines->size = 0;
	return 0;
}

uint32_t cpython_told_line(const struct told_lines *lines, uint32_t instruction)
{
	const enum cpython_lines format = lines->format;
	int64_t line;

	if (instruction > INSTRUCTION_MAX / lines->unit)
		return lines->first_line;
	instruction *= lines->unit;
	if (lines->is_cut && !cpython_lines_reach(format, lines->table, lines->size, instruction))
		return 0;
	line = cpython_line(format, lines->table, lines->size, lines->first_line, instruction);
	if (line < 0)
		return 0;
	return (uint32_t)line;
}
