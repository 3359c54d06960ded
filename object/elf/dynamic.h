/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up libraries that an image needs, and words that the dynamic linker fills in. */
#ifndef KEYHOLE_OBJECT_ELF_DYNAMIC_H
#define KEYHOLE_OBJECT_ELF_DYNAMIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image;

#define DYNAMIC_ENTRIES_MAX	512u
#define DYNAMIC_RELOCATIONS_MAX (256u << 10) /* that one look-up reads */

/* Returns whether the image needs a library whose name begins with these bytes, perhaps a NUL. */
bool dynamic_needs(struct image *image, const char *bytes, size_t size);
/* Returns whether the image needs musl, and not glibc. */
bool dynamic_needs_musl(struct image *image);

struct dynamic_relocation {
	uint64_t address;
	uint32_t type, symbol; /* R_X86_64_*; number in .dynsym, 0: none */
	int64_t addend;
};
/* Finds the relocation of the word at an address, in .rela.dyn or .rela.plt. 0, or -ENOENT. */
int dynamic_relocation(struct image *image, uint64_t address,
		       struct dynamic_relocation *ret_relocation);
/* Finds the first one there about which fits() says yes. 0, or -ENOENT. */
int dynamic_find_relocation(struct image *image,
			    bool (*fits)(const struct dynamic_relocation *relocation,
					 const void *context),
			    const void *context, struct dynamic_relocation *ret_relocation);

#endif
