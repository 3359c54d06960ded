/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/cpython_types.h"

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "object/elf/dynamic.h"
#include "object/elf/exported.h"
#include "worker/runtime/cpython_layout.h"

static const struct {
	const char *name;
	size_t field; /* offset in struct cpython_types */
} rows[] = {
	{"PyCode_Type", offsetof(struct cpython_types, code)},
	{"PyUnicode_Type", offsetof(struct cpython_types, text)},
	{"PyBytes_Type", offsetof(struct cpython_types, bytes)},
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static uint64_t *field_of(struct cpython_types *types, size_t row)
{
	return (uint64_t *)((char *)types + rows[row].field);
}

bool cpython_types_find(const struct exported *exported, struct cpython_types *ret_types)
{
	struct exported_symbol symbol;

	for (size_t i = 0; i < ROWS; i++) {
		if (!exported_find(exported, rows[i].name, &symbol))
			return false;
		*field_of(ret_types, i) = symbol.address;
	}
	return true;
}

static bool is_copy(struct image *image, uint64_t address)
{
	struct dynamic_relocation relocation;

	return dynamic_relocation(image, address, &relocation) == 0 &&
	       relocation.type == R_X86_64_COPY;
}

void cpython_types_copied(struct image *image, struct cpython_types *ret_types)
{
	struct exported_symbol symbol;
	struct exported exported;

	*ret_types = (struct cpython_types){0};
	if (exported_open(image, &exported) < 0)
		return;
	for (size_t i = 0; i < ROWS; i++)
		if (exported_find(&exported, rows[i].name, &symbol) &&
		    is_copy(image, symbol.address))
			*field_of(ret_types, i) = symbol.address;
}

struct cpython_types cpython_types_at(const struct cpython_types *types, uint64_t bias)
{
	struct cpython_types moved = *types;

	for (size_t i = 0; i < ROWS; i++)
		if (*field_of(&moved, i) != 0)
			*field_of(&moved, i) += bias;
	return moved;
}

bool cpython_types_replace(struct cpython_types *types, const struct cpython_types *others)
{
	struct cpython_types from = *others;
	bool found = false;

	for (size_t i = 0; i < ROWS; i++)
		if (*field_of(&from, i) != 0) {
			*field_of(types, i) = *field_of(&from, i);
			found = true;
		}
	return found;
}

bool cpython_types_any(const struct cpython_types *types)
{
	return types->code || types->text || types->bytes;
}
