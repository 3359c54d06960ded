/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a program of Go with two functions in its function table:
 *
 *   main.main   0x1000-0x1100   /src/main.go from line 9 on: line 10, at 0x1020-0x1030 the inlined
 *                               main.add (/src/add.go from line 50 on: line 55), then line 12
 *   main.other  0x1100-0x1180   /src/main.go, line 20
 */
#ifndef KEYHOLE_TESTS_UNIT_BUILD_GO_H
#define KEYHOLE_TESTS_UNIT_BUILD_GO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUILD_GO_TEXT 0x1000u

struct build_go {
	unsigned int version;  /* 16, 18 or 20 */
	bool relocated;	       /* the module's addresses are in relocations only */
	bool merged;	       /* the table is in the middle of another section */
	bool no_module;	       /* only the header describes it */
	int32_t parent;	       /* of the inlined call; 0: as above */
	const void *functions; /* instead of pairs and records; NULL: as above */
	size_t functions_size;
	const void *tables; /* of varints, likewise */
	size_t tables_size;
	const void *strings; /* instead of the names, and of the files */
	size_t strings_size;
	size_t decoys; /* words with the table's address before the module's */
};

/* malloc()ed. */
unsigned char *build_go(const struct build_go *build, size_t *ret_size);

#endif
