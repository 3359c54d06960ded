/* SPDX-License-Identifier: Apache-2.0 */
#include "object/unwind/rule.h"

#include "object/unwind/expression.h"

#define WIDE_OFFSET_MAX (1ll << 30) /* far from RULE_WIDE_SAME and other special values */
#define SLOT_BYTES	8
#define SLOTS_MAX	15
#define ADD_MAX		(15 * 8) /* of a rule that reads the CFA from memory */

/* Offsets of registers in a signal handler's frame: the kernel's rt_sigframe above pretcode. */
#define SIGNAL_RBP 120
#define SIGNAL_RSP 160
#define SIGNAL_RIP 168

static const u8 slot_register[RULE_SLOTS] = {REGISTER_RBP, REGISTER_RBX, REGISTER_R12,
					     REGISTER_R13, REGISTER_R14, REGISTER_R15};

/* ---- the frame's caller ---- */

/*
 * sp is the caller's stack pointer, which our rules call the CFA. Mostly sp is DWARF's CFA + shift.
 * Where sp is unrelated to DWARF's CFA, cfa_known is false: registers that were saved around
 * DWARF's CFA are then out of reach.
 */
struct caller {
	struct value cfa, sp;
	bool plt, cfa_known;
	u32 plt_from;
	s64 shift;
};

/* Gets the value that instructions or an expression say. Returns false for an unusable one. */
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
		if (!expression_evaluate(place, section, true, ret_value) || ret_value->deref)
			return false;
		ret_value->deref = true;
		return ret_value->base != BASE_CONSTANT;
	case CFI_VAL_EXPRESSION:
		return expression_evaluate(place, section, true, ret_value);
	default:
		return false;
	}
}

/* Gets a register's value in the caller. Returns false for one that does not fit 32 bits. */
static bool column_value(const struct cfi_place *place, u32 own,
			 const struct frame_section *section, struct value *ret_value)
{
	return raw_value(place, own, section, ret_value) && value_fits_s32(ret_value->offset) &&
	       value_fits_s32(ret_value->add);
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
		return row->cfa_register < 16 && value_fits_s32(row->cfa_offset);
	}
	if (cfa->how != CFI_EXPRESSION)
		return false;
	caller->plt = expression_is_plt(cfa, section, &caller->plt_from);
	if (caller->plt)
		return true;
	if (!expression_evaluate(cfa, section, false, &caller->cfa))
		return false;
	return caller->cfa.base < 16 && value_fits_s32(caller->cfa.offset) &&
	       value_fits_s32(caller->cfa.add);
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
		if (caller->plt && value.offset != 0)
			return false;
		return value_add(&caller->sp, value.offset);
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
	 * GCC writes no instruction when an epilogue restores registers. The CFA comes from rsp
	 * only before the stack is realigned, and after rsp went back. rbp is the caller's then,
	 * and so are the registers that were saved around rbp.
	 */
	if (caller->sp.base == REGISTER_RSP && !caller->sp.deref)
		return (struct place){PLACE_SAME, 0};
	return (struct place){PLACE_BP, value.offset};
}

/* ---- encoding ---- */

struct places {
	struct place slot[RULE_SLOTS], ra;
};

/* Returns the number of a save slot: slot 1 is at `first`, the next ones lie below; 0: no slot. */
static u32 slot_of(s64 value, s64 first)
{
	s64 below = first - value;

	if (below < 0 || below >= SLOTS_MAX * SLOT_BYTES || below % SLOT_BYTES != 0)
		return 0;
	return (u32)(below / SLOT_BYTES + 1);
}

/* Gets save slots below the CFA. Returns false where a register is elsewhere. */
static bool plain_slots(const struct places *places, u32 *ret_slots)
{
	*ret_slots = 0;
	for (u32 i = 0; i < RULE_SLOTS; i++) {
		const struct place *place = &places->slot[i];
		u32 slot = 0;

		if (place->how == PLACE_CFA)
			slot = slot_of(place->value, -16);
		if (place->how != PLACE_SAME && slot == 0)
			return false;
		*ret_slots |= slot << i * 4;
	}
	return true;
}

/*
 * Gets save slots around rbp. rbp itself points to the caller's rbp. For other registers slot 1
 * therefore means another place: CFA - 16, where they were pushed before the stack was realigned.
 */
static bool realigned_slots(const struct places *places, u32 *ret_slots)
{
	*ret_slots = 0;
	for (u32 i = 0; i < RULE_SLOTS; i++) {
		const struct place *place = &places->slot[i];
		u32 slot = 0;

		if (place->how == PLACE_BP)
			slot = slot_of(place->value, 0);
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

/* Returns a rule of eight bytes for saves below the CFA, or RULE_UNSUPPORTED. */
static u64 encode_plain(const struct caller *caller, u32 slots)
{
	const struct value *sp = &caller->sp;

	if (caller->plt)
		return RULE_MAKE(RULE_PLT, caller->plt_from, slots, 0, 0);
	if (sp->offset < RULE_OFFSET_MIN || sp->offset > RULE_OFFSET_MAX)
		return RULE_UNSUPPORTED;
	if (!sp->deref)
		return register_rule(sp->base, slots, sp->offset);
	if (sp->add < 0 || sp->add > ADD_MAX || sp->add % 8 != 0)
		return RULE_UNSUPPORTED;
	if (sp->base == REGISTER_RSP)
		return RULE_MAKE(RULE_DEREF_SP, sp->add / 8, slots, sp->offset, 0);
	if (sp->base == REGISTER_RBP)
		return RULE_MAKE(RULE_DEREF_BP, sp->add / 8, slots, sp->offset, 0);
	return RULE_UNSUPPORTED;
}

/* Does the same for saves around rbp, which GCC writes for functions that realign the stack. */
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

	if (caller->plt || !value_fits_s32(sp->offset) || !value_fits_s32(sp->add))
		return RULE_UNSUPPORTED;
	*ret_wide = (struct rule_wide){
		.cfa_offset = (s32)sp->offset,
		.cfa_add = (s32)sp->add,
		.base = (u8)sp->base,
		.deref = sp->deref,
	};
	if (places->ra.how == PLACE_CFA) {
		ret_wide->ra_reg = REGISTER_RIP;
		ret_wide->ra_offset = (s32)places->ra.value;
	} else if (places->ra.how == PLACE_REGISTER) {
		ret_wide->ra_reg = (u8)places->ra.value;
	} else {
		return RULE_UNSUPPORTED;
	}
	for (u32 i = 0; i < RULE_SLOTS; i++)
		ret_wide->save[i] = wide_save(&places->slot[i]);
	/* any caller may use rbp, so that a frame that loses rbp is of no use */
	if (ret_wide->save[COLUMN_RBP] == RULE_WIDE_LOST)
		return RULE_UNSUPPORTED;
	return RULE_MAKE(RULE_WIDE, 0, 0, 0, 0);
}

/* Returns whether the registers are in the kernel's signal frame, as glibc's __restore_rt says. */
static bool is_signal_frame(const struct cfi_row *row, const struct frame_section *section,
			    const struct caller *caller)
{
	struct value ra, rbp;

	if (!value_is(caller->cfa, REGISTER_RSP, SIGNAL_RSP, true))
		return false;
	if (!column_value(&row->column[COLUMN_RETURN], REGISTER_RIP, section, &ra))
		return false;
	if (!column_value(&row->column[COLUMN_RBP], REGISTER_RBP, section, &rbp))
		return false;
	return value_is(ra, REGISTER_RSP, SIGNAL_RIP, true) &&
	       value_is(rbp, REGISTER_RSP, SIGNAL_RBP, true);
}

static void find_places(const struct cfi_row *row, const struct frame_section *section,
			const struct caller *caller, struct places *ret_places)
{
	const struct cfi_place *ra = &row->column[COLUMN_RETURN];

	for (u32 i = 0; i < RULE_SLOTS; i++)
		ret_places->slot[i] =
			find_place(&row->column[i], slot_register[i], section, caller);
	ret_places->ra = find_place(ra, REGISTER_RIP, section, caller);
}

/* Returns a rule of eight bytes, or RULE_UNSUPPORTED. */
static u64 encode_narrow(const struct caller *caller, const struct places *places)
{
	u32 slots;

	if (places->ra.how != PLACE_CFA || places->ra.value != -8)
		return RULE_UNSUPPORTED;
	if (plain_slots(places, &slots))
		return encode_plain(caller, slots);
	if (realigned_slots(places, &slots))
		return encode_realigned(caller, slots);
	return RULE_UNSUPPORTED;
}

u64 rule_make(const struct cfi_row *row, const struct frame_section *section, bool signal,
	      struct rule_wide *ret_wide)
{
	struct caller caller = {.plt = false};
	struct places places;
	u64 rule;

	if (row->column[COLUMN_RETURN].how == CFI_UNDEFINED)
		return RULE_MAKE(RULE_END, 0, 0, 0, RULE_FLAG_ENTRY);
	if (!find_cfa(row, section, &caller))
		return RULE_UNSUPPORTED;
	/* RULE_SIGNAL alone can say that the caller's pc is exact */
	if (signal && !is_signal_frame(row, section, &caller))
		return RULE_UNSUPPORTED;
	if (signal)
		return RULE_MAKE(RULE_SIGNAL, 0, 0, 0, RULE_FLAG_SIGNAL);
	if (!find_stack_pointer(row, section, &caller))
		return RULE_UNSUPPORTED;
	find_places(row, section, &caller, &places);
	rule = encode_narrow(&caller, &places);
	if (rule != RULE_UNSUPPORTED)
		return rule;
	return encode_wide(&caller, &places, ret_wide);
}

/* ---- the common case ---- */

/*
 * Gets the slots of a simple row, and returns false for another row. In a simple row every register
 * is unchanged or in a save slot. The return address and the stack pointer are in their usual
 * places.
 */
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
