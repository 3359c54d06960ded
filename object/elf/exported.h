/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks exported symbols up by name, as the dynamic linker does: through .gnu.hash. A look-up reads
 * a few words of the file, and keeps none.
 */
#ifndef KEYHOLE_OBJECT_ELF_EXPORTED_H
#define KEYHOLE_OBJECT_ELF_EXPORTED_H

#include <stdbool.h>
#include <stdint.h>

#include "object/elf/image.h"

#define EXPORTED_NAME_MAX  64u	/* bytes, with the NUL */
#define EXPORTED_CHAIN_MAX 256u /* symbols that one look-up compares */

/* The tables of one image, whose places are checked. */
struct exported {
	const struct image *image; /* borrowed */
	struct image_place hash, symbols, strings;
	uint32_t buckets, first, blooms, shift; /* of .gnu.hash */
};

/* Returns 0, -ENOENT: the image exports nothing that .gnu.hash finds, -ENOTSUP or -EBADMSG. */
int exported_open(struct image *image, struct exported *ret_exported);
/* Returns whether the image defines the symbol. A damaged table has no symbols. */
bool exported_has(const struct exported *exported, const char *name);

struct exported_symbol {
	uint64_t address, size; /* thread-local: an offset in the memory that PT_TLS begins */
	uint32_t number;	/* in .dynsym */
	bool is_thread_local;
};
/* The same; tells where the symbol is. */
bool exported_find(const struct exported *exported, const char *name,
		   struct exported_symbol *ret_symbol);
/* Gets the symbol of a number in .dynsym. Returns false unless the image defines it. */
bool exported_get(const struct exported *exported, uint64_t index,
		  struct exported_symbol *ret_symbol);

#endif
