/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Frames on a stack of values (RUNTIME_STACKED), and the frames of native code that runs them. Pure
 * C. The includer supplies the environment that bpf/walk/runtime.bpf.h names.
 */
#ifndef KEYHOLE_BPF_WALK_STACKED_BPF_H
#define KEYHOLE_BPF_WALK_STACKED_BPF_H

#include "bpf/walk/late.bpf.h"
#include "bpf/walk/list.bpf.h"
#include "bpf/walk/memory.bpf.h"
#include "bpf/walk/name.bpf.h"
#include "bpf/walk/state.bpf.h"
#include "bpf/walk/traced.bpf.h"
#include "bpf/walk/walk.bpf.h"

#define STACKED_BYTES_MAX (1u << 20) /* of a stack of values: LJ_STACK_MAX of lj_def.h */

GLOBAL int runtime_frame(u64 code, u64 instruction, u32 number); /* runtime.bpf.h */
GLOBAL int runtime_border(u64 node);

/* ---- frames ---- */

/* Returns a reference in a frame's head in the window. */
INLINE u64 runtime_node_reference(const struct walk *walk, u64 node, u32 at)
{
	return runtime_node_u64(walk, node, at) >> (at & 4) * 8 & walk->list.config.code_mask;
}

/*
 * Begins with the innermost frame of the state in list->memory. The leaf's register has the base
 * where the leaf is code of the interpreter itself. While code made at run time runs, the base is
 * that of the frame where this code began.
 */
GLOBAL int runtime_take_stack(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	struct runtime_list *list = &walk->list;
	const struct runtime_stack *stack = &list->config.stack;
	u64 base = runtime_reference(list, list->config.state.frame);
	u64 bottom = runtime_reference(list, list->config.state.end) + stack->slots * 8ull;
	u64 shared = runtime_reference(list, list->config.state.shared);

	list->instruction = list->skip = list->traced = 0;
	list->stacked = 1;
	list->code = 0;
	list->known_link = LINK_NATIVE; /* no call */
	list->anchor = list->nearest - stack->anchor_return;
	walk->window_bytes = 0;
	if (list->last) {
		/* what resumed another state has its base there */
	} else if (!runtime_read_reference(list, shared + stack->trace_base) && list->word) {
		base = list->word;
		runtime_begin_trace(list, shared);
	} else if (walk->is_part || walk->mark[0] == list->nearest + 8) {
		walk_leaf(walk);
		u64 top = walk->window[stack->leaf_base & (RUNTIME_SCAN_WORDS - 1)];

		if (!(top & 7) && top - bottom < STACKED_BYTES_MAX)
			base = top;
	}
	list->node = base - stack->head;
	list->end = bottom - stack->head;
	return 0;
}

/* Returns how far the caller's base is below that of a frame, or 0: memory could not be read. */
INLINE u64 runtime_below(struct runtime_list *list, u64 link)
{
	if (link & LINK_KIND)
		return link & ~(u64)LINK_BITS;
	/* a function that calls itself */
	if (link == list->known_link)
		return list->known_below;
	if (runtime_read_word((link - 4) & ~7ull))
		return 0;
	u64 slots = list->config.stack.slots + (list->word >> ((link - 4) & 4) * 8 >> 8 & 0xff);

	list->known_link = link;
	list->known_below = 8 * slots;
	return list->known_below;
}

/*
 * Takes the frame of list->link and what is with it. Returns 0, with list->below, or 1 at the end.
 */
GLOBAL int runtime_take_link(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	struct runtime_list *list = &walk->list;
	const struct runtime_config *config = &list->config;
	u64 code = list->code, place = list->instruction;
	u32 kind = list->link & LINK_BITS;
	int r = 0;

	if (list->skip)
		code = 0;
	else if (!code)
		code = runtime_object(list->function);
	list->below = 0;
	if (list->unnamed && !list->skip) {
		/* this frame comes again when its caller's name is known */
		runtime_ask(list, code, place);
		return 0;
	}
	if (code && !place &&
	    !runtime_read_reference(list, list->anchor + config->stack.anchor_place))
		place = list->word;
	list->may_name = config->flags & RUNTIME_NAMES && (kind & LINK_KIND) != LINK_NATIVE;
	if (code)
		r = runtime_frame(code, place, 0);
	if (r)
		return runtime_end(list, r);
	if (list->ends && runtime_border(0))
		return runtime_end(list, RUNTIME_CUT_DEPTH);
	list->code = 0;
	list->skip = kind == LINK_ARGUMENTS;
	list->instruction = 0;
	if (kind == LINK_CONTINUES)
		list->instruction = list->next;
	if (!(kind & LINK_KIND))
		list->instruction = list->link;
	list->below = runtime_below(list, list->link);
	if (!list->below)
		return runtime_end(list, RUNTIME_CUT_READ);
	return 0;
}

/* Reads the head in the window into list->link and what is with it. */
INLINE int runtime_read_head(struct walk *walk, u64 node)
{
	struct runtime_list *list = &walk->list;
	const struct runtime_config *config = &list->config;
	u64 called = runtime_node_reference(walk, node, config->stack.callback);
	u32 kind;

	list->link = runtime_node_reference(walk, node, config->previous);
	list->function = runtime_node_reference(walk, node, config->code);
	list->next = runtime_node_reference(walk, node, config->stack.continued);
	kind = list->link & LINK_BITS;
	list->ends = (kind & LINK_KIND) == LINK_NATIVE || (kind == LINK_CONTINUES && called == 1);
	return 0;
}

/*
 * Returns whether the frame of list->link is at the place of the frame before, and called from
 * there as well: in a recursion.
 */
INLINE int runtime_recurses(const struct runtime_list *list)
{
	const struct runtime_object *known =
		&list->object[list->function >> 5 & (RUNTIME_CODES - 1)];

	if (list->skip || list->code || list->unnamed || list->ends)
		return 0;
	if (list->link & LINK_KIND || list->link != list->known_link)
		return 0;
	return list->link == list->instruction && list->instruction == list->stored.instruction &&
	       known->address == list->function && known->code == list->stored.code;
}

/* Takes such a frame, without a call. Returns 0, or 1 at the end. */
INLINE int runtime_take_recursion(struct walk *walk)
{
	int r = runtime_store(walk);

	walk->list.below = walk->list.known_below;
	return r ? runtime_end(&walk->list, r) : 0;
}

/* Takes a frame of the stack. Returns 0 to go on, or 1 at the end. */
INLINE int runtime_stack_step(struct walk *walk)
{
	struct runtime_list *list = &walk->list;
	u64 node = list->node;
	int r;

	if (node <= list->end) {
		list->node = list->stacked = 0;
		return 0;
	}
	if (runtime_read_node(walk, BOUND((u64)list->config.node_bytes, RUNTIME_NODE_BYTES + 1),
			      node))
		return runtime_end(list, RUNTIME_CUT_READ);
	runtime_read_head(walk, node);
	if (runtime_recurses(list))
		r = runtime_take_recursion(walk);
	else
		r = runtime_take_link();
	if (r)
		return 1;
	list->node = node - list->below;
	if (list->node < list->end || list->node > node)
		return runtime_end(list, RUNTIME_CUT_READ);
	return 0;
}

/* Takes a frame of the stack or of a trace. Returns 0 to go on, or 1 at the end. */
GLOBAL int runtime_stacked_step(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	struct runtime_list *list = &walk->list;

	if (list->words + 4 > RECORD_RUNTIME_WORDS_MAX)
		return runtime_end(list, RUNTIME_CUT_DEPTH);
	if (walk_work(walk) >= walk->look_at && walk_late())
		return runtime_end(list, RUNTIME_CUT_BUDGET);
	return list->traced ? runtime_trace_step(walk) : runtime_stack_step(walk);
}

/* ---- the frame of native code ---- */

#define ANCHORS	     32u   /* places above the stack pointer that are looked at */
#define ANCHOR_ALIGN 16ull /* System V x86-64 psABI: where the stack pointer is at a call */
#define ANCHOR_REACH 80u   /* bytes of a native frame: CFRAME_SIZE of lj_frame.h */

/* Returns whether there is a native frame at an address, whose bytes are in the window. */
GLOBAL int runtime_is_anchor(u64 at)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	struct runtime_list *list = &walk->list;
	u64 place = at - walk->window_start + list->config.stack.anchor_state;
	u64 state = walk->window[place >> 3 & (WALK_WINDOW_BYTES / 8 - 1)] & list->config.code_mask;

	return runtime_is_address(state) &&
	       !walk_read(&list->word, 8, state + list->config.state.handler) &&
	       (list->word & HANDLER_ADDRESS) == at;
}

/*
 * Returns the native frame at an address of the stack or above it, or 0. Words that a read has left
 * out are those of an earlier read: what they lead to is no native frame around them.
 */
GLOBAL u64 runtime_find_anchor(u64 sp)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	u64 rest = 4096 - (sp & 4095), failed, at = (sp + ANCHOR_ALIGN - 1) & ~(ANCHOR_ALIGN - 1);

	sp &= ~7ull;
	walk->reads++;
	walk->window_start = sp;
	walk->window_bytes = 0;
	failed = walk_read(walk->window, ANCHORS * ANCHOR_ALIGN, sp);
	if (HIDE(walk, failed) &&
	    walk_read(walk->window, BOUND(rest, ANCHORS * ANCHOR_ALIGN + 1), sp))
		return 0;
	NOT_UNROLLED
	for (u32 i = 0; i < ANCHORS; i++, at += ANCHOR_ALIGN)
		if (runtime_is_anchor(at))
			return at;
	return 0;
}

/*
 * Goes on with the native frame of the interpreter's own code that runs code at an address, where
 * the stack pointer is sp. Returns 0 then.
 */
GLOBAL int runtime_leave_by_anchor(u64 address, u64 sp)
{
	struct walk *walk = walk_state();

	if (!walk || walk_has_copy(walk) || table_find_mapping(address) || !walk->mapping_runtime)
		return 1;
	if (!walk_may_list(walk) || runtime_copy_config(walk->mapping_runtime, walk->bias) ||
	    !(walk->list.config.flags & RUNTIME_STACKED))
		return 1;
	u64 anchor = runtime_find_anchor(sp);

	/* so it comes to an end */
	if (!anchor || anchor <= walk->anchor)
		return 1;
	walk->anchor = anchor;
	if (!walk->made)
		walk->made = address;
	walk->valid = 1u << REG_RSP;
	walk->chained = 0;
	return walk_next(walk, anchor, walk->list.config.stack.inside + walk->list.bias);
}

/*
 * Returns whether a frame without a return address is the first one of a coroutine. Ruby gives such
 * a frame the address 0 (coroutine/amd64/Context.h).
 */
INLINE int runtime_is_start(struct walk *walk)
{
	return !table_find_mapping(walk->address) && walk->mapping_runtime &&
	       !runtime_copy_config(walk->mapping_runtime, walk->bias) &&
	       walk->list.config.flags & RUNTIME_CONTROL;
}

/*
 * Looks for another way where the walk has ended at a return address that cannot be one. The
 * interpreter's own code calls parts of itself. It also calls functions with much on the stack. No
 * rule describes either: such a frame is left by the native frame around it. Returns 0 then.
 */
GLOBAL int runtime_refuse(void)
{
	struct walk *walk = walk_state();

	if (!walk || walk->list.result != RUNTIME_NONE_MET)
		return 1;
	u64 sp = walk->reg[REG_RSP], marks = walk->marks, address = walk->last_marked;

	if (walk->reason == REASON_cut_zero_return && rule_flags(walk->rule) & RULE_FLAG_RUNTIME) {
		address = walk->address;
		if (runtime_is_start(walk))
			return walk_end(walk, REASON_end_root);
	} else {
		u64 last = BOUND(marks - 1, RECORD_FRAMES_MAX);

		if (walk->reason != REASON_cut_not_a_call || !marks ||
		    walk->mark[last] >> MARK_FRAME_SHIFT != walk->frames - 1)
			return 1;
		/* the frame that the walk has left begins at most so far below */
		sp -= ANCHOR_REACH;
		marks = last;
	}
	if (runtime_leave_by_anchor(address, sp))
		return 1;
	if (walk->frames == 1) {
		walk->is_part = 1;
		walk->made = 0;
	}
	walk->marks = marks;
	walk->reason = WALK_GOES_ON;
	return 0;
}

#endif
