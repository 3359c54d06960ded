/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "worker/runtime/cpython_code.h"
#include "worker/runtime/cpython_layout.h"
#include "worker/runtime/memory.h"
#include "worker/runtime/told.h"

#define TABLE_BYTES 1024u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The types are those that the memory has where the objects seem to be. */
static void check_types(const struct cpython_layout *layout, const struct memory *memory,
			uint64_t address)
{
	struct cpython_types types = {0};
	uint64_t object = 0;
	int r;

	memory_word(memory, address + layout->object_type, &types.code);
	memory_word(memory, address + layout->code_file, &object);
	memory_word(memory, object + layout->object_type, &types.text);
	memory_word(memory, address + layout->code_lines, &object);
	memory_word(memory, object + layout->object_type, &types.bytes);
	r = cpython_code_check(layout, &types, memory, address);
	if (r != 0 && r != -EFAULT && r != -EPROTO)
		abort();
	types.code++;
	if (cpython_code_check(layout, &types, memory, address) == 0)
		abort();
}

/* The input is all memory from address 0 on; each pointer leads into it, or is refused. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char table[TABLE_BYTES];
	struct memory memory = {0};
	struct cpython_layout layout;
	struct told_code code;
	size_t bytes;

	if (size < 2 || cpython_layout_find(CPYTHON_VERSION(3, 9 + data[0] % 4), &layout) < 0)
		return 0;
	memory_add(&memory, 0, data, size);
	check_types(&layout, &memory, data[1]);
	if (cpython_code_read(&layout, &memory, data[1], &code) == 0 &&
	    (!memchr(code.name, 0, sizeof(code.name)) || !memchr(code.file, 0, sizeof(code.file))))
		abort();
	if (cpython_code_lines(&layout, &memory, data[1], table, sizeof(table), &bytes) >= 0 &&
	    bytes > sizeof(table))
		abort();
	return 0;
}
