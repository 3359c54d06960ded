/* SPDX-License-Identifier: Apache-2.0 */
/* Finds where functions start by .eh_frame, for names of functions without a symbol. */
#ifndef KEYHOLE_OBJECT_UNWIND_FUNCTION_STARTS_H
#define KEYHOLE_OBJECT_UNWIND_FUNCTION_STARTS_H

#include <stddef.h>
#include <stdint.h>

struct image;

/*
 * Writes the start of the FDE that covers each of `count` ascending pcs, or 0. Reads .eh_frame
 * again, so that no table has to keep starts in memory. Returns 0 or a negative errno.
 */
int unwind_function_starts(struct image *image, const uint64_t *pcs, size_t count,
			   uint64_t *ret_starts);
/* The same; also writes the ends. */
int unwind_function_ranges(struct image *image, const uint64_t *pcs, size_t count,
			   uint64_t *ret_starts, uint64_t *ret_ends);

#endif
