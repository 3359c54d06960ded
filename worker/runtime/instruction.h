/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes the few x86-64 instructions that tiny functions consist of: moves, address arithmetic,
 * comparisons, calls and jumps. Intel's manual, volume 2, chapter 2 and appendix A.
 */
#ifndef KEYHOLE_WORKER_RUNTIME_INSTRUCTION_H
#define KEYHOLE_WORKER_RUNTIME_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INSTRUCTION_BYTES_MAX 15u

enum instruction_kind {
	INSTRUCTION_OTHER,    /* changes nothing that counts here, such as a comparison */
	INSTRUCTION_LOSE,     /* changes `reg` to an unknown value */
	INSTRUCTION_MOVE,     /* reg = operand */
	INSTRUCTION_LOAD,     /* reg = what is at operand */
	INSTRUCTION_ADD,      /* reg = reg + operand */
	INSTRUCTION_ADD_FROM, /* reg = reg + what is at operand */
	INSTRUCTION_CALL,     /* target, 0: not known here */
	INSTRUCTION_CALL_AT,  /* calls the function whose address is at operand */
	INSTRUCTION_JUMP,     /* the same */
	INSTRUCTION_BRANCH,   /* to the target or not */
	INSTRUCTION_RETURN,
};

#define INSTRUCTION_NO_BASE 0xffu /* an operand that is a number, or an absolute address */

/* The value of a register plus a number. */
struct instruction_operand {
	uint8_t base;
	bool unknown;
	uint64_t number;
};

struct instruction {
	enum instruction_kind kind;
	uint8_t reg;  /* always one of 16 */
	bool wide;    /* 64 bits, else fewer */
	bool segment; /* the operand is relative to the thread pointer (fs) */
	struct instruction_operand operand;
	uint64_t target;
	size_t size;
};

/*
 * Decodes the instruction at an address. Returns 0, -ENOTSUP for another instruction, or -EBADMSG
 * where the bytes end.
 */
int instruction_decode(const void *bytes, size_t size, uint64_t pc,
		       struct instruction *ret_instruction);

#endif
