/* SPDX-License-Identifier: Apache-2.0 */
/* The input is a packed section; what comes out of it is looked up in like any other file. */
#include <stdint.h>
#include <stdlib.h>

#include "tests/unit/build_elf.h"
#include "object/elf/image.h"
#include "object/symbol/cache.h"
#include "object/symbol/debugdata.h"
#include "object/symbol/symtab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct symbol_cache *cache;
	const uint64_t pcs[] = {0x1000, 0x1010, 0x401000};
	struct symbol_match matches[3];
	struct image *outer, *inner;
	struct build_elf elf;
	unsigned char *bytes;
	size_t built, claimed;

	if (!cache)
		cache = symbol_cache_new(SYMBOL_BYTES_MAX);
	build_elf_init(&elf);
	build_elf_section(&elf, ".gnu_debugdata", SHT_PROGBITS, 0, data, size);
	bytes = build_elf_finish(&elf, &built);
	if (image_adopt(bytes, built, &outer) < 0)
		return 0;
	if (debugdata_open(cache, outer, &inner, &claimed) == 0) {
		if (symtab_resolve(cache, inner, pcs, 3, matches) == 0)
			symbol_matches_free(matches, 3);
		image_close(inner);
		symbol_cache_release(cache, claimed);
	}
	image_close(outer);
	return 0;
}
