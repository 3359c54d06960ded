/* SPDX-License-Identifier: Apache-2.0 */
/* The input is a whole file: everything that is asked of one. */
#include <stdint.h>

#include "object/elf/image.h"
#include "object/elf/split.h"
#include "object/unwind/unwind_table.h"
#include "worker/runtime/runtime.h"
#include "worker/runtime/thread_context.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned char seen;

static void touch(const struct image_bytes *bytes)
{
	for (size_t i = 0; i < bytes->size; i++)
		seen = bytes->bytes[i];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char id[IMAGE_BUILD_ID_MAX];
	struct unwind_table *table = NULL;
	struct image_place place;
	struct image_bytes bytes;
	struct runtime_root root;
	struct image *image;
	u64 damaged;

	if (image_open_memory(data, size, &image) < 0)
		return 0;
	image_build_id(image, id);
	split_is(image);
	runtime_recognise(image);
	thread_context_find(image, &root);
	if (image_section(image, ".symtab", &bytes) == 0)
		touch(&bytes);
	for (uint32_t i = 0; i < 8; i++) {
		if (image_section_place_at(image, i, &place) == 0)
			image_read(image, place.offset, id, sizeof(id));
	}
	if (unwind_table_build(image, &table, &damaged) == 0)
		unwind_table_rule(table, image_entry(image));
	unwind_table_free(table);
	image_close(image);
	return 0;
}
