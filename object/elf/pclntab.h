/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of functions that every Go program keeps for its own tracebacks: where it is, and its
 * header (pcHeader in runtime/symtab.go). Go 1.16 and 1.17, 1.18 and 1.19, and from 1.20 on differ
 * in their first word. What the header points to is read by symbol/go_table.h and unwind/go_rows.h.
 */
#ifndef KEYHOLE_OBJECT_ELF_PCLNTAB_H
#define KEYHOLE_OBJECT_ELF_PCLNTAB_H

#include <stddef.h>
#include <stdint.h>

struct image;
struct image_bytes;
struct image_place;

#define PCLNTAB_116 0xfffffffau /* addresses where later ones have offsets; no start of the text */
#define PCLNTAB_118 0xfffffff0u
#define PCLNTAB_120 0xfffffff1u /* functions have a first line */

#define PCLNTAB_HEADER_MAX    72u /* bytes */
#define PCLNTAB_POINTER_BYTES 8u

struct pclntab_header {
	uint32_t magic;	 /* PCLNTAB_* */
	uint8_t quantum; /* of code addresses: 1 on x86-64, 4 on arm64 */
	uint64_t count;	 /* functions, not 0 */
	uint64_t text;	 /* 0: not told, as in 1.16, since 1.26, and where it is relocated */
	uint64_t names, units, files, tables, functions; /* offsets from the header, not checked */
};

/* The section, as Go's own linker makes it. 0, or as image_section(). */
int pclntab_section(struct image *image, struct image_bytes *ret_bytes);
/* Also where the linker of C has put it behind other data. -ENOENT. */
int pclntab_place(struct image *image, struct image_place *ret_place);
/* Of the table's beginning. 0; -ENOTSUP: of a kind not known, or with other pointers; -EBADMSG. */
int pclntab_read_header(const void *bytes, size_t size, struct pclntab_header *ret_header);

#endif
