/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks that `keyhole record` of a test build captured (capture.bpf.h), taken out of its map. */
#ifndef KEYHOLE_TESTS_ORACLE_CAPTURED_H
#define KEYHOLE_TESTS_ORACLE_CAPTURED_H

#include <stdbool.h>
#include <stddef.h>

#include "bpf/abi.h"
#include "tests/oracle/capture.h"

struct snapshot;

struct stack_bytes {
	u64 start, bytes;
	u8 *data;
};

struct stack {
	struct snapshot *snapshot;
	u64 time;
	u32 pid, tid, reason, in_sigreturn, frames;
	u64 reg[CAPTURE_REGISTERS];
	u64 *frame;
	struct stack_bytes part[2]; /* near the stack pointer; where the walk ended */
};

struct captured {
	struct stack *stack;
	size_t count, capacity;
	u64 torn, homeless; /* overwritten while read; of processes that were gone too soon */
	int status;	    /* of the program, as from waitpid() */
};

/* Runs a program until its end and keeps its first `limit` stacks; 0 or negative errno. */
int captured_run(struct captured *captured, char *const *argv, size_t limit);
void captured_release(struct captured *captured);
/* Reads a word of the captured stack. Returns 0, or -1 for a word that was not captured. */
int captured_read(const struct stack *stack, u64 address, u64 bytes, void *to);

#endif
