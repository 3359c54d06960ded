/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layout of HotSpot's structures in one image of libjvm.so, which describes it in tables
 * (hotspot_layout.def). JDK 11 and 26 have the offsets in these tables. In other versions, an
 * initialiser stores them there: a sequence of `movq $offset, place(%rip)`, which is read.
 */
#ifndef KEYHOLE_WORKER_RUNTIME_HOTSPOT_LAYOUT_H
#define KEYHOLE_WORKER_RUNTIME_HOTSPOT_LAYOUT_H

#include <stdint.h>

struct exported;
struct image;

#define HOTSPOT_ABSENT UINT32_MAX

struct hotspot_layout {
#define F(field, what, type, name, other_type, other_name) uint32_t field;
#include "worker/runtime/hotspot_layout.def"
#undef F
};

/*
 * Reads the layout; what the image does not describe is HOTSPOT_ABSENT. An image whose offsets are
 * not all known is refused. Returns 0, -ENOTSUP or -ENOMEM.
 */
int hotspot_layout_read(struct image *image, const struct exported *exported,
			struct hotspot_layout *ret_layout);

#endif
