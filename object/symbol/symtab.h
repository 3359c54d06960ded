/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds names of addresses in .symtab and .dynsym. One pass resolves all addresses, so that no
 * symbol table stays in memory. A symbol without a size matches its own address only. A table
 * larger than IMAGE_SECTION_MAX is skipped, and counts as refused by the cache (-EFBIG).
 */
#ifndef KEYHOLE_OBJECT_SYMBOL_SYMTAB_H
#define KEYHOLE_OBJECT_SYMBOL_SYMTAB_H

#include <stddef.h>
#include <stdint.h>

struct image;
struct symbol_cache;

#define SYMBOL_NAME_MAX 16384 /* longer names are cut */
/*
 * The most bytes of names for one call. Later names are left out, and the cache counts a refusal.
 */
#ifndef SYMTAB_NAMES_MAX
#define SYMTAB_NAMES_MAX (64u << 20)
#endif

struct symbol_match {
	char *name;	/* as in the table (mangled); neighbours may share it, NULL: none */
	uint64_t start; /* of the symbol */
};

/*
 * Resolves ascending pcs; names are read through the cache. Returns 0, or a negative errno with all
 * matches empty. The caller frees the matches by symbol_matches_free().
 */
int symtab_resolve(struct symbol_cache *cache, struct image *image, const uint64_t *pcs,
		   size_t count, struct symbol_match *ret_matches);
void symbol_matches_free(struct symbol_match *matches, size_t count); /* and empties them */

#endif
