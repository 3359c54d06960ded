/* SPDX-License-Identifier: Apache-2.0 */
#include "object/unwind/text.h"

#include <stddef.h>

#include "object/elf/image.h"

uint64_t text_end(const struct image *image, uint64_t address)
{
	const struct image_segment *segments;
	size_t count = image_segments(image, &segments);

	for (size_t i = 0; i < count; i++) {
		uint64_t end = image_segment_end(image, &segments[i]);

		if (segments[i].executable && address >= segments[i].address && address < end)
			return end;
	}
	return 0;
}

bool text_holds(const struct image *image, uint64_t base, uint64_t start, uint64_t end)
{
	return end <= text_end(image, start) && end - base <= UINT32_MAX;
}

uint64_t text_base(const struct image *image)
{
	const struct image_segment *segments;
	size_t count = image_segments(image, &segments);
	uint64_t base = UINT64_MAX;

	for (size_t i = 0; i < count; i++) {
		if (segments[i].executable && segments[i].address < base)
			base = segments[i].address;
	}
	return base & ~(CHUNK_BYTES - 1);
}
