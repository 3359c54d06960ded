/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/lua_code.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/reader.h"
#include "worker/runtime/lua_layout.h"
#include "worker/runtime/lua_names.h"
#include "worker/runtime/lua_text.h"
#include "worker/runtime/memory.h"
#include "worker/runtime/runtime.h"
#include "worker/runtime/told.h"

#define INSTRUCTION_BYTES 4u
#define TYPE_AT		  8u /* CommonHeader, all versions */
#define TYPE_MASK	  15u
#define TYPE_TEXT	  4u /* LUA_TSTRING, without its variant */

/* ---- source ---- */

/* TString of all versions; from 5.5 on a long string has a pointer to its characters there. */
#define TEXT_AT	      24u
#define TEXT_SHORT_AT 11u /* shrlen, negative in a long string */

#define SOURCE_BYTES 256u
#define CALLED_BYTES (RUNTIME_TEXT_BYTES - TEXT_AT) /* of a caller's name, with its NUL */

/* Finds the characters of a text. */
static int find_text(const struct lua_layout *layout, const struct memory *memory,
		     uint64_t *address)
{
	int8_t length;
	int r = memory_read(memory, *address + TEXT_SHORT_AT, &length, sizeof(length));

	if (r < 0)
		return r;
	if (LUA_MINOR(layout->version) >= 5 && length < 0)
		return memory_word(memory, *address + TEXT_AT, address);
	*address += TEXT_AT;
	return 0;
}

/* Reads a text, which ends with a NUL or where the bytes end. */
static int read_source(const struct lua_layout *layout, const struct memory *memory, uint64_t code,
		       char ret_source[SOURCE_BYTES])
{
	uint64_t address;
	int r = memory_word(memory, code + layout->code_source, &address);

	if (r == 0)
		r = find_text(layout, memory, &address);
	if (r < 0)
		return r;
	return lua_text_read(memory, address, ret_source, SOURCE_BYTES);
}

/* Replaces the name by that which the caller has for the function, if there is one. */
static void take_callers_name(const struct lua_layout *layout, const struct memory *memory,
			      struct told *told)
{
	struct told_code *code = &told->code;
	uint64_t address = told->called;
	char text[CALLED_BYTES] = "";
	uint8_t type;
	size_t size;

	if (code->first_line == 0)
		return;
	told->has_callers_name = lua_names_event(layout, told->called_by, told->called_in,
						 code->name, sizeof(code->name));
	if (told->has_callers_name)
		return;
	if (address == 0 || memory_read(memory, address + TYPE_AT, &type, sizeof(type)) < 0 ||
	    (type & TYPE_MASK) != TYPE_TEXT || find_text(layout, memory, &address) < 0)
		return;
	size = memory_left(memory, address);
	if (size > sizeof(text))
		size = sizeof(text);
	if (memory_read(memory, address, text, size) < 0 || !memchr(text, '\0', size))
		return;
	told->has_callers_name = lua_text_is_name(text);
	if (told->has_callers_name)
		snprintf(code->name, sizeof(code->name), "%s", text);
}

static int read_names(const struct lua_layout *layout, const struct memory *memory, uint64_t code,
		      struct told_code *ret_code)
{
	char source[SOURCE_BYTES];
	uint8_t type;
	int r = memory_read(memory, code + TYPE_AT, &type, sizeof(type));

	if (r == 0)
		r = memory_read(memory, code + layout->code_first_line, &ret_code->first_line,
				sizeof(ret_code->first_line));
	if (r < 0)
		return r;
	if (type != layout->code_type || ret_code->first_line > INT32_MAX)
		return -EPROTO;
	r = read_source(layout, memory, code, source);
	if (r < 0)
		return r;
	lua_text_write(ret_code, source);
	return 0;
}

/* ---- lines ---- */

/*
 * The table of told_lines. Until 5.3 it has one u32 for each instruction. From 5.4 on there are
 * anchors, as many as told_lines.unit says: two u32, an instruction and its line. Then comes a byte
 * for each instruction: the difference to the line of the one before, or DIFFERENCE_NONE at an
 * anchor.
 */
enum format {
	FORMAT_LINES,
	FORMAT_DIFFERENCES
};
#define ANCHOR_BYTES	8u
#define ANCHORS_MAX	((CODE_PART_3 - CODE_PART_2) / ANCHOR_BYTES)
#define DIFFERENCE_NONE (-128)

/* Appends an array that a pointer in code leads to, or the part of it that is there. */
static int append_array(const struct memory *memory, uint64_t at, uint64_t bytes, struct told *told)
{
	struct told_lines *lines = &told->lines;
	uint64_t address;
	size_t left, room = TOLD_TABLE_BYTES - lines->size;
	int r = memory_word(memory, at, &address);

	if (r < 0)
		return r;
	left = memory_left(memory, address);
	if (left > room)
		left = room;
	if (bytes > left) {
		lines->is_cut = true;
		bytes = left;
	}
	r = memory_read(memory, address, told->table + lines->size, bytes);
	if (r == 0)
		lines->size += bytes;
	return r;
}

static int append_anchors(const struct lua_layout *layout, const struct memory *memory,
			  uint64_t code, struct told *told)
{
	struct told_lines *lines = &told->lines;
	uint32_t count;
	int r;

	lines->format = FORMAT_LINES;
	if (layout->code_anchors == LUA_NONE)
		return 0;
	lines->format = FORMAT_DIFFERENCES;
	r = memory_read(memory, code + layout->code_anchors_count, &count, sizeof(count));
	if (r < 0)
		return r;
	if (count > ANCHORS_MAX)
		count = ANCHORS_MAX;
	if (count > 0)
		r = append_array(memory, code + layout->code_anchors,
				 (uint64_t)count * ANCHOR_BYTES, told);
	lines->size -= lines->size % ANCHOR_BYTES;
	lines->unit = (uint32_t)(lines->size / ANCHOR_BYTES);
	return r;
}

static int read_lines(const struct lua_layout *layout, const struct memory *memory, uint64_t code,
		      struct told *told)
{
	uint32_t count, bytes = 1;
	int r = memory_read(memory, code + layout->code_lines_count, &count, sizeof(count));

	if (r == 0)
		r = append_anchors(layout, memory, code, told);
	if (r < 0)
		return r;
	if (told->lines.format == FORMAT_LINES)
		bytes = sizeof(uint32_t);
	if (count == 0)
		return 0;
	return append_array(memory, code + layout->code_lines, (uint64_t)count * bytes, told);
}

int lua_code_read(const struct runtime_setup *setup, const struct cpython_types *types,
		  const struct memory *memory, uint64_t code, struct told *ret_told)
{
	const struct lua_layout *layout = &setup->layout.lua;
	int r = read_names(layout, memory, code, &ret_told->code);

	(void)types;
	if (r < 0)
		return r;
	take_callers_name(layout, memory, ret_told);
	r = read_lines(layout, memory, code, ret_told);
	if (r < 0)
		ret_told->lines.size = ret_told->lines.unit = 0;
	return 0;
}

/* ---- the line of an instruction ---- */

struct anchor {
	uint32_t instruction, line;
};

/* Finds the last anchor that is not behind an instruction. Returns false if there is none. */
static bool find_anchor(const struct told_lines *lines, uint32_t number, struct anchor *ret_anchor)
{
	struct reader reader;
	bool found = false;

	reader_init(&reader, lines->table, lines->size);
	for (uint32_t i = 0; i < lines->unit; i++) {
		const struct anchor anchor = {reader_u32(&reader), reader_u32(&reader)};

		if (anchor.instruction > number)
			break;
		*ret_anchor = anchor;
		found = true;
	}
	return found && !reader_failed(&reader);
}

/* ldebug.c, luaG_getfuncline() */
static uint32_t line_by_differences(const struct told_lines *lines, uint32_t number)
{
	struct anchor from = {0, lines->first_line};
	const size_t head = (size_t)lines->unit * ANCHOR_BYTES;
	struct reader reader;
	uint32_t at = 0;

	if (find_anchor(lines, number, &from))
		at = from.instruction + 1;
	reader_init(&reader, lines->table, lines->size);
	reader_seek(&reader, head + at);
	for (; at <= number; at++) {
		const int8_t difference = (int8_t)reader_u8(&reader);

		if (reader_failed(&reader) || difference == DIFFERENCE_NONE)
			return 0;
		from.line += (uint32_t)difference;
	}
	return from.line;
}

static uint32_t line_by_number(const struct told_lines *lines, uint32_t number)
{
	struct reader reader;
	uint32_t line;

	reader_init(&reader, lines->table, lines->size);
	reader_seek(&reader, (size_t)number * sizeof(line));
	line = reader_u32(&reader);
	if (reader_failed(&reader))
		return 0;
	return line;
}

/* The place of a frame is behind its instruction, and is 0 in a function that has not begun. */
uint32_t lua_code_line(const struct told_lines *lines, uint32_t instruction)
{
	uint32_t number = instruction / INSTRUCTION_BYTES, line;

	if (number == 0)
		return lines->first_line;
	number--;
	if (lines->format == FORMAT_DIFFERENCES)
		line = line_by_differences(lines, number);
	else
		line = line_by_number(lines, number);
	if (line > INT32_MAX)
		return 0;
	return line;
}
