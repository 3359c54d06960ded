/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Frames of a virtual thread that lie in the heap: HotSpot copies a stack there in pieces, and back
 * as functions return. An object of the continuation is on the stack, in the frame that entered the
 * virtual thread. This object leads to the pieces, innermost first. Pure C. The includer supplies
 * the environment that bpf/walk/runtime.bpf.h names.
 *
 * The offsets are those of JDK 21, 25 and 26, as memory of running programs shows them. A piece
 * counts only if it points back to its continuation. So other layouts are left out.
 */
#ifndef KEYHOLE_BPF_WALK_HOTSPOT_CHUNK_BPF_H
#define KEYHOLE_BPF_WALK_HOTSPOT_CHUNK_BPF_H

#include "bpf/walk/hotspot_blob.bpf.h"
#include "bpf/walk/list.bpf.h"
#include "bpf/walk/walk.bpf.h"

#define ENTRY_BYTES	   64u /* below the frame pointer of the frame that entered the thread */
#define ENTRY_CONTINUATION 16u /* in these */
#define CHUNKS_MAX	   4u  /* pieces without a frame, one after another */
#define CHUNK_LINK	   16u /* bytes from a frame pointer's place to the caller's frame */
#define CHUNK_DISTANCE	   (1ull << 16) /* words, of a frame pointer from its place */

/*
 * Pointers in the heap have 4 bytes, perhaps in units of 8, or 8 bytes. ZGC gives those colours:
 * below the address is one of four bits, which says where the address begins. Objects have heads of
 * 12 bytes or, compact, of 8. `top` has two u32: the first and the last word of the frames.
 */
#define CHUNK_WIDE	    64u
#define CHUNK_COLOURED	    65u
#define CHUNK_COLOURS	    12 /* the first of these bits */
#define CHUNK_COMPACT_PC    8u
#define CHUNK_COMPACT_START 56u
static const struct hotspot_pointers {
	u32 shift, continuation_piece, piece_continuation, start, pc, top, parent;
} hotspot_pointers[] = {
	{0, 32, 44, 48, 16, 24, 40},
	{3, 32, 44, 48, 16, 24, 40},
	{0, 28, 40, 48, 8, 20, 36},
	{3, 28, 40, 48, 8, 20, 36},
	{CHUNK_WIDE, 48, 48, 56, 8, 20, 40},
	{CHUNK_WIDE, 48, 48, 56, 16, 24, 40},
	{CHUNK_COLOURED, 48, 48, 56, 8, 20, 40},
	{CHUNK_COLOURED, 48, 48, 56, 16, 24, 40},
};
#define CHUNK_KINDS 8u

/* Returns the address that a pointer with a colour has, or 0. */
INLINE u64 hotspot_without_colour(u64 pointer)
{
	u32 colour = pointer >> CHUNK_COLOURS & 15, shift = CHUNK_COLOURS + 1;

	NOT_UNROLLED
	for (u32 i = 0; i < 3 && !(colour & 1); i++) {
		colour >>= 1;
		shift++;
	}
	return colour & 1 ? pointer >> shift : 0;
}

/* Returns the object to which a field of another one points, or 0. */
GLOBAL u64 hotspot_reference(u64 address)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	if (walk->hotspot.shift == CHUNK_WIDE)
		return hotspot_pointer(walk, address);
	if (walk->hotspot.shift == CHUNK_COLOURED)
		return hotspot_without_colour(hotspot_pointer(walk, address));
	return (u64)hotspot_u32(walk, address) << (walk->hotspot.shift & 3);
}

/*
 * Returns a frame pointer that a frame in the heap has saved. Where the caller is a function of the
 * interpreter, that is a number of words.
 */
INLINE u64 hotspot_link(u64 at, u64 link)
{
	if (link + CHUNK_DISTANCE < 2 * CHUNK_DISTANCE)
		return at + link * 8;
	return link;
}

/*
 * Goes on with the innermost frame in a piece, or in those behind it. Returns whether there is one.
 */
GLOBAL int hotspot_enter_chunk(u64 piece)
{
	struct walk *walk = walk_state();

	if (!walk || walk->switches >= WALK_SWITCHES)
		return 0;
	struct hotspot *hotspot = &walk->hotspot;
	u64 start, words = 0;

	NOT_UNROLLED
	for (u32 i = 0; i < CHUNKS_MAX && piece; i++) {
		words = hotspot_u32(walk, piece + hotspot->top);
		words |= (u64)hotspot_u32(walk, piece + hotspot->top + 4) << 32;
		if ((u32)words < words >> 32)
			break;
		piece = hotspot_reference(piece + hotspot->parent);
		words = 0;
	}
	if (!words)
		return 0;
	walk->switches++;
	start = piece + hotspot->start;
	hotspot->piece = piece;
	hotspot->piece_end = start + (words >> 32) * 8;
	start += (u64)(u32)words * 8;
	walk->address = hotspot_pointer(walk, piece + hotspot->piece_pc);
	walk->reg[REG_RSP] = start;
	walk->reg[REG_RBP] =
		hotspot_link(start - CHUNK_LINK, hotspot_pointer(walk, start - CHUNK_LINK));
	walk->valid &= WALK_CALLEE_SAVED;
	walk->window_bytes = 0;
	walk->exact = WALK_RETURN;
	return 1;
}

/*
 * Returns whether a piece has a compact head: its pc, in code or 0, is where other pieces have
 * their class and their size.
 */
INLINE int hotspot_is_compact(struct walk *walk, u64 piece)
{
	u64 pc = hotspot_pointer(walk, piece + CHUNK_COMPACT_PC);

	return !pc || hotspot_heap_of(&walk->hotspot, pc) < HOTSPOT_HEAPS;
}

/* Returns the innermost piece of a continuation, as one kind of pointers has it, or 0. */
INLINE u64 hotspot_find_chunk(struct walk *walk, u64 continuation, u32 kind)
{
	const struct hotspot_pointers *pointers = &hotspot_pointers[kind];
	u64 piece;

	walk->hotspot.shift = pointers->shift;
	walk->hotspot.start = pointers->start;
	walk->hotspot.piece_pc = pointers->pc;
	walk->hotspot.top = pointers->top;
	walk->hotspot.parent = pointers->parent;
	piece = hotspot_reference(continuation + pointers->continuation_piece);
	if (!piece || hotspot_reference(piece + pointers->piece_continuation) != continuation)
		return 0;
	if (pointers->pc == CHUNK_COMPACT_PC && pointers->start == CHUNK_COMPACT_START &&
	    !hotspot_is_compact(walk, piece))
		return 0;
	return piece;
}

/* The frame that entered a virtual thread leads to: */
enum hotspot_entered {
	ENTERED_NOTHING, /* it is no such frame, or the walk was there before */
	ENTERED_THREAD,	 /* a thread without frames in the heap */
	ENTERED_PIECE
};

/*
 * Goes on with the frames in the heap, once in a walk. sp: of the frame that entered the virtual
 * thread. Returns enum hotspot_entered.
 */
GLOBAL int hotspot_begin_chunks(u64 sp)
{
	struct walk *walk = walk_state();

	if (!walk || !walk->list.config.hotspot.has_pieces || walk->hotspot.barrier)
		return ENTERED_NOTHING;
	struct hotspot *hotspot = &walk->hotspot;
	u64 bp = walk->reg[REG_RBP], barrier = walk->address, piece = 0;
	u64 continuation = hotspot_pointer(walk, sp + ENTRY_CONTINUATION);

	NOT_UNROLLED
	for (u32 i = 0; i < CHUNK_KINDS && continuation && !piece; i++)
		piece = hotspot_find_chunk(walk, continuation, i);
	if (!piece)
		return ENTERED_NOTHING;
	if (!hotspot_enter_chunk(piece))
		return ENTERED_THREAD;
	hotspot->barrier = barrier;
	hotspot->entry_sp = sp;
	hotspot->entry_bp = bp;
	return ENTERED_PIECE;
}

/* Leaves a piece at its end: to the next one, or back to the barrier. */
GLOBAL int hotspot_leave_chunk(void)
{
	struct walk *walk = walk_state();

	if (!walk || (walk->reg[REG_RSP] < walk->hotspot.piece_end && walk->address))
		return 0;
	struct hotspot *hotspot = &walk->hotspot;
	u64 piece = hotspot_reference(hotspot->piece + hotspot->parent);

	if (piece && hotspot_enter_chunk(piece))
		return 0;
	hotspot->piece_end = 0;
	walk->address = hotspot->barrier;
	walk->reg[REG_RSP] = hotspot->entry_sp;
	walk->reg[REG_RBP] = hotspot->entry_bp;
	walk->window_bytes = 0;
	return 0;
}

#endif
