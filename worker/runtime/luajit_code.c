/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/luajit_code.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/reader.h"
#include "worker/runtime/lua_text.h"
#include "worker/runtime/luajit_layout.h"
#include "worker/runtime/luajit_names.h"
#include "worker/runtime/memory.h"
#include "worker/runtime/runtime.h"
#include "worker/runtime/told.h"

#define INSTRUCTION_BYTES 4u
#define SOURCE_BYTES	  256u

/* lj_obj.h: types of objects */
#define TYPE_TEXT 4u
#define TYPE_CODE 7u

static int read_reference(const struct luajit_layout *layout, const struct memory *memory,
			  uint64_t at, uint64_t *ret_reference)
{
	*ret_reference = 0;
	return memory_read(memory, at, ret_reference, layout->reference_bytes);
}

/* Returns 0 when there is an object of a type. */
static int check_type(const struct luajit_layout *layout, const struct memory *memory,
		      uint64_t address, uint8_t wanted)
{
	uint8_t type;
	int r = memory_read(memory, address + layout->object_type, &type, sizeof(type));

	if (r < 0)
		return r;
	if (type != wanted)
		return -EPROTO;
	return 0;
}

/* Reads a text, which ends with a NUL or where the bytes end. */
static int read_source(const struct luajit_layout *layout, const struct memory *memory,
		       uint64_t code, char ret_source[SOURCE_BYTES])
{
	uint64_t address;
	int r = read_reference(layout, memory, code + layout->code_source, &address);

	if (r == 0)
		r = check_type(layout, memory, address, TYPE_TEXT);
	if (r < 0)
		return r;
	return lua_text_read(memory, address + layout->text_bytes, ret_source, SOURCE_BYTES);
}

static int read_names(const struct luajit_layout *layout, const struct memory *memory,
		      uint64_t code, struct told_code *ret_code)
{
	char source[SOURCE_BYTES];
	int r = check_type(layout, memory, code, TYPE_CODE);

	if (r == 0)
		r = memory_read(memory, code + layout->code_first_line, &ret_code->first_line,
				sizeof(ret_code->first_line));
	if (r < 0)
		return r;
	if (ret_code->first_line > INT32_MAX)
		return -EPROTO;
	r = read_source(layout, memory, code, source);
	if (r == 0)
		lua_text_write(ret_code, source);
	return r;
}

/* Notes a name that is packed behind the bytes of the event. */
static void await_name(const struct memory *memory, struct told *told)
{
	unsigned char bytes[TOLD_PACKED_BYTES];

	if (memory_read(memory, told->called, bytes, sizeof(bytes)) < 0)
		return;
	told->late = (struct told_late){
		.address = told->called,
		.named = told->named,
		.mark = told_mark(bytes),
	};
}

/* Replaces the name by that which the caller has for the function, if there is one. */
static void take_callers_name(const struct luajit_layout *layout, const struct memory *memory,
			      struct told *told)
{
	char *name = told->code.name, text[TOLD_NAME_BYTES];
	int r = 0;

	if (told->code.first_line == 0)
		return;
	told->has_callers_name = luajit_names_event(told->called_by, name, TOLD_NAME_BYTES);
	if (told->has_callers_name)
		return;
	r = luajit_name_read(layout, memory, told->called, told->named, text);
	told->has_callers_name = r == 0;
	if (r == 0)
		memcpy(name, text, sizeof(text));
	else if (r == -ENODATA)
		await_name(memory, told);
}

/* ---- lines ---- */

/*
 * The table of told_lines has a number of `unit` bytes for each instruction but the first one. That
 * is the distance of its line from the function's first one. lj_debug.c, lj_debug_line()
 */
static uint32_t line_bytes(uint32_t lines_count)
{
	if (lines_count < 1u << 8)
		return sizeof(uint8_t);
	if (lines_count < 1u << 16)
		return sizeof(uint16_t);
	return sizeof(uint32_t);
}

static int read_lines(const struct luajit_layout *layout, const struct memory *memory,
		      uint64_t code, struct told *told)
{
	struct told_lines *lines = &told->lines;
	uint32_t count, lines_count;
	uint64_t address, bytes;
	size_t left;
	int r = memory_read(memory, code + layout->code_count, &count, sizeof(count));

	if (r == 0)
		r = memory_read(memory, code + layout->code_lines_count, &lines_count,
				sizeof(lines_count));
	if (r == 0)
		r = read_reference(layout, memory, code + layout->code_lines, &address);
	if (r < 0 || count == 0)
		return r;
	lines->unit = line_bytes(lines_count);
	bytes = (uint64_t)(count - 1) * lines->unit;
	left = memory_left(memory, address);
	if (left > TOLD_TABLE_BYTES)
		left = TOLD_TABLE_BYTES;
	if (bytes > left) {
		lines->is_cut = true;
		bytes = left;
	}
	r = memory_read(memory, address, told->table, bytes);
	if (r == 0)
		lines->size = bytes;
	return r;
}

/* ---- names of functions that this one calls ---- */

/* Notes where names of a kind begin, if an event about a called function may lack some of them. */
static void find_packed(const struct luajit_layout *layout, const struct memory *memory,
			uint64_t at, uint64_t *ret_address)
{
	if (read_reference(layout, memory, at, ret_address) < 0 ||
	    memory_left(memory, *ret_address) <= TOLD_PACKED_BYTES)
		*ret_address = 0;
}

static bool is_within(const struct told_packed *packed, uint64_t address)
{
	return address == 0 || address - packed->first <= packed->size - TOLD_PACKED_BYTES;
}

/*
 * lj_parse.c, fs_prep_var(): behind the lines are the names of upvalues, then those of variables,
 * up to the end of the code.
 */
static void read_packed(const struct luajit_layout *layout, const struct memory *memory,
			uint64_t code, struct told *told)
{
	struct told_packed *packed = &told->packed;
	unsigned char *bytes = told->table + told->lines.size;
	const size_t room = TOLD_TABLE_BYTES - told->lines.size;

	find_packed(layout, memory, code + layout->code_upvalues, &packed->address[0]);
	find_packed(layout, memory, code + layout->code_variables, &packed->address[1]);
	packed->first = packed->address[0];
	if (packed->first == 0)
		packed->first = packed->address[1];
	packed->size = memory_left(memory, packed->first);
	if (packed->first == 0 || packed->size > room || !is_within(packed, packed->address[1]) ||
	    memory_read(memory, packed->first, bytes, packed->size) < 0)
		*packed = (struct told_packed){0};
	else
		packed->bytes = bytes;
}

int luajit_code_read(const struct runtime_setup *setup, const struct cpython_types *types,
		     const struct memory *memory, uint64_t code, struct told *ret_told)
{
	const struct luajit_layout *layout = &setup->layout.luajit;
	int r = read_names(layout, memory, code, &ret_told->code);

	(void)types;
	if (r < 0)
		return r;
	take_callers_name(layout, memory, ret_told);
	/* a function without lines has no table: the program was compiled before, and stripped */
	read_lines(layout, memory, code, ret_told);
	read_packed(layout, memory, code, ret_told);
	return 0;
}

static uint32_t read_number(const struct told_lines *lines, uint64_t number)
{
	struct reader reader;
	uint32_t value = 0;

	reader_init(&reader, lines->table, lines->size);
	reader_seek(&reader, number * lines->unit);
	if (lines->unit == sizeof(uint8_t))
		value = reader_u8(&reader);
	else if (lines->unit == sizeof(uint16_t))
		value = reader_u16(&reader);
	else
		value = reader_u32(&reader);
	if (reader_failed(&reader))
		return UINT32_MAX;
	return value;
}

/* The place of a frame is behind its instruction. The first one is that of the function's head. */
uint32_t luajit_code_line(const struct told_lines *lines, uint32_t instruction)
{
	const uint32_t number = instruction / INSTRUCTION_BYTES;
	uint32_t line;

	if (number <= 1)
		return lines->first_line;
	line = read_number(lines, number - 2);
	if (line > INT32_MAX - lines->first_line)
		return 0;
	return lines->first_line + line;
}
