/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "worker/runtime/cpython_code.h"
#include "worker/runtime/cpython_layout.h"
#include "worker/runtime/memory.h"

#define PAGES 16u
#define PAGE  4096u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input repeats in 16 pages from address 0 on; each pointer leads into them, or is refused. */
static void answer_wants(struct memory *memory, const uint8_t *data, size_t size)
{
	unsigned char bytes[MEMORY_WANT_MAX];
	uint64_t address;
	size_t wanted;

	while ((wanted = memory_want(memory, &address)) > 0) {
		for (size_t i = 0; i < wanted; i++)
			bytes[i] = data[(address + i) % size];
		memory_answer(memory, address, wanted, bytes, address < PAGES * PAGE ? wanted : 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory *memory = memory_new();
	struct cpython_layout layout;
	struct cpython_code code;

	if (!memory || size < 2 ||
	    cpython_layout_find(CPYTHON_VERSION(3, 9 + data[0] % 4), &layout) < 0) {
		memory_free(memory);
		return 0;
	}
	for (int turn = 0; turn < 6; turn++) {
		if (cpython_code_read(&layout, memory, 0, &code) == 0 &&
		    (!memchr(code.name, 0, sizeof(code.name)) ||
		     !memchr(code.file, 0, sizeof(code.file))))
			abort();
		cpython_code_line(&layout, memory, 0, data[1]);
		answer_wants(memory, data, size);
	}
	memory_free(memory);
	return 0;
}
