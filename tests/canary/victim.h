/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The victim tells these places to the test, which writes them into the hostile worker. They say
 * where things are on the stack, which an attacker may well know. They do not say the secrets, only
 * where the secrets are.
 */
#ifndef KEYHOLE_TESTS_CANARY_VICTIM_H
#define KEYHOLE_TESTS_CANARY_VICTIM_H

#include <stdint.h>

#define VICTIM_SLOTS	 16u /* of each kind */
#define VICTIM_CODE	 1024u
#define VICTIM_REGISTERS 8u

enum secret_kind {
	SECRET_RANDOM,	/* 64 random bits */
	SECRET_SMALL,	/* 46 random bits: passes for a user address */
	SECRET_CALLED,	/* a random address of code, behind a call */
	SECRET_CODE,	/* a random address of code, behind none */
	SECRET_POINTER, /* into random bytes of the heap */
	SECRET_KINDS
};

/* Secrets lie beside a false return address, as saved registers do. */
struct secret_slot {
	uint64_t secret, anchor;
};

/* A copy of what a signal pushes: its return address, then registers that are secrets. */
struct fake_signal {
	uint64_t restorer, before[20], sp, pc, after[3];
};

/* Frames of a list: secrets beside pointers that lead the walk. Each line is one node. */
#define VICTIM_NODES 4096u
struct secret_node {
	uint64_t next; /* the node before; the first one leads to the last */
	uint64_t same; /* the first node */
	uint64_t own;  /* this node */
	uint64_t
		tagged; /* the address of this word, with V8's tag: an object that is its own map */
	uint64_t type;	/* of that map, and in the upper half a length */
	uint64_t secret[3];
};
#define VICTIM_TYPE   8u  /* a text, for V8 */
#define VICTIM_LENGTH 48u /* in characters */

/*
 * A made-up heap of HotSpot, and frames of functions for HotSpot and V8. The first one of these
 * begins at the entry. Each function is a node.
 */
#define VICTIM_FRAMES 48u
struct fake_heap {
	uint64_t own, code, code_bytes, returns;
};
struct fake_frame {
	uint64_t place, bytecode;
	uint64_t method;	    /* HotSpot's function */
	uint64_t function, context; /* V8's, with tags */
	uint64_t bp, called;
};
struct fake_entry {
	uint64_t bp, called;
};

struct victim {
	uint32_t pid, control;
	uint64_t sp, leaf, leaf_end; /* of the innermost function, which spins */
	uint64_t text, restorer;     /* the program's text; where signal handlers return to */
	uint64_t slot[SECRET_KINDS]; /* addresses of struct secret_slot [VICTIM_SLOTS] */
	uint64_t signal;	     /* of struct fake_signal [VICTIM_SLOTS] */
	uint64_t code;		     /* of VICTIM_CODE addresses in a row, each behind a call */
	uint64_t pointer;	     /* of a word that holds slot[SECRET_RANDOM] */
	uint64_t nodes;		     /* of struct secret_node [VICTIM_NODES] */
	uint64_t heap;		     /* of struct fake_heap */
	uint64_t entry;		     /* of struct fake_entry, on the stack */
	/*
	 * Forged words claim a goroutine, which has left its stack at slot[0]. The first of them is
	 * at this offset from the thread pointer. The word at this address has the offset.
	 */
	uint64_t thread_local_at, thread_local_word;
};

/* In its registers: random and small ones by turns. DWARF numbers, in this order. */
#define VICTIM_REGISTER_NUMBERS            \
	{                                  \
		3, 12, 13, 14, 15, 4, 8, 9 \
	}

struct victim_secrets {
	uint64_t slot[SECRET_KINDS][VICTIM_SLOTS];
	uint64_t signal[VICTIM_SLOTS];
	uint64_t registers[VICTIM_REGISTERS];
	uint64_t code[VICTIM_CODE];
};

#endif
