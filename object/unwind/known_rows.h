/* SPDX-License-Identifier: Apache-2.0 */
/* Makes rows of code that no FDE describes, and that is the same in each program or library. */
#ifndef KEYHOLE_OBJECT_UNWIND_KNOWN_ROWS_H
#define KEYHOLE_OBJECT_UNWIND_KNOWN_ROWS_H

#include "bpf/abi.h"
#include "object/unwind/stub.h"

struct dictionary;
struct image;
struct rows;

/*
 * Inserts the rows of stubs (stub.h), and a RULE_END for a program's entry point, into the gaps of
 * `rows`, which count from `base`. A stub that has rows in part stays as it is. Returns 0 or an
 * errno of rows_insert(). ret_stubs: all stubs of the object.
 */
int known_rows(struct image *image, u64 base, struct dictionary *dictionary, struct rows *rows,
	       struct stub ret_stubs[STUBS]);

#endif
