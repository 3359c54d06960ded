/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/cpython_lines.h"

#include <errno.h>
#include <stdbool.h>

#include "base/reader.h"

#define UNIT_BYTES 2u	/* of code */
#define LINE_NONE  -128 /* 3.10: the range has no line */

/* A range of code with one line. */
struct range {
	uint64_t end; /* offset behind it */
	int64_t line; /* of the last range that has one */
	bool has_line;
};

/* ---- 3.9: pairs of a step in the code and a step in lines ---- */

/*
 * A pair holds from its place on, so the range ends where the next pair begins. The last range has
 * no end.
 */
static int64_t find_in_lnotab(struct reader *table, int64_t line, uint32_t offset)
{
	uint64_t at = 0;

	while (reader_left(table) > 1) {
		at += reader_u8(table);
		if (at > offset)
			break;
		line += (int8_t)reader_u8(table);
	}
	return line;
}

static bool lnotab_reaches(struct reader *table, uint32_t offset)
{
	uint64_t at = 0;

	while (reader_left(table) > 1 && at <= offset) {
		at += reader_u8(table);
		reader_skip(table, 1);
	}
	return at > offset;
}

/* ---- 3.10: pairs of the length of a range and a step in lines ---- */

static void next_in_linetable(struct reader *table, struct range *range)
{
	int8_t step;

	range->end += reader_u8(table);
	step = (int8_t)reader_u8(table);
	range->has_line = step != LINE_NONE;
	if (range->has_line)
		range->line += step;
}

/* ---- 3.11: entries of a head and its operands ---- */

#define HEAD_BIT    0x80u
#define CODE_SHIFT  3
#define CODE_MASK   15u
#define UNITS_MASK  7u
#define CHUNK_BITS  6
#define CHUNK_MASK  0x3fu
#define CHUNK_MORE  0x40u
#define CHUNK_LIMIT 30 /* a shift with which a number no longer fits 32 bits */

/* Codes: 0 to 9 are short forms, with the line before and one byte of columns. */
enum location_code {
	LOCATION_LINE_0 = 10, /* the same line, two bytes of columns */
	LOCATION_LINE_1,
	LOCATION_LINE_2,
	LOCATION_NO_COLUMNS,
	LOCATION_LONG,
	LOCATION_NONE
};

/* Reads a number in chunks of 6 bits, the lowest first. */
static uint32_t read_number(struct reader *table)
{
	uint32_t number = 0;
	uint8_t byte = CHUNK_MORE;

	for (int shift = 0; byte & CHUNK_MORE; shift += CHUNK_BITS) {
		if (shift > CHUNK_LIMIT) {
			reader_fail(table);
			return 0;
		}
		byte = reader_u8(table);
		number |= (uint32_t)(byte & CHUNK_MASK) << shift;
	}
	return number;
}

/* The lowest bit is the sign. */
static int64_t read_signed(struct reader *table)
{
	const uint32_t number = read_number(table);

	if (number & 1)
		return -(int64_t)(number >> 1);
	return number >> 1;
}

static void skip_numbers(struct reader *table, int count)
{
	for (int i = 0; i < count; i++)
		read_number(table);
}

static void next_in_locations(struct reader *table, struct range *range)
{
	const uint8_t head = reader_u8(table);
	const unsigned int code = head >> CODE_SHIFT & CODE_MASK;

	if (!(head & HEAD_BIT))
		reader_fail(table);
	range->end += ((head & UNITS_MASK) + 1) * UNIT_BYTES;
	range->has_line = code != LOCATION_NONE;
	switch (code) {
	case LOCATION_NONE:
		break;
	case LOCATION_LONG:
		range->line += read_signed(table);
		skip_numbers(table, 3); /* end line, columns */
		break;
	case LOCATION_NO_COLUMNS:
		range->line += read_signed(table);
		break;
	case LOCATION_LINE_0:
	case LOCATION_LINE_1:
	case LOCATION_LINE_2:
		range->line += code - LOCATION_LINE_0;
		reader_skip(table, 2);
		break;
	default:
		reader_skip(table, 1);
		break;
	}
}

/* ---- all ---- */

static int64_t find_in_ranges(struct reader *table, int64_t line, uint32_t offset,
			      void (*next)(struct reader *table, struct range *range))
{
	struct range range = {.line = line};

	while (reader_left(table) > 0) {
		next(table, &range);
		if (reader_failed(table))
			return -EBADMSG;
		if (offset >= range.end)
			continue;
		if (!range.has_line)
			return -ENOENT;
		return range.line;
	}
	return -ENOENT;
}

static int64_t find(enum cpython_lines format, struct reader *table, int64_t line, uint32_t offset)
{
	switch (format) {
	case CPYTHON_LNOTAB:
		return find_in_lnotab(table, line, offset);
	case CPYTHON_LINETABLE:
		return find_in_ranges(table, line, offset, next_in_linetable);
	case CPYTHON_LOCATIONS:
		return find_in_ranges(table, line, offset, next_in_locations);
	case CPYTHON_LINES_COUNT:
		break;
	}
	return -EBADMSG;
}

int64_t cpython_line(enum cpython_lines format, const void *table, size_t size, uint32_t first_line,
		     uint32_t offset)
{
	struct reader reader;
	int64_t line;

	reader_init(&reader, table, size);
	line = find(format, &reader, first_line, offset);
	if (line == -ENOENT || line == -EBADMSG)
		return line;
	if (line < 0 || line > INT32_MAX)
		return -EBADMSG;
	if (line == 0) /* of what the compiler puts before a module */
		return -ENOENT;
	return line;
}

bool cpython_lines_reach(enum cpython_lines format, const void *table, size_t size, uint32_t offset)
{
	struct reader reader;

	if (format != CPYTHON_LNOTAB)
		return true;
	reader_init(&reader, table, size);
	return lnotab_reaches(&reader, offset);
}
