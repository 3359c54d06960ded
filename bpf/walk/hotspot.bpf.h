/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions of Java that HotSpot runs. The walk of the stack has noted one for each frame
 * (bpf/walk/hotspot_frame.bpf.h). Behind that walk, the functions are stored as words, and new ones
 * are told of. Each step does a little, so that the verifier has no loop to follow. Pure C.
 * The includer supplies the environment that bpf/walk/runtime.bpf.h names, and:
 *   walk_tell_inlined(walk, code, fingerprint)  tells of the functions that are inlined at a place,
 *                                  whose frames the window has; returns whether it did
 */
#ifndef KEYHOLE_BPF_WALK_HOTSPOT_BPF_H
#define KEYHOLE_BPF_WALK_HOTSPOT_BPF_H

#include "bpf/walk/hotspot_blob.bpf.h"
#include "bpf/walk/hotspot_frame.bpf.h"
#include "bpf/walk/late.bpf.h"
#include "bpf/walk/list.bpf.h"
#include "bpf/walk/walk.bpf.h"

/* ---- functions ---- */

#define HOTSPOT_EVENT_WORDS (RUNTIME_PARTS + 1)

/* Returns the address of a text in a pool of constants, or 0. */
INLINE u64 hotspot_constant(struct walk *walk, u64 pool, u32 number)
{
	u32 bytes = walk->list.config.hotspot.pool_bytes;

	return number ? hotspot_pointer(walk, pool + bytes + number * 8ull) : 0;
}

/* Returns a u16 in the memory that was read. */
INLINE u32 hotspot_memory_u16(const struct runtime_list *list, u32 at)
{
	return runtime_u32(list, at & ~3u) >> (at & 2) * 8 & 0xffff;
}

/*
 * Tells of the function that was found last, whose constant part is in list->memory. Puts the
 * addresses of the event's parts there in its place.
 */
GLOBAL int hotspot_tell(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	struct runtime_list *list = &walk->list;
	struct hotspot *hotspot = &walk->hotspot;
	const struct runtime_hotspot *config = &list->config.hotspot;
	const struct hotspot_function *taken = &hotspot->taken;
	u64 pool = runtime_u64(list, config->pool);
	u64 class = hotspot_pointer(walk, pool + config->pool_class);
	u32 name = hotspot_memory_u16(list, config->name_index);
	u32 signature = hotspot_memory_u16(list, config->signature_index);
	u32 size = runtime_u32(list, config->constant_size);
	u32 file = hotspot_u16(walk, (config->file_in_class ? class : pool) + config->file_index);

	hotspot->is_untold = 0;
	hotspot->is_missing = 1;
	list->memory[0] = hotspot_pointer(walk, class + config->class_name);
	list->memory[1] = hotspot_constant(walk, pool, name);
	list->memory[2] = hotspot_constant(walk, pool, signature);
	list->memory[3] = taken->instructions - config->constant_bytes;
	list->memory[4] = size;
	list->name = hotspot_constant(walk, pool, file);
	list->call = 1; /* no caller has a name for it */
	if (!list->told)
		return 0;
	walk_tell(walk, taken->method, taken->fingerprint);
	if (!walk_told(walk, taken->method, taken->fingerprint))
		return 0;
	hotspot->function[taken->method >> 5 & (HOTSPOT_FUNCTIONS - 1)].is_told = 1;
	hotspot->is_missing = hotspot->was_missing;
	return 0;
}

/*
 * Finds the fingerprint and the instructions of a function: hotspot->taken. The next step tells of
 * one that is new. Returns 0 when its memory could be read.
 */
GLOBAL int hotspot_function(u64 method)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	struct runtime_list *list = &walk->list;
	const struct runtime_hotspot *config = &list->config.hotspot;
	struct hotspot_function *known =
		&walk->hotspot.function[method >> 5 & (HOTSPOT_FUNCTIONS - 1)];
	u64 constant, mixed;

	if (known->method == method) {
		walk->hotspot.taken = *known;
		return 0;
	}
	constant = hotspot_pointer(walk, method + config->constant);
	if (!constant || runtime_read(config->constant_bytes, constant))
		return 1;
	known->method = method;
	known->instructions = constant + config->constant_bytes;
	known->size = hotspot_memory_u16(list, config->code_size);
	mixed = (constant ^ runtime_u64(list, config->pool)) * 0x9e3779b97f4a7c15ull;
	mixed ^= runtime_u64(list, config->name_index) ^ mixed >> 29;
	known->fingerprint = mixed * 0x9e3779b97f4a7c15ull >> 32;
	known->is_told = walk_told(walk, method, known->fingerprint);
	walk->hotspot.is_untold = !known->is_told;
	walk->hotspot.taken = *known;
	return 0;
}

/* ---- functions that are inlined at a place ---- */

/* Reads the next number of those that describe a place (utilities/unsigned5.hpp). */
GLOBAL u32 hotspot_number(void)
{
	struct walk *walk = walk_state();
	u32 sum = 0;

	if (!walk)
		return 0;
	struct hotspot *hotspot = &walk->hotspot;

	NOT_UNROLLED
	for (u32 i = 0; i < 5; i++) {
		u32 at = hotspot->at++;
		u32 byte =
			hotspot->bytes[at >> 3 & (HOTSPOT_SCOPE_WORDS - 1)] >> (at & 7) * 8 & 0xff;

		sum += (byte - walk->list.config.hotspot.excluded) << 6 * i;
		if (byte < 192)
			break;
	}
	return sum;
}

/* Returns the entry of the blob that has the place, or NULL: it is of another blob. */
INLINE struct hotspot_blob *hotspot_entry_of_place(struct walk *walk)
{
	const struct hotspot *hotspot = &walk->hotspot;
	struct hotspot_blob *known = hotspot_entry(walk, hotspot->pc - !hotspot->is_leaf);

	if (known->blob != hotspot->blob || known->key != hotspot->key ||
	    known->method != hotspot->method)
		return NULL;
	return known;
}

/* Takes the place that an earlier leaf near this one was at. Returns whether this leaf is there. */
INLINE int hotspot_recall_place(struct walk *walk)
{
	struct hotspot *hotspot = &walk->hotspot;
	const struct hotspot_blob *known = hotspot_entry_of_place(walk);

	if (!known || !known->scope ||
	    hotspot->offset - known->found_before - 1 >= known->found - known->found_before)
		return 0;
	hotspot->scope = known->scope;
	hotspot->found = known->found;
	hotspot->does = HOTSPOT_LEAF;
	return 1;
}

/* Remembers the place that a whole search has found for a leaf, or that it has found none. */
INLINE void hotspot_remember_place(struct walk *walk)
{
	const struct hotspot *hotspot = &walk->hotspot;
	struct hotspot_blob *known = hotspot_entry_of_place(walk);

	if (!known || hotspot->low != hotspot->high)
		return;
	known->scope = hotspot->scope;
	known->found = hotspot->found;
	known->found_before = hotspot->found_before;
}

/* Begins to look for the functions at a place in compiled code. */
GLOBAL int hotspot_begin_place(u64 blob)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	struct hotspot *hotspot = &walk->hotspot;
	const struct runtime_hotspot *config = &walk->list.config.hotspot;
	u64 end;

	hotspot->inlined = hotspot->is_missing = hotspot->scope = hotspot->before = 0;
	hotspot->found = hotspot->found_before = 0;
	/* an event has no bytes of an earlier walk */
	__builtin_memset(walk->window, 0, HOTSPOT_INLINED_MAX * 16);
	if (hotspot_take_blob(hotspot->pc - !hotspot->is_leaf) || hotspot->blob != blob)
		return 0;
	hotspot->offset = hotspot->pc - hotspot->begin;
	if (hotspot->is_leaf && hotspot_recall_place(walk))
		return 0;
	hotspot->scopes = hotspot_part(blob, config->scopes.at, config->scopes.base);
	hotspot->functions = hotspot_part(blob, config->functions.at, config->functions.base);
	hotspot->places = hotspot_part(blob, config->places.at, config->places.base);
	end = hotspot_part(blob, config->places_end.at, config->places_end.base);
	hotspot->low = 0;
	hotspot->high = 0;
	if (end - hotspot->places < HOTSPOT_PLACES_MAX * HOTSPOT_PLACE_BYTES)
		hotspot->high = (end - hotspot->places) / HOTSPOT_PLACE_BYTES;
	hotspot->does = HOTSPOT_SEARCH;
	return 0;
}

/*
 * Notes an inlined function in the window. Returns 0, or 1: its memory could not be read. The
 * function has no instruction: RUNTIME_OFFSET_NONE.
 */
GLOBAL int hotspot_note_inlined(u64 method, u32 instruction)
{
	struct walk *walk = walk_state();

	if (!walk || hotspot_function(method))
		return 1;
	struct hotspot *hotspot = &walk->hotspot;
	u64 at = BOUND((u64)hotspot->inlined, HOTSPOT_INLINED_MAX) * 2;

	walk->window[at] = method;
	walk->window[at + 1] = hotspot->taken.fingerprint | (u64)instruction << 32;
	hotspot->inlined++;
	hotspot->was_missing = hotspot->is_missing;
	if (!hotspot->taken.is_told)
		hotspot->is_missing = 1;
	return 0;
}

/* Goes on with the place that was found, or with none: native code has no places. */
INLINE void hotspot_end_search(struct walk *walk)
{
	struct hotspot *hotspot = &walk->hotspot;

	if (hotspot->is_leaf)
		hotspot_remember_place(walk);
	if (!hotspot->scope) {
		hotspot->scope = hotspot->before;
		hotspot->found = hotspot->found_before;
	}
	if (hotspot->is_leaf) {
		hotspot->does = HOTSPOT_LEAF;
		return;
	}
	hotspot->does = HOTSPOT_SCOPE;
	if (hotspot->scope)
		return;
	hotspot->does = HOTSPOT_SEND;
	hotspot_note_inlined(hotspot->method, RUNTIME_OFFSET_NONE);
}

/*
 * Looks at the place in the middle of those that are left. The first one at or behind the pc
 * counts, or the last one of all.
 */
INLINE void hotspot_search(struct walk *walk)
{
	struct hotspot *hotspot = &walk->hotspot;
	u32 middle = hotspot->low + ((hotspot->high - hotspot->low) >> 1), scope, offset;

	if (hotspot->low >= hotspot->high) {
		hotspot_end_search(walk);
		return;
	}
	if (runtime_read_word(hotspot->places + middle * (u64)HOTSPOT_PLACE_BYTES)) {
		hotspot->low = 1;
		hotspot->high = 0;
		return;
	}
	offset = walk->list.word;
	scope = walk->list.word >> 32;
	if (offset < hotspot->offset || offset >> 31) {
		hotspot->low = middle + 1;
		hotspot->before = scope;
		hotspot->found_before = offset;
	} else {
		hotspot->high = middle;
		hotspot->scope = scope;
		hotspot->found = offset;
	}
}

/* Takes a function at the place, and goes on with the function around it. */
INLINE int hotspot_take_scope(struct walk *walk)
{
	struct hotspot *hotspot = &walk->hotspot;
	u64 at = hotspot->scopes + hotspot->scope, method = 0;
	u32 function, instruction;

	hotspot->does = HOTSPOT_NEXT;
	walk->list.reads++;
	if (walk_read(hotspot->bytes, sizeof(hotspot->bytes), at))
		return 0;
	hotspot->at = 0;
	hotspot->scope = hotspot_number();
	function = hotspot_number();
	instruction = hotspot_number();
	if (instruction)
		instruction--; /* 0: the entry, before the first one */
	if (instruction > 0xffff)
		instruction = RUNTIME_OFFSET_NONE;
	if (function)
		method = hotspot_pointer(walk, hotspot->functions + (function - 1) * 8ull);
	if (!method || hotspot_note_inlined(method, instruction))
		return 0;
	hotspot->does = HOTSPOT_SCOPE;
	if (!hotspot->scope || hotspot->inlined == HOTSPOT_INLINED_MAX)
		hotspot->does = HOTSPOT_SEND;
	return 0;
}

/* ---- words ---- */

/* Stores the words of a frame, and a border that ties it to its frame on the stack. */
INLINE int hotspot_store(struct walk *walk, u64 code, u64 second, u64 frame)
{
	struct runtime_list *list = &walk->list;

	if (code != HOTSPOT_NOBODY) {
		if (walk_store(walk, list->words, RUNTIME_WORD_FRAME | code, second))
			return 1;
		list->words += 2;
	}
	return walk_store(walk, list->words++, RUNTIME_WORD_BORDER | frame, 0);
}

/* Returns the offset of the instruction, as a frame of the interpreter says or a register. */
INLINE u64 hotspot_instruction(struct walk *walk, u64 place, u64 frame)
{
	const struct hotspot_function *taken = &walk->hotspot.taken;
	u64 leaf = walk->hotspot.leaf - taken->instructions;

	if (!frame && leaf < taken->size)
		return leaf;
	place -= taken->instructions;
	return place < taken->size ? place : RUNTIME_OFFSET_NONE;
}

/* Stores the next function that the walk has noted. Returns 0 to go on, or 1 at the end. */
GLOBAL int hotspot_take_mark(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	struct hotspot *hotspot = &walk->hotspot;
	u64 number = BOUND((u64)hotspot->next, RECORD_FRAMES_MAX);
	u64 code = walk->mark[number] & MARK_ADDRESS, place = walk->place[number];
	u64 frame = walk->mark[number] >> MARK_FRAME_SHIFT, second = (u32)place;

	if (hotspot->next >= walk->marks)
		return runtime_end(&walk->list, RUNTIME_WHOLE);
	hotspot->next++;
	if (place & HOTSPOT_PLACE_INTERPRETED) {
		if (hotspot_function(code))
			return 0;
		second = hotspot->taken.fingerprint |
			 hotspot_instruction(walk, place & MARK_ADDRESS, frame) << 32;
	} else if (place & HOTSPOT_PLACE_OTHER) {
		hotspot->pc = hotspot->told_blob = code;
		hotspot->fingerprint = second;
		if (!walk_told(walk, code, second))
			hotspot->does = HOTSPOT_NAME;
	} else if (code > RUNTIME_CODE_ELSEWHERE) {
		hotspot->pc = code;
		hotspot->fingerprint = second;
		hotspot->told_blob = code - (place >> 32);
		hotspot->is_leaf = !frame;
		if (hotspot->is_leaf || !walk_told(walk, code, second))
			hotspot->does = HOTSPOT_PLACE;
		if (hotspot->is_leaf)
			return 0;
	}
	if (hotspot_store(walk, code, second, frame))
		return runtime_end(&walk->list, RUNTIME_CUT_DEPTH);
	return 0;
}

/*
 * Stores the function at the leaf's pc. Many pcs have one place, whose own pc stands for them.
 * Returns 0 to go on, or 1 at the end.
 */
GLOBAL int hotspot_take_leaf(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	struct hotspot *hotspot = &walk->hotspot;

	hotspot->pc = hotspot->begin + hotspot->found;
	hotspot->is_leaf = 0;
	hotspot->does = HOTSPOT_PLACE;
	if (walk_told(walk, hotspot->pc, hotspot->fingerprint))
		hotspot->does = HOTSPOT_NEXT;
	if (hotspot_store(walk, hotspot->pc & MARK_ADDRESS, hotspot->fingerprint, 0))
		return runtime_end(&walk->list, RUNTIME_CUT_DEPTH);
	return 0;
}

/* Tells of code that belongs to no function. */
INLINE int hotspot_tell_name(struct walk *walk)
{
	struct runtime_list *list = &walk->list;

	if (hotspot_take_blob(walk->hotspot.told_blob))
		return 0;
	__builtin_memset(list->memory, 0, HOTSPOT_EVENT_WORDS * 8);
	list->name = walk->hotspot.name;
	list->call = 1;
	walk_tell(walk, walk->hotspot.pc, walk->hotspot.fingerprint);
	return 0;
}

/* Does the next step for the functions of frames. Returns 0 to go on, or 1 at the end. */
GLOBAL int hotspot_step(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	struct hotspot *hotspot = &walk->hotspot;
	u32 does = hotspot->does;

	if (walk->list.words + 4 > RECORD_RUNTIME_WORDS_MAX)
		return runtime_end(&walk->list, RUNTIME_CUT_DEPTH);
	if (walk_work(walk) >= walk->look_at && walk_late())
		return runtime_end(&walk->list, RUNTIME_CUT_BUDGET);
	if (hotspot->is_untold)
		return hotspot_tell();
	if (does == HOTSPOT_NEXT)
		return hotspot_take_mark();
	if (does == HOTSPOT_SEARCH) {
		hotspot_search(walk);
		return 0;
	}
	if (does == HOTSPOT_SCOPE)
		return hotspot_take_scope(walk);
	if (does == HOTSPOT_LEAF)
		return hotspot_take_leaf();
	hotspot->does = HOTSPOT_NEXT;
	if (does == HOTSPOT_PLACE)
		return hotspot_begin_place(hotspot->told_blob);
	if (does == HOTSPOT_NAME)
		return hotspot_tell_name(walk);
	if (hotspot->inlined && !hotspot->is_missing)
		walk_tell_inlined(walk, hotspot->pc, hotspot->fingerprint);
	return 0;
}

/* Begins to store the functions that the walk has noted. The config is HotSpot's. */
INLINE int hotspot_begin(struct walk *walk)
{
	struct hotspot *hotspot = &walk->hotspot;

	if (hotspot->is_known != HOTSPOT_KNOWN)
		return runtime_end(&walk->list, RUNTIME_NONE_MET);
	hotspot->next = hotspot->is_untold = 0;
	hotspot->does = HOTSPOT_NEXT;
	walk_leaf(walk);
	hotspot->leaf = walk->window[HOTSPOT_LEAF_PLACE];
	NOT_UNROLLED
	for (u32 i = 0; i < HOTSPOT_FUNCTIONS; i++)
		hotspot->function[i].method = 1; /* no address */
	return 0;
}

#endif
