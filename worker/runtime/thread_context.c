/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/thread_context.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>

#include "base/reader.h"
#include "object/elf/dynamic.h"
#include "object/elf/exported.h"
#include "object/elf/image.h"

#define CONTEXT "otel_thread_ctx_v1"

#define WORD_BYTES 8u

/* ---- libraries: a word that the dynamic linker fills in ---- */

struct wanted {
	struct image *image;
	const struct exported_symbol *symbol;
};

/* Reads a word that the file has. */
static bool has_word(struct image *image, uint64_t address, uint64_t word)
{
	unsigned char bytes[WORD_BYTES];
	struct image_place place;
	struct reader reader;

	if (image_address_place(image, address, &place) < 0 || place.size < sizeof(bytes))
		return false;
	if (image_read(image, place.offset, bytes, sizeof(bytes)) != sizeof(bytes))
		return false;
	reader_init(&reader, bytes, sizeof(bytes));
	return reader_u64(&reader) == word;
}

/*
 * Returns whether a relocation without a symbol is about the variable. Linkers make such ones where
 * no other module can take the variable's place.
 */
static bool is_own(const struct wanted *wanted, const struct dynamic_relocation *relocation)
{
	const uint64_t variable = wanted->symbol->address;

	if (relocation->symbol != 0)
		return false;
	if (relocation->type == R_X86_64_DTPMOD64)
		return has_word(wanted->image, relocation->address + WORD_BYTES, variable);
	return (uint64_t)relocation->addend == variable;
}

static bool fits(const struct dynamic_relocation *relocation, const void *context)
{
	const struct wanted *wanted = context;

	switch (relocation->type) {
	case R_X86_64_TLSDESC:
	case R_X86_64_TPOFF64:
	case R_X86_64_DTPMOD64:
		return relocation->symbol == wanted->symbol->number || is_own(wanted, relocation);
	default:
		return false;
	}
}

static enum runtime_start start_of(uint32_t type, bool musl)
{
	if (type == R_X86_64_TPOFF64)
		return RUNTIME_AT_OFFSET;
	if (type == R_X86_64_TLSDESC && musl)
		return RUNTIME_AT_DESCRIPTOR_MUSL;
	if (type == R_X86_64_TLSDESC)
		return RUNTIME_AT_DESCRIPTOR;
	if (musl)
		return RUNTIME_AT_MODULE_MUSL;
	return RUNTIME_AT_MODULE;
}

static int find_word(struct image *image, const struct exported_symbol *symbol,
		     struct runtime_root *ret_root)
{
	const struct wanted wanted = {image, symbol};
	struct dynamic_relocation relocation;

	if (dynamic_find_relocation(image, fits, &wanted, &relocation) < 0)
		return -ENOTSUP;
	*ret_root = (struct runtime_root){
		.pc = relocation.address,
		.start = start_of(relocation.type, dynamic_needs_musl(image)),
		.steps = 1,
	};
	return 0;
}

/* ---- programs: a place that the linker knows ---- */

/*
 * The thread-local memory of a program ends at the thread pointer, but for what its alignment wants
 * (x86-64 ABI of TLS, variant II).
 */
static int find_place(struct image *image, const struct exported_symbol *symbol,
		      struct runtime_root *ret_root)
{
	struct image_place memory;
	size_t cursor = 0;
	uint64_t end, offset;

	if (!image_is_program(image) || !image_next_header(image, PT_TLS, &cursor, &memory))
		return -ENOTSUP;
	if (memory.alignment > 1 && (memory.alignment & (memory.alignment - 1)) != 0)
		return -ENOTSUP;
	end = memory.memory_size;
	if (memory.alignment > 1)
		end += (0 - memory.address - memory.memory_size) & (memory.alignment - 1);
	offset = symbol->address - end;
	if (symbol->address > memory.memory_size || (int64_t)offset != (int32_t)offset ||
	    (int64_t)offset >= 0)
		return -ENOTSUP;
	*ret_root = (struct runtime_root){
		.start = RUNTIME_AT_THREAD, .steps = 1, .offset = {(int32_t)offset}};
	return 0;
}

int thread_variable_find(struct image *image, const char *name, struct runtime_root *ret_root)
{
	struct exported exported;
	struct exported_symbol symbol;
	int r = exported_open(image, &exported);

	if (r < 0 || !exported_find(&exported, name, &symbol) || !symbol.is_thread_local)
		return -ENOENT;
	r = find_word(image, &symbol, ret_root);
	if (r < 0)
		r = find_place(image, &symbol, ret_root);
	return r;
}

int thread_context_find(struct image *image, struct runtime_root *ret_root)
{
	return thread_variable_find(image, CONTEXT, ret_root);
}
