/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rules for the frames of code that HotSpot has made, and of its interpreter. Pure C. The includer
 * supplies the environment that bpf/walk/runtime.bpf.h names.
 */
#ifndef KEYHOLE_BPF_WALK_HOTSPOT_FRAME_BPF_H
#define KEYHOLE_BPF_WALK_HOTSPOT_FRAME_BPF_H

#include "bpf/walk/address.bpf.h"
#include "bpf/walk/hotspot_blob.bpf.h"
#include "bpf/walk/hotspot_chunk.bpf.h"
#include "bpf/walk/list.bpf.h"
#include "bpf/walk/memory.bpf.h"
#include "bpf/walk/table.bpf.h"
#include "bpf/walk/walk.bpf.h"

GLOBAL u64 walk_leaf_place(void); /* fallback.bpf.h */

#define HOTSPOT_FRAME_MAX (1u << 19) /* words */
#define HOTSPOT_NOBODY	  0u	     /* noted of a frame that nobody wants to see */
#define RULE_RETURNS	  RULE_MAKE(RULE_SP, 0, 0, 8, 0)
#define RULE_PUSHED	  RULE_MAKE(RULE_SP, 0, 1, 16, 0)
#define RULE_INTERPRETED  RULE_MAKE(RULE_BP, 0, 1, 16, 0)
/* stubGenerator_x86_64.cpp, generate_call_stub(): rbp rbx r12 r13 r14 r15 */
#define RULE_ACTIVATION RULE_MAKE(RULE_BP, 0, 0xcba981, 16, 0)

/* Returns whether 8 bytes of code end with sub $n, %rsp. */
INLINE int code_made_room(u64 before)
{
	return (before >> 32 & 0xffffff) == 0xec8348 || (before >> 8 & 0xffffff) == 0xec8148;
}

/* Returns whether 8 bytes of code end with add $n, %rsp, and are before pop %rbp. */
INLINE int code_gave_room(u64 before, u64 code)
{
	return (code & 0xff) == 0x5d &&
	       ((before >> 32 & 0xffffff) == 0xc48348 || (before >> 8 & 0xffffff) == 0xc48148);
}

/* Returns whether code begins with a move of %rbp to the stack: mov %rbp, n(%rsp). */
INLINE int code_saves_frame(u64 code)
{
	return (code & 0xffffffff) == 0x24ac8948 || (code & 0xffffffff) == 0x246c8948;
}

enum hotspot_call {
	HOTSPOT_CALL_NONE,
	HOTSPOT_CALL_ELSEWHERE,
	HOTSPOT_CALL_ANYWHERE,
	HOTSPOT_CALL_HERE /* into the blob that was met last */
};

/* Returns enum hotspot_call of the call before the return address at a place of the stack. */
GLOBAL int hotspot_call_before(u64 at)
{
	struct walk *walk = walk_state();

	if (!walk || at & 7 || walk_read_word(at))
		return HOTSPOT_CALL_NONE;
	u64 address = walk->word, target;

	/* the interpreter pushes return addresses and jumps */
	if (address - walk->hotspot.code < walk->hotspot.code_bytes)
		return HOTSPOT_CALL_ANYWHERE;
	if (!walk_after_call(walk, address))
		return HOTSPOT_CALL_NONE;
	if (!code_calls_directly(walk->code))
		return HOTSPOT_CALL_ANYWHERE;
	target = address + (s64)(s32)(walk->code >> 32);
	if (target - walk->hotspot.blob < walk->hotspot.size)
		return HOTSPOT_CALL_HERE;
	return HOTSPOT_CALL_ELSEWHERE;
}

/*
 * Returns the rule of compiled code at a pc, which may be where the frame is not there yet, or not
 * any more. whole: the rule of the whole frame.
 */
INLINE u64 hotspot_leaf_rule(struct walk *walk, u64 whole)
{
	const struct hotspot *hotspot = &walk->hotspot;
	u64 place = walk_leaf_place(), before;

	if (place == 0)
		return RULE_RETURNS;
	if (walk_read_code(walk->address - 8))
		return whole;
	before = walk->code;
	if (walk_read_code(walk->address))
		return whole;
	if (code_gave_room(before, walk->code))
		return RULE_PUSHED;
	if (walk->address - hotspot->begin >= hotspot->complete || code_made_room(before))
		return whole & ~((u64)(code_saves_frame(walk->code) ? 0xf : 0) << 8);
	if (before >> 56 == 0x55)
		return RULE_PUSHED;
	return hotspot_call_before(walk->reg[REG_RSP]) ? RULE_RETURNS : whole;
}

#define STUB_FRAME_BYTES 8192u /* of code by hand, which keeps a frame pointer or has no frame */

#define STUB_PUSHES 8u /* words that such code may have pushed without a frame pointer */

/*
 * Finds the rule of a leaf in code by hand that has no frame yet. The call before the return
 * address leads to this code. Returns enum hotspot_call.
 */
INLINE int hotspot_pushed_rule(struct walk *walk)
{
	u64 sp = walk->reg[REG_RSP];
	int call = hotspot_call_before(sp);

	walk->rule = RULE_RETURNS;
	if (call == HOTSPOT_CALL_HERE)
		return call;
	NOT_UNROLLED
	for (u32 i = 1; i < STUB_PUSHES; i++) {
		if (hotspot_call_before(sp + i * 8ull) != HOTSPOT_CALL_HERE)
			continue;
		walk->rule = RULE_MAKE(RULE_SP, 0, 0, i * 8 + 8, 0);
		return HOTSPOT_CALL_HERE;
	}
	return call;
}

#define ENTRY_WORDS 16u /* of the frame that enters a virtual thread, at most */

/*
 * Finds the rule of a frame that lies right behind the stack pointer, with no other return address
 * before its own. Such is the frame that enters a virtual thread. Returns whether there is a rule.
 */
GLOBAL int hotspot_entry_rule(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	NOT_UNROLLED
	for (u32 i = 0; i < ENTRY_WORDS; i++) {
		if (!hotspot_call_before(walk->reg[REG_RSP] + i * 8ull))
			continue;
		walk->rule = RULE_RETURNS;
		if (i)
			walk->rule = RULE_MAKE(RULE_SP, 0, 1, i * 8 + 8, 0);
		return 1;
	}
	return 0;
}

/*
 * Finds the rule of a frame of code by hand. walk->rule is that of a whole frame of the blob, or
 * RULE_RETURNS where no size of frames is known. Returns whether there is a rule.
 */
INLINE int hotspot_stub_rule(struct walk *walk)
{
	u64 sp = walk->reg[REG_RSP], bp = walk->reg[REG_RBP], whole = walk->rule;
	int by_pointer = HOTSPOT_CALL_NONE, by_stack = HOTSPOT_CALL_NONE;

	if (whole != RULE_RETURNS &&
	    (!walk->exact ||
	     hotspot_call_before(sp + rule_offset(whole) - 8) > HOTSPOT_CALL_ELSEWHERE))
		return 1;
	/* entries of functions, and tables of these, have no frame */
	if (whole == RULE_RETURNS && walk->hotspot.kind == HOTSPOT_OTHER)
		return walk->exact;
	walk->rule = RULE_RETURNS;
	if (walk->exact && walk_leaf_place() == 0)
		return 1;
	if (bp - sp < STUB_FRAME_BYTES)
		by_pointer = hotspot_call_before(bp + 8);
	if (walk->exact && by_pointer != HOTSPOT_CALL_HERE)
		by_stack = hotspot_pushed_rule(walk);
	if (by_stack > by_pointer)
		return 1;
	if (by_stack && by_stack == by_pointer)
		walk->guessed = FRAME_GUESSED;
	walk->rule = RULE_INTERPRETED;
	return by_pointer > HOTSPOT_CALL_ELSEWHERE;
}

/* Notes the function of the last frame. */
INLINE void hotspot_note(struct walk *walk, u64 code, u64 place)
{
	u64 at = BOUND((u64)walk->marks, RECORD_FRAMES_MAX), frame = walk->frames - 1;

	walk->mark[at] = (code & MARK_ADDRESS) | frame << MARK_FRAME_SHIFT;
	walk->place[at] = place;
	walk->marks = at + 1;
}

INLINE u32 hotspot_fingerprint(const struct hotspot *hotspot)
{
	u64 mixed = (hotspot->method ^ hotspot->begin) * 0x9e3779b97f4a7c15ull;

	mixed = (mixed ^ hotspot->own ^ mixed >> 29) * 0x9e3779b97f4a7c15ull;
	mixed = (mixed ^ hotspot->size ^ mixed >> 29) * 0x9e3779b97f4a7c15ull;
	return mixed >> 32;
}

/*
 * Finds the blob of a frame, notes its function, and sets walk->rule to that of a whole frame.
 * Returns whether there is a blob.
 */
INLINE int hotspot_blob_rule(struct walk *walk, u64 inside)
{
	if (hotspot_take_blob(inside))
		return 0;
	const struct hotspot *hotspot = &walk->hotspot;
	u64 kind = HOTSPOT_PLACE_OTHER, code = hotspot->blob;

	if (hotspot->kind == HOTSPOT_COMPILED) {
		kind = 0;
		code = walk->address;
	}
	hotspot_note(walk, code,
		     kind | (walk->address - hotspot->blob) << 32 | hotspot_fingerprint(hotspot));
	walk->rule = RULE_RETURNS;
	if (hotspot->frame - 2 < HOTSPOT_FRAME_MAX)
		walk->rule = RULE_MAKE(RULE_SP, 0, 1, hotspot->frame * 8, 0);
	return 1;
}

/*
 * Finds the rule of code by hand that brings functions of a virtual thread back from the heap. The
 * outermost function on the stack returns to such code, whose address no call has left there: the
 * barrier. Or the code has called HotSpot, and has its frame pointer from the frame that entered
 * the virtual thread. Returns whether there is a rule, or the walk goes on in the heap.
 */
INLINE int hotspot_thread_rule(struct walk *walk)
{
	if (walk->exact || walk_read_code(walk->address - 8))
		return 0;
	struct hotspot *hotspot = &walk->hotspot;
	u64 noted = RUNTIME_CODE_ELSEWHERE, sp = walk->reg[REG_RSP], last;
	int is_barrier = !walk_is_call(walk->code), entered;

	if (!is_barrier)
		sp = walk->reg[REG_RBP] - ENTRY_BYTES;
	entered = hotspot_begin_chunks(sp);
	hotspot->has_jumped = entered == ENTERED_PIECE;
	if (hotspot->barrier == walk->address || hotspot->has_jumped)
		noted = HOTSPOT_NOBODY;
	else if (!is_barrier && entered == ENTERED_NOTHING)
		return 0;
	last = BOUND((u64)walk->marks - 1, RECORD_FRAMES_MAX);
	walk->mark[last] = noted | (u64)(walk->frames - 1) << MARK_FRAME_SHIFT;
	walk->place[last] = 0;
	walk->rule = RULE_INTERPRETED;
	return hotspot->has_jumped || !is_barrier || hotspot_entry_rule();
}

/* Finds the rule of a frame in code that HotSpot made. Returns whether there is one. */
GLOBAL int hotspot_rule(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	struct hotspot *hotspot = &walk->hotspot;
	u64 inside = walk->address - !walk->exact;

	hotspot->is_interpreted = hotspot->has_jumped = 0;
	if (hotspot->is_known == HOTSPOT_NONE || !walk_is_mapped(walk, inside) ||
	    !walk->mapping_runtime || !hotspot_is_there())
		return 0;
	if (inside - hotspot->code < hotspot->code_bytes) {
		hotspot->is_interpreted = 1;
		walk->rule = RULE_INTERPRETED;
		return 1;
	}
	if (walk->address == hotspot->returns) {
		hotspot_note(walk, HOTSPOT_NOBODY, 0);
		walk->rule = RULE_ACTIVATION;
		return 1;
	}
	if (!hotspot_blob_rule(walk, inside))
		return 0;
	if (hotspot->kind == HOTSPOT_STUBS && hotspot_thread_rule(walk))
		return 1;
	if (hotspot->kind != HOTSPOT_COMPILED)
		return hotspot_stub_rule(walk) || (!walk->exact && hotspot_entry_rule());
	if (walk->exact)
		walk->rule = hotspot_leaf_rule(walk, walk->rule);
	return 1;
}

/*
 * Takes the function of a frame of the interpreter, whose frame pointer was bp. The caller's stack
 * pointer is in the frame, and the window has all of it.
 */
GLOBAL int hotspot_take_interpreted(u64 bp)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	const struct runtime_hotspot *config = &walk->list.config.hotspot;
	u64 failed = 0, sp = walk->reg[REG_RSP];
	u64 method = walk_word(walk, bp - HOTSPOT_FUNCTION, &failed);
	u64 place = walk_word(walk, bp - config->bytecode_below, &failed);
	u64 sender = walk_word(walk, bp - HOTSPOT_SENDER, &failed);

	if (HIDE(walk, failed))
		return 0;
	if (runtime_is_address(method))
		hotspot_note(walk, method, HOTSPOT_PLACE_INTERPRETED | (place & MARK_ADDRESS));
	/* in the heap that is a number of words */
	if (walk->hotspot.piece_end)
		sender = bp + sender * 8;
	if (!(sender & 7) && sender - sp < WALK_REACH)
		walk->reg[REG_RSP] = sender;
	return 0;
}

/* Ends the way out of a frame of HotSpot's, whose frame pointer was bp. */
GLOBAL int hotspot_leave(u64 bp)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	u64 link = walk->reg[REG_RSP] - CHUNK_LINK;

	/* the interpreter pushes return addresses that no call is before */
	walk->chained = 1;
	if (walk->hotspot.is_interpreted)
		hotspot_take_interpreted(bp);
	if (!walk->hotspot.piece_end)
		return 0;
	walk->reg[REG_RBP] = hotspot_link(link, walk->reg[REG_RBP]);
	return hotspot_leave_chunk();
}

#endif
