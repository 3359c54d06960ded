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
	return walk_read(ret_word, 8, address);
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
