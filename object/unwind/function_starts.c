/* SPDX-License-Identifier: Apache-2.0 */
#include "object/unwind/function_starts.h"

#include <errno.h>
#include <stdlib.h>

#include "ipc/guard.h"
#include "object/elf/image.h"
#include "object/elf/image_eh_frame.h"
#include "object/unwind/frame.h"
#include "object/unwind/text.h"

/* Returns the index of the first of `count` ascending pcs that is not below a value. */
static size_t lower_bound(const uint64_t *pcs, size_t count, uint64_t value)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pcs[middle] < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int unwind_function_ranges(struct image *image, const uint64_t *pcs, size_t count,
			   uint64_t *ret_starts, uint64_t *ret_ends)
{
	struct frame_section *section guard_free = malloc(sizeof(*section));
	struct image_bytes bytes;
	struct frame_fde fde;
	uint64_t base = text_base(image), start = 0, end = 0;
	int r = image_eh_frame(image, &bytes);

	if (r < 0)
		return r;
	if (!section)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		ret_starts[i] = ret_ends[i] = 0;
	frame_section_init(section, bytes.bytes, bytes.size, bytes.address);
	/* finds the last start before a pc, which then holds for the pcs behind it */
	while (frame_next(section, &fde)) {
		size_t at = lower_bound(pcs, count, fde.start);

		if (at == count || fde.start < ret_starts[at] ||
		    !text_holds(image, base, fde.start, fde.end))
			continue;
		ret_starts[at] = fde.start;
		ret_ends[at] = fde.end;
	}
	for (size_t i = 0; i < count; i++) {
		if (ret_ends[i] > 0) {
			start = ret_starts[i];
			end = ret_ends[i];
		}
		ret_starts[i] = ret_ends[i] = 0;
		if (pcs[i] >= end)
			continue;
		ret_starts[i] = start;
		ret_ends[i] = end;
	}
	return 0;
}

int unwind_function_starts(struct image *image, const uint64_t *pcs, size_t count,
			   uint64_t *ret_starts)
{
	uint64_t *ends guard_free = calloc(count + 1, sizeof(*ends));

	if (!ends)
		return -ENOMEM;
	return unwind_function_ranges(image, pcs, count, ret_starts, ends);
}
