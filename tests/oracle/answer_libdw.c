/* SPDX-License-Identifier: Apache-2.0 */
#include <dwarf.h>

#include "tests/oracle/answer.h"

#define STACK_MAX 64

static bool binary(u8 atom, u64 a, u64 b, u64 *ret_value)
{
	switch (atom) {
	case DW_OP_plus:
		*ret_value = a + b;
		return true;
	case DW_OP_minus:
		*ret_value = a - b;
		return true;
	case DW_OP_and:
		*ret_value = a & b;
		return true;
	case DW_OP_mul:
		*ret_value = a * b;
		return true;
	case DW_OP_shl:
		*ret_value = a << (b & 63);
		return true;
	case DW_OP_ge:
		*ret_value = (s64)a >= (s64)b;
		return true;
	default:
		return false;
	}
}

struct machine {
	const struct answer_state *state;
	u64 cfa, stack[STACK_MAX];
	int depth;
	bool is_value; /* not a location in memory */
};

/* GCC still calls registers saved around rbp when rbp and all others have been restored. */
static bool is_stale(const Dwarf_Op *cfa, const Dwarf_Op *ops, size_t count)
{
	bool from_sp = cfa->atom == DW_OP_breg7 ||
		       (cfa->atom == DW_OP_bregx && cfa->number == REGISTER_SP);

	return from_sp && count == 2 && ops[0].atom == DW_OP_call_frame_cfa &&
	       ops[1].atom == DW_OP_breg6;
}

static bool unary(struct machine *machine, const Dwarf_Op *op)
{
	u64 *top = &machine->stack[machine->depth - 1];

	switch (op->atom) {
	case DW_OP_deref:
		*top = answer_memory(*top);
		return true;
	case DW_OP_plus_uconst:
		*top += op->number;
		return true;
	case DW_OP_drop:
		machine->depth--;
		return true;
	case DW_OP_stack_value:
		machine->is_value = true;
		return true;
	default:
		if (machine->depth < 2 || !binary(op->atom, top[-1], top[0], &top[-1]))
			return false;
		machine->depth--;
		return true;
	}
}

static bool leaf(struct machine *machine, const Dwarf_Op *op, u64 *ret_value)
{
	const u64 *reg = machine->state->reg;

	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		*ret_value = op->atom - DW_OP_lit0;
	else if (op->atom >= DW_OP_const1u && op->atom <= DW_OP_consts)
		*ret_value = op->number;
	else if (op->atom >= DW_OP_breg0 && op->atom < DW_OP_breg0 + REGISTERS)
		*ret_value = reg[op->atom - DW_OP_breg0] + op->number;
	else if (op->atom == DW_OP_bregx && op->number < REGISTERS)
		*ret_value = reg[op->number] + op->number2;
	else if (op->atom == DW_OP_call_frame_cfa)
		*ret_value = machine->cfa;
	else if (op->atom >= DW_OP_reg0 && op->atom < DW_OP_reg0 + REGISTERS)
		*ret_value = reg[op->atom - DW_OP_reg0];
	else if (op->atom == DW_OP_regx && op->number < REGISTERS)
		*ret_value = reg[op->number];
	else
		return false;
	machine->is_value |=
		op->atom == DW_OP_regx || (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31);
	return true;
}

static bool run(struct machine *machine, const Dwarf_Op *ops, size_t count)
{
	u64 value;

	for (size_t i = 0; i < count; i++) {
		if (leaf(machine, &ops[i], &value)) {
			if (machine->depth == STACK_MAX)
				return false;
			machine->stack[machine->depth++] = value;
		} else if (machine->depth == 0 || !unary(machine, &ops[i])) {
			return false;
		}
	}
	return machine->depth > 0;
}

bool answer_libdw(Dwarf_Frame *frame, const struct answer_state *state,
		  struct answer answers[ANSWERS])
{
	struct machine cfa = {.state = state};
	Dwarf_Op *ops, *cfa_ops, room[3];
	size_t count;

	if (dwarf_frame_cfa(frame, &cfa_ops, &count) != 0 || !run(&cfa, cfa_ops, count))
		return false;
	cfa.cfa = cfa.stack[cfa.depth - 1];
	for (int i = 0; i < ANSWERS; i++) {
		struct machine machine = {.state = state, .cfa = cfa.cfa};
		u64 top;

		if (dwarf_frame_register(frame, answer_registers[i].reg, room, &ops, &count) != 0)
			return false;
		answers[i] = (struct answer){VALUE, state->reg[answer_registers[i].reg]};
		/* libdw 0.188's defaults of the psABI take register 0 for rbx */
		if (count == 0 && ops == room && answer_registers[i].reg != 3)
			answers[i].known = UNDEFINED;
		if (count == 0 || is_stale(cfa_ops, ops, count))
			continue;
		if (!run(&machine, ops, count))
			return false;
		top = machine.stack[machine.depth - 1];
		answers[i].value = machine.is_value ? top : answer_memory(top);
	}
	return true;
}
