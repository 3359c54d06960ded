/* SPDX-License-Identifier: Apache-2.0 */
/* The input is a symbol table and its strings, and also a whole file. */
#include <stdint.h>
#include <stdlib.h>

#include "tests/unit/build_symbols.h"
#include "object/elf/image.h"
#include "object/symbol/cache.h"
#include "object/symbol/symtab.h"

#define PCS 64u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void resolve(const void *bytes, size_t size)
{
	struct symbol_match matches[PCS];
	static struct symbol_cache *cache;
	uint64_t pcs[PCS];
	struct image *image;

	if (image_open_memory(bytes, size, &image) < 0)
		return;
	if (!cache)
		cache = symbol_cache_new(SYMBOL_BYTES_MAX);
	for (size_t i = 0; i < PCS; i++)
		pcs[i] = i < PCS / 2 ? 0x1000 + i * 37 : 1ull << i;
	if (symtab_resolve(cache, image, pcs, PCS, matches) == 0)
		symbol_matches_free(matches, PCS);
	image_close(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t half = size / 2, built_size;
	const struct build_symbols_table symtab = {data, half, data + half, size - half, 0};
	const struct build_symbols_table dynsym = {data, size, data, size, half % 3 ? 0 : half};
	unsigned char *built = build_symbols(&symtab, &dynsym, &built_size);

	resolve(data, size);
	resolve(built, built_size);
	free(built);
	return 0;
}
