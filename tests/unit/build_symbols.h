/* SPDX-License-Identifier: Apache-2.0 */
/* Writes an ELF file in memory that has symbol tables and nothing else. */
#ifndef KEYHOLE_TESTS_UNIT_BUILD_SYMBOLS_H
#define KEYHOLE_TESTS_UNIT_BUILD_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

/* The one executable segment, which may hold labels without a type. */
#define BUILD_SYMBOLS_TEXT	0x1000u
#define BUILD_SYMBOLS_TEXT_SIZE 0x10000u

struct build_symbols_table {
	const void *symbols; /* Elf64_Sym[]; NULL: no such section */
	size_t symbols_size;
	const void *strings;
	size_t strings_size;
	uint64_t entry_size; /* 0: the right one */
};

/* malloc()ed, or NULL. */
unsigned char *build_symbols(const struct build_symbols_table *symtab,
			     const struct build_symbols_table *dynsym, size_t *ret_size);

#endif
