/* SPDX-License-Identifier: Apache-2.0 */
/* The input is a .debug_frame section, beside an .eh_frame with one function. */
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/unit/build_cfi.h"
#include "tests/unit/build_elf.h"
#include "object/elf/image.h"
#include "object/unwind/unwind_table.h"

#define TEXT	  0x1000ull
#define TEXT_SIZE (1ull << 16)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct unwind_table *table = NULL;
	struct build_cfi eh = {0};
	struct build_elf elf;
	struct image *image;
	unsigned char *built;
	size_t built_size;
	u64 damaged, described;

	build_cfi_fde(&eh, build_cfi_usual_cie(&eh), TEXT + 0x100, 0x100, INSTRUCTIONS(0x0e, 40));
	build_elf_init(&elf);
	build_elf_text(&elf, TEXT, TEXT_SIZE);
	build_elf_section(&elf, ".eh_frame", SHT_PROGBITS, BUILD_ELF_EH_FRAME, eh.bytes, eh.size);
	build_elf_section(&elf, ".debug_frame", SHT_PROGBITS, 0, data, size);
	built = build_elf_finish(&elf, &built_size);
	if (image_adopt(built, built_size, &image) < 0)
		abort();
	if (unwind_table_build(image, &table, &damaged) < 0)
		abort(); /* .eh_frame is whole */
	for (u64 pc = TEXT; pc < TEXT + TEXT_SIZE; pc += 1021)
		unwind_table_rule(table, pc);
	described = unwind_table_rule(table, TEXT + 0x180);
	if (described != RULE_MAKE(RULE_SP, 0, 0, 40, 0))
		abort();
	unwind_table_free(table);
	image_close(image);
	build_cfi_release(&eh);
	return 0;
}
