/* SPDX-License-Identifier: Apache-2.0 */
#include "object/unwind/expression.h"

#include <string.h>

#include "base/reader.h"

#define EXPRESSION_STEPS_MAX 64
#define EXPRESSION_DEPTH_MAX 8
#define REGISTERS	     16 /* that a value can be relative to */
#define LITERALS	     32

bool value_add(struct value *value, s64 more)
{
	s64 *sum = value->deref ? &value->add : &value->offset;

	return !__builtin_add_overflow(*sum, more, sum);
}

enum {
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONSTS = 0x11,
	OP_DROP = 0x13,
	OP_MINUS = 0x1c,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_LIT0 = 0x30,
	OP_BREG0 = 0x70,
	OP_BREGX = 0x92,
	OP_NOP = 0x96,
};

struct machine {
	struct reader reader;
	struct value stack[EXPRESSION_DEPTH_MAX];
	u32 depth;
};

static bool push(struct machine *machine, u32 base, s64 offset)
{
	if (machine->depth == EXPRESSION_DEPTH_MAX)
		return false;
	machine->stack[machine->depth++] = (struct value){.base = base, .offset = offset};
	return true;
}

/* Reads the operand of DW_OP_const1u .. DW_OP_consts, in the order of their numbers. */
static s64 constant(struct reader *reader, u8 op)
{
	switch (op - OP_CONST1U) {
	case 0:
		return reader_u8(reader);
	case 1:
		return (s8)reader_u8(reader);
	case 2:
		return reader_u16(reader);
	case 3:
		return (s16)reader_u16(reader);
	case 4:
		return reader_u32(reader);
	case 5:
		return (s32)reader_u32(reader);
	case 6:
	case 7:
		return (s64)reader_u64(reader);
	case 8:
		return (s64)reader_uleb(reader);
	default:
		return reader_sleb(reader);
	}
}

static bool step_push(struct machine *machine, u8 op)
{
	u64 base = (u64)op - OP_BREG0;

	if (op >= OP_LIT0 && op < OP_LIT0 + LITERALS)
		return push(machine, BASE_CONSTANT, op - OP_LIT0);
	if (op >= OP_CONST1U && op <= OP_CONSTS)
		return push(machine, BASE_CONSTANT, constant(&machine->reader, op));
	if (op == OP_BREGX)
		base = reader_uleb(&machine->reader);
	if (base >= REGISTERS)
		return false;
	return push(machine, (u32)base, reader_sleb(&machine->reader));
}

/* Executes plus or minus, of which one operand must be a constant. */
static bool step_sum(struct machine *machine, u8 op)
{
	struct value *a, *b, swapped;

	if (machine->depth < 2)
		return false;
	a = &machine->stack[--machine->depth];
	b = a - 1;
	if (op == OP_PLUS && a->base != BASE_CONSTANT) {
		swapped = *a;
		*a = *b;
		*b = swapped;
	}
	if (a->base != BASE_CONSTANT || a->deref || a->offset == INT64_MIN)
		return false;
	if (op == OP_PLUS)
		return value_add(b, a->offset);
	return value_add(b, -a->offset);
}

/* Executes an operation that changes the top of the stack. */
static bool step_top(struct machine *machine, u8 op)
{
	struct value *top = &machine->stack[machine->depth - 1];

	if (op == OP_DROP) {
		machine->depth--;
		return true;
	}
	if (op == OP_PLUS_UCONST)
		return value_add(top, (s64)reader_uleb(&machine->reader));
	if (op == OP_PLUS || op == OP_MINUS)
		return step_sum(machine, op);
	if (top->deref || top->base == BASE_CONSTANT)
		return false;
	top->deref = true;
	return true;
}

static bool step(struct machine *machine)
{
	u8 op = reader_u8(&machine->reader);

	if (op == OP_NOP)
		return true;
	switch (op) {
	case OP_DEREF:
	case OP_DROP:
	case OP_MINUS:
	case OP_PLUS:
	case OP_PLUS_UCONST:
		return machine->depth > 0 && step_top(machine, op);
	default:
		return step_push(machine, op);
	}
}

static const u8 *expression_bytes(const struct cfi_place *place,
				  const struct frame_section *section)
{
	return section->bytes + place->value;
}

bool expression_evaluate(const struct cfi_place *place, const struct frame_section *section,
			 bool cfa_on_stack, struct value *ret_value)
{
	struct machine machine = {.depth = 0};

	reader_init(&machine.reader, expression_bytes(place, section), place->size);
	if (cfa_on_stack)
		push(&machine, BASE_CFA, 0);
	for (u32 steps = 0; reader_left(&machine.reader) > 0; steps++) {
		if (steps == EXPRESSION_STEPS_MAX || !step(&machine))
			return false;
	}
	if (reader_failed(&machine.reader) || machine.depth == 0)
		return false;
	*ret_value = machine.stack[machine.depth - 1];
	return true;
}

bool expression_is_plt(const struct cfi_place *cfa, const struct frame_section *section,
		       u32 *ret_from)
{
	static const u8 before[] = {0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a};
	static const u8 behind[] = {0x2a, 0x33, 0x24, 0x22};
	const u8 *bytes = expression_bytes(cfa, section);
	u8 literal;

	if (cfa->size != sizeof(before) + 1 + sizeof(behind) ||
	    memcmp(bytes, before, sizeof(before)) != 0 ||
	    memcmp(bytes + sizeof(before) + 1, behind, sizeof(behind)) != 0)
		return false;
	literal = bytes[sizeof(before)];
	*ret_from = (u32)literal - OP_LIT0;
	return literal >= OP_LIT0 && literal < OP_LIT0 + 16;
}
