/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells where an object's code is. Only code that the file really has counts. Headers that promise
 * more code cost their author nothing, but would cost us a table.
 */
#ifndef KEYHOLE_OBJECT_UNWIND_TEXT_H
#define KEYHOLE_OBJECT_UNWIND_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"

struct image;

#define CHUNK_BYTES (1ull << CHUNK_BITS)

/* Returns the end of the executable segment that holds an address, or 0. */
uint64_t text_end(const struct image *image, uint64_t address);
/*
 * Returns whether a range is code within reach of the base. Linkers leave FDEs of removed code, at
 * address 0 or near it.
 */
bool text_holds(const struct image *image, uint64_t base, uint64_t start, uint64_t end);
/* Returns a chunk-aligned address below all executable segments. */
uint64_t text_base(const struct image *image);

#endif
