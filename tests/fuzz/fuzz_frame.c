/* SPDX-License-Identifier: Apache-2.0 */
/* The input is an .eh_frame section: records, tables and function starts. */
#include <stdint.h>
#include <stdlib.h>

#include "tests/unit/build_elf.h"
#include "object/elf/image.h"
#include "object/unwind/function_starts.h"
#include "object/unwind/unwind_table.h"

#define TEXT	  0x1000ull
#define TEXT_SIZE (1ull << 16)
#define PCS	  64u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct unwind_table *table = NULL;
	struct image *image;
	size_t built_size;
	unsigned char *built = build_elf_with_frames(TEXT, TEXT_SIZE, data, size, &built_size);
	uint64_t pcs[PCS], starts[PCS];
	u64 damaged;

	if (image_open_memory(built, built_size, &image) < 0)
		abort();
	if (unwind_table_build(image, &table, &damaged) == 0) {
		for (u64 pc = TEXT; pc < TEXT + TEXT_SIZE; pc += 1021)
			unwind_table_rule(table, pc);
	}
	for (u32 i = 0; i < PCS; i++)
		pcs[i] = TEXT + i * (TEXT_SIZE / PCS);
	unwind_function_starts(image, pcs, PCS, starts);
	unwind_table_free(table);
	image_close(image);
	free(built);
	return 0;
}
