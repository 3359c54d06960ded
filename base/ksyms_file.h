/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layout of the sealed memfd in which the loader hands kernel symbols to the worker. The file holds
 * no absolute address. Its parts are little endian and follow one another without a gap:
 *
 *   struct ksyms_file_head
 *   struct ksyms_file_symbol  [symbols]  text only, ascending by (range, offset)
 *   char                      [name_bytes]  NUL-terminated names, the last byte is a NUL
 *
 * The first names are those of the ranges. Range 0 is the kernel, named "kernel". The other ranges
 * are modules, and places with BPF programs, which are named "bpf".
 * A symbol's name is an offset into the names. A table without ranges has no symbols.
 */
#ifndef KEYHOLE_BASE_KSYMS_FILE_H
#define KEYHOLE_BASE_KSYMS_FILE_H

#include <stdint.h>

#define KSYMS_MAGIC	     0x6d79736bu
#define KSYMS_RANGES_MAX     512u
#define KSYMS_BPF_PARTS_MAX  32u /* ranges with BPF programs; more are left out */
#define KSYMS_SYMBOLS_MAX    (2u << 20)
#define KSYMS_NAME_BYTES_MAX (64u << 20)

struct ksyms_file_head {
	uint32_t magic; /* KSYMS_MAGIC */
	uint32_t ranges, symbols, name_bytes;
};

struct ksyms_file_symbol {
	uint32_t range, offset, name;
};

_Static_assert(sizeof(struct ksyms_file_head) == 16, "struct ksyms_file_head");
_Static_assert(sizeof(struct ksyms_file_symbol) == 12, "struct ksyms_file_symbol");

#endif
