/* SPDX-License-Identifier: Apache-2.0 */
/*
 * .gnu_debugdata: an ELF file with nothing but a symbol table, packed by xz, which some
 * distributions leave in stripped programs ("MiniDebugInfo" in gdb's manual).
 */
#ifndef KEYHOLE_OBJECT_SYMBOL_DEBUGDATA_H
#define KEYHOLE_OBJECT_SYMBOL_DEBUGDATA_H

#include <stddef.h>

struct image;
struct symbol_cache;

/* The most memory of the decoder: xz's default dictionary of 8 MiB, and its state. */
#ifndef DEBUGDATA_DECODER_MAX
#define DEBUGDATA_DECODER_MAX (9u << 20)
#endif
#define DEBUGDATA_PACKED_MAX (32u << 20)

/*
 * Unpacks the section into an image of its own. The memory, *ret_bytes, is claimed from the cache;
 * the caller releases the claim after it has closed the image. Returns 0, -ENOENT: no such section,
 * -EFBIG: the file or the decoder is beyond a limit or finds no room, -EBADMSG, -ENOEXEC, -ENOMEM.
 */
int debugdata_open(struct symbol_cache *cache, struct image *image, struct image **ret_inner,
		   size_t *ret_bytes);

#endif
