/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/v8_optimized.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/reader.h"
#include "worker/runtime/memory.h"
#include "worker/runtime/v8_layout.h"
#include "worker/runtime/v8_positions.h"

/* The parts of an event: bpf/walk/v8_code.bpf.h */
enum v8_told {
	TOLD_MORE_PUT_IN = 0, /* goes on with what follows TOLD_PUT_IN */
	TOLD_PUT_IN = 2,
	TOLD_POSITIONS = 3
};

/* ---- events ---- */

/* Reads a part of what is put in, of which the table has no other bytes. */
static void read_put_in(const struct memory *memory, uint64_t address, unsigned char *to,
			size_t size)
{
	size_t left = memory_left(memory, address);

	if (left > size)
		left = size;
	if (memory_read(memory, address, to, left) < 0)
		memset(to, 0, size);
}

void v8_optimized_read(const struct v8_layout *layout, const struct memory *memory,
		       struct told *told)
{
	const size_t first = TOLD_PUT_IN_BYTES - CODE_PART_1;
	size_t left = memory_left(memory, told->part[TOLD_POSITIONS]);

	told->lines.format = TOLD_LINES_OPTIMIZED;
	told->lines.unit = layout->position_bits;
	told->compiled.function = told->named;
	told->compiled.fingerprint = told->called_in;
	memset(told->table, 0, TOLD_PUT_IN_BYTES);
	if (left > TOLD_TABLE_BYTES - TOLD_PUT_IN_BYTES)
		left = TOLD_TABLE_BYTES - TOLD_PUT_IN_BYTES;
	if (memory_read(memory, told->part[TOLD_POSITIONS], told->table + TOLD_PUT_IN_BYTES, left) <
	    0)
		return;
	told->lines.size = TOLD_PUT_IN_BYTES + left;
	/* the event says how long the table is, and 1 */
	told->lines.is_cut = left + 1 < told->called_by;
	read_put_in(memory, told->part[TOLD_PUT_IN], told->table, first);
	read_put_in(memory, told->part[TOLD_MORE_PUT_IN], told->table + first, CODE_PART_1);
}

int v8_optimized_read_functions(const struct memory *memory, struct told *told)
{
	const size_t step = sizeof(struct told_frame);
	struct told_frame function;
	size_t size = 0;
	bool has_functions = false;

	while (size + step < CODE_TINY_END &&
	       memory_read(memory, CODE_INLINED_AT + size, &function, step) == 0) {
		if (function.instruction != 0)
			return -EPROTO;
		has_functions |= function.code != 0;
		memcpy(told->table + size, &function, step);
		size += step;
	}
	if (!has_functions)
		return -EPROTO;
	told->lines.format = TOLD_LINES_INLINED;
	told->lines.size = size;
	return 0;
}

/* ---- places ---- */

/* The number of a function that is put in, counted from 1 on; 0: it is the function itself. */
#define NUMBER_SHIFT 31u
#define NUMBER_MASK  0xffffu
#define PUT_IN_BYTES 16u /* a raw place of its call, and the number of its code */

/* Gets the function with a number, and the raw place of its call. Returns false: there is none. */
static bool read_call(const struct told_lines *lines, uint32_t number, uint32_t *ret_function,
		      int64_t *ret_place)
{
	struct reader reader;

	reader_init(&reader, lines->table, TOLD_PUT_IN_BYTES);
	reader_seek(&reader, (number - 1) * PUT_IN_BYTES);
	*ret_place = (int64_t)reader_u64(&reader);
	*ret_function = reader_u32(&reader);
	return !reader_failed(&reader);
}

size_t v8_optimized_find(const struct told_lines *lines, uint32_t offset,
			 struct told_put_in ret_functions[TOLD_PUT_IN_MAX])
{
	struct reader reader;
	size_t count = 0;
	int64_t place;

	if (lines->format != TOLD_LINES_OPTIMIZED || lines->size < TOLD_PUT_IN_BYTES)
		return 0;
	reader_init(&reader, lines->table, lines->size);
	reader_skip(&reader, TOLD_PUT_IN_BYTES);
	place = v8_positions_find(&reader, lines, offset);
	while (place >= 0 && count < TOLD_PUT_IN_MAX) {
		const uint32_t number = (uint32_t)(place >> NUMBER_SHIFT) & NUMBER_MASK;
		struct told_put_in *function = &ret_functions[count];

		*function = (struct told_put_in){TOLD_PUT_IN_NONE, v8_positions_in_script(place)};
		if (number == 0)
			return count + 1;
		if (!read_call(lines, number, &function->function, &place))
			return 0;
		/* V8 also puts in code that is no function of JavaScript */
		count += function->function != TOLD_PUT_IN_NONE;
	}
	return 0;
}
