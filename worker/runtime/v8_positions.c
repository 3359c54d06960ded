/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/v8_positions.h"

#include "base/reader.h"
#include "worker/runtime/functions.h"
#include "worker/runtime/told.h"

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

int64_t v8_positions_find(struct reader *reader, const struct told_lines *lines,
			  uint32_t instruction)
{
	int64_t at = FUNCTION_ENTRY, place = 0, best = -1;

	while (reader_left(reader) > 0) {
		const int64_t step = read_step(reader, lines->unit);
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
	if (lines->is_cut && at <= instruction)
		return -1;
	return best;
}

uint32_t v8_positions_in_script(int64_t place)
{
	if (place < 0 || (place >> POSITION_SHIFT & POSITION_MASK) >= FUNCTION_UNTOLD - 1)
		return 0;
	return (uint32_t)(place >> POSITION_SHIFT & POSITION_MASK) + 1;
}
