/* SPDX-License-Identifier: Apache-2.0 */
/* Tells objects whose debug information is in separate files (DWARF 5, 7.3: .dwo). */
#ifndef KEYHOLE_OBJECT_ELF_SPLIT_H
#define KEYHOLE_OBJECT_ELF_SPLIT_H

#include <stdbool.h>

struct image;

/* The first bytes of .debug_abbrev that are read: units that only name a file have few. */
#define SPLIT_BYTES_MAX 65536u

/* Returns false also where .debug_abbrev is compressed, damaged or missing. */
bool split_is(struct image *image);

#endif
