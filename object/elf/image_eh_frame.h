/* SPDX-License-Identifier: Apache-2.0 */
/* Finds an image's .eh_frame. */
#ifndef KEYHOLE_OBJECT_ELF_IMAGE_EH_FRAME_H
#define KEYHOLE_OBJECT_ELF_IMAGE_EH_FRAME_H

#include "object/elf/image.h"

/*
 * Gets .eh_frame by its section, or else through PT_GNU_EH_FRAME, then up to the first record of
 * length 0. Returns as image_section() does.
 */
int image_eh_frame(struct image *image, struct image_bytes *ret_bytes);

#endif
