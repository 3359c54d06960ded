/* SPDX-License-Identifier: Apache-2.0 */
/* Where fields of V8's structures are, as an image says of itself, and as its version has them. */
#ifndef KEYHOLE_WORKER_RUNTIME_V8_LAYOUT_H
#define KEYHOLE_WORKER_RUNTIME_V8_LAYOUT_H

#include <stdint.h>

struct exported;
struct image;

struct v8_layout {
#define O(field, symbol, v94, v102, v113, v124, v136, v146) uint16_t field;
#include "worker/runtime/v8_layout.def"
#undef O
};

/*
 * Finds the layout of an image. Also sets the version of V8, as of struct runtime_setup.
 *   0           done
 *   -ENOTSUP    another version
 *   -EOVERFLOW  a build whose pointers or small numbers have 4 bytes
 */
int v8_layout_find(struct image *image, const struct exported *exported,
		   struct v8_layout *ret_layout, uint32_t *ret_version);

/* Sets what the columns have for a version, as of struct runtime_setup. Returns 0, or -ENOTSUP. */
int v8_layout_of_version(uint32_t version, struct v8_layout *ret_layout);

#endif
