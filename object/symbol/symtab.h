/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of addresses from .symtab and .dynsym. Addresses are resolved in one pass, so that no
 * symbol table stays in memory. A sizeless symbol matches its own address only. A table larger than
 * IMAGE_SECTION_MAX is not read and counts as refused by the cache (-EFBIG).
 */
#ifndef KEYHOLE_OBJECT_SYMBOL_SYMTAB_H
#define KEYHOLE_OBJECT_SYMBOL_SYMTAB_H

#include <stddef.h>
#include <stdint.h>

struct image;
struct symbol_cache;

#define SYMBOL_NAME_MAX 16384 /* longer names are cut */
/* Bytes of the names of one call; what is beyond has none, which counts as refused by the cache. */
#ifndef SYMTAB_NAMES_MAX
#define SYMTAB_NAMES_MAX (64u << 20)
#endif

struct symbol_match {
	char *name;	/* as in the table (mangled); neighbours may share it, NULL: none */
	uint64_t start; /* of the symbol */
};

/*
 * pcs ascending; the names are read through the cache. Fills all ret_matches; returns 0, or a
 * negative errno with all of them empty. To be freed by symbol_matches_free().
 */
int symtab_resolve(struct symbol_cache *cache, struct image *image, const uint64_t *pcs,
		   size_t count, struct symbol_match *ret_matches);
void symbol_matches_free(struct symbol_match *matches, size_t count); /* and empties them */

#endif
