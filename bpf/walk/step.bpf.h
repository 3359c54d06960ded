/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One frame of the walk. Pure C, see bpf/walk/walk.bpf.h. Needed from the includer, besides what
 * bpf/walk/table.bpf.h names: walk_read(to, bytes, address) = 0 when user memory was read;
 * walk_executable(address) = whether the kernel says so of the current task; walk_cache() = the
 * rule caches or NULL; walk_clock(); walk_emit(walk, frame) = store frame number walk->frames.
 */
#ifndef KEYHOLE_BPF_WALK_STEP_BPF_H
#define KEYHOLE_BPF_WALK_STEP_BPF_H

#include "bpf/walk/cache.bpf.h"
#include "bpf/walk/table.bpf.h"
#include "bpf/walk/walk.bpf.h"

INLINE int walk_end(struct walk *walk, u32 reason)
{
	walk->reason = reason;
	return 1;
}

/* ---- time ---- */

/* Past the deadline, which is moved once if that has not been done too often on this CPU. */
INLINE int walk_late(struct walk *walk)
{
	u64 now = walk_clock(), since = now - walk->extended_at;

	walk->look_at = walk_work(walk) + WALK_CLOCK_FRAMES;
	if (now - walk->looked > WALK_STALL_NS && walk->forgiving) {
		walk->forgiving--;
		walk->deadline += now - walk->looked;
	}
	walk->looked = now;
	if (now > walk->deadline && walk->extension && since >= WALK_EXTEND_EVERY_NS) {
		if (since > WALK_EXTENSIONS * WALK_EXTEND_EVERY_NS)
			since = WALK_EXTENSIONS * WALK_EXTEND_EVERY_NS;
		walk->extended_at = now - since + WALK_EXTEND_EVERY_NS;
		walk->deadline += walk->extension;
		walk->extension = 0;
	}
	return now > walk->deadline;
}

/* ---- memory ---- */

/* Makes [cfa - WALK_SLOTS_BYTES, cfa) available, as far as the stack goes. */
INLINE int walk_window(struct walk *walk, u64 cfa)
{
	u64 from = cfa - WALK_SLOTS_BYTES, sp = walk->reg[REG_RSP];

	/* an epilogue has popped, but its rule still names slots below the leaf's rsp */
	if (!walk->exact && from < sp)
		from = sp;
	if (from >= walk->window_start && cfa - walk->window_start <= walk->window_bytes)
		return 0;
	u64 bytes = 4096 - (from & 4095);

	walk->reads++;
	if (bytes > WALK_WINDOW_BYTES)
		bytes = WALK_WINDOW_BYTES;
	if (from + bytes < cfa)
		bytes = cfa - from;
	bytes = BOUND(HIDE(walk, bytes), WALK_WINDOW_BYTES + 1);
	walk->window_start = from;
	walk->window_bytes = bytes & ~7ull;
	if (!walk_read(walk->window, bytes, from))
		return 0;
	/* the page below a leaf's stack pointer may never have been touched */
	if (from < ((cfa - 8) & ~4095ull))
		from = (cfa - 8) & ~4095ull;
	bytes = BOUND(HIDE(walk, cfa - from), WALK_SLOTS_BYTES + 1);
	walk->window_start = from;
	walk->window_bytes = bytes;
	return walk_read(walk->window, bytes, from);
}

/* A word of the window; *failed collects what cannot be read. */
INLINE u64 walk_word(struct walk *walk, u64 address, u64 *failed)
{
	u64 at = address - walk->window_start;

	*failed |= at >= walk->window_bytes || (at & 7);
	return walk->window[at >> 3 & (WALK_WINDOW_BYTES / 8 - 1)];
}

/* One word above the red zone's end and within reach of the stack pointer. */
INLINE int walk_far_word(struct walk *walk, u64 address, u64 *ret_word)
{
	u64 above = address - (walk->reg[REG_RSP] - WALK_RED_ZONE);

	if (address & 7 || above >= WALK_REACH)
		return 1;
	walk->reads++;
	return walk_read(ret_word, 8, address);
}

/* As far as an ordinary rule's offset goes: more would test words that are no addresses at all. */
INLINE int walk_near(s64 offset)
{
	return (u64)offset + WALK_REACH <= 2 * WALK_REACH;
}

/* ---- is it a return address ---- */

/*
 * Whether the 8 bytes before an address end in a call: e8 rel32, or ff /2 with its five lengths of
 * operand (Intel SDM, CALL).
 */
INLINE int walk_is_call(u64 before)
{
	if ((before >> 24 & 0xff) == 0xe8)
		return 1;
	return (before >> 48 & 0x38ff) == 0x10ff || (before >> 40 & 0x38ff) == 0x10ff ||
	       (before >> 32 & 0x38ff) == 0x10ff || (before >> 16 & 0x38ff) == 0x10ff ||
	       (before >> 8 & 0x38ff) == 0x10ff;
}

/*
 * A child does not have its parent's text in its page tables until it runs it, and the kernel may
 * take text back: then that the address is executable must do.
 */
INLINE int walk_after_call(u64 address)
{
	u64 before = 0;

	if (address < 8 || address >= WALK_ADDRESS_END)
		return 0;
	return walk_read(&before, 8, address - 8) ? walk_executable(address) : walk_is_call(before);
}

/* mov $15, %rax; sysc.. : what the kernel returns to from a signal handler (glibc, musl) */
#define SIGRETURN_CODE 0x0f0000000fc0c748ull

INLINE int walk_is_sigreturn(u64 address)
{
	u64 code = 0;

	return walk_read(&code, 8, address) ? walk_executable(address) : code == SIGRETURN_CODE;
}

/* A handler returns to its first byte; a leaf is at one of both instructions, or in the kernel. */
INLINE int walk_at_sigreturn(u64 address, u32 exact)
{
	if (walk_is_sigreturn(address))
		return 1;
	return exact && (walk_is_sigreturn(address - 7) || walk_is_sigreturn(address - 9));
}

/* In a known executable mapping and behind a call: what a fallback must find. */
GLOBAL int walk_plausible(u64 address)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	if ((address < walk->mapping_start || address >= walk->mapping_end) &&
	    table_find_mapping(address))
		return 0;
	return walk_after_call(address);
}

/* ---- finding the rule ---- */

/*
 * Whether an address that no cache knows is one of code at all. Asked before the tables: their
 * writer may be hostile, and how a look-up of any other word ends, read from the record's reason,
 * would tell that word to him, bit by bit.
 */
INLINE int walk_is_code(struct walk *walk, u64 address)
{
	if (walk->exact == WALK_PC)
		return 1;
	/* a saved pc may be at any instruction */
	if (walk->exact == WALK_PC_SAVED)
		return walk_executable(address);
	walk->called = walk_after_call(address);
	return walk->called || walk_is_sigreturn(address) || walk_executable(address);
}

/* 0 when such an address may be emitted as what its rule says it is, or the reason why not. */
INLINE u32 walk_check_address(struct walk *walk, u64 address)
{
	u32 kind = rule_kind(walk->rule);

	if (kind == RULE_SIGNAL)
		return walk_at_sigreturn(address, walk->exact) ? 0 : REASON_cut_not_a_call;
	/* a context may start in code that nobody called; such a frame is the last one */
	return walk->exact || walk->called || (kind == RULE_END && walk_executable(address))
		       ? 0
		       : REASON_cut_not_a_call;
}

/* 0 with walk->rule, or the reason why there is none; `address` is within the call. */
INLINE u32 walk_find_rule(struct walk *walk, u64 address)
{
	struct rule_cache *cache = walk_cache();
	u64 multiplier = walk->multiplier, offset = address & 63, rule = 0, packed;

	if (!cache)
		return REASON_lost_internal;
	u64 key = cache_key(address, walk->seed, multiplier), sp = walk->reg[REG_RSP];
	struct cache_line *trail = &cache->trail[((sp >> 8) + walk->seed) & (CACHE_LINES - 1)];
	struct cache_line *text = &cache->text[key >> 40 & (CACHE_LINES - 1)];

	packed = cache_probe(trail, key, offset, multiplier, &rule);
	if (packed != CACHE_MISS) {
		walk->trail_hits++;
		walk->rule = rule;
		return 0;
	}
	packed = cache_probe(text, key, offset, multiplier, &rule);
	if (packed != CACHE_MISS) {
		walk->text_hits++;
		cache_put(trail, sp >> 4, packed, rule, multiplier);
		walk->rule = rule;
		return 0;
	}
	walk->misses++;
	if (!walk_is_code(walk, walk->address))
		return REASON_cut_not_a_call;
	if ((address < walk->mapping_start || address >= walk->mapping_end) &&
	    table_find_mapping(address))
		return walk->incomplete ? REASON_cut_no_room : REASON_cut_no_mapping;
	if (walk->mapping_flags & MAPPING_PENDING)
		return walk->incomplete ? REASON_cut_no_room : REASON_cut_not_ready;
	if (walk->mapping_flags & MAPPING_NO_ROOM)
		return REASON_cut_no_room;
	u64 range = 63;
	u32 reason;

	walk->rule = RULE_MAKE(RULE_NONE, 0, 0, 0, 0);
	if (walk->mapping_flags & MAPPING_HAS_TABLE)
		range = table_find_rule(address - walk->bias);
	if (range > 4095)
		return REASON_cut_table;
	/* a refused address must not pass as known the next time */
	reason = walk_check_address(walk, walk->address);
	if (reason)
		return reason;
	rule = walk->rule;
	/* a wide rule needs its dictionary, which a hit would not know */
	if (rule_kind(rule) != RULE_WIDE) {
		packed = cache_pack(key, range >> 6, range & 63);
		cache_put(trail, sp >> 4, packed, rule, multiplier);
		/* rules of one granule share a line: let them take its other ways */
		cache_put(text, address >> 4, packed, rule, multiplier);
	}
	return 0;
}

/* ---- leaving a frame ---- */

INLINE int walk_next(struct walk *walk, u64 cfa, u64 return_address)
{
	walk->reg[REG_RSP] = cfa;
	walk->address = return_address;
	walk->exact = WALK_RETURN;
	return 0;
}

/* Nothing is known of this code: a leaf's return address at rsp, else the frame pointer. */
GLOBAL int walk_fallback(void)
{
	struct walk *walk = walk_state();
	u64 pair[2] = {0, 0};

	if (!walk)
		return 1;
	u64 sp = walk->reg[REG_RSP], bp = walk->reg[REG_RBP];

	walk->fallbacks++;
	if (walk->exact && !(sp & 7) && !walk_read(pair, 8, sp) && walk_plausible(pair[0])) {
		walk->valid &= WALK_CALLEE_SAVED;
		return walk_next(walk, sp + 8, pair[0]);
	}
	if (!bp && walk->chained)
		return walk_end(walk, REASON_end_frame_pointer);
	if (bp & 7 || bp - sp >= WALK_REACH || walk_read(pair, 16, bp))
		return walk_end(walk, REASON_cut_no_rule);
	if (!pair[0] && !pair[1])
		return walk_end(walk, REASON_end_frame_pointer);
	if ((pair[0] && pair[0] <= bp) || !walk_plausible(pair[1]))
		return walk_end(walk, REASON_cut_no_rule);
	walk->reg[REG_RBP] = pair[0];
	walk->valid = 1u << REG_RBP | 1u << REG_RSP;
	walk->chained = 1;
	return walk_next(walk, bp + 16, pair[1]);
}

/* The kernel's ucontext_t at rsp: gregs at 40 (r8..r15 rdi rsi rbp rbx rdx rax rcx rsp rip). */
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
	if (walk_read(walk->window, 17 * 8, walk->reg[REG_RSP] + 40))
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

/* The callee-saved registers in the order of a rule's slots. */
#define WALK_SLOT_REGISTERS(X) \
	X(0, REG_RBP) X(1, REG_RBX) X(2, REG_R12) X(3, REG_R13) X(4, REG_R14) X(5, REG_R15)

/* The caller's value of a callee-saved register by a wide rule; `known` is what of it is valid. */
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

/* Parts of a rule that does not fit into eight bytes; rare, so each word is read on its own. */
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
	/* vfork() pops its return address into a register: there the stack pointer is the CFA */
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
	u64 saved[RULE_SLOTS];

#define X(slot, register)                                                                 \
	if (walk_wide_saved(walk, wide->save[slot], cfa, register, &saved[slot], &known)) \
		return walk_end(walk, REASON_cut_read);
	WALK_SLOT_REGISTERS(X)
#undef X
#define X(slot, register) walk->reg[register] = saved[slot];
	WALK_SLOT_REGISTERS(X)
#undef X
	if (!(known >> REG_RBP & 1))
		return walk_end(walk, REASON_cut_unsupported);
	walk->valid = known;
	walk->chained = 0;
	if (!ra)
		return walk_end(walk, REASON_cut_zero_return);
	return walk_next(walk, cfa, ra);
}

/* CFA of the kinds that have one; 0 or the reason. */
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

/* Where save slot k of a realigned frame is: around rbp, but for one pushed before realigning. */
INLINE u64 walk_drap_slot(u64 bp, u64 cfa, u32 number, u64 k)
{
	return k == 1 && number != REG_RBP ? cfa - 16 : bp + 8 - 8 * k;
}

INLINE u64 walk_restore_drap(struct walk *walk, u32 slots, u64 cfa)
{
	u64 failed = 0, bp = walk->reg[REG_RBP], low = walk->reg[REG_RSP];

	walk->reads++; /* the slots are side by side */
	if (walk->exact) {
		/* GCC's rules do not say that `leave` or pop has restored rbp, and the rest */
		if (bp - low >= cfa - low)
			return 0;
		low -= WALK_SLOTS_BYTES;
	}
#define X(slot, register)                                                            \
	if (slots >> slot * 4 & 15) {                                                \
		u64 at_ = walk_drap_slot(bp, cfa, register, slots >> slot * 4 & 15); \
		failed |= (at_ & 7) || at_ - low >= WALK_REACH ||                    \
			  walk_read(&walk->reg[register], 8, at_);                   \
		walk->valid |= 1u << register;                                       \
	}
	WALK_SLOT_REGISTERS(X)
#undef X
	return failed;
}

INLINE u64 walk_restore(struct walk *walk, u32 slots, u64 cfa)
{
	u64 failed = HIDE(walk, 0);

#define X(slot, register)                                                                      \
	if (slots >> slot * 4 & 15) {                                                          \
		walk->reg[register] =                                                          \
			walk_word(walk, cfa - 8 - 8 * (u64)(slots >> slot * 4 & 15), &failed); \
		walk->valid |= 1u << register;                                                 \
	}
	if (slots & 15)
		walk->reg[REG_RBP] = walk_word(walk, cfa - 8 - 8 * (u64)(slots & 15), &failed);
	if (slots >> 4) {
		WALK_SLOT_REGISTERS(X)
	}
#undef X
	return failed;
}

/* From a frame with an ordinary rule to its caller. */
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
	if (!ra)
		return walk_end(walk, REASON_cut_zero_return);
	return walk_next(walk, cfa, ra);
}

/* One frame: 0 to go on, 1 at the end with walk->reason. */
GLOBAL int walk_step(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	u64 address = walk->address, inside;
	u32 reason;

	if (walk->frames >= RECORD_FRAMES_MAX)
		return walk_end(walk, REASON_cut_depth);
	if (walk_work(walk) >= walk->look_at && walk_late(walk))
		return walk_end(walk, REASON_cut_budget);
	if (address >= WALK_ADDRESS_END)
		return walk_end(walk, walk->exact == WALK_PC ? REASON_cut_no_mapping
							     : REASON_cut_not_a_call);
	/* the rule is that of the call; rt_sigreturn, too, may be the last of its code */
	inside = address - (!walk->exact || walk->in_sigreturn);
	walk->in_sigreturn = 0;
	walk->rule = 0;
	reason = walk_find_rule(walk, inside);
	if (reason &&
	    (!walk->exact || (walk->exact == WALK_PC_SAVED && reason == REASON_cut_not_a_call)))
		return walk_end(walk, reason);
	if (walk_emit(walk, address | (walk->exact ? FRAME_EXACT : 0)))
		return walk_end(walk, REASON_cut_depth);
	walk->frames++;
	if (reason)
		return walk_end(walk, reason);

	u32 kind = rule_kind(walk->rule);

	if (kind == RULE_END)
		return walk_end(walk, REASON_end_root);
	if (kind == RULE_NONE)
		return walk_fallback();
	if (kind == RULE_SIGNAL)
		return walk_signal();
	if (kind == RULE_WIDE)
		return walk_wide();
	return walk_leave(walk, inside);
}

#endif
