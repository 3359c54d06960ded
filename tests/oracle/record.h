/* SPDX-License-Identifier: Apache-2.0 */
/* Some captured stacks of each kind written as regression data (tests/bpf/test_stacks.c). */
#ifndef KEYHOLE_TESTS_ORACLE_RECORD_H
#define KEYHOLE_TESTS_ORACLE_RECORD_H

#include "bpf/abi.h"

struct stack;

#define RECORD_KINDS 64u

struct record_folder {
	const char *path, *name; /* the folder, the workload */
	u32 kind[RECORD_KINDS];	 /* that have been written */
	u32 kinds;
};

/*
 * Writes the first stack of each kind. A kind is the needed rules, the end and the depth; `special`
 * names one more difference. The file leaves out words that the walk does not need.
 */
void record_stack(struct record_folder *folder, const struct stack *stack, const char *special);

#endif
