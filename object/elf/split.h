/* SPDX-License-Identifier: Apache-2.0 */
/* Whether an object's debug information is in files of its own (DWARF 5, 7.3: .dwo). */
#ifndef KEYHOLE_OBJECT_ELF_SPLIT_H
#define KEYHOLE_OBJECT_ELF_SPLIT_H

#include <stdbool.h>

struct image;

/* Bytes of .debug_abbrev that are looked at: units that only name a file have few. */
#define SPLIT_BYTES_MAX 65536u

/* False as well where that section is compressed, damaged or not there. */
bool split_is(struct image *image);

#endif
