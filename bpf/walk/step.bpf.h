/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One frame of the walk. Pure C, see bpf/walk/walk.bpf.h. The includer supplies what
 * bpf/walk/table.bpf.h names, and:
 *   walk_read(to, bytes, address)  reads user memory; 0 when all bytes were read
 *   walk_read_copy(walk, to, bytes, address)  the same from the walk's copy of the stack
 *   walk_copy_calls(address)       whether the address was behind a call when the copy was taken;
 *                                  with KEPT_SIGRETURN, whether it was that of a signal return;
 *                                  with KEPT_SAVED_PC, whether a signal interrupted code there
 *   walk_executable(address)       whether the kernel has the address as executable
 *   walk_cache()                   the rule caches, or NULL
 *   walk_clock()                   CLOCK_MONOTONIC, ns
 *   walk_emit(walk, frame)         stores frame number walk->frames; 0 when stored
 * and what bpf/walk/runtime.bpf.h and bpf/walk/go.bpf.h name.
 */
#ifndef KEYHOLE_BPF_WALK_STEP_BPF_H
#define KEYHOLE_BPF_WALK_STEP_BPF_H

#include "bpf/walk/address.bpf.h"
#include "bpf/walk/cache.bpf.h"
#include "bpf/walk/fallback.bpf.h"
#include "bpf/walk/go.bpf.h"
#include "bpf/walk/hotspot.bpf.h"
#include "bpf/walk/memory.bpf.h"
#include "bpf/walk/runtime.bpf.h"
#include "bpf/walk/table.bpf.h"
#include "bpf/walk/v8.bpf.h"
#include "bpf/walk/walk.bpf.h"

/* ---- finding the rule ---- */

/*
 * Returns whether an address that no cache knows is an address of code at all. Must come before the
 * tables, whose writer may be hostile. The record's reason shows how a look-up ended, and so would
 * tell that writer any other word of the stack, bit by bit.
 */
INLINE int walk_is_code(struct walk *walk, u64 address)
{
	if (walk->exact == WALK_PC)
		return 1;
	if (walk->exact == WALK_PC_SAVED)
		return walk_is_saved_pc(walk, address);
	walk->called = walk_after_call(walk, address);
	return walk->called || walk_is_sigreturn(walk, address) || walk_executable(address);
}

/* Returns 0 when the address may be emitted with this rule, or the reason why not. */
INLINE u32 walk_check_address(struct walk *walk, u64 address)
{
	u32 kind = rule_kind(walk->rule);

	if (kind == RULE_SIGNAL)
		return walk_at_sigreturn(walk, address) ? 0 : REASON_cut_not_a_call;
	if (walk->exact || walk->called)
		return 0;
	/*
	 * makecontext() may start code that nobody called; the frame of such code is the last one.
	 * An interpreter that was made at run time may push the leaf's return address, and those
	 * of a chain.
	 */
	if (kind == RULE_NONE && walk->mapping_flags & MAPPING_HAS_TABLE)
		return REASON_cut_not_a_call;
	if (kind == RULE_NONE && !walk->chained && walk->frames != 1)
		return REASON_cut_not_a_call;
	if (kind != RULE_NONE && kind != RULE_END)
		return REASON_cut_not_a_call;
	return walk_executable(address) ? 0 : REASON_cut_not_a_call;
}

/*
 * Returns whether the caches may know the rule, and for which bytes of the granule. A wide rule
 * needs the dictionary of its mapping, which no cache has. A signal frame or a root was proven for
 * this return address alone, and other addresses of the granule need a proof of their own.
 */
INLINE int walk_narrow(const struct walk *walk, u64 address, u64 *range)
{
	u32 kind = rule_kind(walk->rule);

	if (kind == RULE_SIGNAL || kind == RULE_END) {
		*range = (address & 63) << 6 | (address & 63);
		return !walk->exact;
	}
	return kind != RULE_WIDE;
}

/*
 * Returns the rule of a mapping without a table. The code may have frame pointers or not: an option
 * of the runtime decides that for all of it. The record shows which rule it was. So the word that
 * decides lies close to the stack pointer, whatever the writer of the rule likes to know.
 */
INLINE u64 walk_mapping_rule(struct walk *walk)
{
	u64 sp = walk->reg[REG_RSP], rule = walk->mapping_rule, word;

	if (!walk->mapping_framed_rule || (u64)rule_offset(rule) > WALK_SLOTS_BYTES ||
	    walk_far_word(walk, sp + rule_offset(rule) - 8, &word) || word - sp >= WALK_REACH)
		return rule;
	return walk->mapping_framed_rule;
}

/*
 * Finds walk->rule in the caches or the tables. address: walk->address, or for a return address the
 * byte before, which is part of the call. Returns 0, or the reason why there is no rule.
 */
INLINE u32 walk_find_rule(struct walk *walk, u64 address)
{
	struct rule_cache *cache = walk_cache();
	u64 multiplier = walk->multiplier, offset = address & 63, rule = 0, packed;

	if (!cache)
		return REASON_lost_internal;
	u64 key = cache_key(address, walk->seed, multiplier), sp = walk->reg[REG_RSP];
	/* functions that take turns at one place of the stack take different ways */
	u64 way = sp >> 4 ^ key >> 34;
	struct cache_line *trail = &cache->trail[((sp >> 7) + walk->seed) & (CACHE_TRAIL - 1)];
	struct cache_line *text = &cache->text[key >> 40 & (CACHE_TEXT - 1)];

	packed = cache_probe(trail, key, offset, multiplier, &rule);
	if (packed != CACHE_MISS) {
		walk->trail_hits++;
		walk->rule = rule;
		return 0;
	}
	packed = cache_probe(text, key, offset, multiplier, &rule);
	if (packed != CACHE_MISS) {
		walk->text_hits++;
		cache_put(trail, way, packed, rule, multiplier);
		walk->rule = rule;
		return 0;
	}
	walk->misses++;
	if (!walk_is_code(walk, walk->address))
		return REASON_cut_not_a_call;
	if (!walk_is_mapped(walk, address))
		return walk->incomplete ? REASON_cut_no_room : REASON_cut_no_mapping;
	if (walk->mapping_flags & MAPPING_PENDING)
		return walk->incomplete ? REASON_cut_no_room : REASON_cut_not_ready;
	if (walk->mapping_flags & MAPPING_NO_ROOM)
		return REASON_cut_no_room;
	u64 range = 63;
	u32 reason;

	walk->rule = walk_mapping_rule(walk);
	if (walk->mapping_flags & MAPPING_HAS_TABLE)
		range = table_find_rule(address - walk->bias);
	if (range > 4095)
		return REASON_cut_table;
	/* the cache must not know a refused address the next time */
	reason = walk_check_address(walk, walk->address);
	if (reason)
		return reason;
	rule = walk->rule;
	if (walk_narrow(walk, address, &range)) {
		packed = cache_pack(key, range >> 6, range & 63);
		cache_put(trail, way, packed, rule, multiplier);
		/* rules of one granule share a line, and take different ways of it */
		cache_put(text, address >> 4, packed, rule, multiplier);
	}
	return 0;
}

/* ---- leaving a frame ---- */

/*
 * Leaves a signal frame, to the registers in the kernel's ucontext_t at rsp. They are at 40
 * (gregs): r8..r15 rdi rsi rbp rbx rdx rax rcx rsp rip.
 */
GLOBAL int walk_signal(void)
{
	static const u8 order[15] = {REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12,
				     REG_R13, REG_R14, REG_R15, REG_RDI, REG_RSI,
				     REG_RBP, REG_RBX, REG_RDX, REG_RAX, REG_RCX};
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	if (walk->switches++ >= WALK_SWITCHES || walk->reg[REG_RSP] & 7)
		return walk_end(walk, REASON_cut_stack_order);
	walk->window_bytes = 0;
	if (walk_read_window(17 * 8, walk->reg[REG_RSP] + 40))
		return walk_end(walk, REASON_cut_read);
	for (u32 i = 0; i < 15; i++)
		walk->reg[order[i] & 15] = walk->window[i];
	walk->reg[REG_RSP] = walk->window[15];
	walk->address = walk->window[16];
	walk->valid = WALK_ALL_REGISTERS;
	walk->exact = WALK_PC_SAVED;
	walk->chained = 0;
	return 0;
}

/*
 * Finds the caller's value of a callee-saved register by a wide rule. save: where the value is;
 * number: the register, whose bit in *known says whether the value is valid. Returns 0, or 1 when
 * memory could not be read.
 */
INLINE int walk_wide_saved(struct walk *walk, s32 save, u64 cfa, u32 number, u64 *ret_value,
			   u64 *known)
{
	u32 from = (u32)save - (u32)RULE_WIDE_IN(0);

	*ret_value = walk->reg[number];
	if (save == RULE_WIDE_SAME)
		return 0;
	*known &= ~(1ull << number);
	if (save == RULE_WIDE_LOST)
		return 0;
	if (from < 16) {
		*ret_value = walk->reg[from & 15];
		*known |= (u64)(walk->valid >> from & 1) << number;
		return 0;
	}
	*known |= 1ull << number;
	return walk_far_word(walk, cfa + (s64)save, ret_value);
}

/* Leaves a frame by a wide rule. Wide rules are rare: each word is read on its own. */
GLOBAL int walk_wide(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	u32 word = walk->dictionary + (u32)rule_offset(walk->rule) * 2;
	struct segment *segment = walk_segment(word);

	if (!segment)
		return walk_end(walk, REASON_cut_table);
	u64 at = BOUND((u64)(word & (SEGMENT_WORDS - 1)) >> 1, SEGMENT_WORDS / 2 - 5) * 2;
	const struct rule_wide *wide = (const struct rule_wide *)&segment->word[at];
	u32 base = wide->base & 15, ra_reg = wide->ra_reg;
	u64 sp = walk->reg[REG_RSP], cfa = walk->reg[base] + (s64)wide->cfa_offset, ra;

	if (!(walk->valid >> base & 1))
		return walk_end(walk, REASON_cut_unsupported);
	if (!walk_near(wide->cfa_offset) || !walk_near(wide->cfa_add))
		return walk_end(walk, REASON_cut_stack_order);
	if (wide->deref) {
		if (walk_far_word(walk, cfa, &cfa))
			return walk_end(walk, REASON_cut_read);
		cfa += (s64)wide->cfa_add;
	}
	/* the leaf in vfork() has popped its return address into a register: its rsp is the CFA */
	if (cfa & 7 || cfa - sp > WALK_REACH || (cfa == sp && !(walk->exact && ra_reg < 16)))
		return walk_end(walk, REASON_cut_stack_order);
	if (ra_reg < 16) {
		if (!(walk->valid >> ra_reg & 1))
			return walk_end(walk, REASON_cut_unsupported);
		ra = walk->reg[ra_reg];
	} else if (walk_far_word(walk, cfa + (s64)wide->ra_offset, &ra)) {
		return walk_end(walk, REASON_cut_read);
	}
	u64 known = walk->valid & WALK_CALLEE_SAVED;

	NOT_UNROLLED
	for (u32 i = 0; i < RULE_SLOTS; i++)
		if (walk_wide_saved(walk, wide->save[i], cfa, walk_slot_register[i] & 15,
				    &walk->saved[i], &known))
			return walk_end(walk, REASON_cut_read);
	/* only now: a register may be saved in another one */
	NOT_UNROLLED
	for (u32 i = 0; i < RULE_SLOTS; i++)
		walk->reg[walk_slot_register[i] & 15] = walk->saved[i];

	if (!(known >> REG_RBP & 1))
		return walk_end(walk, REASON_cut_unsupported);
	walk->valid = known;
	walk->chained = 0;
	if (!ra)
		return walk_end(walk, REASON_cut_zero_return);
	return walk_next(walk, cfa, ra);
}

/* Finds the CFA by an ordinary rule. Returns 0, or the reason why there is none. */
INLINE u32 walk_cfa(struct walk *walk, u64 address, u64 *ret_cfa)
{
	u64 rule = walk->rule, sp = walk->reg[REG_RSP], bp = walk->reg[REG_RBP];
	s64 offset = rule_offset(rule);
	u32 kind = rule_kind(rule), reg = rule_reg(rule);

	if (kind == RULE_SP) {
		*ret_cfa = sp + offset;
	} else if (kind == RULE_BP) {
		*ret_cfa = bp + offset;
	} else if (kind == RULE_PLT) {
		*ret_cfa = sp + 8 + ((address & 15) >= reg ? 8 : 0);
	} else if (kind == RULE_REG || kind == RULE_REALIGN) {
		if (!(walk->valid >> reg & 1))
			return REASON_cut_unsupported;
		*ret_cfa = walk->reg[reg] + offset;
	} else if (kind == RULE_DRAP || kind == RULE_DEREF_BP || kind == RULE_DEREF_SP) {
		if (walk_far_word(walk, (kind == RULE_DEREF_SP ? sp : bp) + offset, ret_cfa))
			return REASON_cut_read;
		if (kind != RULE_DRAP)
			*ret_cfa += reg * 8;
	} else {
		return REASON_cut_unsupported;
	}
	if (*ret_cfa & 7 || *ret_cfa <= sp || *ret_cfa - sp > WALK_REACH)
		return REASON_cut_stack_order;
	return 0;
}

/*
 * Returns the place of save slot k of a realigned frame: around rbp, except for a register that was
 * pushed before realigning.
 */
INLINE u64 walk_drap_slot(u64 bp, u64 cfa, u32 number, u64 k)
{
	return k == 1 && number != REG_RBP ? cfa - 16 : bp + 8 - 8 * k;
}

/* Restores the register that is saved in slot k, if there is one. Returns 1 after an error. */
INLINE u64 walk_restore_drap_slot(struct walk *walk, u32 k, u64 bp, u64 cfa, u64 low, u32 number)
{
	if (!k)
		return 0;
	u64 at = walk_drap_slot(bp, cfa, number, k);

	u64 failed = (at & 7) || at - low >= WALK_REACH || walk_read_word(at);

	walk->reg[number] = walk->word;
	walk->valid |= 1u << number;
	return failed;
}

/* Restores the registers of a RULE_DRAP or RULE_REALIGN frame. Returns 0 unless a read failed. */
INLINE u64 walk_restore_drap(struct walk *walk, u32 slots, u64 cfa)
{
	u64 failed = 0, bp = walk->reg[REG_RBP], low = walk->reg[REG_RSP];

	walk->reads++; /* the slots are side by side */
	if (walk->exact) {
		/* GCC's rules do not say that `leave` or pop has restored rbp and the others */
		if (bp - low >= cfa - low)
			return 0;
		low -= WALK_SLOTS_BYTES;
	}
	NOT_UNROLLED
	for (u32 i = 0; i < RULE_SLOTS; i++)
		failed |= walk_restore_drap_slot(walk, slots >> 4 * i & 15, bp, cfa, low,
						 walk_slot_register[i] & 15);
	return HIDE(walk, failed);
}

/* Restores the register that is saved in slot k of the window, if there is one. */
INLINE void walk_restore_slot(struct walk *walk, u64 k, u64 cfa, u32 number, u64 *failed)
{
	if (!k)
		return;
	walk->reg[number] = walk_word(walk, cfa - 8 - 8 * k, failed);
	walk->valid |= 1u << number;
}

/* Restores the registers of any other frame. Returns 0 unless the window lacks a word. */
INLINE u64 walk_restore(struct walk *walk, u32 slots, u64 cfa)
{
	u64 failed = HIDE(walk, 0);

	/* most frames have saved rbp alone */
	NOT_UNROLLED
	for (u32 i = 0; i < RULE_SLOTS && slots; i++, slots >>= 4)
		walk_restore_slot(walk, slots & 15, cfa, walk_slot_register[i] & 15, &failed);
	return failed;
}

/* Leaves a frame with an ordinary rule. */
INLINE int walk_leave(struct walk *walk, u64 address)
{
	u64 cfa = 0, failed = HIDE(walk, 0);
	u32 slots = rule_slots(walk->rule);
	u32 reason = walk_cfa(walk, address, &cfa);

	if (reason)
		return walk_end(walk, reason);
	if (walk_window(walk, cfa))
		return walk_end(walk, REASON_cut_read);
	u64 ra = walk_word(walk, cfa - 8, &failed);

	u32 kind = rule_kind(walk->rule);

	if (kind == RULE_DRAP || kind == RULE_REALIGN)
		failed |= walk_restore_drap(walk, slots, cfa);
	else
		failed |= walk_restore(walk, slots, cfa);
	if (failed)
		return walk_end(walk, REASON_cut_read);
	walk->valid &= WALK_CALLEE_SAVED;
	walk->chained = 0;
	/* the outermost frame of a piece in the heap has none */
	if (!ra && !walk->hotspot.piece_end)
		return walk_end(walk, REASON_cut_zero_return);
	return walk_next(walk, cfa, ra);
}

/*
 * Takes one frame. Returns 0 to go on, or 1 at the end, with walk->reason. The walk may then go on
 * all the same, if runtime_refuse() returns 0.
 */
GLOBAL int walk_step(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	u64 address = walk->address, inside;
	u32 reason;

	if (walk->list.on)
		return runtime_steps(walk) && runtime_leave_list(walk);
	if (walk->frames >= RECORD_FRAMES_MAX)
		return walk_end(walk, REASON_cut_depth);
	if (walk_work(walk) >= walk->look_at && walk_late())
		return walk_end(walk, REASON_cut_budget);
	if (address >= WALK_ADDRESS_END)
		return walk_end(walk, walk->exact == WALK_PC ? REASON_cut_no_mapping
							     : REASON_cut_not_a_call);
	/* a caller's rule is that of its call; rt_sigreturn, too, may end the code that it is in */
	inside = address - (!walk->exact || walk->in_sigreturn);
	walk->in_sigreturn = 0;
	walk->rule = 0;
	reason = walk_find_rule(walk, inside);
	if (reason &&
	    (!walk->exact || (walk->exact == WALK_PC_SAVED && reason == REASON_cut_not_a_call)))
		return walk_end(walk, reason);
	if (walk_emit(walk, address | (walk->exact ? FRAME_EXACT : 0) | walk->guessed))
		return walk_end(walk, REASON_cut_depth);
	walk->guesses |= walk->guessed;
	walk->guessed = 0;
	walk->frames++;
	if (reason)
		return walk_end(walk, reason);

	u32 kind = rule_kind(walk->rule);

	if (kind == RULE_END)
		return walk_end(walk, REASON_end_root);
	/* in memory, so that the verifier sees one way on */
	walk->v8.is_inside = 0;
	walk->hotspot.bp = walk->reg[REG_RBP];
	walk->hotspot.has_jumped = 0;
	walk->hotspot.is_left = kind == RULE_NONE && (v8_rule(inside) || hotspot_rule());
	if (walk->hotspot.has_jumped)
		return 0;
	if ((kind == RULE_NONE && !walk->hotspot.is_left) ||
	    (kind == RULE_SWITCH && !walk_may_switch()))
		return walk_fallback() || v8_note(walk->hotspot.bp);
	if (kind == RULE_SIGNAL)
		return walk_signal();
	if (kind == RULE_SWITCH)
		return go_switch();
	int ended = kind == RULE_WIDE ? walk_wide() : walk_leave(walk, inside);

	if (!ended && walk->hotspot.is_left)
		return hotspot_leave(walk->hotspot.bp) || v8_note(walk->hotspot.bp);

	if (!ended && rule_flags(walk->rule) & RULE_FLAG_RUNTIME)
		runtime_mark(walk->reg[REG_RSP], inside);
	return ended;
}

#endif
