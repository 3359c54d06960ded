/* SPDX-License-Identifier: Apache-2.0 */
/* The input is the section .go.buildinfo of a program, whose words may be addresses in it. */
#include <assert.h>
#include <stdint.h>

#include "object/elf/go_version.h"
#include "object/elf/image.h"
#include "tests/unit/build_elf.h"

#define INFO_AT 0x500000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t minor = 0;
	struct image *image;
	struct build_elf elf;
	unsigned char *file;
	size_t file_size;

	if (size == 0 || size > 4096)
		return 0;
	build_elf_init(&elf);
	build_elf_segment(&elf, PT_LOAD, PF_R | PF_W, INFO_AT, data, size);
	build_elf_section(&elf, ".go.buildinfo", SHT_PROGBITS, INFO_AT, data, size)->sh_offset =
		elf.segments[0].p_offset;
	file = build_elf_finish(&elf, &file_size);
	if (image_adopt(file, file_size, &image) < 0)
		return 0;
	if (go_version(image, &minor) == 0)
		assert(minor > 0 && minor <= 999);
	image_close(image);
	return 0;
}
