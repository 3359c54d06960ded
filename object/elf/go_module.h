/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds Go's description of a module (runtime.moduledata) in a program's data. The description
 * begins with the addresses of the function table and of the names in it, and is found by both. In
 * position independent programs these addresses may be in relocations only.
 */
#ifndef KEYHOLE_OBJECT_ELF_GO_MODULE_H
#define KEYHOLE_OBJECT_ELF_GO_MODULE_H

#include <stdbool.h>
#include <stdint.h>

struct image;

struct go_module {
	uint64_t text;	     /* base of the table's offsets of code */
	uint64_t start, end; /* of the code of its functions */
	uint64_t functions;  /* go:func.*, the base of its offsets of inlined calls */
};

#define GO_MODULE_SCAN_MAX (64u << 20) /* bytes of a section */
#define GO_MODULES_MAX	   1000u       /* places with the table's address that are looked at */

/* `coverage`: Go 1.20 and newer, with two words more. Returns 0, -ENOENT or -ENOMEM. */
int go_module_find(struct image *image, uint64_t table, uint64_t names, bool coverage,
		   struct go_module *ret_module);

#endif
