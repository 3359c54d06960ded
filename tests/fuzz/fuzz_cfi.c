/* SPDX-License-Identifier: Apache-2.0 */
/* The input is the program of one function: its table must say what each of its rows says. */
#include <stdint.h>
#include <stdlib.h>

#include "tests/unit/build_cfi.h"
#include "tests/unit/build_elf.h"
#include "tests/unit/compare_rows.h"
#include "object/elf/image.h"
#include "object/unwind/unwind_table.h"

#define TEXT 0x1000ull
#define SIZE 0x20000ull

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct build_cfi frames = {0};
	size_t cie = build_cfi_usual_cie(&frames), built_size;
	struct unwind_table *table = NULL;
	struct image *image;
	unsigned char *built;
	u64 damaged;

	build_cfi_fde(&frames, cie, TEXT, SIZE, (struct build_cfi_code){data, size});
	built = build_elf_with_frames(TEXT, SIZE, frames.bytes, frames.size, &built_size);
	if (image_open_memory(built, built_size, &image) < 0 ||
	    unwind_table_build(image, &table, &damaged) < 0)
		abort();
	compare_rows(table, frames.bytes, frames.size);
	unwind_table_free(table);
	image_close(image);
	build_cfi_release(&frames);
	free(built);
	return 0;
}
