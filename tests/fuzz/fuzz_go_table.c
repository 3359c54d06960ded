/* SPDX-License-Identifier: Apache-2.0 */
/* The input is records and varints of a function table, and also a whole file. */
#include <stdint.h>
#include <stdlib.h>

#include "tests/unit/build_go.h"
#include "object/elf/image.h"
#include "object/symbol/cache.h"
#include "object/symbol/go_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(void *context, const struct go_frame *frame)
{
	*(size_t *)context += (size_t)(frame->name[0] + frame->file[0]);
}

static void find_all(struct image *image)
{
	static struct symbol_cache *cache;
	struct go_table *table;
	size_t sum = 0;

	if (!cache)
		cache = symbol_cache_new(SYMBOL_BYTES_MAX);
	if (go_table_open(cache, image, &table) < 0)
		return;
	for (uint64_t pc = BUILD_GO_TEXT; pc < BUILD_GO_TEXT + 0x200; pc += 7)
		go_table_find(table, pc, look, &sum);
	go_table_close(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned int versions[] = {16, 18, 20};
	struct build_go build = {.functions = data, .functions_size = size / 2};
	struct image *image;
	size_t built_size;
	unsigned char *built;

	if (size > 0)
		build.version = versions[data[0] % 3];
	build.tables = data + size / 2;
	build.tables_size = size - size / 2;
	if (image_open_memory(data, size, &image) == 0) {
		find_all(image);
		image_close(image);
	}
	if (size == 0 || size > 65536)
		return 0;
	built = build_go(&build, &built_size);
	if (image_adopt(built, built_size, &image) == 0) {
		find_all(image);
		image_close(image);
	}
	return 0;
}
