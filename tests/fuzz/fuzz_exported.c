/* SPDX-License-Identifier: Apache-2.0 */
/* The input changes the bits of a good .gnu.hash, and of its symbols and strings. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "object/elf/exported.h"
#include "object/elf/image.h"
#include "tests/unit/build_elf.h"
#include "worker/runtime/runtime.h"

#define SYMBOLS 4u /* symbol 0 is empty */
#define SHIFT	6u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Each symbol is in the chain of the first bucket; the filter lets all names pass. */
struct tables {
	uint32_t buckets, first, blooms, shift;
	uint64_t bloom[2];
	uint32_t bucket[2], chain[SYMBOLS - 1];
	uint32_t pad;
	Elf64_Sym symbol[SYMBOLS];
	char strings[64];
};

static const char *const names[SYMBOLS] = {"", "main", "_PyRuntime", "lua_newstate"};

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

static struct tables usual(void)
{
	struct tables tables = {.buckets = 2,
				.first = 1,
				.blooms = 2,
				.shift = SHIFT,
				.bloom = {UINT64_MAX, UINT64_MAX},
				.bucket = {1, 1}};
	size_t used = 1;

	for (size_t i = 1; i < SYMBOLS; i++) {
		tables.symbol[i].st_name = (uint32_t)used;
		tables.symbol[i].st_shndx = 1;
		memcpy(tables.strings + used, names[i], strlen(names[i]));
		used += strlen(names[i]) + 1;
		tables.chain[i - 1] = hash_of(names[i]) & ~1u;
	}
	tables.chain[SYMBOLS - 2] |= 1;
	return tables;
}

static struct image *make_image(const struct tables *tables)
{
	const size_t hash = offsetof(struct tables, symbol);
	struct build_elf elf;
	struct image *image;
	unsigned char *file;
	size_t size;

	build_elf_init(&elf);
	build_elf_text(&elf, 0x1000, 16);
	build_elf_section(&elf, ".gnu.hash", SHT_GNU_HASH, 0, tables, hash);
	build_elf_section(&elf, ".dynsym", SHT_DYNSYM, 0, tables->symbol, sizeof(tables->symbol));
	build_elf_section(&elf, ".dynstr", SHT_STRTAB, 0, tables->strings, sizeof(tables->strings));
	file = build_elf_finish(&elf, &size);
	if (image_adopt(file, size, &image) < 0)
		return NULL;
	return image;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tables tables = usual();
	struct exported exported;
	struct image *image;

	if (size > sizeof(tables))
		return 0;
	for (size_t i = 0; i < size; i++)
		((unsigned char *)&tables)[i] ^= data[i];
	image = make_image(&tables);
	if (!image)
		return 0;
	if (exported_open(image, &exported) == 0) {
		/* an input that changes nothing shows that the fuzzer reaches a symbol */
		if (!exported_has(&exported, "main") && size == 0)
			abort();
		exported_has(&exported, "lua_newstate");
	}
	runtime_recognise(image);
	image_close(image);
	return 0;
}
