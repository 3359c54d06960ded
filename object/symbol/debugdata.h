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

/* Of the decoder: a dictionary of 8 MiB, as xz makes by default, and what goes with it. */
#ifndef DEBUGDATA_DECODER_MAX
#define DEBUGDATA_DECODER_MAX (9u << 20)
#endif
#define DEBUGDATA_PACKED_MAX (32u << 20)

/*
 * The file in it, as an image of its own, in memory that is claimed from the cache: to be given
 * back, *ret_bytes of it, when the image was closed. -ENOENT: no such section; -EFBIG: it, or what
 * unpacks it, is beyond a limit or has no room in the cache; -EBADMSG, -ENOEXEC, -ENOMEM.
 */
int debugdata_open(struct symbol_cache *cache, struct image *image, struct image **ret_inner,
		   size_t *ret_bytes);

#endif
