/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/luajit_build.h"

#include <errno.h>
#include <string.h>

#include "base/reader.h"
#include "object/elf/exported.h"
#include "object/elf/image.h"
#include "worker/runtime/accessor.h"
#include "worker/runtime/instruction.h"
#include "worker/runtime/luajit_layout.h"
#include "worker/runtime/runtime.h"

/* ---- texts ---- */

#define VERSION_START "LuaJIT 2.1."
#define VERSION_BYTES 32u

/* Finds the version among the texts of the image. */
static int find_time(const struct image_bytes *texts, uint32_t *ret_time)
{
	const unsigned char *at = texts->bytes, *end = texts->bytes + texts->size;

	for (; at < end; at++) {
		char text[VERSION_BYTES];
		const unsigned char *nul;

		at = memmem(at, (size_t)(end - at), VERSION_START, strlen(VERSION_START));
		if (!at)
			break;
		nul = memchr(at, '\0', (size_t)(end - at));
		if (!nul || nul - at >= (ptrdiff_t)sizeof(text))
			continue;
		memcpy(text, at, (size_t)(nul - at) + 1);
		if (luajit_time_read(text, ret_time) == 0)
			return 0;
	}
	return -ENOTSUP;
}

/*
 * lj_err.c, err_frame_jit_template: begins with a CIE of traces. The commit that brought it, of
 * 2021-03-23, also brought the field of snapshot_code.
 */
static const unsigned char trace_rules[] = {0x1c, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'P', 'R', 0};

/* ---- exported functions ---- */

#define LOADS_BYTES 64u

/*
 * Finds two offsets in an exported function, which loads from the state, and from where that leads.
 */
static int find_offsets(struct image *image, const struct exported *exported, const char *name,
			uint32_t *ret_shared, uint32_t *ret_field)
{
	struct exported_symbol symbol;
	struct image_place place;
	unsigned char bytes[LOADS_BYTES];
	struct instruction one = {0};
	uint32_t *ret_offset = ret_shared;
	size_t size, at = 0;
	uint8_t base = ACCESSOR_RDI;

	if (!exported_find(exported, name, &symbol) ||
	    image_address_place(image, symbol.address, &place) < 0)
		return -ENOTSUP;
	size = image_read(image, place.offset, bytes, sizeof(bytes));
	for (;; at += one.size) {
		if (instruction_decode(bytes + at, size - at, symbol.address + at, &one) < 0)
			return -ENOTSUP;
		if (one.kind != INSTRUCTION_LOAD)
			continue;
		if (one.operand.unknown || one.operand.base != base)
			return -ENOTSUP;
		*ret_offset = (uint32_t)one.operand.number;
		if (ret_offset == ret_field)
			return 0;
		ret_offset = ret_field;
		base = one.reg;
	}
}

/* ---- code of the interpreter ---- */

/*
 * vm_x64.dasc, BC_JLOOP: the interpreter enters a trace. r14 has DISPATCH, rdx BASE.
 * mov J.trace(%r14), %rcx; mov (%rcx,%rax,8), %rax; mov mcode(%rax), %rax; mov L(%rsp), %rbp;
 * mov %rdx, g.jit_base(%r14)
 */
static const unsigned char load_traces[] = {0x49, 0x8b, 0x8e};
static const unsigned char load_code[] = {0x48, 0x8b, 0x04, 0xc1, 0x48, 0x8b, 0x40};
static const unsigned char load_state[] = {0x48, 0x8b, 0x6c, 0x24};
static const unsigned char store_base[] = {0x49, 0x89, 0x96};

static void expect(struct reader *reader, const unsigned char *bytes, size_t size)
{
	const void *found = reader_bytes(reader, size);

	if (found && memcmp(found, bytes, size) != 0)
		reader_fail(reader);
}

/* Reads the offsets if the interpreter enters a trace here. Returns whether it does. */
static bool read_entry(struct reader *reader, struct luajit_build *build)
{
	uint32_t traces, base;
	uint8_t code;

	expect(reader, load_traces, sizeof(load_traces));
	traces = reader_u32(reader);
	expect(reader, load_code, sizeof(load_code));
	code = reader_u8(reader);
	expect(reader, load_state, sizeof(load_state));
	reader_u8(reader);
	expect(reader, store_base, sizeof(store_base));
	base = reader_u32(reader);
	if (reader_failed(reader))
		return false;
	build->traces = traces - base;
	build->trace_code = code;
	return true;
}

/* Short references, and an interpreter without a compiler, have no such code. */
static int find_traces(struct image *image, const struct runtime_range *loop,
		       struct luajit_build *build)
{
	struct image_bytes code;
	struct reader reader;
	int r = image_part(image, loop->start, loop->end - loop->start, &code);

	build->traces = build->trace_code = 0;
	if (r < 0)
		return -ENOTSUP;
	for (size_t at = 0; at < code.size; at++) {
		reader_init(&reader, code.bytes + at, code.size - at);
		if (read_entry(&reader, build))
			return 0;
	}
	return 0;
}

int luajit_build_find(struct image *image, const struct exported *exported,
		      const struct runtime_range *loop, struct luajit_build *ret_build)
{
	struct luajit_build build = {0};
	struct image_bytes texts;
	uint32_t shared;
	int r = image_section(image, ".rodata", &texts);

	if (r < 0)
		return -ENOTSUP;
	build.unwinds_traces = memmem(texts.bytes, texts.size, trace_rules, sizeof(trace_rules));
	r = find_time(&texts, &build.time);
	if (r == 0)
		r = find_offsets(image, exported, "lua_atpanic", &build.shared, &build.panic);
	if (r == 0)
		r = find_offsets(image, exported, "lua_close", &shared, &build.main);
	if (r == 0)
		r = find_traces(image, loop, &build);
	if (r < 0)
		return r;
	if (shared != build.shared)
		return -ENOTSUP;
	*ret_build = build;
	return 0;
}
