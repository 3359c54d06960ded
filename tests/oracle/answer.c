/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/oracle/answer.h"

const struct answer_register answer_registers[ANSWERS] = {{6, "rbp"},  {3, "rbx"},  {12, "r12"},
							  {13, "r13"}, {14, "r14"}, {15, "r15"},
							  {16, "ra"},  {7, "sp"}};

u64 answer_memory(u64 address)
{
	address = (address ^ address >> 31) * 0x7fb5d329728ea185;
	address = (address ^ address >> 27) * 0x81dadef4bc2dd44d;
	return address ^ address >> 33;
}

void answer_state_init(struct answer_state *state, u64 pc)
{
	for (int i = 0; i < REGISTERS; i++)
		state->reg[i] = answer_memory(pc * 32 + (u64)i) & ~7ull;
	state->reg[16] = pc;
}
