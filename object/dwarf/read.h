/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the functions, inlined functions and lines of addresses in DWARF, by libdw. libdw is large
 * and maps the file. Therefore the reading process is separate and confined, and may be killed.
 *
 * A damaged file may make the process crash or loop until a limit. Without memory, the process
 * exits with the status ENOMEM. The process needs the descriptors only. Opening any other file for
 * libdw is refused, and counted.
 */
#ifndef KEYHOLE_OBJECT_DWARF_READ_H
#define KEYHOLE_OBJECT_DWARF_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct answer;

struct dwarf_input {
	int file;	   /* the object, or its debug file */
	int alternate;	   /* the file that its .gnu_debugaltlink names (dwz); -1: none */
	uint64_t deadline; /* CLOCK_MONOTONIC, ns */
};

/*
 * Fills the answer, which was made for `count` addresses, and its summary. The addresses are
 * ascending, in the object's address space. The caller has subtracted 1 from a return address.
 * Returns 0 or -ENOMEM.
 */
int dwarf_read(const struct dwarf_input *input, const uint64_t *addresses, size_t count,
	       struct answer *answer);

/* Returns whether the file is an ELF file with that build id. */
bool dwarf_has_build_id(int fd, const unsigned char *id, size_t size);

#endif
