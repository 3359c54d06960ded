/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What compilers add to each program and library without an FDE: .init and .fini, put together of
 * pieces (crti.o of the C library, calls of others, crtn.o), and what .fini_array begins with (of
 * GCC's crtbegin.o). Their frame is known where every byte is.
 */
#ifndef KEYHOLE_OBJECT_UNWIND_STUB_H
#define KEYHOLE_OBJECT_UNWIND_STUB_H

#include <stdint.h>

struct image;

#define STUBS 3

/* CFA: rsp + 16 between the two offsets, before and behind rsp + 8. */
struct stub {
	uint64_t start; /* an address, as in the file's headers */
	uint32_t size;	/* 0: none */
	uint32_t inside, outside;
	uint32_t slots; /* saved inside: bpf/abi.h */
};

/* One that is not there, or in any byte not as expected, has size 0. */
void stubs_find(struct image *image, struct stub ret_stubs[STUBS]);
/* What an FDE covers, if only in part, is the FDE's. */
void stubs_cover(struct stub stubs[STUBS], uint64_t start, uint64_t end);

#endif
