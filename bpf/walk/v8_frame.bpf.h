/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Frames of JavaScript, which V8 keeps on the stack (RUNTIME_FRAMES). The walk of the stack leaves
 * these frames by their frame pointer, and notes it. Pure C. The includer supplies the environment
 * that bpf/walk/hotspot.bpf.h names.
 */
#ifndef KEYHOLE_BPF_WALK_V8_FRAME_BPF_H
#define KEYHOLE_BPF_WALK_V8_FRAME_BPF_H

#include "bpf/walk/address.bpf.h"
#include "bpf/walk/list.bpf.h"
#include "bpf/walk/memory.bpf.h"
#include "bpf/walk/table.bpf.h"
#include "bpf/walk/walk.bpf.h"

GLOBAL u64 walk_leaf_place(void);   /* fallback.bpf.h */
GLOBAL int walk_moves_return(void); /* the same */

#define V8_TAG 1ull /* in pointers to objects */

/* Returns whether all fields lie in what the walk reads of them. */
INLINE int v8_is_within(const struct runtime_v8 *config)
{
	u32 last = config->shared_data;

	if (config->shared_name > last)
		last = config->shared_name;
	if (config->shared_script > last)
		last = config->shared_script;
	if (config->shared_counts > last)
		last = config->shared_counts;
	if (config->shared_number > last)
		last = config->shared_number;
	return (last & ~7u) + 8 <= config->shared_bytes &&
	       config->shared_bytes <= RUNTIME_HEAD_BYTES;
}

/* Returns whether an address is in code of V8, or in the image that has V8. */
GLOBAL int v8_is_there(u64 inside)
{
	struct walk *walk = walk_state();

	if (!walk || walk->v8.is_known == V8_IS_ELSEWHERE || !walk_is_mapped(walk, inside) ||
	    !walk->mapping_runtime)
		return 0;
	struct v8 *v8 = &walk->v8;
	u32 is_of_image = walk->mapping_flags & MAPPING_HAS_TABLE;

	if (v8->is_known)
		return 1;
	v8->is_known = V8_IS_ELSEWHERE;
	if (walk_has_copy(walk) || !walk_may_list(walk) ||
	    runtime_copy_config(walk->mapping_runtime, walk->bias) ||
	    (walk->list.config.flags & RUNTIME_FRAMES) != RUNTIME_FRAMES ||
	    !v8_is_within(&walk->list.config.v8))
		return 0;
	v8->is_known = V8_IS_HERE;
	/* V8 maps its builtins a second time: the bias of a mapping says nothing of others */
	walk->marked = inside;
	if (!is_of_image)
		walk->marked = walk->list.config.v8.inside + walk->bias;
	return 1;
}

#define V8_MARKER_END 128u /* small numbers that stand for kinds of frames */
#define RULE_V8_FRAME RULE_MAKE(RULE_BP, 0, 1, 16, 0)
#define RULE_V8_LEAF  RULE_MAKE(RULE_SP, 0, 0, 8, 0)

/* Words below a frame pointer (execution/frame-constants.h). */
enum v8_frame_word {
	V8_FRAME_PLACE,
	V8_FRAME_BYTECODE,
	V8_FRAME_COUNT,
	V8_FRAME_FUNCTION,
	V8_FRAME_CONTEXT
};

/*
 * Takes the words of the frame whose bytes begin at an address. Words out of the window are 0.
 * Returns whether one of them is at `low` or above: the frame may have no words below.
 */
INLINE int v8_take_frame(struct walk *walk, u64 at, u64 low)
{
	u64 missing = 0;

	NOT_UNROLLED
	for (u32 i = 0; i < V8_FRAME_WORDS; i++, at += 8) {
		u64 failed = 0, word = walk_word(walk, at, &failed);

		failed = HIDE(walk, failed);
		walk->v8.frame[i] = word & (failed - 1);
		if (at >= low)
			missing |= failed;
	}
	return HIDE(walk, missing) != 0;
}

/* Takes the words of the frame at the frame pointer. Returns 0 when the window has the frame. */
INLINE int v8_read_frame(struct walk *walk)
{
	u64 bp = walk->reg[REG_RBP];

	if (bp & 7 || bp - walk->reg[REG_RSP] + WALK_RED_ZONE >= WALK_REACH ||
	    walk_window(walk, bp))
		return 1;
	return v8_take_frame(walk, bp - sizeof(walk->v8.frame), walk->reg[REG_RSP]);
}

/* Returns whether a word of the stack is an address behind a call in V8's code. */
GLOBAL int v8_is_returned_to(u64 at)
{
	struct walk *walk = walk_state();

	return walk && !(at & 7) && !walk_read_word(at) && walk_after_call(walk, walk->word) &&
	       !table_find_mapping(walk->word - 1) && walk->mapping_runtime;
}

/*
 * Finds the rule of a frame without one, where V8's code has a frame pointer for sure. A piece of
 * the interpreter is called, and has no frame: it shares that of the function. So do builtins that
 * compiled code has called. Returns whether there is a rule.
 */
GLOBAL int v8_rule(u64 inside)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	struct v8 *v8 = &walk->v8;
	u64 context;
	u32 is_of_image;

	v8->left = inside;
	if (walk->exact)
		v8->left |= V8_PLACE_EXACT;
	v8->is_inside = v8_is_there(inside);
	is_of_image = walk->mapping_flags & MAPPING_HAS_TABLE;
	if (!v8->is_inside || v8_read_frame(walk))
		return 0;
	context = v8->frame[V8_FRAME_CONTEXT];
	if (!(context & V8_TAG) && context >= V8_MARKER_END)
		return 0;
	walk->rule = RULE_V8_FRAME;
	if (!walk->exact)
		return 1;
	/*
	 * Without a function, the frame is that of a builtin, which may have called another one
	 * without a frame. Both are V8's own code, and the frame pointer leads to the function.
	 */
	if (is_of_image && context & V8_TAG && v8_is_returned_to(walk->reg[REG_RSP])) {
		walk->rule = RULE_V8_LEAF;
		return !(walk->mapping_flags & MAPPING_HAS_TABLE) ||
		       (v8->frame[V8_FRAME_BYTECODE] & V8_TAG && !(u32)v8->frame[V8_FRAME_PLACE]);
	}
	return walk_leaf_place() == LEAF_UNKNOWN && !walk_moves_return();
}

/* Notes the frame at a pointer by which the walk has left code of V8. Returns 0. */
GLOBAL int v8_note(u64 bp)
{
	struct walk *walk = walk_state();

	if (!walk || !walk->v8.is_inside || walk->reg[REG_RSP] != bp + 16)
		return 0;
	u64 at = BOUND((u64)walk->marks, RECORD_FRAMES_MAX), frame = walk->frames - 1;

	/* V8's code keeps frame pointers, so what else may be a return address says nothing */
	if (walk->guessed & FRAME_BY_POINTER)
		walk->guessed = 0;
	walk->mark[at] = (bp & MARK_ADDRESS) | frame << MARK_FRAME_SHIFT;
	walk->place[at] = walk->v8.left;
	walk->marks = at + 1;
	return 0;
}

#endif
