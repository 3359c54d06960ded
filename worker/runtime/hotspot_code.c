/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/hotspot_code.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/reader.h"
#include "worker/runtime/hotspot_layout.h"
#include "worker/runtime/hotspot_names.h"
#include "worker/runtime/memory.h"
#include "worker/runtime/runtime.h"
#include "worker/runtime/told.h"

/* The parts of an event about a function: bpf/walk/hotspot.bpf.h */
enum hotspot_told {
	TOLD_CLASS,
	TOLD_NAME,
	TOLD_SIGNATURE,
	TOLD_CONSTANT /* the constant part, with the instructions and the lines */
};

/* ---- texts ---- */

/* Reads a Symbol, or as much of it as is there. Without an address the text is empty. */
static int read_symbol(const struct hotspot_layout *layout, const struct memory *memory,
		       uint64_t address, char *ret_text, size_t size)
{
	uint16_t length;
	size_t left;
	int r;

	ret_text[0] = '\0';
	if (address == 0)
		return 0;
	r = memory_read(memory, address + layout->symbol_length, &length, sizeof(length));
	if (r < 0)
		return r;
	address += layout->symbol_body;
	left = memory_left(memory, address);
	if (left > length)
		left = length;
	if (left > size - 1)
		left = size - 1;
	if (left == 0)
		return -EFAULT;
	ret_text[left] = '\0';
	return memory_read(memory, address, ret_text, left);
}

/* ---- lines ---- */

/* Copies the table of lines, which follows the instructions. It may be cut, or not be there. */
static void read_lines(const struct hotspot_layout *layout, const struct memory *memory,
		       uint64_t constant, struct told *told)
{
	uint64_t at = constant + layout->constant_bytes;
	uint16_t flags, code_size;
	size_t left;

	if (memory_read(memory, constant + layout->flags, &flags, sizeof(flags)) < 0 ||
	    memory_read(memory, constant + layout->code_size, &code_size, sizeof(code_size)) < 0 ||
	    !(flags & layout->has_lines))
		return;
	at += code_size;
	left = memory_left(memory, at);
	if (left > TOLD_TABLE_BYTES)
		left = TOLD_TABLE_BYTES;
	if (memory_read(memory, at, told->table, left) == 0)
		told->lines.size = left;
}

#define BYTES_MAX  5u /* of a number, utilities/unsigned5.hpp */
#define BYTE_SHIFT 6u
#define BYTE_LAST  192u /* a byte from here on is not the last one */

static int32_t read_number(struct reader *reader, uint32_t excluded)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < BYTES_MAX; i++) {
		const uint32_t byte = reader_u8(reader);

		if (byte < excluded)
			reader_fail(reader);
		sum += (byte - excluded) << BYTE_SHIFT * i;
		if (byte < BYTE_LAST)
			break;
	}
	/* the lowest bit is the sign */
	return (int32_t)(sum >> 1 ^ -(sum & 1));
}

#define PAIR_END       0u
#define PAIR_LONG      0xffu
#define PAIR_LINE_BITS 3u

struct line_pair {
	uint32_t instruction, line;
};

/* Reads the next pair of a table (compressedStream.hpp). Returns false at its end. */
static bool next_pair(struct reader *reader, uint32_t excluded, struct line_pair *pair)
{
	const uint8_t byte = reader_u8(reader);

	if (reader_failed(reader) || byte == PAIR_END)
		return false;
	if (byte == PAIR_LONG) {
		pair->instruction += (uint32_t)read_number(reader, excluded);
		pair->line += (uint32_t)read_number(reader, excluded);
	} else {
		pair->instruction += byte >> PAIR_LINE_BITS;
		pair->line += byte & ((1u << PAIR_LINE_BITS) - 1);
	}
	return !reader_failed(reader);
}

/* Returns the lowest line of a table, or 0. */
static uint32_t first_line(const struct told_lines *lines)
{
	struct line_pair pair = {0};
	struct reader reader;
	uint32_t first = UINT32_MAX;

	reader_init(&reader, lines->table, lines->size);
	while (next_pair(&reader, lines->unit, &pair))
		if (pair.line < first)
			first = pair.line;
	if (first > UINT16_MAX)
		return 0;
	return first;
}

uint32_t hotspot_code_line(const struct told_lines *lines, uint32_t instruction)
{
	struct line_pair pair = {0}, best = {0};
	struct reader reader;

	if (lines->format == TOLD_LINES_INLINED || instruction >= RUNTIME_OFFSET_NONE)
		return 0;
	reader_init(&reader, lines->table, lines->size);
	while (next_pair(&reader, lines->unit, &pair)) {
		if (pair.instruction <= instruction && pair.instruction >= best.instruction)
			best = pair;
		if (pair.instruction == instruction)
			break;
	}
	if (best.line > UINT16_MAX)
		return 0;
	return best.line;
}

/* ---- the three kinds of code ---- */

static int read_function(const struct hotspot_layout *layout, const struct memory *memory,
			 struct told *told)
{
	char class[TOLD_NAME_BYTES], name[TOLD_NAME_BYTES], signature[TOLD_NAME_BYTES];
	int r = read_symbol(layout, memory, told->part[TOLD_CLASS], class, sizeof(class));

	if (r == 0)
		r = read_symbol(layout, memory, told->part[TOLD_NAME], name, sizeof(name));
	if (r == 0)
		r = read_symbol(layout, memory, told->part[TOLD_SIGNATURE], signature,
				sizeof(signature));
	if (r < 0)
		return r;
	if (!name[0])
		return -EPROTO;
	hotspot_name(class, name, signature, told->code.name);
	if (read_symbol(layout, memory, told->called, told->code.file, sizeof(told->code.file)) < 0)
		told->code.file[0] = '\0';
	read_lines(layout, memory, told->part[TOLD_CONSTANT], told);
	told->code.first_line = first_line(&told->lines);
	return 0;
}

static int read_inlined(const struct memory *memory, struct told *told)
{
	const size_t step = sizeof(struct told_frame);
	size_t size = 0;

	/* a frame lies within one part */
	while (size + step <= CODE_TINY_END &&
	       memory_read(memory, CODE_INLINED_AT + size, told->table + size, step) == 0)
		size += step;
	if (size == 0)
		return -EPROTO;
	told->lines.format = TOLD_LINES_INLINED;
	told->lines.size = size;
	return 0;
}

/* HotSpot's name for code is a text that ends with a NUL. */
static int read_other(const struct memory *memory, struct told *told)
{
	size_t left = memory_left(memory, told->called);

	if (left == 0)
		return -EFAULT;
	if (left > RUNTIME_TEXT_BYTES)
		left = RUNTIME_TEXT_BYTES;
	memset(told->code.name, 0, sizeof(told->code.name));
	return memory_read(memory, told->called, told->code.name, left);
}

int hotspot_code_read(const struct runtime_setup *setup, const struct cpython_types *types,
		      const struct memory *memory, uint64_t code, struct told *ret_told)
{
	const struct hotspot_layout *layout = &setup->layout.hotspot;

	(void)types;
	(void)code;
	memset(&ret_told->code, 0, sizeof(ret_told->code));
	ret_told->lines.unit = setup->config.hotspot.excluded;
	if (memory_left(memory, CODE_INLINED_AT) > 0)
		return read_inlined(memory, ret_told);
	if (ret_told->part[TOLD_CONSTANT] == 0)
		return read_other(memory, ret_told);
	return read_function(layout, memory, ret_told);
}
