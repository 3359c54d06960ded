/* SPDX-License-Identifier: Apache-2.0 */
/* Where an object's code is. Only what is in the file: what a header promises beyond costs its
 * author nothing, but us a table. */
#ifndef KEYHOLE_OBJECT_UNWIND_TEXT_H
#define KEYHOLE_OBJECT_UNWIND_TEXT_H

#include <stdint.h>

#include "bpf/abi.h"

struct image;

#define CHUNK_BYTES (1ull << CHUNK_BITS)

/* The end of the executable segment that holds an address, or 0. */
uint64_t text_end(const struct image *image, uint64_t address);
/* Chunk aligned, below all executable segments. */
uint64_t text_base(const struct image *image);

#endif
