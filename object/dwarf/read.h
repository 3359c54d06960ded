/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions, inlined functions and lines of addresses, from DWARF, by libdw. libdw is large and
 * maps the file, so only a process of its own calls this, confined and ready to be killed. A
 * damaged file may make the process crash or loop until a limit. Without memory, the process exits
 * with the status ENOMEM. libdw needs the descriptors only: other files are refused, and counted.
 */
#ifndef KEYHOLE_OBJECT_DWARF_READ_H
#define KEYHOLE_OBJECT_DWARF_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct answer;

struct dwarf_input {
	int file;	   /* the object, or its debug file */
	int alternate;	   /* the file of its .gnu_debugaltlink (dwz), -1: none */
	uint64_t deadline; /* CLOCK_MONOTONIC, ns */
};

/*
 * Addresses ascending, in the object's address space; one that is a return address already minus 1.
 * Fills the answer, which was made for as many, and its summary: 0 or -ENOMEM.
 */
int dwarf_read(const struct dwarf_input *input, const uint64_t *addresses, size_t count,
	       struct answer *answer);

/* Whether it is an ELF file of that build id. */
bool dwarf_has_build_id(int fd, const unsigned char *id, size_t size);

#endif
