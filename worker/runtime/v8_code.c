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

#define VLQ_BITS 7u
#define VLQ_MORE 0x80u
#define VLQ_MAX	 9u /* bytes of a number */

static uint64_t read_number(struct reader *reader)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < VLQ_MAX; i++) {
		const uint8_t byte = reader_u8(reader);

		sum |= (uint64_t)(byte & ~VLQ_MORE) << VLQ_BITS * i;
		if (!(byte & VLQ_MORE))
			break;
	}
	return sum;
}

/* base/vlq.h: the lowest bit of the number is its sign. */
static int64_t read_signed(struct reader *reader)
{
	const uint64_t number = read_number(reader);

	return (int64_t)(number >> 1) ^ -(int64_t)(number & 1);
}

/*
 * Reads the distance of an instruction. codegen/source-position-table.cc: that of an expression is
 * stored as -1 - it. Later there are flags in the lowest bits.
 */
static int64_t read_step(struct reader *reader, uint32_t bits)
{
	int64_t step;

	if (bits)
		return (int64_t)(read_number(reader) >> bits);
	step = read_signed(reader);
	if (step < 0)
		return -step - 1;
	return step;
}

#define POSITION_SHIFT 1u /* source-position.h: the lowest bit says from where a function is */
#define POSITION_MASK  ((1u << 30) - 1)

#define DISTANCE_MAX   (1ll << 48)
#define FUNCTION_ENTRY -1 /* kFunctionEntryBytecodeOffset: tables begin there */

/*
 * Finds the place of an instruction, or of a byte of compiled code. A table has pairs of distances:
 * of an instruction and of a place. Returns a raw place, or -1.
 */
static int64_t find_place(struct reader *reader, uint32_t bits, bool is_cut, uint32_t instruction)
{
	int64_t at = FUNCTION_ENTRY, place = 0, best = -1;

	while (reader_left(reader) > 0) {
		const int64_t step = read_step(reader, bits);
		const int64_t distance = read_signed(reader);

		if (reader_failed(reader) || step > INT32_MAX || distance > DISTANCE_MAX ||
		    distance < -DISTANCE_MAX)
			break;
		at += step;
		place += distance;
		if (at > instruction)
			break;
		best = place;
	}
	/* what is cut off may have a nearer place */
	if (is_cut && at <= instruction)
		return -1;
	return best;
}

/* Returns a place in the text of a script, as of struct told_script, or 0. */
static uint32_t in_script(int64_t place)
{
	if (place < 0 || (place >> POSITION_SHIFT & POSITION_MASK) >= FUNCTION_UNTOLD - 1)
		return 0;
	return (uint32_t)(place >> POSITION_SHIFT & POSITION_MASK) + 1;
}

uint32_t v8_code_place(const struct told_lines *lines, uint32_t instruction)
{
	struct reader reader;

	if (lines->format != FORMAT_POSITIONS || instruction >= RUNTIME_OFFSET_NONE)
		return 0;
	reader_init(&reader, lines->table, lines->size);
	return in_script(find_place(&reader, lines->unit, lines->is_cut, instruction));
}

/* The number of a function that is put in, counted from 1 on; 0: it is the function itself. */
#define POSITION_PUT_IN_SHIFT 31u
#define POSITION_PUT_IN_MASK  0xffffu
#define PUT_IN_BYTES	      16u /* a raw place of its call, and the number of its code */
#define PUT_IN_DEPTH	      (TOLD_PUT_IN_BYTES / PUT_IN_BYTES)

/* Returns the place in the function itself from which a function at a place was called. */
static int64_t find_outermost(const struct told_lines *lines, int64_t place)
{
	for (unsigned int depth = 0; depth <= PUT_IN_DEPTH && place >= 0; depth++) {
		const uint32_t number =
			(uint32_t)(place >> POSITION_PUT_IN_SHIFT) & POSITION_PUT_IN_MASK;
		struct reader reader;

		if (number == 0)
			return place;
		reader_init(&reader, lines->table, TOLD_PUT_IN_BYTES);
		reader_seek(&reader, (number - 1) * PUT_IN_BYTES);
		place = (int64_t)reader_u64(&reader);
		if (reader_failed(&reader))
			break;
	}
	return -1;
}

uint32_t v8_code_place_of(const struct told_lines *lines, uint32_t offset)
{
	struct reader reader;

	if (lines->format != TOLD_LINES_OPTIMIZED || lines->size < TOLD_PUT_IN_BYTES)
		return 0;
	reader_init(&reader, lines->table, lines->size);
	reader_skip(&reader, TOLD_PUT_IN_BYTES);
	return in_script(
		find_outermost(lines, find_place(&reader, lines->unit, lines->is_cut, offset)));
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

static void read_put_in(const struct memory *memory, struct told *told)
{
	size_t left = memory_left(memory, told->part[TOLD_FILE]);

	if (left > TOLD_PUT_IN_BYTES)
		left = TOLD_PUT_IN_BYTES;
	if (memory_read(memory, told->part[TOLD_FILE], told->table, left) < 0)
		memset(told->table, 0, TOLD_PUT_IN_BYTES);
}

/* Reads an event about optimized code, which may have no functions put in. */
static int read_optimized(const struct v8_layout *layout, const struct memory *memory,
			  struct told *told)
{
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
		return 0;
	told->lines.size = TOLD_PUT_IN_BYTES + left;
	read_put_in(memory, told);
	return 0;
}

/* Reads an event about compiled code, or about the interpreter's. */
static int read_table(const struct runtime_setup *setup, const struct memory *memory,
		      struct told *told)
{
	if (told->part[TOLD_PREFIX] == V8_TOLD_OPTIMIZED)
		return read_optimized(&setup->layout.v8, memory, told);
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

int v8_code_read(const struct runtime_setup *setup, const struct cpython_types *types,
		 const struct memory *memory, uint64_t code, struct told *ret_told)
{
	struct told_code *told = &ret_told->code;
	int r;

	(void)types;
	(void)code;
	memset(told, 0, sizeof(*told));
	if (memory_left(memory, CODE_INLINED_AT) > 0)
		return read_newlines(memory, ret_told);
	if (ret_told->part[TOLD_PREFIX] >= V8_TOLD_BASELINE &&
	    ret_told->part[TOLD_PREFIX] <= V8_TOLD_OPTIMIZED)
		return read_table(setup, memory, ret_told);
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
