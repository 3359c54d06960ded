/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recognises code without an FDE that compilers add to each program and library. Linkers put .init
 * and .fini together from pieces: crti.o of the C library, calls, crtn.o. .fini_array begins with a
 * function of GCC's crtbegin.o. A stub's frame is known where every byte is as expected.
 *
 * Boost.Context, which PHP has for its fibers, jumps to the function of a new stack. The code
 * behind the jump is that function's return address, and ends the process.
 */
#ifndef KEYHOLE_OBJECT_UNWIND_STUB_H
#define KEYHOLE_OBJECT_UNWIND_STUB_H

#include <stdbool.h>
#include <stdint.h>

struct image;

#define STUBS 4

/* The CFA is rsp + 16 between the two offsets, and rsp + 8 elsewhere. */
struct stub {
	uint64_t start;		  /* an address, as in the file's headers */
	uint32_t size;		  /* bytes; 0: no stub */
	uint32_t inside, outside; /* offsets */
	uint32_t slots;		  /* save slots of bpf/abi.h, between the offsets */
	bool is_root;		  /* the stack ends there */
};

/* Finds the stubs. A stub that is missing, or has an unexpected byte, gets size 0. */
void stubs_find(struct image *image, struct stub ret_stubs[STUBS]);

#endif
