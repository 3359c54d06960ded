/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The states of a program, to which no variable leads (RUNTIME_AT_SCAN), and the way from their
 * frames to code. Pure C. The includer supplies the environment that bpf/walk/runtime.bpf.h names.
 */
#ifndef KEYHOLE_BPF_WALK_STATE_BPF_H
#define KEYHOLE_BPF_WALK_STATE_BPF_H

#include "bpf/walk/list.bpf.h"
#include "bpf/walk/memory.bpf.h"
#include "bpf/walk/walk.bpf.h"

/* ---- the search ---- */

#define HANDLER_ADDRESS	     (~3ull) /* LuaJIT has two flags below */
#define RUNTIME_SCAN_NEAR    256u    /* bytes of the stack that may have the state at their end */
#define RUNTIME_ANCHOR_TRIES 4u	     /* marked frames that are looked at before the stack */
#define RUNTIME_COUNT_MARKS  16u     /* at which a step looks */

/*
 * Looks at a word that may be the address of a state that runs. Its handlers are above the words
 * that the walk has looked at. Notes the state whose handlers are the innermost ones: stale words,
 * and those of a garbage collector, lead to outer states. A main state may have no handler: it
 * counts if no other state is found.
 */
GLOBAL int runtime_try_state(u64 address)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	struct runtime_list *list = &walk->list;
	const struct runtime_state *config = &list->config.state;
	u64 main, shared, handler, seen = list->at ? list->at : list->stack;

	/* an address of 8 bytes on the native stack has no type above it, as it has in values */
	if (list->config.code_mask >> 32 && address & ~list->config.code_mask)
		return 0;
	address &= list->config.code_mask;
	/* a u32 of 0 has taken the place of half an address: to read there costs a fault, 1 us */
	if (address == list->found || address == list->last || !(u32)address ||
	    address - list->stack < list->stack_end - list->stack ||
	    runtime_read(config->bytes, address))
		return 0;
	if ((runtime_u32(list, config->type) >> (config->type & 3) * 8 & 0xff) !=
	    config->type_value)
		return 0;
	handler = runtime_u64(list, config->handler) & HANDLER_ADDRESS;
	shared = runtime_reference(list, config->shared);
	if (handler)
		handler += list->config.stack.anchor_return;
	if (handler && (handler < seen || handler >= list->nearest))
		return 0;
	main = shared + config->main;
	if (!(list->config.flags & RUNTIME_MAIN_WITHIN)) {
		if (runtime_read_reference(list, main))
			return 0;
		main = list->word;
	}
	if (main != address &&
	    (runtime_read_reference(list, main + config->shared) || list->word != shared))
		return 0;
	if (handler) {
		list->found = address;
		list->nearest = handler;
		list->is_main = main == address;
	} else if (main == address) {
		list->unprotected = address;
	}
	return 0;
}

GLOBAL int runtime_take_stack(void); /* stacked.bpf.h */

/* Takes the state that was found. Returns 0 to go on, or 1 at the end. */
INLINE int runtime_take_state(struct runtime_list *list)
{
	const struct runtime_state *config = &list->config.state;

	if (!list->found) {
		list->found = list->unprotected;
		list->is_main = 1;
	}
	if (!list->found || runtime_read(config->bytes, list->found))
		return runtime_end(list, list->last ? RUNTIME_WHOLE : RUNTIME_NO_ROOT);
	list->state = list->found;
	if (list->config.flags & RUNTIME_STACKED)
		return runtime_take_stack();
	list->node = runtime_u64(list, config->frame);
	list->end = list->instruction = 0;
	if (list->config.flags & RUNTIME_ARRAY) {
		list->end = runtime_u64(list, config->end);
		list->instruction = runtime_u64(list, config->instruction);
	}
	return 0;
}

/* Looks for a state from list->begun on; 0: in registers first. */
INLINE void runtime_look(struct runtime_list *list)
{
	list->state = list->found = 0;
	list->nearest = list->stack_end;
	list->at = list->begun;
	list->tries = 0;
	list->borders = list->open = list->loops = 0;
	list->counted = list->state_mark;
	list->state_words = list->words;
}

/*
 * Begins to look for a state in the stack from an address on; 0: in registers first. mark: the
 * first marked frame there. The anchor around code made at run time may have no mark.
 */
INLINE void runtime_look_from(struct walk *walk, u64 address, u64 near, u64 mark)
{
	struct runtime_list *list = &walk->list;

	list->begun = address;
	list->near = near;
	list->next_mark = list->state_mark = mark;
	list->is_thorough = list->config.flags & RUNTIME_STACKED || !list->config.loop_bytes;
	runtime_look(list);
	if (list->config.flags & RUNTIME_STACKED && !walk->made)
		list->tries = RUNTIME_ANCHOR_TRIES;
}

/*
 * Counts frames of the loop among the marked frames before `mark`, some at a time. Returns whether
 * there are more.
 */
INLINE int runtime_count_loops(struct walk *walk, u64 mark)
{
	struct runtime_list *list = &walk->list;
	u64 loop = list->config.loop + list->bias;

	mark = HIDE(walk, mark); /* 5.10 draws wrong conclusions from the comparisons */
	NOT_UNROLLED
	for (u32 i = 0; i < RUNTIME_COUNT_MARKS; i++) {
		u64 at = BOUND((u64)list->counted, RECORD_FRAMES_MAX);

		if (at >= mark)
			return 0;
		list->counted++;
		if (walk->place[at] - loop < list->config.loop_bytes)
			list->loops++;
	}
	return 1;
}

/*
 * Looks for a state where the next marked frame has one if this frame is an anchor. Returns whether
 * the state was found: its innermost anchor is this very frame.
 */
INLINE int runtime_try_mark(struct walk *walk)
{
	struct runtime_list *list = &walk->list;
	const struct runtime_stack *stack = &list->config.stack;
	u64 mark = list->next_mark++;

	list->tries--;
	if (mark >= walk->marks) {
		list->tries = 0;
		return 0;
	}
	u64 top = (walk->mark[BOUND(mark, RECORD_FRAMES_MAX)] & MARK_ADDRESS) - 8;

	if (top <= list->at || runtime_read_word(top - stack->anchor_return + stack->anchor_state))
		return 0;
	runtime_try_state(list->word);
	return list->found && list->nearest == top;
}

/* Looks at some words for the next state. Returns 0 to go on, or 1 at the end. */
GLOBAL int runtime_scan(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	struct runtime_list *list = &walk->list;
	u64 at = list->at;
	u32 ends = at >= list->stack_end ||
		   (list->found && (!list->is_thorough || at >= list->near || at >= list->nearest));

	list->reads++; /* of the stack, too: the search has to look at the clock */
	if (list->tries)
		return runtime_try_mark(walk) ? runtime_take_state(list) : 0;
	walk->window_bytes = list->slots_bytes = 0;
	if (!at)
		walk_leaf(walk);
	else if (!ends)
		ends = walk_read_window(RUNTIME_SCAN_WORDS * 8, at);
	if (ends)
		return runtime_take_state(list);
	NOT_UNROLLED
	for (u32 i = 0; i < RUNTIME_SCAN_WORDS; i++)
		runtime_try_state(walk->window[i]);
	list->at = at ? at + RUNTIME_SCAN_WORDS * 8 : list->stack;
	return 0;
}

/*
 * Makes sure that the first state of the search has the innermost frames: a border for each frame
 * of the loop up to `mark`. If not, the search has found what resumed that state. Returns 0 for
 * another step, or 1 when that is so.
 */
INLINE int runtime_is_innermost(struct walk *walk, u64 mark)
{
	struct runtime_list *list = &walk->list;

	if (list->is_thorough)
		return 1;
	if (runtime_count_loops(walk, mark))
		return 0;
	if (list->loops == list->borders)
		return 1;
	list->is_thorough = 1;
	list->words = list->state_words;
	runtime_forget(list);
	runtime_look(list);
	return 0;
}

/* Stores a border behind the state's frames, and looks for the state that resumed this one. */
INLINE int runtime_next_state(struct walk *walk, u64 mark)
{
	struct runtime_list *list = &walk->list;
	u64 behind = list->nearest + list->config.state.handler_bytes;
	u64 frame = RUNTIME_BORDER_NOWHERE;

	if (mark < walk->marks)
		frame = walk->mark[BOUND(mark, RECORD_FRAMES_MAX)] >> MARK_FRAME_SHIFT;
	if (walk_store(walk, list->words++, RUNTIME_WORD_BORDER | frame, 0))
		return runtime_end(list, RUNTIME_CUT_DEPTH);
	list->last = list->state;
	if (list->config.flags & RUNTIME_STACKED)
		mark++; /* the anchor is that frame */
	runtime_look_from(walk, behind & ~7ull, behind + RUNTIME_SCAN_NEAR, mark);
	return 0;
}

/*
 * Leaves the state whose frames are taken: climbs to its outermost handler, and stores a border.
 * Returns 0 to go on, or 1 at the end.
 */
GLOBAL int runtime_leave_state(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	struct runtime_list *list = &walk->list;
	u64 above = list->config.stack.anchor_return, mark = walk->marks;

	if (!list->is_main) {
		if (runtime_read_word(list->nearest - above + list->config.anchor_previous))
			return runtime_end(list, RUNTIME_CUT_READ);
		list->word &= HANDLER_ADDRESS;
		if (list->word) {
			list->word += above;
			/* so it comes to an end */
			if (list->word <= list->nearest || list->word >= list->stack_end)
				return runtime_end(list, RUNTIME_CUT_READ);
			list->nearest = list->word;
			return 0;
		}
		mark = runtime_mark_of(list->nearest);
	}
	if (!runtime_is_innermost(walk, mark))
		return 0;
	if (list->is_main)
		return runtime_end(list, RUNTIME_WHOLE);
	return runtime_next_state(walk, mark);
}

/* Begins the search for states: in registers, and near the innermost marked frame. */
INLINE int runtime_begin_scan(struct walk *walk)
{
	struct runtime_list *list = &walk->list;
	u64 innermost = walk->mark[0] & MARK_ADDRESS, last = walk->marks - 1;

	list->last = list->unprotected = list->slots_bytes = 0;
	NOT_UNROLLED
	for (u32 i = 0; i < RUNTIME_CODES; i++)
		list->object[i].address = 1; /* no address */
	list->stack = walk_leaf_stack(walk) & ~7ull;
	list->stack_end = walk->mark[BOUND(last, RECORD_FRAMES_MAX)] & MARK_ADDRESS;
	if (list->stack + RUNTIME_SCAN_NEAR < innermost)
		list->stack = innermost - RUNTIME_SCAN_NEAR;
	runtime_look_from(walk, 0, innermost + RUNTIME_SCAN_NEAR, 0);
	return 0;
}

/* ---- frames ---- */

#define RUNTIME_CODE_NONE   2u /* no address of code, nor that of known code that is none */
#define RUNTIME_SLOTS_AT    (RUNTIME_BELOW + RUNTIME_NODE_BYTES) /* in the window, behind frames */
#define RUNTIME_SLOTS_BYTES (WALK_WINDOW_BYTES - RUNTIME_SLOTS_AT)

/*
 * Reads a word near those that were read before: callers have theirs below. Reads what is below the
 * word with it, as far as its page goes. Returns 0 when list->word has the word.
 */
INLINE int runtime_read_slot(struct walk *walk, u64 address)
{
	struct runtime_list *list = &walk->list;
	u64 at = address - list->slots, page = address & ~4095ull;

	if (!runtime_is_address(address))
		return 1;

	if (at >= list->slots_bytes) {
		u64 from = address + 8 - RUNTIME_SLOTS_BYTES;

		if (from < page)
			from = page;
		at = address - from;
		list->reads++;
		list->slots = from;
		list->slots_bytes = at + 8;
		if (walk_read(&walk->window[RUNTIME_SLOTS_AT / 8],
			      BOUND(at + 8, RUNTIME_SLOTS_BYTES + 1), from)) {
			list->slots_bytes = 0;
			return 1;
		}
	}
	list->word = walk->window[(RUNTIME_SLOTS_AT + at) >> 3 & (WALK_WINDOW_BYTES / 8 - 1)];
	return 0;
}

/*
 * Follows the way of RUNTIME_OBJECT from a frame to its code. Returns the code, or 0: the frame is
 * none of the program. Where memory could not be read, the result is RUNTIME_CODE_NONE, which is no
 * address: so the list ends as cut. A word that is no address of an object may be that of a
 * function in C.
 */
GLOBAL u64 runtime_object(u64 address)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	struct runtime_list *list = &walk->list;
	const struct runtime_config *config = &list->config;

	list->word = address;
	if (!(config->flags & (RUNTIME_STACKED | RUNTIME_CONTROL)) &&
	    runtime_read_slot(walk, address))
		return RUNTIME_CODE_NONE;
	struct runtime_object *known = &list->object[list->word >> 5 & (RUNTIME_CODES - 1)];

	if (known->address == list->word)
		return known->code;
	if (runtime_read(config->object_code + 8, list->word))
		return runtime_is_address(list->word) ? RUNTIME_CODE_NONE : 0;
	if ((runtime_u32(list, config->object_type) & config->object_mask) != config->object_value)
		return 0;
	known->address = list->word;
	known->code = runtime_reference(list, config->object_code) - config->stack.code_head;
	return known->code;
}

/* Returns whether the frame before is a border, as its caller says: RUNTIME_BORDER_CALLER. */
INLINE int runtime_is_border_of(const struct runtime_list *list, u64 code, u64 instruction)
{
	u64 at = instruction - 4;

	if (!list->open)
		return 0;
	if (!code || runtime_read_word(at & ~7ull))
		return 1;
	return ((u32)(list->word >> (at & 4) * 8) & list->config.call_mask) !=
	       list->config.call_value;
}

/*
 * Returns the instruction that the innermost frame is at: a register may have a newer one than the
 * frame. list->memory has the code.
 */
GLOBAL u64 runtime_leaf_instruction(u64 instruction, u64 first)
{
	struct walk *walk = walk_state();

	if (!walk)
		return instruction;
	u32 unit = walk->list.config.flags & RUNTIME_WIDE ? 5 : 2;

	if (walk->list.config.flags & RUNTIME_CONTROL)
		unit = 3;

	u64 bytes = (u64)runtime_u32(&walk->list, walk->list.config.count) << unit;
	u32 only = walk->list.config.stack.leaf_place;

	walk->window_bytes = 0;
	walk_leaf(walk);
	if (only) {
		u64 place = walk->window[only & (RUNTIME_SCAN_WORDS - 1)];

		if (place - first - 1 < bytes)
			return place;
		/* at the beginning, no place is that of the function yet */
		return instruction - first - 1 < bytes ? instruction : first;
	}
	NOT_UNROLLED
	for (u32 i = 0; i < RUNTIME_SCAN_WORDS; i++)
		if (walk->window[i] - first - 1 < bytes)
			return walk->window[i];
	return instruction;
}

#endif
