/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the table of functions that every Go program keeps for its own tracebacks, and reads its
 * header (pcHeader in runtime/symtab.go). The first word tells three versions apart: Go 1.16 and
 * 1.17, 1.18 and 1.19, 1.20 and newer. symbol/go_table.h and unwind/go_rows.h read the rest.
 */
#ifndef KEYHOLE_OBJECT_ELF_PCLNTAB_H
#define KEYHOLE_OBJECT_ELF_PCLNTAB_H

#include <stddef.h>
#include <stdint.h>

struct image;
struct image_bytes;
struct image_place;

#define PCLNTAB_116 0xfffffffau /* addresses in place of offsets; no start of the text */
#define PCLNTAB_118 0xfffffff0u
#define PCLNTAB_120 0xfffffff1u /* functions have a first line */

#define PCLNTAB_HEADER_MAX    72u /* bytes */
#define PCLNTAB_POINTER_BYTES 8u

struct pclntab_header {
	uint32_t magic;	 /* PCLNTAB_* */
	uint8_t quantum; /* of code addresses: 1 on x86-64, 4 on arm64 */
	uint64_t count;	 /* functions, not 0 */
	uint64_t text;	 /* 0: unknown, as in 1.16, since 1.26, and where it is relocated */
	uint64_t names, units, files, tables, functions; /* offsets from the header, unchecked */
};

/* Finds the table also where the linker of C has put it behind other data. Returns 0 or -ENOENT. */
int pclntab_place(struct image *image, struct image_place *ret_place);
/* Gets the bytes from the table on, to the end of its section. Returns as image_section(). */
int pclntab_bytes(struct image *image, struct image_bytes *ret_bytes);
/* Returns 0, -ENOTSUP for an unknown version or pointers of another size, or -EBADMSG. */
int pclntab_read_header(const void *bytes, size_t size, struct pclntab_header *ret_header);

#endif
