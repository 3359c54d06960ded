/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/php_code.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/reader.h"
#include "bpf/abi.h"
#include "worker/runtime/memory.h"
#include "worker/runtime/php_layout.h"
#include "worker/runtime/runtime.h"
#include "worker/runtime/told.h"

/* zend_compile.h, all versions */
#define TYPE_INTERNAL 1u
#define TYPE_USER     2u
#define TYPE_EVAL     4u

#define MAIN "{main}" /* as debug_backtrace() calls what is in no function */
#define START \
	"{fiber}" /* zend_fibers.c: a function in C without a name, to debug_backtrace() none */
#define TEXT_BYTES  TOLD_NAME_BYTES
#define CUT	    "..."
#define CLASS_BYTES (RUNTIME_TEXT_BYTES + sizeof(CUT))

/* ---- texts ---- */

/* Reads a zend_string, or as much of it as is there. */
static int read_text(const struct php_layout *layout, const struct memory *memory, uint64_t address,
		     char *ret_text, size_t size)
{
	uint64_t length;
	size_t left;
	int r = memory_word(memory, address + layout->text_size, &length);

	if (r < 0)
		return r;
	address += layout->text_data;
	left = memory_left(memory, address);
	if (length > 0 && left == 0)
		return -EFAULT;
	if (length > left)
		length = left;
	if (length > size - 1)
		length = size - 1;
	ret_text[length] = '\0';
	return memory_read(memory, address, ret_text, length);
}

/* Reads the text to which the pointer at an address leads. */
static int read_text_at(const struct php_layout *layout, const struct memory *memory, uint64_t at,
			char *ret_text, size_t size)
{
	uint64_t address;
	int r = memory_word(memory, at, &address);

	if (r < 0)
		return r;
	if (address == 0)
		return -ENOENT;
	return read_text(layout, memory, address, ret_text, size);
}

/* The event has the beginning of the class's name, up to a NUL. Without the NUL, CUT follows. */
static void read_class(const struct memory *memory, uint64_t address, char ret_class[CLASS_BYTES])
{
	size_t size = memory_left(memory, address);

	memset(ret_class, 0, CLASS_BYTES);
	if (size > RUNTIME_TEXT_BYTES)
		size = RUNTIME_TEXT_BYTES;
	if (!address || memory_read(memory, address, ret_class, size) < 0)
		ret_class[0] = '\0';
	else if (!memchr(ret_class, 0, RUNTIME_TEXT_BYTES))
		memcpy(ret_class + RUNTIME_TEXT_BYTES, CUT, sizeof(CUT));
}

/* ---- names ---- */

/* Names a function after PHP: its class, and its name. -ENOENT: it has none. */
static int read_name(const struct php_layout *layout, const struct memory *memory, uint64_t code,
		     struct told *told)
{
	char class[CLASS_BYTES] = "", text[TEXT_BYTES];
	const char *between = "::";
	int r = read_text_at(layout, memory, code + layout->function_name, text, sizeof(text));

	if (r < 0)
		return r;
	read_class(memory, told->called, class);
	if (!class[0])
		between = "";
	if (snprintf(told->code.name, sizeof(told->code.name), "%s%s%s", class, between, text) < 0)
		return -EBADMSG;
	return 0;
}

/* ---- lines ---- */

/* Fills the table with the line of each instruction, a u32. */
static void read_lines(const struct php_layout *layout, const struct memory *memory, uint64_t code,
		       struct told *told)
{
	struct told_lines *lines = &told->lines;
	uint64_t instructions;
	uint32_t count;

	lines->unit = layout->instruction_bytes;
	if (memory_word(memory, code + layout->code_instructions, &instructions) < 0 ||
	    memory_read(memory, code + layout->code_count, &count, sizeof(count)) < 0)
		return;
	for (uint32_t i = 0; i < count && lines->size + sizeof(uint32_t) <= TOLD_TABLE_BYTES; i++) {
		const uint64_t at = instructions + (uint64_t)i * layout->instruction_bytes;

		if (memory_read(memory, at + layout->instruction_line, told->table + lines->size,
				sizeof(uint32_t)) < 0)
			break;
		lines->size += sizeof(uint32_t);
	}
	lines->is_cut = lines->size < (uint64_t)count * sizeof(uint32_t);
}

uint32_t php_code_line(const struct told_lines *lines, uint32_t instruction)
{
	struct reader reader;
	uint32_t line;

	if (lines->unit == 0 || instruction >= RUNTIME_OFFSET_NONE)
		return 0;
	if (instruction & RUNTIME_PLACE_LINE)
		return instruction >> RUNTIME_PLACE_SHIFT;
	reader_init(&reader, lines->table, lines->size);
	reader_seek(&reader, (size_t)(instruction / lines->unit) * sizeof(line));
	line = reader_u32(&reader);
	if (reader_failed(&reader) || line > INT32_MAX)
		return 0;
	return line;
}

/* ---- together ---- */

static int read_internal(const struct php_layout *layout, const struct memory *memory,
			 uint64_t code, struct told *told)
{
	int r = read_name(layout, memory, code, told);

	told->code.file[0] = '\0';
	told->code.first_line = 0;
	if (r != -ENOENT)
		return r;
	told->is_start = true;
	memcpy(told->code.name, START, sizeof(START));
	return 0;
}

static int read_program(const struct php_layout *layout, const struct memory *memory, uint64_t code,
			struct told *told)
{
	int r = read_name(layout, memory, code, told);

	if (r == -ENOENT)
		memcpy(told->code.name, MAIN, sizeof(MAIN));
	else if (r < 0)
		return r;
	r = read_text_at(layout, memory, code + layout->code_file, told->code.file,
			 sizeof(told->code.file));
	if (r < 0)
		return r;
	r = memory_read(memory, code + layout->code_first_line, &told->code.first_line,
			sizeof(told->code.first_line));
	if (r < 0)
		return r;
	if (told->code.first_line > INT32_MAX)
		return -EPROTO;
	read_lines(layout, memory, code, told);
	return 0;
}

int php_code_read(const struct runtime_setup *setup, const struct cpython_types *types,
		  const struct memory *memory, uint64_t code, struct told *ret_told)
{
	const struct php_layout *layout = &setup->layout.php;
	uint8_t type;
	int r = memory_read(memory, code + layout->function_type, &type, sizeof(type));

	(void)types;
	if (r < 0)
		return r;
	if (type == TYPE_USER || type == TYPE_EVAL)
		return read_program(layout, memory, code, ret_told);
	if (type != TYPE_INTERNAL)
		return -EPROTO;
	return read_internal(layout, memory, code, ret_told);
}
