/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/v8_code.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/reader.h"
#include "worker/runtime/functions.h"
#include "worker/runtime/memory.h"
#include "worker/runtime/runtime.h"
#include "worker/runtime/told.h"
#include "worker/runtime/v8_layout.h"
#include "worker/runtime/v8_optimized.h"
#include "worker/runtime/v8_positions.h"
#include "worker/runtime/v8_wasm.h"

/* The parts of an event about a function: bpf/walk/v8_function.bpf.h */
enum v8_told {
	TOLD_NAME,
	TOLD_PREFIX,
	TOLD_FILE,
	TOLD_POSITIONS
};

#define FORMAT_POSITIONS 1u

/* A function without a name. Error.stack has <anonymous> there. */
#define NO_NAME "(anonymous)"

/* ---- texts ---- */

#define UTF8_MAX      4u
#define UNIT_HIGH     0xd800u /* UTF-16: the first of two units, */
#define UNIT_LOW      0xdc00u /* and the second */
#define UNIT_END      0xe000u
#define UNIT_BITS     10u
#define UNIT_BASE     0x10000u
#define UNIT_REPLACED 0xfffdu

/* Returns the bytes of a character. */
static size_t put_utf8(uint32_t c, char out[UTF8_MAX])
{
	static const struct {
		uint32_t end;
		unsigned char first;
	} sizes[] = {{0x80u, 0}, {0x800u, 0xc0u}, {0x10000u, 0xe0u}, {0x110000u, 0xf0u}};
	size_t more = 0;

	while (c >= sizes[more].end)
		more++;
	for (size_t i = more; i > 0; i--, c >>= 6)
		out[i] = (char)(0x80u | (c & 0x3fu));
	out[0] = (char)(sizes[more].first | c);
	return more + 1;
}

static uint32_t next_character(struct reader *reader, bool is_wide)
{
	uint32_t first, second;

	if (!is_wide)
		return reader_u8(reader);
	first = reader_u16(reader);
	if (first < UNIT_HIGH || first >= UNIT_END)
		return first;
	if (first >= UNIT_LOW || reader_left(reader) < sizeof(uint16_t))
		return UNIT_REPLACED;
	second = reader_u16(reader);
	if (second < UNIT_LOW || second >= UNIT_END) {
		reader_seek(reader, reader_offset(reader) - sizeof(uint16_t));
		return UNIT_REPLACED;
	}
	return UNIT_BASE + ((first - UNIT_HIGH) << UNIT_BITS) + (second - UNIT_LOW);
}

/* Reads a text, or as much of it as is there. `says` has its length, as the event does. */
static int read_text(const struct memory *memory, uint64_t address, uint32_t says, char *ret_text,
		     size_t size)
{
	const bool is_wide = says & V8_NAME_IS_WIDE;
	size_t bytes = V8_NAME_LENGTH(says), left = memory_left(memory, address), at = 0;
	unsigned char raw[TOLD_FILE_BYTES];
	struct reader reader;
	int r;

	ret_text[0] = '\0';
	if (address == 0 || bytes == 0)
		return 0;
	if (is_wide)
		bytes *= sizeof(uint16_t);
	if (bytes > left)
		bytes = left;
	if (bytes > sizeof(raw))
		bytes = sizeof(raw);
	if (bytes == 0)
		return -EFAULT;
	r = memory_read(memory, address, raw, bytes);
	if (r < 0)
		return r;
	reader_init(&reader, raw, bytes);
	while (reader_left(&reader) > (is_wide ? 1u : 0u) && at + UTF8_MAX < size)
		at += put_utf8(next_character(&reader, is_wide), ret_text + at);
	ret_text[at] = '\0';
	return 0;
}

/* ---- places ---- */

uint32_t v8_code_place(const struct told_lines *lines, uint32_t instruction)
{
	struct reader reader;

	if (lines->format != FORMAT_POSITIONS || instruction >= RUNTIME_OFFSET_NONE)
		return 0;
	reader_init(&reader, lines->table, lines->size);
	return v8_positions_in_script(v8_positions_find(&reader, lines, instruction));
}

static void read_positions(const struct v8_layout *layout, const struct memory *memory,
			   struct told *told)
{
	size_t left = memory_left(memory, told->part[TOLD_POSITIONS]);

	told->lines.format = FORMAT_POSITIONS;
	told->lines.unit = layout->position_bits;
	if (left > TOLD_TABLE_BYTES)
		left = TOLD_TABLE_BYTES;
	if (memory_read(memory, told->part[TOLD_POSITIONS], told->table, left) == 0)
		told->lines.size = left;
	told->lines.is_cut = told->lines.size < told->named >> V8_TABLE_SHIFT;
}

/* ---- the kinds of events ---- */

/* Puts what is before the name in front of it, and a dot, if there is room. */
static void add_prefix(const struct memory *memory, struct told *told)
{
	char prefix[TOLD_NAME_BYTES];
	size_t size, name = strlen(told->code.name) + 1;

	if (read_text(memory, told->part[TOLD_PREFIX], (uint32_t)(told->named >> V8_PREFIX_SHIFT),
		      prefix, sizeof(prefix)) < 0)
		return;
	size = strlen(prefix);
	if (size == 0 || size + 1 + name > sizeof(told->code.name))
		return;
	memmove(told->code.name + size + 1, told->code.name, name);
	memcpy(told->code.name, prefix, size);
	told->code.name[size] = '.';
}

static int read_newlines(const struct memory *memory, struct told *told)
{
	for (size_t i = 0; i < CODE_TINY_END; i += sizeof(uint64_t))
		if (memory_read(memory, CODE_INLINED_AT + i, told->table + i, sizeof(uint64_t)) < 0)
			return -EPROTO;
	told->lines.format = TOLD_LINES_NEWLINES;
	told->lines.size = CODE_TINY_END;
	return 0;
}

/* Reads an event about compiled code, or about the interpreter's. */
static int read_table(const struct runtime_setup *setup, const struct memory *memory,
		      struct told *told)
{
	if (told->part[TOLD_PREFIX] == V8_TOLD_OPTIMIZED) {
		v8_optimized_read(&setup->layout.v8, memory, told);
		return 0;
	}
	read_positions(&setup->layout.v8, memory, told);
	told->lines.unit = setup->version;
	told->lines.format = TOLD_LINES_BYTECODE;
	if (told->part[TOLD_PREFIX] == V8_TOLD_BYTECODE)
		return 0;
	told->lines.format = TOLD_LINES_COMPILED;
	told->compiled = (struct told_compiled){
		.function = told->named,
		.bytecode = told->part[TOLD_NAME],
		.fingerprint = told->called_in,
	};
	return 0;
}

/* The text of the event has the first bytes of the script, which `called` leads to. */
static void read_script(const struct v8_layout *layout, const struct memory *memory,
			struct told *told)
{
	uint64_t line = 0;

	if (told->called == 0)
		return;
	told->script = (struct told_script){
		.address = told->called,
		.fingerprint = told->called_in,
		.start = told->called_by,
	};
	if (memory_word(memory, told->called + layout->script_line, &line) == 0 &&
	    line >> 32 <= INT32_MAX)
		told->script.line = (uint32_t)(line >> 32);
}

/* The name is UTF-8. Without one, V8 has the number of the function. */
static int read_wasm(const struct memory *memory, struct told *told)
{
	struct v8_wasm_text text = {.index = told->called_by - 1};
	uint32_t before = (uint32_t)(told->named >> V8_PREFIX_SHIFT);
	uint32_t file = (uint32_t)(told->named >> V8_FILE_SHIFT);
	size_t size = V8_NAME_LENGTH(told->named),
	       left = memory_left(memory, told->part[TOLD_NAME]);

	if (size > left)
		size = left;
	if (size >= sizeof(text.name))
		size = sizeof(text.name) - 1;
	if (size > 0 && memory_read(memory, told->part[TOLD_NAME], text.name, size) < 0)
		return -EFAULT;
	if (read_text(memory, told->part[TOLD_PREFIX], before, text.before, sizeof(text.before)) <
	    0)
		text.before[0] = '\0';
	if (read_text(memory, told->part[TOLD_FILE], file, text.file, sizeof(text.file)) < 0)
		text.file[0] = '\0';
	v8_wasm_name(&text, &told->code);
	return 0;
}

int v8_code_read(const struct runtime_setup *setup, const struct cpython_types *types,
		 const struct memory *memory, uint64_t code, struct told *ret_told)
{
	struct told_code *told = &ret_told->code;
	int r;

	(void)types;
	(void)code;
	memset(told, 0, sizeof(*told));
	/* an event about newlines is as long as it can be */
	if (memory_left(memory, CODE_INLINED_AT + CODE_TINY_END - sizeof(struct told_frame)) > 0)
		return read_newlines(memory, ret_told);
	if (memory_left(memory, CODE_INLINED_AT) > 0)
		return v8_optimized_read_functions(memory, ret_told);
	if (ret_told->part[TOLD_PREFIX] >= V8_TOLD_BASELINE &&
	    ret_told->part[TOLD_PREFIX] <= V8_TOLD_OPTIMIZED)
		return read_table(setup, memory, ret_told);
	if (ret_told->part[TOLD_POSITIONS] == V8_TOLD_WASM)
		return read_wasm(memory, ret_told);
	r = read_text(memory, ret_told->part[TOLD_NAME], (uint32_t)ret_told->named, told->name,
		      sizeof(told->name));
	if (r < 0)
		return r;
	if (!told->name[0])
		memcpy(told->name, NO_NAME, sizeof(NO_NAME));
	add_prefix(memory, ret_told);
	if (read_text(memory, ret_told->part[TOLD_FILE],
		      (uint32_t)(ret_told->named >> V8_FILE_SHIFT), told->file,
		      sizeof(told->file)) < 0)
		told->file[0] = '\0';
	read_script(&setup->layout.v8, memory, ret_told);
	read_positions(&setup->layout.v8, memory, ret_told);
	return 0;
}
