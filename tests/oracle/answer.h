/* SPDX-License-Identifier: Apache-2.0 */
/* The caller's state by the description of a frame, worked out on a made-up machine state. */
#ifndef KEYHOLE_TESTS_ORACLE_ANSWER_H
#define KEYHOLE_TESTS_ORACLE_ANSWER_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "bpf/abi.h"

struct unwind_table;

#define REGISTERS   17
#define REGISTER_SP 7
#define REGISTER_BP 6

/* Its stack pointer, return address and callee-saved registers. */
enum answer_known {
	VALUE,
	UNDEFINED,
	LOST
};
struct answer {
	enum answer_known known;
	u64 value;
};
#define ANSWERS 8
struct answer_register {
	int reg;
	const char *name;
};
extern const struct answer_register answer_registers[ANSWERS];

struct answer_state {
	u64 reg[REGISTERS];
};

/* Random registers, all multiples of 8; memory is a hash of its address. */
void answer_state_init(struct answer_state *state, u64 pc);
u64 answer_memory(u64 address);
/* Works out libdw's answers. False: the frame has no CFA, or uses an operation unknown here. */
bool answer_libdw(Dwarf_Frame *frame, const struct answer_state *state,
		  struct answer answers[ANSWERS]);
/* Works out a rule's answers. False: the rule has none. */
bool answer_rule(const struct unwind_table *table, u64 rule, const struct answer_state *state,
		 struct answer answers[ANSWERS]);

#endif
