/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a walk moves on, and the stack memory that it reads. Pure C. The includer supplies the
 * environment that bpf/walk/step.bpf.h names.
 */
#ifndef KEYHOLE_BPF_WALK_MEMORY_BPF_H
#define KEYHOLE_BPF_WALK_MEMORY_BPF_H

#include "bpf/walk/walk.bpf.h"

INLINE int walk_end(struct walk *walk, u32 reason)
{
	walk->reason = reason;
	return 1;
}

INLINE int walk_next(struct walk *walk, u64 cfa, u64 return_address)
{
	walk->reg[REG_RSP] = cfa;
	walk->address = return_address;
	walk->exact = WALK_RETURN;
	return 0;
}

/* Reads up to WALK_WINDOW_BYTES of the stack into the window. Returns 0 when all were read. */
GLOBAL int walk_read_window(u64 bytes, u64 from)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	bytes = BOUND(bytes, WALK_WINDOW_BYTES + 1);
	if (walk_has_copy(walk))
		return walk_read_copy(walk, walk->window, bytes, from);
	return walk_read(walk->window, bytes, from);
}

/* Reads a word of the stack into walk->word. Returns 0 when the word was read. */
GLOBAL int walk_read_word(u64 address)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	if (walk_has_copy(walk))
		return walk_read_copy(walk, &walk->word, 8, address);
	return walk_read(&walk->word, 8, address);
}

/* Reads 8 bytes of code into walk->code. Returns 0 when they were read; a copy has no code. */
GLOBAL int walk_read_code(u64 address)
{
	struct walk *walk = walk_state();

	if (!walk || walk_has_copy(walk))
		return 1;
	return walk_read(&walk->code, 8, address);
}

/*
 * Reads [cfa - WALK_SLOTS_BYTES, cfa) into the window, as far as the stack goes. Returns 0 when the
 * window has those bytes.
 */
INLINE int walk_window(struct walk *walk, u64 cfa)
{
	u64 from = cfa - WALK_SLOTS_BYTES, sp = walk->reg[REG_RSP];

	/* in an epilogue, a leaf's rule still names slots below rsp that were popped */
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
	walk->window_start = from;
	walk->window_bytes = bytes & ~7ull;
	if (!walk_read_window(bytes, from))
		return 0;
	/* the page below a leaf's stack pointer may never have been touched */
	if (from < ((cfa - 8) & ~4095ull))
		from = (cfa - 8) & ~4095ull;
	bytes = cfa - from;
	walk->window_start = from;
	walk->window_bytes = bytes;
	return walk_read_window(bytes, from);
}

/* Returns a word of the window. Adds to *failed when the window does not have the word. */
INLINE u64 walk_word(struct walk *walk, u64 address, u64 *failed)
{
	u64 at = address - walk->window_start;

	*failed |= at >= walk->window_bytes || (at & 7);
	return walk->window[at >> 3 & (WALK_WINDOW_BYTES / 8 - 1)];
}

/*
 * Reads one aligned word at most WALK_RED_ZONE below the stack pointer, and less than WALK_REACH
 * above that. Returns 0 when the word was read.
 */
INLINE int walk_far_word(struct walk *walk, u64 address, u64 *ret_word)
{
	u64 above = address - (walk->reg[REG_RSP] - WALK_RED_ZONE);

	if (address & 7 || above >= WALK_REACH)
		return 1;
	walk->reads++;
	if (walk_read_word(address))
		return 1;
	*ret_word = walk->word;
	return 0;
}

/*
 * Returns whether a wide rule's offset is no larger than an ordinary rule's. Larger offsets would
 * test words that are no addresses at all.
 */
INLINE int walk_near(s64 offset)
{
	return (u64)offset + WALK_REACH <= 2 * WALK_REACH;
}

#endif
