/* SPDX-License-Identifier: Apache-2.0 */
/* Captured stacks walked by the host-compiled walker, over tables of the same files. */
#ifndef KEYHOLE_TESTS_ORACLE_REWALK_H
#define KEYHOLE_TESTS_ORACLE_REWALK_H

#include <stdio.h>

#include "bpf/abi.h"

struct stack;

struct rewalk_frames {
	u32 count, reason;
	const u64 *frame;
	u64 sp, missed; /* of the last frame; the last word that could not be read */
};

struct rewalk_frames rewalk(const struct stack *stack);
/* Returns the rule of a frame of the stack, or RULE_NONE where nothing is known. */
u64 rewalk_rule(const struct stack *stack, u64 frame);
/*
 * Writes what a walk needs for just these frames (format: tests/bpf/test_stacks.c). 0, or -1 when
 * the walk of the reduced stack is another one.
 */
int rewalk_record(const struct stack *stack, const char *comment, FILE *file);

#endif
