/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/v8_baseline.h"

#include <stddef.h>

#include "base/reader.h"
#include "bpf/abi.h"
#include "worker/runtime/told.h"

#define VERSION(major, minor) ((major##u) << 24 | (minor##u) << 16)

static const struct {
	uint32_t version;
	uint32_t count;
	const char *bytes, *scaled; /* digits */
} sizes[] = {
#define B(major, minor, bytes, scaled) {VERSION(major, minor), sizeof(bytes) - 1, bytes, scaled},
#include "worker/runtime/v8_bytecodes.def"
#undef B
};
#define SIZES (sizeof(sizes) / sizeof(*sizes))

#define B(major, minor, bytes, scaled) \
	_Static_assert(sizeof(bytes) == sizeof(scaled), "each instruction has both digits");
#include "worker/runtime/v8_bytecodes.def"
#undef B

/* Prefixes: operands have two or four bytes. Each has a further form, for a debugger's stop. */
#define PREFIX_END  4u
#define PREFIX_FOUR 1u

/* Skips an instruction and its prefix. Returns their bytes, or 0: there is no such instruction. */
static uint32_t skip_instruction(struct reader *bytecode, size_t version)
{
	uint32_t number = reader_u8(bytecode), size = 0, scale = 1;

	if (number < PREFIX_END) {
		scale = 2;
		if (number & PREFIX_FOUR)
			scale = 4;
		size = 1;
		number = reader_u8(bytecode);
	}
	if (reader_failed(bytecode) || number >= sizes[version].count)
		return 0;
	number = (uint32_t)(sizes[version].bytes[number] - '0') +
		 (scale - 1) * (uint32_t)(sizes[version].scaled[number] - '0');
	reader_skip(bytecode, number - 1);
	return size + number;
}

uint32_t v8_baseline_instruction(const struct told_lines *table, const struct told_lines *bytecode,
				 uint32_t offset)
{
	struct reader pieces, instructions;
	uint32_t at = 0, next = 0;
	size_t version = 0;
	uint64_t end;

	while (version < SIZES && sizes[version].version != bytecode->unit)
		version++;
	if (version == SIZES)
		return RUNTIME_OFFSET_NONE;
	reader_init(&pieces, table->table, table->size);
	reader_init(&instructions, bytecode->table, bytecode->size);
	end = reader_uleb(&pieces);
	while (!reader_failed(&pieces) && end <= offset) {
		const uint32_t size = skip_instruction(&instructions, version);
		const uint64_t piece = reader_uleb(&pieces);

		if (size == 0 || piece > UINT32_MAX)
			return RUNTIME_OFFSET_NONE;
		at = next;
		next += size;
		end += piece;
	}
	if (reader_failed(&pieces) || at >= RUNTIME_OFFSET_NONE)
		return RUNTIME_OFFSET_NONE;
	return at;
}
