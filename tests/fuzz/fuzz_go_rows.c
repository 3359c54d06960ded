/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The input is the records and tables of a Go program's functions, and its code. With bit 1 of the
 * first byte, the linker of C has moved the code. Then the input's last words change the program's
 * description of itself.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/build_elf.h"
#include "object/elf/image.h"
#include "object/unwind/unwind_table.h"

#define TEXT	  0x401000u
#define FUNCTIONS 4u
#define RECORD	  44u
#define TABLE_AT  0x500000u
#define MODULE_AT 0x600000u

#define MODULE_WORDS 48u
#define MODULE_PLACE 20u /* the words with the first and last address, and the start of the code */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct table {
	uint64_t header[9];
	char names[64];
	uint32_t pairs[2 * FUNCTIONS + 2];
	uint8_t data[4096]; /* the first record's name is the entry point's */
};

static const struct table usual = {
	.header = {0x08010000fffffff1, FUNCTIONS, 0, 0, offsetof(struct table, names), 0, 0,
		   offsetof(struct table, data) + FUNCTIONS *RECORD, offsetof(struct table, pairs)},
	.names = "_rt0_amd64\0runtime.goexit\0runtime.clone\0main.main",
	.pairs = {0x000, 40, 0x100, 40 + RECORD, 0x200, 40 + 2 * RECORD, 0x300, 40 + 3 * RECORD,
		  0x400},
};

static void add_module(struct build_elf *elf, const uint8_t *data, size_t size)
{
	uint64_t module[MODULE_WORDS] = {TABLE_AT, TABLE_AT + offsetof(struct table, names)};
	uint64_t place[3];

	memcpy(place, data + size - sizeof(place), sizeof(place));
	module[MODULE_PLACE] = place[0] ^ TEXT;
	module[MODULE_PLACE + 1] = place[1] ^ (TEXT + 0x400);
	module[MODULE_PLACE + 2] = place[2] ^ TEXT;
	build_elf_section(elf, ".go.module", SHT_PROGBITS, MODULE_AT, module, sizeof(module));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct table table = usual;
	struct unwind_table *compiled = NULL;
	struct image *image;
	struct build_elf elf;
	unsigned char *file;
	size_t file_size;
	u64 damaged;

	if (size < FUNCTIONS * RECORD || size > sizeof(table.data))
		return 0;
	memcpy(table.data, data, size);
	memset(table.data + 4, 0, 4);
	table.header[0] -= data[0] & 1; /* the layout */
	build_elf_init(&elf);
	elf.header.e_type = ET_EXEC;
	elf.header.e_entry = TEXT;
	build_elf_segment(&elf, PT_LOAD, PF_R | PF_X, TEXT, table.data, sizeof(table.data));
	build_elf_section(&elf, ".text", SHT_PROGBITS, TEXT, table.data, sizeof(table.data))
		->sh_offset = elf.segments[0].p_offset;
	build_elf_section(&elf, ".gopclntab", SHT_PROGBITS, TABLE_AT, &table, sizeof(table));
	if (data[0] & 2) {
		elf.header.e_entry = TEXT + 1; /* of no function */
		add_module(&elf, data, size);
	}
	file = build_elf_finish(&elf, &file_size);
	if (image_adopt(file, file_size, &image) < 0)
		return 0;
	if (unwind_table_build(image, &compiled, &damaged) == 0)
		unwind_table_rule(compiled, image_entry(image));
	unwind_table_free(compiled);
	image_close(image);
	return 0;
}
