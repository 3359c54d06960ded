/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions of JavaScript, whose frames the walk of the stack has noted (bpf/walk/v8_frame.bpf.h).
 * Behind that walk, the functions are stored as words, and new ones are told of. Further events
 * tell of the newlines of their scripts. Each step does a little, so that the verifier has no loop
 * to follow. Pure C. The includer supplies the environment that bpf/walk/hotspot.bpf.h names.
 */
#ifndef KEYHOLE_BPF_WALK_V8_BPF_H
#define KEYHOLE_BPF_WALK_V8_BPF_H

#include "bpf/walk/late.bpf.h"
#include "bpf/walk/list.bpf.h"
#include "bpf/walk/v8_code.bpf.h"
#include "bpf/walk/v8_frame.bpf.h"
#include "bpf/walk/v8_function.bpf.h"
#include "bpf/walk/v8_object.bpf.h"
#include "bpf/walk/v8_script.bpf.h"
#include "bpf/walk/v8_wasm.bpf.h"
#include "bpf/walk/walk.bpf.h"

/* Returns the place of a frame in the interpreter's code, or RUNTIME_OFFSET_NONE. */
INLINE u64 v8_place(const struct walk *walk, u64 frame)
{
	const struct v8 *v8 = &walk->v8;
	const u64 *word = v8->frame;
	u64 first = walk->list.config.v8.bytecode_data - V8_TAG, place;

	if (!v8->taken.bytecode || word[V8_FRAME_BYTECODE] != v8->taken.bytecode)
		return RUNTIME_OFFSET_NONE;
	/* compiled code has a pointer in this place */
	if ((u32)word[V8_FRAME_PLACE])
		return RUNTIME_OFFSET_NONE;
	place = word[V8_FRAME_PLACE] >> 32;
	if (!frame && v8->leaf_code == word[V8_FRAME_BYTECODE] && v8->leaf_place >= first &&
	    v8->leaf_place < V8_LENGTH_MAX)
		place = v8->leaf_place;
	place -= first;
	return place < V8_LENGTH_MAX ? place : RUNTIME_OFFSET_NONE;
}

/*
 * Takes the place in the interpreter's code, unless the frame is in compiled code. Where compiled
 * code has taken over in a loop, the frame still has the place of that moment.
 */
INLINE void v8_take_place(struct walk *walk)
{
	struct v8 *v8 = &walk->v8;

	if (!v8->is_compiled)
		v8->instruction = v8_place(walk, v8->taken_frame);
}

/*
 * Takes the words of a noted frame. A read has memory above it, too: there the frames of callers
 * are. Returns 0 when the words were read.
 */
INLINE int v8_read_noted(struct walk *walk, u64 at)
{
	u64 bytes = 4096 - (at & 4095), need = sizeof(walk->v8.frame);

	if (!runtime_is_address(at))
		return 1;
	if (at < walk->window_start || at + need - walk->window_start > walk->window_bytes) {
		if (bytes > WALK_WINDOW_BYTES)
			bytes = WALK_WINDOW_BYTES;
		if (bytes < need)
			bytes = need;
		walk->list.reads++;
		walk->window_start = at;
		walk->window_bytes = bytes;
		if (walk_read_window(bytes, at)) {
			walk->window_bytes = 0;
			return 1;
		}
	}
	return v8_take_frame(walk, at, at);
}

/* Goes on where all frames that were noted are stored. Returns 0 to go on, or 1 at the end. */
INLINE int v8_end_marks(struct v8 *v8, struct runtime_list *list)
{
	v8->does = V8_PUT_IN;
	if (v8->put_in_code)
		return 0;
#ifdef WALK_NAMES_WASM
	v8->does = V8_WASM;
	if (v8->wasm.wanted)
		return 0;
#endif
	v8->does = V8_SCRIPT;
	return v8->script ? 0 : runtime_end(list, RUNTIME_WHOLE);
}

/* Takes the function of the next frame that was noted. Returns 0 to go on, or 1 at the end. */
INLINE int v8_take_mark(struct walk *walk)
{
	struct v8 *v8 = &walk->v8;
	struct runtime_list *list = &walk->list;
	u64 number = BOUND((u64)v8->next, RECORD_FRAMES_MAX);
	u64 at = (walk->mark[number] & MARK_ADDRESS) - sizeof(v8->frame);

	if (v8->next >= walk->marks)
		return v8_end_marks(v8, list);
	v8->next++;
	if (v8_read_noted(walk, at))
		return 0;
	/* frames of other kinds have a small number in place of the context */
	if (!(v8->frame[V8_FRAME_CONTEXT] & V8_TAG))
		return v8_take_wasm(walk, number);
	if (v8_take_function(v8->frame[V8_FRAME_FUNCTION]))
		return 0;
	v8->taken_frame = walk->mark[number] >> MARK_FRAME_SHIFT;
	v8->noted = walk->place[number];
	v8->is_compiled = v8->is_optimized = 0;
	if (v8_find_code()) {
		v8->after = v8->does;
		v8->does = V8_SEARCH;
		return 0;
	}
	v8_take_place(walk);
	return v8_store() ? runtime_end(list, RUNTIME_CUT_DEPTH) : 0;
}

/* Does the next step of a search. Returns 0 to go on, or 1 at the end. */
INLINE int v8_step_search(struct walk *walk)
{
	struct v8 *v8 = &walk->v8;
	struct runtime_list *list = &walk->list;

	if (!v8_search())
		return 0;
	v8->does = v8->after;
	v8_take_range(v8);
	v8_take_place(walk);
	return v8_store() ? runtime_end(list, RUNTIME_CUT_DEPTH) : 0;
}

/* Does the next step for the functions of frames. Returns 0 to go on, or 1 at the end. */
GLOBAL int v8_step(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	struct v8 *v8 = &walk->v8;
	struct runtime_list *list = &walk->list;
	/* behind the frames there are events alone, which another sample can send */
	int is_stored = v8->next >= walk->marks && !v8_is_searching(v8);

	if (v8->does == V8_SCRIPT)
		return v8_begin_script(walk);
	if (!is_stored && list->words + 4 > RECORD_RUNTIME_WORDS_MAX)
		return runtime_end(list, RUNTIME_CUT_DEPTH);
	if (walk_work(walk) >= walk->look_at && walk_late())
		return runtime_end(list, is_stored ? RUNTIME_WHOLE : RUNTIME_CUT_BUDGET);
	if (v8->does == V8_SCAN)
		return v8_scan() ? runtime_end(list, RUNTIME_WHOLE) : 0;
	if (v8->does == V8_NEXT)
		return v8->untold ? v8_tell_code(walk) : v8_take_mark(walk);
	if (v8->does == V8_SEARCH)
		return v8_step_search(walk);
	if (v8->does == V8_PUT_IN)
		return v8_put_in(walk);
#ifdef WALK_NAMES_WASM
	if (v8->does == V8_TREE)
		return v8_tree(walk);
	if (v8->does == V8_RECENT)
		return v8_recent(walk);
	if (v8->does == V8_WASM)
		return v8_wasm_name(walk);
#endif
	if (v8->does == V8_NAME)
		return v8_name(walk);
	if (v8->does == V8_PREFIX)
		return v8_prefix(walk);
	return v8->does == V8_FILE ? v8_file(walk) : v8_tell(walk);
}

/* Begins to store the functions of the frames that the walk has noted. The config is V8's. */
INLINE int v8_begin(struct walk *walk)
{
	struct v8 *v8 = &walk->v8;

	if (v8->is_known != V8_IS_HERE)
		return runtime_end(&walk->list, RUNTIME_NONE_MET);
	if (v8->key != walk->seed) {
		__builtin_memset(v8->map, 0, sizeof(v8->map));
		NOT_UNROLLED
		for (u32 i = 0; i < V8_FUNCTIONS; i++)
			walk->function[i].shared = walk->function[i].function = 0;
		NOT_UNROLLED
		for (u32 i = 0; i < V8_RANGES; i++)
			v8->range[i].shared = 0;
#ifdef WALK_NAMES_WASM
		/* a search goes on in its own process alone */
		v8->wasm.does = V8_WASM_BEGIN;
		v8->wasm.print = 0;
		v8->wasm.wanted = 0;
#endif
	}
	v8->key = walk->seed;
	v8->walk++;
	v8->next = v8->untold = 0;
	v8->does = V8_NEXT;
	v8->script = v8->put_in_code = v8->put_in_array = 0;
#ifdef WALK_NAMES_WASM
	v8->wasm.wanted = 0;
#endif
	walk_leaf(walk);
	v8->leaf_code = walk->window[V8_LEAF_CODE];
	v8->leaf_place = walk->window[V8_LEAF_PLACE];
	return 0;
}

#endif
