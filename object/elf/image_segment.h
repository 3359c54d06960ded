/* SPDX-License-Identifier: Apache-2.0 */
/* Loadable segments of an image, and which of them a mapping shows. */
#ifndef KEYHOLE_OBJECT_ELF_IMAGE_SEGMENT_H
#define KEYHOLE_OBJECT_ELF_IMAGE_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image_segment {					       /* a PT_LOAD */
	uint64_t address, file_offset, file_size, memory_size; /* as in the program header */
	bool executable;
};

/*
 * Returns the segment that a part of the file was mapped for, or that one byte of it belongs to.
 * Returns NULL where no segment fits, or where equally good ones disagree about addresses.
 *
 * A mapping consists of whole pages, so that bytes of neighbouring segments may lie at both ends of
 * it. The best segment is the one whose pages hold most of the part. Then a segment with
 * bytes of its own in the part is better, then the one with fewest bytes elsewhere.
 */
const struct image_segment *image_segment_of(const struct image_segment *segments, size_t count,
					     uint64_t offset, uint64_t size);

#endif
