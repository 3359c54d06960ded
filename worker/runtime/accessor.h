/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluates tiny functions of an image, to learn where a variable is that has no symbol. A function
 * returns that variable, or hands it to another function. The evaluation follows one way through
 * the code, and knows only addresses; all other values are unknown. It ends after
 * ACCESSOR_STEPS_MAX instructions, and at the first instruction that it does not know.
 */
#ifndef KEYHOLE_WORKER_RUNTIME_ACCESSOR_H
#define KEYHOLE_WORKER_RUNTIME_ACCESSOR_H

#include <stdbool.h>
#include <stdint.h>

#define ACCESSOR_STEPS_MAX	 64u
#define ACCESSOR_RELOCATIONS_MAX 8u /* look-ups */
#define ACCESSOR_REGISTERS	 16u

/* Numbers of registers, as instructions have them. */
enum {
	ACCESSOR_RAX = 0,
	ACCESSOR_RCX = 1,
	ACCESSOR_RDX = 2,
	ACCESSOR_RDI = 7
};

enum accessor_base {
	ACCESSOR_UNKNOWN,
	ACCESSOR_NUMBER,	    /* a number, or an address of the image */
	ACCESSOR_THREAD,	    /* the thread pointer */
	ACCESSOR_OFFSET,	    /* what the word at `pc` has when the program runs */
	ACCESSOR_THREAD_OFFSET,	    /* the thread pointer and that word */
	ACCESSOR_MODULE,	    /* thread-local memory: the two words at `pc` say where */
	ACCESSOR_DESCRIPTOR,	    /* the offset that the descriptor at `pc` stands for: TLSDESC */
	ACCESSOR_THREAD_DESCRIPTOR, /* the thread pointer and that offset */
};

/* base + number; or, when `loaded`, what is at that place in memory. */
struct accessor_value {
	enum accessor_base base;
	bool loaded;
	uint64_t pc, number;
};

enum accessor_event {
	ACCESSOR_CALL,
	ACCESSOR_JUMP,
	ACCESSOR_RETURN
};

struct exported;
struct image;
struct runtime_root;

struct accessor {
	struct image *image;		 /* borrowed */
	const struct exported *exported; /* of the image, borrowed */
	uint64_t pc;
	struct accessor_value reg[ACCESSOR_REGISTERS];
	unsigned int steps, relocations;
	bool in_call;
	struct accessor_value called_at; /* where the address of the called function is */
	uint64_t other;			 /* the way that the first branch did not take; 0: none */
	struct accessor_value other_reg[ACCESSOR_REGISTERS];
};

void accessor_init(struct accessor *accessor, struct image *image, const struct exported *exported,
		   uint64_t pc);
/*
 * Goes on to the next event; then the registers are as before a call or jump. Returns an enum
 * accessor_event, -ENOTSUP for other instructions, -ELOOP after too many, or -EBADMSG.
 */
int accessor_next(struct accessor *accessor);
/* Goes back to the first branch, for the other way. Returns false when there was none. */
bool accessor_turn(struct accessor *accessor);
/*
 * Makes a root that leads to the value of a thread-local variable. musl: of the image. Returns 0,
 * or -ENOTSUP for another value.
 */
int accessor_root(const struct accessor_value *value, bool musl, struct runtime_root *ret_root);

#endif
