/* SPDX-License-Identifier: Apache-2.0 */
/* A writer of .eh_frame and .debug_frame sections for tests. */
#ifndef KEYHOLE_TESTS_UNIT_BUILD_CFI_H
#define KEYHOLE_TESTS_UNIT_BUILD_CFI_H

#include <stddef.h>
#include <stdint.h>

struct build_cfi {
	unsigned char *bytes;
	size_t size, capacity;
	size_t record; /* where the open record begins */
};

void build_cfi_release(struct build_cfi *cfi); /* { 0 } is an empty writer */

void build_cfi_bytes(struct build_cfi *cfi, const void *bytes, size_t size);
void build_cfi_number(struct build_cfi *cfi, uint64_t value, size_t size);
void build_cfi_uleb(struct build_cfi *cfi, uint64_t value);
void build_cfi_sleb(struct build_cfi *cfi, int64_t value);

/* Begins a record with this id, which lasts until build_cfi_end(). Returns the record's offset. */
size_t build_cfi_begin(struct build_cfi *cfi, uint32_t id);
void build_cfi_end(struct build_cfi *cfi);

/* Bytes of instructions, in place: INSTRUCTIONS(0x0e, 16). */
struct build_cfi_code {
	const unsigned char *bytes;
	size_t size;
};
#define INSTRUCTIONS(...)                                              \
	((struct build_cfi_code){(const unsigned char[]){__VA_ARGS__}, \
				 sizeof((const unsigned char[]){__VA_ARGS__})})

/* Version 1, code alignment 1, data alignment -8, return register 16, absolute addresses. */
size_t build_cfi_cie(struct build_cfi *cfi, const char *augmentation, struct build_cfi_code code);
/* Adds the CIE of all compilers: CFA = rsp + 8, return address at CFA - 8, augmentation "zR". */
size_t build_cfi_usual_cie(struct build_cfi *cfi);
/* Adds an FDE with absolute eight-byte addresses. One of the two functions above made its CIE. */
size_t build_cfi_fde(struct build_cfi *cfi, size_t cie, uint64_t start, uint64_t size,
		     struct build_cfi_code code);

/* Adds to .debug_frame the CIE of all compilers, of a version and for addresses of 8 bytes. */
size_t build_cfi_debug_cie(struct build_cfi *cfi, unsigned int version, const char *augmentation);
size_t build_cfi_debug_fde(struct build_cfi *cfi, size_t cie, uint64_t start, uint64_t size,
			   struct build_cfi_code code);

#endif
