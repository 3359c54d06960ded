/* SPDX-License-Identifier: Apache-2.0 */
#include "object/unwind/rule.h"

#include <string.h>

#include "base/reader.h"

#define EXPRESSION_STEPS_MAX 64
#define EXPRESSION_DEPTH_MAX 8
#define WIDE_OFFSET_MAX	     (1ll << 30) /* keeps away from RULE_WIDE_SAME and its like */

/* Where the kernel puts registers in a signal handler's frame: rt_sigframe above its pretcode. */
#define SIGNAL_RBP 120
#define SIGNAL_RSP 160
#define SIGNAL_RIP 168

static const u8 slot_register[RULE_SLOTS] = {REGISTER_RBP, REGISTER_RBX, REGISTER_R12,
					     REGISTER_R13, REGISTER_R14, REGISTER_R15};

/* ---- values of the caller in terms of this frame ---- */

/* base + offset, or *(base + offset) + add; base: a register, the CFA, or nothing (a constant). */
#define BASE_CFA      32
#define BASE_CONSTANT 33
struct value {
	u32 base;
	bool deref;
	s64 offset, add;
};

static bool fits_s32(s64 value)
{
	return value >= INT32_MIN && value <= INT32_MAX;
}

static bool value_is(struct value value, u32 base, s64 offset, bool deref)
{
	return value.base == base && value.deref == deref && value.offset == offset &&
	       value.add == 0;
}

static bool value_add(struct value *value, s64 more)
{
	s64 *sum = value->deref ? &value->add : &value->offset;

	return !__builtin_add_overflow(*sum, more, sum);
}

/* ---- expressions: base + offset, or one word read from there (DWARF 5, 2.5.1) ---- */

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

/* DW_OP_const1u .. DW_OP_consts, in the order of their numbers. */
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

	if (op >= OP_LIT0 && op < OP_LIT0 + 32)
		return push(machine, BASE_CONSTANT, op - OP_LIT0);
	if (op >= OP_CONST1U && op <= OP_CONSTS)
		return push(machine, BASE_CONSTANT, constant(&machine->reader, op));
	if (op == OP_BREGX)
		base = reader_uleb(&machine->reader);
	return base < 16 && push(machine, (u32)base, reader_sleb(&machine->reader));
}

/* plus, minus: one of the two must be a constant */
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
	return value_add(b, op == OP_PLUS ? a->offset : -a->offset);
}

/* What changes the top of the stack. */
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
	if (op != OP_DEREF && op != OP_DROP && op != OP_MINUS && op != OP_PLUS &&
	    op != OP_PLUS_UCONST)
		return step_push(machine, op);
	return machine->depth > 0 && step_top(machine, op);
}

static const u8 *expression_bytes(const struct cfi_place *place,
				  const struct frame_section *section)
{
	return section->bytes + place->value;
}

/* False when it says something that a rule cannot. */
static bool evaluate(const struct cfi_place *place, const struct frame_section *section,
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

/* rsp + 8 + ((rip & 15) >= N) * 8: entries of the procedure linkage table, as linkers write it. */
static bool is_plt(const struct cfi_place *cfa, const struct frame_section *section, u32 *ret_from)
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

/* ---- the frame's caller ---- */

/*
 * sp is what the caller's stack pointer was: the CFA of our rules. It is DWARF's CFA + shift, or
 * has nothing to do with it (cfa_known is false: what was saved around that is out of reach).
 */
struct caller {
	struct value cfa, sp;
	bool plt, cfa_known;
	u32 plt_from;
	s64 shift;
};

/* What instructions or an expression say; false when they say nothing we can use. */
static bool raw_value(const struct cfi_place *place, u32 own, const struct frame_section *section,
		      struct value *ret_value)
{
	*ret_value = (struct value){.base = BASE_CFA, .offset = place->value};
	switch (place->how) {
	case CFI_UNSET:
	case CFI_SAME:
		*ret_value = (struct value){.base = own};
		return true;
	case CFI_OFFSET:
		ret_value->deref = true;
		return true;
	case CFI_VAL_OFFSET:
		return true;
	case CFI_REGISTER:
		*ret_value = (struct value){.base = (u32)place->value};
		return place->value < 16;
	case CFI_EXPRESSION:
		if (!evaluate(place, section, true, ret_value) || ret_value->deref)
			return false;
		ret_value->deref = true;
		return ret_value->base != BASE_CONSTANT;
	case CFI_VAL_EXPRESSION:
		return evaluate(place, section, true, ret_value);
	default:
		return false;
	}
}

/* A register's value in the caller, offsets in 32 bits. False: not known. */
static bool column_value(const struct cfi_place *place, u32 own,
			 const struct frame_section *section, struct value *ret_value)
{
	return raw_value(place, own, section, ret_value) && fits_s32(ret_value->offset) &&
	       fits_s32(ret_value->add);
}

/* Rewrites what is relative to the register that the CFA comes from as relative to the CFA. */
static void relate_to_cfa(const struct caller *caller, struct value *value)
{
	const struct value *cfa = &caller->cfa;

	if (!caller->plt && !cfa->deref && value->base == cfa->base) {
		value->base = BASE_CFA;
		value->offset -= cfa->offset;
	}
}

static bool find_cfa(const struct cfi_row *row, const struct frame_section *section,
		     struct caller *caller)
{
	const struct cfi_place *cfa = &row->cfa;

	if (cfa->how == CFI_REGISTER) {
		caller->cfa =
			(struct value){.base = (u32)row->cfa_register, .offset = row->cfa_offset};
		return row->cfa_register < 16 && fits_s32(row->cfa_offset);
	}
	if (cfa->how != CFI_EXPRESSION)
		return false;
	caller->plt = is_plt(cfa, section, &caller->plt_from);
	return caller->plt ||
	       (evaluate(cfa, section, false, &caller->cfa) && caller->cfa.base < 16 &&
		fits_s32(caller->cfa.offset) && fits_s32(caller->cfa.add));
}

/* The stack pointer is the CFA unless a rule of its own says otherwise (psABI). */
static bool find_stack_pointer(const struct cfi_row *row, const struct frame_section *section,
			       struct caller *caller)
{
	const struct cfi_place *place = &row->column[COLUMN_RSP];
	struct value value;

	caller->sp = caller->cfa;
	caller->cfa_known = true;
	if (place->how == CFI_UNSET)
		return true;
	if (!column_value(place, REGISTER_RSP, section, &value))
		return false;
	relate_to_cfa(caller, &value);
	if (value.base == BASE_CFA && !value.deref) {
		caller->shift = value.offset;
		return value_add(&caller->sp, value.offset) && (!caller->plt || !value.offset);
	}
	caller->cfa_known = false;
	if (value.base == BASE_CFA) {
		if (caller->cfa.deref || caller->plt)
			return false;
		value.base = caller->cfa.base;
		value.offset += caller->cfa.offset;
	}
	caller->plt = false;
	caller->sp = value;
	return value.base < 16;
}

enum place_how {
	PLACE_LOST,
	PLACE_SAME,
	PLACE_CFA,
	PLACE_BP,
	PLACE_REGISTER
};
struct place {
	enum place_how how;
	s64 value;
};

static struct place find_place(const struct cfi_place *place, u32 own,
			       const struct frame_section *section, const struct caller *caller)
{
	struct value value;

	if (!column_value(place, own, section, &value) || value.add != 0)
		return (struct place){PLACE_LOST, 0};
	if (value_is(value, own, 0, false))
		return (struct place){PLACE_SAME, 0};
	if (value.base < 16 && value_is(value, value.base, 0, false))
		return (struct place){PLACE_REGISTER, value.base};
	relate_to_cfa(caller, &value);
	if (value.base == BASE_CFA)
		value.offset -= caller->shift;
	if (!value.deref || value.offset < -WIDE_OFFSET_MAX || value.offset > WIDE_OFFSET_MAX)
		return (struct place){PLACE_LOST, 0};
	if (value.base == BASE_CFA && caller->cfa_known)
		return (struct place){PLACE_CFA, value.offset};
	if (value.base != REGISTER_RBP)
		return (struct place){PLACE_LOST, 0};
	/*
	 * GCC says nothing when an epilogue restores registers. A CFA from rsp is only there before
	 * a stack is realigned and after rsp went back, when rbp is the caller's again and with it
	 * all that was saved around it.
	 */
	if (caller->sp.base == REGISTER_RSP && !caller->sp.deref)
		return (struct place){PLACE_SAME, 0};
	return (struct place){PLACE_BP, value.offset};
}

/* ---- encoding ---- */

struct places {
	struct place slot[RULE_SLOTS], ra;
};

/* Slot 1 is `first`, the next ones lie below it; 0: no slot. */
static u32 slot_of(s64 value, s64 first)
{
	s64 below = first - value;

	return below < 0 || below > 14 * 8 || below % 8 != 0 ? 0 : (u32)(below / 8 + 1);
}

/* Save slots below the CFA; false when a register is elsewhere. */
static bool plain_slots(const struct places *places, u32 *ret_slots)
{
	*ret_slots = 0;
	for (u32 i = 0; i < RULE_SLOTS; i++) {
		const struct place *place = &places->slot[i];
		u32 slot = place->how == PLACE_CFA ? slot_of(place->value, -16) : 0;

		if (place->how != PLACE_SAME && slot == 0)
			return false;
		*ret_slots |= slot << i * 4;
	}
	return true;
}

/*
 * Save slots around rbp. What rbp itself points to is the caller's rbp, so for another register
 * slot 1 is free to say: at CFA - 16, pushed before the stack was realigned.
 */
static bool realigned_slots(const struct places *places, u32 *ret_slots)
{
	*ret_slots = 0;
	for (u32 i = 0; i < RULE_SLOTS; i++) {
		const struct place *place = &places->slot[i];
		u32 slot = place->how == PLACE_BP ? slot_of(place->value, 0) : 0;

		if (slot == 1 && i != COLUMN_RBP)
			return false;
		if (place->how == PLACE_CFA && place->value == -16 && i != COLUMN_RBP)
			slot = 1;
		if (place->how != PLACE_SAME && slot == 0)
			return false;
		*ret_slots |= slot << i * 4;
	}
	return true;
}

static u64 register_rule(u32 base, u32 slots, s64 offset)
{
	if (base == REGISTER_RSP)
		return RULE_MAKE(RULE_SP, 0, slots, offset, 0);
	if (base == REGISTER_RBP)
		return RULE_MAKE(RULE_BP, 0, slots, offset, 0);
	return RULE_MAKE(RULE_REG, base, slots, offset, 0);
}

/* Eight bytes for saves below the CFA, or RULE_UNSUPPORTED. */
static u64 encode_plain(const struct caller *caller, u32 slots)
{
	const struct value *sp = &caller->sp;

	if (caller->plt)
		return RULE_MAKE(RULE_PLT, caller->plt_from, slots, 0, 0);
	if (sp->offset < RULE_OFFSET_MIN || sp->offset > RULE_OFFSET_MAX)
		return RULE_UNSUPPORTED;
	if (!sp->deref)
		return register_rule(sp->base, slots, sp->offset);
	if (sp->add < 0 || sp->add > 15 * 8 || sp->add % 8 != 0)
		return RULE_UNSUPPORTED;
	if (sp->base == REGISTER_RSP)
		return RULE_MAKE(RULE_DEREF_SP, sp->add / 8, slots, sp->offset, 0);
	if (sp->base == REGISTER_RBP)
		return RULE_MAKE(RULE_DEREF_BP, sp->add / 8, slots, sp->offset, 0);
	return RULE_UNSUPPORTED;
}

/* The same for saves around rbp, as GCC writes for functions that realign the stack. */
static u64 encode_realigned(const struct caller *caller, u32 slots)
{
	const struct value *sp = &caller->sp;

	if (caller->plt || sp->offset < RULE_OFFSET_MIN || sp->offset > RULE_OFFSET_MAX)
		return RULE_UNSUPPORTED;
	if (!sp->deref)
		return RULE_MAKE(RULE_REALIGN, sp->base, slots, sp->offset, 0);
	if (sp->base == REGISTER_RBP && sp->add == 0)
		return RULE_MAKE(RULE_DRAP, 0, slots, sp->offset, 0);
	return RULE_UNSUPPORTED;
}

static s32 wide_save(const struct place *place)
{
	switch (place->how) {
	case PLACE_SAME:
		return RULE_WIDE_SAME;
	case PLACE_CFA:
		return (s32)place->value;
	case PLACE_REGISTER:
		return RULE_WIDE_IN((u32)place->value);
	default:
		return RULE_WIDE_LOST;
	}
}

static u64 encode_wide(const struct caller *caller, const struct places *places,
		       struct rule_wide *ret_wide)
{
	const struct value *sp = &caller->sp;
	bool in_memory = places->ra.how == PLACE_CFA;

	if (caller->plt || !fits_s32(sp->offset) || !fits_s32(sp->add) ||
	    (!in_memory && places->ra.how != PLACE_REGISTER))
		return RULE_UNSUPPORTED;
	*ret_wide = (struct rule_wide){
		.cfa_offset = (s32)sp->offset,
		.cfa_add = (s32)sp->add,
		.base = (u8)sp->base,
		.deref = sp->deref,
		.ra_reg = in_memory ? REGISTER_RIP : (u8)places->ra.value,
		.ra_offset = in_memory ? (s32)places->ra.value : 0,
	};
	for (u32 i = 0; i < RULE_SLOTS; i++)
		ret_wide->save[i] = wide_save(&places->slot[i]);
	/* every caller may use rbp, so a frame without it is worth nothing */
	if (ret_wide->save[COLUMN_RBP] == RULE_WIDE_LOST)
		return RULE_UNSUPPORTED;
	return RULE_MAKE(RULE_WIDE, 0, 0, 0, 0);
}

/* All registers in the kernel's signal frame, as glibc's __restore_rt says. */
static bool is_signal_frame(const struct cfi_row *row, const struct frame_section *section,
			    const struct caller *caller)
{
	struct value ra, rbp;

	return value_is(caller->cfa, REGISTER_RSP, SIGNAL_RSP, true) &&
	       column_value(&row->column[COLUMN_RETURN], REGISTER_RIP, section, &ra) &&
	       value_is(ra, REGISTER_RSP, SIGNAL_RIP, true) &&
	       column_value(&row->column[COLUMN_RBP], REGISTER_RBP, section, &rbp) &&
	       value_is(rbp, REGISTER_RSP, SIGNAL_RBP, true);
}

u64 rule_make(const struct cfi_row *row, const struct frame_section *section, bool signal,
	      struct rule_wide *ret_wide)
{
	struct caller caller = {.plt = false};
	struct places places;
	u32 slots;
	u64 rule = RULE_UNSUPPORTED;

	if (row->column[COLUMN_RETURN].how == CFI_UNDEFINED)
		return RULE_MAKE(RULE_END, 0, 0, 0, RULE_FLAG_ENTRY);
	if (!find_cfa(row, section, &caller))
		return RULE_UNSUPPORTED;
	/* No other kind of rule can say that the caller's pc is exact. */
	if (signal)
		return is_signal_frame(row, section, &caller)
			       ? RULE_MAKE(RULE_SIGNAL, 0, 0, 0, RULE_FLAG_SIGNAL)
			       : RULE_UNSUPPORTED;
	if (!find_stack_pointer(row, section, &caller))
		return RULE_UNSUPPORTED;
	for (u32 i = 0; i < RULE_SLOTS; i++)
		places.slot[i] = find_place(&row->column[i], slot_register[i], section, &caller);
	places.ra = find_place(&row->column[COLUMN_RETURN], REGISTER_RIP, section, &caller);
	if (places.ra.how == PLACE_CFA && places.ra.value == -8) {
		if (plain_slots(&places, &slots))
			rule = encode_plain(&caller, slots);
		else if (realigned_slots(&places, &slots))
			rule = encode_realigned(&caller, slots);
	}
	return rule != RULE_UNSUPPORTED ? rule : encode_wide(&caller, &places, ret_wide);
}

/* ---- the common case ---- */

/* Whether every register is unchanged or in a save slot, and the rest is as usual. */
static bool simple_columns(const struct cfi_row *row, u32 *ret_slots)
{
	const struct cfi_place *ra = &row->column[COLUMN_RETURN];
	u32 slots = 0;

	if (ra->how != CFI_OFFSET || ra->value != -8 || row->column[COLUMN_RSP].how != CFI_UNSET)
		return false;
	for (u32 i = 0; i < RULE_SLOTS; i++) {
		const struct cfi_place *place = &row->column[i];
		u64 below = -16 - (u64)place->value;

		if (place->how <= CFI_SAME)
			continue;
		if (place->how != CFI_OFFSET || below > 14 * 8 || below % 8 != 0)
			return false;
		slots |= (u32)(below / 8 + 1) << i * 4;
	}
	*ret_slots = slots;
	return true;
}

u64 rule_maker_next(struct rule_maker *maker, struct cfi *cfi, struct rule_wide *ret_wide)
{
	const struct cfi_row *row = &cfi->row;
	bool signal = cfi->cie->signal;

	if (cfi->columns_changed) {
		maker->simple = simple_columns(&cfi->row, &maker->slots);
		cfi->columns_changed = false;
	}
	if (maker->simple && !signal && row->cfa.how == CFI_REGISTER && row->cfa_register < 16 &&
	    row->cfa_offset >= RULE_OFFSET_MIN && row->cfa_offset <= RULE_OFFSET_MAX)
		return register_rule((u32)row->cfa_register, maker->slots, row->cfa_offset);
	return rule_make(row, maker->section, signal, ret_wide);
}
