/* SPDX-License-Identifier: Apache-2.0 */
/* Spells the name of a place that has no symbol: "file+0x123". */
#ifndef KEYHOLE_PROFILE_OFFSET_NAME_H
#define KEYHOLE_PROFILE_OFFSET_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OFFSET_NAME_BYTES 320 /* room for every such name, with its NUL */

/* Writes at most size bytes, NUL included. file: without folders; a name over 256 bytes is cut. */
void offset_name(char *ret_name, size_t size, const char *file, uint64_t address);
/* Whether offset_name() made a name from that file. */
bool offset_name_is_of(const char *name, const char *file);

#endif
