/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Leaves code made at run time that keeps no frame pointer, as PCRE's compiler makes it. Pure C.
 * The includer supplies the environment that bpf/walk/step.bpf.h names.
 *
 * The frame of PCRE's code has a size of its own: sljit pushes five registers, and makes room for
 * the variables of the pattern. See sljit_emit_enter() of sljitNativeX86_64.c. The function that
 * runs the code calls it through a register. The first word above rsp that such a call has left in
 * code with rules is taken for the return address. A variable without a value may hold an older
 * one.
 */
#ifndef KEYHOLE_BPF_WALK_FOUND_BPF_H
#define KEYHOLE_BPF_WALK_FOUND_BPF_H

#include "bpf/walk/address.bpf.h"
#include "bpf/walk/memory.bpf.h"

#define FOUND_WORDS 128u /* of a frame */
#define FOUND_LOOKS 64u	 /* words of a frame that are looked up as addresses */

/* Returns whether an indirect call of code with rules has left word number `number` above rsp. */
GLOBAL int walk_is_found(u32 number)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	u64 index = ((walk->reg[REG_RSP] - walk->window_start) >> 3) + number;
	u64 word = walk->window[index & (WALK_WINDOW_BYTES / 8 - 1)];

	/* a small number, or an address of the stack */
	if (word >= WALK_ADDRESS_END || !(word >> 16) || word - walk->reg[REG_RSP] < WALK_REACH)
		return 0;
	if (++walk->looks > FOUND_LOOKS || !walk_is_mapped(walk, word) ||
	    !(walk->mapping_flags & MAPPING_HAS_TABLE))
		return 0;
	walk->reads++;
	if (walk_read_code(word - 8) || !walk_is_call(walk->code) ||
	    code_calls_directly(walk->code))
		return 0;
	walk->word = word;
	return 1;
}

/* Leaves a frame by a word that is found in it. Returns 0 to go on, or 1 at the end of the walk. */
GLOBAL int walk_leave_found(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	u64 sp = walk->reg[REG_RSP];
	u32 at = FOUND_WORDS;

	if (sp & 7 || walk_has_copy(walk) || !walk_is_mapped(walk, walk->address - !walk->exact) ||
	    walk->mapping_flags & MAPPING_HAS_TABLE)
		return walk_end(walk, REASON_cut_no_rule);
	walk->window_start = sp;
	walk->window_bytes = FOUND_WORDS * 8;
	walk->reads++;
	if (walk_read_window(FOUND_WORDS * 8, sp)) {
		walk->window_bytes = 0;
		return walk_end(walk, REASON_cut_no_rule);
	}
	walk->looks = 0;
	NOT_UNROLLED
	for (u32 i = 0; i < FOUND_WORDS; i++) {
		if (!walk_is_found(i))
			continue;
		at = i;
		break;
	}
	if (at == FOUND_WORDS)
		return walk_end(walk, REASON_cut_no_rule);
	walk->valid &= WALK_CALLEE_SAVED;
	walk->guessed = FRAME_GUESSED;
	return walk_next(walk, sp + at * 8ull + 8, walk->word);
}

#endif
