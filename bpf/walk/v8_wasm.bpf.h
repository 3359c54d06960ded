/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions of WebAssembly, which have frames between those of JavaScript. A frame has its
 * instance, which leads to the script and the module. V8 keeps a module's code in a tree and, until
 * somebody looks there, in a list of new code. The bytes of the module have the names of its
 * functions. Each step does a little. Pure C. The includer supplies the environment that
 * bpf/walk/hotspot.bpf.h names.
 */
#ifndef KEYHOLE_BPF_WALK_V8_WASM_BPF_H
#define KEYHOLE_BPF_WALK_V8_WASM_BPF_H

#include "bpf/walk/list.bpf.h"
#include "bpf/walk/v8_code.bpf.h"
#include "bpf/walk/v8_function.bpf.h"
#include "bpf/walk/v8_object.bpf.h"
#include "bpf/walk/walk.bpf.h"

/*
 * Linux 5.17 and newer: a load of the other object has no time left for it. These functions then
 * have frames without names.
 */
#ifdef WALK_NAMES_WASM

#define V8_WASM_CODE_BYTES   64u
#define V8_WASM_WINDOW_BYTES 1024u
#define V8_WASM_NAMES	     8u	 /* that a step looks at */
#define V8_WASM_ENTRY	     16u /* bytes of an entry before its name, or more */

/* ---- the module of a frame ---- */

/* Finds the module and the script of an instance. Returns 0 when they were found. */
GLOBAL int v8_find_module(u64 instance)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	struct v8_wasm *wasm = &walk->v8.wasm;
	const struct runtime_v8 *config = &walk->list.config.v8;
	u64 object = instance;

	if (wasm->instance == instance && wasm->walk == walk->v8.walk)
		return !wasm->module;
	wasm->instance = instance;
	wasm->walk = walk->v8.walk;
	wasm->module = 0;
	if (config->wasm_object)
		object = v8_word(walk, object, config->wasm_object);
	object = v8_word(walk, object, config->wasm_module);
	object = v8_word(walk, object, config->wasm_script);
	if (!v8_is(object, V8_KIND_SCRIPT))
		return 1;
	wasm->script = object;
	wasm->number = v8_word(walk, object, config->script_number) >> 32;
	object = v8_word(walk, object, config->wasm_native);
	object = v8_word(walk, object, V8_FOREIGN_ADDRESS);
	if (runtime_read_word(object + V8_MANAGED_POINTER) || runtime_read_word(walk->list.word) ||
	    !runtime_is_address(walk->list.word))
		return 1;
	wasm->module = walk->list.word;
	return 0;
}

/*
 * Takes code of the module as a range, if it has the place that was taken last. Returns 0 when it
 * has the place.
 */
GLOBAL int v8_try_wasm(u64 code)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	struct v8 *v8 = &walk->v8;
	struct runtime_list *list = &walk->list;
	struct v8_range *range = v8_range_of(v8, v8->place);
	u64 start, bytes;

	if (runtime_read(V8_WASM_CODE_BYTES, code))
		return 1;
	start = list->memory[1];
	bytes = runtime_u32(list, list->config.v8.wasm_code_size);
	if (list->memory[0] != v8->wasm.module || bytes >= V8_LENGTH_MAX ||
	    v8->place - start >= bytes)
		return 1;
	range->object = code;
	range->start = start;
	range->bytes = bytes;
	range->shared = v8->wasm.module | V8_TAG;
	range->put_in = runtime_u32(list, list->config.v8.wasm_code_index);
	range->walk = v8->walk;
	return 0;
}

/* ---- the function of a frame ---- */

/* Wants the name of a function that no event has told of. A search that has begun goes on first. */
INLINE void v8_want_name(struct v8 *v8, u32 print, u32 index)
{
	struct v8_wasm *wasm = &v8->wasm;
	int has_begun = wasm->does && v8->walk - wasm->begun < V8_WALKS;

	if (wasm->print != print && (wasm->wanted || has_begun))
		return;
	if (wasm->print != print || !has_begun) {
		wasm->does = V8_WASM_BEGIN;
		wasm->begun = v8->walk;
	}
	wasm->print = print;
	wasm->index = index;
	wasm->wanted = wasm->module;
	wasm->wanted_script = wasm->script;
}

/* Stores the function whose code the range has. Returns 0 to go on, or 1 at the end. */
INLINE int v8_store_wasm(struct walk *walk)
{
	struct v8 *v8 = &walk->v8;
	struct runtime_list *list = &walk->list;
	u64 module = v8->wasm.module;
	u32 index = v8_range_of(v8, v8->place)->put_in;
	u32 print = v8_mix((u64)v8->wasm.number << 32 | index, module);

	v8->does = V8_NEXT;
	if (walk_store(walk, list->words, RUNTIME_WORD_FRAME | module,
		       (u64)RUNTIME_OFFSET_NONE << 32 | print))
		return runtime_end(list, RUNTIME_CUT_DEPTH);
	list->words += 2;
	if (walk_store(walk, list->words++, RUNTIME_WORD_BORDER | v8->taken_frame, 0))
		return runtime_end(list, RUNTIME_CUT_DEPTH);
	if (!walk_told(walk, module, print))
		v8_want_name(v8, print, index);
	return 0;
}

/*
 * Takes the function of a frame that is none of JavaScript. Other kinds of frames have none.
 * Returns 0 to go on, or 1 at the end.
 */
INLINE int v8_take_wasm(struct walk *walk, u64 number)
{
	struct v8 *v8 = &walk->v8;
	const struct runtime_v8 *config = &walk->list.config.v8;
	const struct v8_range *range;

	if (v8->frame[V8_FRAME_CONTEXT] != config->wasm_frame * 2u || !config->wasm_frame)
		return 0;
	v8->place = walk->place[number] & ~V8_PLACE_EXACT;
	v8->taken_frame = walk->mark[number] >> MARK_FRAME_SHIFT;
	if (v8_find_module(v8->frame[V8_FRAME_FUNCTION]))
		return 0;
	range = v8_range_of(v8, v8->place);
	if (range->shared == (v8->wasm.module | V8_TAG) && !v8_try_wasm(range->object))
		return v8_store_wasm(walk);
	if (runtime_read_word(v8->wasm.module + config->wasm_tree))
		return 0;
	v8->search_at = walk->list.word;
	v8->searches = V8_SEARCHES;
	v8->wasm.found = 0;
	v8->does = V8_TREE;
	return 0;
}

/* Words of a node of std::map. */
enum v8_node_word {
	V8_NODE_LEFT = 2,
	V8_NODE_RIGHT,
	V8_NODE_KEY,
	V8_NODE_VALUE,
	V8_NODE_WORDS
};

/* Begins with the code that is new: behind the tree is a vector. */
INLINE int v8_begin_recent(struct walk *walk)
{
	struct v8 *v8 = &walk->v8;

	v8->does = V8_NEXT;
	if (runtime_read(16, v8->wasm.module + walk->list.config.v8.wasm_tree + V8_TREE_BYTES))
		return 0;
	v8->wasm.found = walk->list.memory[0];
	v8->search_at = walk->list.memory[1];
	v8->searches = V8_RECENT_MAX;
	v8->does = V8_RECENT;
	return 0;
}

/* Looks for the last code in the tree that begins before the place. Returns 1 at the end. */
INLINE int v8_tree(struct walk *walk)
{
	struct v8 *v8 = &walk->v8;
	const u64 *node = walk->list.memory;

	if (v8->search_at && v8->searches) {
		v8->searches--;
		if (runtime_read(V8_NODE_WORDS * 8, v8->search_at))
			return v8_begin_recent(walk);
		v8->search_at = node[V8_NODE_LEFT];
		if (node[V8_NODE_KEY] <= v8->place) {
			v8->search_at = node[V8_NODE_RIGHT];
			v8->wasm.found = node[V8_NODE_VALUE];
		}
		return 0;
	}
	if (!v8_try_wasm(v8->wasm.found))
		return v8_store_wasm(walk);
	return v8_begin_recent(walk);
}

/* Looks at the last code of the vector that was not looked at. Returns 1 at the end. */
INLINE int v8_recent(struct walk *walk)
{
	struct v8 *v8 = &walk->v8;

	v8->search_at -= 8;
	v8->does = V8_NEXT;
	if (v8->search_at < v8->wasm.found || !v8->searches || runtime_read_word(v8->search_at))
		return 0;
	v8->searches--;
	v8->does = V8_RECENT;
	return v8_try_wasm(walk->list.word) ? 0 : v8_store_wasm(walk);
}

/* ---- names ---- */

/* Takes a number of the module's bytes, as LEB128, which the window has. A letter is one, too. */
GLOBAL u64 v8_wasm_number(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	u64 number = 0, at = walk->v8.wasm.at - walk->window_start, byte;

	NOT_UNROLLED
	for (u32 i = 0; i < 35; i += 7) {
		byte = walk->window[at >> 3 & (WALK_WINDOW_BYTES / 8 - 1)] >> (at & 7) * 8;
		number |= (byte & 127) << i;
		at++;
		if (!(byte & 128))
			break;
	}
	walk->v8.wasm.at = walk->window_start + at;
	return number;
}

/* Makes the window have an entry, or what is left of the bytes. Returns 0 when it has. */
INLINE int v8_wasm_window(struct walk *walk)
{
	const struct v8_wasm *wasm = &walk->v8.wasm;
	u64 from = wasm->at & ~7ull, need = V8_WASM_ENTRY, bytes = V8_WASM_WINDOW_BYTES;

	if (wasm->at >= wasm->end)
		return 1;
	if (need > wasm->end - wasm->at)
		need = wasm->end - wasm->at;
	if (wasm->at >= walk->window_start &&
	    wasm->at - walk->window_start + need <= walk->window_bytes)
		return 0;
	if (bytes > wasm->end - from)
		bytes = wasm->end - from;
	walk->list.reads++;
	walk->window_start = from;
	walk->window_bytes = bytes;
	if (!runtime_is_address(from) || walk_read_window(bytes, from)) {
		walk->window_bytes = 0;
		return 1;
	}
	return 0;
}

/* Begins with the sections of the module: behind its mark and its version. */
INLINE int v8_wasm_begin(struct walk *walk)
{
	struct v8_wasm *wasm = &walk->v8.wasm;
	const u64 *bytes = walk->list.memory;

	wasm->does = V8_WASM_SECTIONS;
	wasm->at = wasm->end = 0;
	walk->window_bytes = 0;
	if (runtime_read_word(wasm->wanted + walk->list.config.v8.wasm_bytes) ||
	    runtime_read(16, walk->list.word) || bytes[0] >= WALK_ADDRESS_END ||
	    bytes[1] > V8_WASM_BYTES_MAX)
		return 0;
	wasm->at = bytes[0] + 8;
	wasm->end = bytes[0] + bytes[1];
	return 0;
}

/*
 * Ends the search with a name, or with none. The next steps tell of the function. A module with a
 * name has it before the last part of the script's name.
 */
INLINE int v8_wasm_named(struct walk *walk, u64 name, u64 length)
{
	struct v8 *v8 = &walk->v8;
	struct v8_wasm *wasm = &v8->wasm;

	if (length > V8_NAME_LENGTH(~0u))
		length = V8_NAME_LENGTH(~0u);
	v8->name = name;
	v8->named = length;
	v8->prefix = 0;
	v8->start = wasm->index;
	v8->taken.shared = wasm->wanted;
	wasm->wanted = 0;
	wasm->is_named = 1;
	v8->taken.fingerprint = wasm->print;
	v8->taken.script = wasm->wanted_script;
	v8->taken.script_fingerprint = v8->taken.position_bytes = 0;
	v8_last_part(v8_word(walk, wasm->wanted_script, walk->list.config.v8.script_name));
	if (v8->before) {
		v8->named |= v8_find_name(walk, v8_last_part(v8->before)) << V8_PREFIX_SHIFT;
		v8->prefix = v8->text.data;
	}
	wasm->does = V8_WASM_BEGIN;
	v8->does = V8_FILE;
	return 0;
}

/* Looks at some names: each entry has the number of a function, and the bytes of its name. */
INLINE int v8_wasm_names(struct walk *walk)
{
	struct v8_wasm *wasm = &walk->v8.wasm;

	NOT_UNROLLED
	for (u32 i = 0; i < V8_WASM_NAMES; i++) {
		u64 index, length;

		if (wasm->at >= wasm->end ||
		    (i && wasm->at + V8_WASM_ENTRY > walk->window_start + walk->window_bytes))
			return 0;
		index = v8_wasm_number();
		length = v8_wasm_number();
		if (wasm->at + length > wasm->end)
			return v8_wasm_named(walk, 0, 0);
		if (index == wasm->index)
			return v8_wasm_named(walk, wasm->at, length);
		wasm->at += length;
	}
	return 0;
}

/* Returns whether a section has names. */
INLINE int v8_has_names(void)
{
	return v8_wasm_number() == 4 && v8_wasm_number() == 'n' && v8_wasm_number() == 'a' &&
	       v8_wasm_number() == 'm' && v8_wasm_number() == 'e';
}

/* Goes on to look for the name of the function that is wanted. Returns 0. */
INLINE int v8_wasm_name(struct walk *walk)
{
	struct v8_wasm *wasm = &walk->v8.wasm;
	u64 kind, size, next;

	if (wasm->does == V8_WASM_BEGIN)
		return v8_wasm_begin(walk);
	if (v8_wasm_window(walk))
		return v8_wasm_named(walk, 0, 0);
	if (wasm->does == V8_WASM_NAMES_OF)
		return v8_wasm_names(walk);
	kind = v8_wasm_number();
	size = v8_wasm_number();
	next = wasm->at + size;
	if (next > wasm->end)
		return v8_wasm_named(walk, 0, 0);
	if (wasm->does == V8_WASM_SECTIONS && kind == V8_WASM_CUSTOM && v8_has_names()) {
		wasm->does = V8_WASM_PARTS;
		wasm->end = next;
		return 0;
	}
	if (wasm->does == V8_WASM_PARTS && kind == V8_WASM_FUNCTIONS) {
		wasm->does = V8_WASM_NAMES_OF;
		wasm->end = next;
		v8_wasm_number();
		return 0;
	}
	wasm->at = next;
	return 0;
}

/* Returns whether the step is one of a search for the function of a frame. */
INLINE int v8_is_searching(const struct v8 *v8)
{
	return v8->does == V8_SEARCH || v8->does == V8_TREE || v8->does == V8_RECENT;
}

#else

INLINE int v8_take_wasm(struct walk *walk, u64 number)
{
	(void)walk;
	(void)number;
	return 0;
}

INLINE int v8_is_searching(const struct v8 *v8)
{
	return v8->does == V8_SEARCH;
}

#endif
#endif
