/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds where functions of Go's runtime write the stack pointer. Go's own table counts pushes, and
 * is silent about other changes. The functions are written by hand and few (runtime/asm_amd64.s and
 * sys_linux_amd64.s of Go 1.16 to 1.26). The name tells the function, and bytes tell the
 * instructions.
 *
 *   runtime.systemstack   works on the thread's stack for a goroutine
 *   runtime.asmcgocall    does so for code of C; or stays there, and aligns the stack
 *   runtime.cgocallback   works on the goroutine's stack for code of C
 *   runtime.morestack     leaves a goroutine whose stack is too small, to the thread's stack
 *   runtime.mcall         leaves a goroutine for another one, which the thread's stack chooses
 *   gogo                  enters a goroutine
 *   runtime.asyncPreempt  has an interrupted pc as its return address
 *   crosscall2            saves the registers of C, which Go's table does not say
 *   other functions       keep the old stack pointer in a register: runtime.nanotime1, time.now
 */
#ifndef KEYHOLE_OBJECT_UNWIND_GO_SWITCH_H
#define KEYHOLE_OBJECT_UNWIND_GO_SWITCH_H

#include <stdbool.h>
#include <stddef.h>

#include "bpf/abi.h"

#define GO_SWITCH_RANGES 6u
#define GO_SWITCH_BYTES	 1024u /* of a function that are looked at */

/* The same for all functions of a program: runtime.systemstack shows it. */
struct go_layout {
	s32 thread_local_at; /* of the goroutine's address, from the thread pointer; 0: unknown */
	bool in_word; /* a library: the dynamic linker writes it into the word of that number */
	u32 number;   /* as in RULE_SWITCH */
	u32 current;  /* offset of curg in struct m */
};

enum go_range_kind {
	GO_RANGE_SWITCH,   /* RULE_SWITCH */
	GO_RANGE_REGISTER, /* the old stack pointer is in a register */
	GO_RANGE_WORD,	   /* it is in a word of the stack */
	GO_RANGE_SAVED	   /* the table holds, and registers are saved */
};

struct go_range {
	u32 start, end; /* offsets in the function */
	enum go_range_kind kind;
	u32 switches; /* enum go_switch */
	u32 operand;  /* register; index of a word in the frame */
	u32 saved;    /* words above the stack pointer of the first row, 4 bits for each slot */
	s32 first;    /* distance at the first row; set by go_switch_rule() */
};

struct go_ranges {
	struct go_range range[GO_SWITCH_RANGES];
	size_t count;
};

/*
 * Reads the layout out of runtime.systemstack, whose code begins at an address of the object.
 * Returns whether it is a known one.
 */
bool go_switch_layout(u64 address, const void *code, size_t size, struct go_layout *ret_layout);

/* Returns whether code seems to write the stack pointer, other than by counting. */
bool go_switch_writes(const void *code, size_t size);

/* Returns whether a function is one of the known ones, whatever the table says of it. */
bool go_switch_is_known(const char *name);

/*
 * Finds the ranges of a function in which the table is not all, in their order and apart. Where the
 * code is other code than what is known, there are none. `writes`: the table says that the function
 * writes the stack pointer.
 */
void go_switch_find(const char *name, bool writes, const void *code, size_t size,
		    struct go_ranges *ret_ranges);

/*
 * Returns the rule in a range. distance: from the stack pointer to the return address, as the table
 * has it; saved: rbp is saved below the return address.
 */
u64 go_switch_rule(struct go_range *range, const struct go_layout *layout, s32 distance,
		   bool saved);

#endif
