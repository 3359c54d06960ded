/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compiled code of functions of JavaScript. That of Sparkplug is known from the function. Nothing
 * leads from a function to all of its optimized code: loops that go on in new code have code of
 * their own. So the head of the code is looked for before the place of a frame. Pure C.
 * The includer supplies the environment that bpf/walk/hotspot.bpf.h names.
 */
#ifndef KEYHOLE_BPF_WALK_V8_CODE_BPF_H
#define KEYHOLE_BPF_WALK_V8_CODE_BPF_H

#include "bpf/walk/list.bpf.h"
#include "bpf/walk/table.bpf.h"
#include "bpf/walk/v8_function.bpf.h"
#include "bpf/walk/v8_object.bpf.h"
#include "bpf/walk/v8_script.bpf.h"
#include "bpf/walk/walk.bpf.h"

#define V8_WEAK		2ull  /* in pointers that keep nothing alive */
#define V8_SEARCH_BYTES 1024u /* that a step of a search reads at most */
#define V8_CODE_ALIGN	32u   /* of instructions, or more (kCodeAlignment) */

/* Returns a number that tells the code that was taken last from other code at its address. */
INLINE u32 v8_code_fingerprint(const struct v8 *v8)
{
	return v8_mix(v8->taken.fingerprint ^ v8->code.start, v8->code.bytes);
}

/* ---- ranges ---- */

INLINE struct v8_range *v8_range_of(struct v8 *v8, u64 place)
{
	return &v8->range[place >> 8 & (V8_RANGES - 1)];
}

/* Returns how far before its instructions code has the word that a search looks for. */
INLINE u32 v8_head(const struct runtime_v8 *config)
{
	return config->code_pointer ? config->code_pointer : config->code_map;
}

/*
 * Returns whether the place that was taken last is in a known range of its function. Code may have
 * been moved or freed since another walk.
 */
INLINE int v8_is_in_range(struct walk *walk)
{
	struct v8 *v8 = &walk->v8;
	const struct runtime_v8 *config = &walk->list.config.v8;
	struct v8_range *range = v8_range_of(v8, v8->place);

	if (range->shared != v8->taken.shared || v8->place - range->start >= range->bytes)
		return 0;
	if (range->walk == v8->walk)
		return 1;
	if (!range->object)
		return v8->walk - range->walk < V8_WALKS;
	if (runtime_read_word(range->start - v8_head(config)))
		return 0;
	if (config->code_pointer ? walk->list.word != range->object
				 : v8_type_of_map(walk, walk->list.word) != config->type_code)
		return 0;
	if (v8_u32(walk, range->object, config->code_size) != range->bytes)
		return 0;
	range->walk = v8->walk;
	return 1;
}

/* Takes the code of the range that has the place that was taken last. */
INLINE void v8_take_range(struct v8 *v8)
{
	const struct v8_range *range = v8_range_of(v8, v8->place);

	if (!range->object)
		return;
	v8->code.object = range->object;
	v8->code.start = range->start;
	v8->code.bytes = range->bytes;
	v8->is_optimized = v8->is_compiled = 1;
	v8->instruction = v8->place - range->start;
}

/* ---- the search ---- */

/*
 * Takes code whose instructions begin at an address as a range, if it has the place that was taken
 * last. Code of another function leaves a range that is none. Returns 0 when it has the place.
 */
GLOBAL int v8_try_code(u64 object, u64 start)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	struct v8 *v8 = &walk->v8;
	const struct runtime_v8 *config = &walk->list.config.v8;
	struct v8_range *range = v8_range_of(v8, v8->place);
	u32 bytes = v8_u32(walk, object, config->code_size);
	u64 about, own;

	if (bytes >= V8_LENGTH_MAX || v8->place - start >= bytes ||
	    v8_type(walk, object) != config->type_code ||
	    (config->code_pointer && v8_word(walk, object, config->code_start) != start))
		return 1;
	about = v8_word(walk, object, config->code_bytecode);
	own = v8_word(walk, about, config->own_function);
	if (config->own_shared)
		own = v8_word(walk, own, config->own_shared);
	range->start = start;
	range->bytes = bytes;
	range->object = 0;
	if (own != v8->taken.shared + V8_TAG)
		return 0;
	range->object = object;
	range->put_in = v8_word(walk, about, config->put_in_count) >> 32;
	range->is_listed = !range->put_in || range->put_in > V8_PUT_IN_MAX;
	return 0;
}

/* Finds the last word of the window that may be a head. Returns 0 when there is one. */
INLINE int v8_find_head(struct walk *walk, u64 from)
{
	struct v8 *v8 = &walk->v8;
	u64 at = v8->search_at;

	NOT_UNROLLED
	for (u32 i = 0; i < V8_SEARCH_BYTES / V8_CODE_ALIGN; i++) {
		u64 word = walk->window[(at - from) >> 3 & (WALK_WINDOW_BYTES / 8 - 1)];

		if (at < from)
			break;
		if (word & V8_TAG && word - 4096 < WALK_ADDRESS_END - 4096) {
			v8->search_at = at;
			return 0;
		}
		at -= V8_CODE_ALIGN;
	}
	v8->search_at = at;
	return 1;
}

/* Ends a search that has found nothing. Returns 1. */
INLINE int v8_end_search(struct v8 *v8)
{
	struct v8_range *range = v8_range_of(v8, v8->place);

	range->object = 0;
	range->start = v8->place;
	range->bytes = 1;
	return 1;
}

/*
 * Looks at words before the place that was taken last. Each read is within a page, which the
 * process has if the code begins there. Returns 0 to go on, or 1 at the end.
 */
GLOBAL int v8_search(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	struct v8 *v8 = &walk->v8;
	const struct runtime_v8 *config = &walk->list.config.v8;
	u64 last = v8->search_at, from = last & ~4095ull, object, start;

	if (!v8->searches--)
		return v8_end_search(v8);
	if (last - from > V8_SEARCH_BYTES - V8_CODE_ALIGN)
		from = last - (V8_SEARCH_BYTES - V8_CODE_ALIGN);
	walk->window_bytes = 0;
	walk->list.reads++;
	if (!runtime_is_address(from) || walk_read_window(last + 8 - from, from))
		return v8_end_search(v8);
	if (v8_find_head(walk, from))
		return 0;
	start = v8->search_at + v8_head(config);
	object = v8->search_at + V8_TAG;
	if (config->code_pointer)
		object = walk->window[(v8->search_at - from) >> 3 & (WALK_WINDOW_BYTES / 8 - 1)];
	v8->search_at -= V8_CODE_ALIGN;
	return !v8_try_code(object, start);
}

/*
 * Finds the compiled code of the function that was taken last: v8->code, and the place in it. The
 * table of optimized code has calls alone, which says nothing of the leaf. Returns whether the code
 * is to be looked for.
 */
GLOBAL int v8_find_code(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	struct v8 *v8 = &walk->v8;
	u64 noted = v8->noted, head = v8_head(&walk->list.config.v8);
	struct v8_range *range;

	v8->place = noted & ~V8_PLACE_EXACT;
	if (!v8->taken.bytecode)
		return 0;
	v8->code = v8->taken.baseline;
	if (v8->place - v8->code.start < v8->code.bytes) {
		v8->instruction = v8->place - v8->code.start;
		v8->is_compiled = 1;
		return 0;
	}
	if (noted & V8_PLACE_EXACT || !head)
		return 0;
	if (v8_is_in_range(walk)) {
		v8_take_range(v8);
		return 0;
	}
	/* the image has no code of functions */
	if (table_find_mapping(v8->place) || walk->mapping_flags & MAPPING_HAS_TABLE)
		return 0;
	range = v8_range_of(v8, v8->place);
	range->object = 0;
	range->shared = v8->taken.shared;
	range->walk = v8->walk;
	range->bytes = 0;
	v8->searches = V8_SEARCHES;
	v8->search_at = (v8->place & ~(V8_CODE_ALIGN - 1ull)) - head;
	return 1;
}

/* ---- what events tell ---- */

/* Remembers optimized code, of whose functions that are put in no event has told. */
INLINE void v8_want_put_in(struct walk *walk, u64 code, u32 fingerprint, int is_told)
{
	struct v8 *v8 = &walk->v8;
	struct v8_range *range = v8_range_of(v8, v8->place);

	if (!is_told && range->put_in && range->put_in <= V8_PUT_IN_MAX)
		range->is_listed = 0;
	if (range->is_listed)
		return;
	if (walk_told(walk, code, fingerprint + 1)) {
		range->is_listed = 1;
		return;
	}
	if (v8->put_in_code)
		return;
	v8->put_in_code = code;
	v8->put_in_print = fingerprint + 1;
	v8->put_in = range->put_in;
}

#define V8_CODE_EVENTS 2u /* that tell of code that Sparkplug has made */

/* Stores the function that was taken last, or its compiled code. Returns 0 when there was room. */
GLOBAL int v8_store(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	struct v8 *v8 = &walk->v8;
	struct runtime_list *list = &walk->list;
	u64 code = v8->taken.shared;
	u32 fingerprint = v8->taken.fingerprint;
	int is_told;

	if (v8->is_compiled) {
		code = v8->code.object - V8_TAG;
		fingerprint = v8_code_fingerprint(v8);
		is_told = walk_told(walk, code, fingerprint);
		if (!is_told)
			v8->untold = v8->is_optimized ? 1 : V8_CODE_EVENTS;
		if (v8->is_optimized)
			v8_want_put_in(walk, code, fingerprint, is_told);
	}
	if (walk_store(walk, list->words, RUNTIME_WORD_FRAME | code,
		       v8->instruction << 32 | fingerprint))
		return 1;
	list->words += 2;
	if (walk_store(walk, list->words++, RUNTIME_WORD_BORDER | v8->taken_frame, 0))
		return 1;
	v8_want(walk);
	return 0;
}

/* Returns the bytes of an array, or 0. */
INLINE u64 v8_array_bytes(struct walk *walk, u64 array)
{
	u64 bytes = v8_word(walk, array, walk->list.config.v8.array_length);

	return !(u32)bytes && bytes >> 32 < V8_LENGTH_MAX ? bytes >> 32 : 0;
}

/* Puts the parts of an event about optimized code where the config says. */
INLINE void v8_tell_places(struct walk *walk)
{
	struct runtime_list *list = &walk->list;
	const struct runtime_v8 *config = &list->config.v8;
	u64 places = v8_word(walk, walk->v8.code.object, config->code_bytecode);

	list->call += list->memory[4];
	list->memory[0] = 0;
	list->memory[1] = V8_TOLD_OPTIMIZED;
	places = v8_word(walk, places, config->put_in_places);
	if (places & V8_TAG)
		list->memory[2] = places - V8_TAG + config->array_data;
	if (v8_array_bytes(walk, places) > CODE_PART_3 - CODE_PART_2)
		list->memory[0] = list->memory[2] + CODE_PART_3 - CODE_PART_2;
}

/*
 * Tells of the code that was taken last. Where Sparkplug has made it, an event about the
 * interpreter's code comes first.
 */
INLINE int v8_tell_code(struct walk *walk)
{
	struct runtime_list *list = &walk->list;
	struct v8 *v8 = &walk->v8;
	const struct v8_function *taken = &v8->taken;
	const struct runtime_v8 *config = &list->config.v8;
	u64 array = taken->bytecode, code = taken->bytecode, data = config->bytecode_data;
	u32 fingerprint = taken->fingerprint;

	list->name = list->named = 0;
	list->call = 1; /* no caller has a name for it */
	list->called_in = fingerprint;
	list->memory[0] = taken->bytecode - V8_TAG;
	list->memory[1] = V8_TOLD_BYTECODE;
	list->memory[2] = 0;
	if (!--v8->untold) {
		list->memory[1] = V8_TOLD_BASELINE;
		list->named = taken->shared;
		code = v8->code.object;
		fingerprint = v8_code_fingerprint(v8);
		array = v8_word(walk, code, config->code_table);
		data = config->array_data;
	}
	list->memory[3] = array - V8_TAG + data;
	list->memory[4] = v8_array_bytes(walk, array);
	if (v8->is_optimized)
		v8_tell_places(walk);
	walk_tell(walk, code - V8_TAG, fingerprint);
	return 0;
}

/* ---- functions that are put in ---- */

/* Begins with the functions that are put into code. Returns 0 when there are some. */
INLINE int v8_begin_put_in(struct walk *walk)
{
	struct v8 *v8 = &walk->v8;
	const struct runtime_v8 *config = &walk->list.config.v8;
	u64 about = v8_word(walk, v8->put_in_code + V8_TAG, config->code_bytecode);

	v8->put_in_array = v8_word(walk, about, config->put_in_functions);
	v8->put_in_next = v8->is_missing = v8->is_told_of = 0;
	/* no event has bytes of an earlier walk */
	__builtin_memset(walk->window, 0, CODE_TINY_END);
	walk->window_bytes = 0;
	return !v8->put_in_array;
}

/* Tells of the functions, unless no event has told of one of them, or of its script. */
INLINE int v8_end_put_in(struct walk *walk)
{
	struct v8 *v8 = &walk->v8;

	walk->hotspot.inlined = v8->put_in;
	if (!v8->is_missing && v8->put_in_array)
		walk_tell_inlined(walk, v8->put_in_code, v8->put_in_print);
	v8->put_in_code = 0;
	v8->does = V8_NEXT;
	return 0;
}

/* Takes the next function that is put into code. The next steps tell of one that is new. */
INLINE int v8_put_in(struct walk *walk)
{
	struct v8 *v8 = &walk->v8;
	struct runtime_list *list = &walk->list;
	const struct runtime_v8 *config = &list->config.v8;
	u64 at, shared;

	if (!v8->put_in_array && v8_begin_put_in(walk))
		return v8_end_put_in(walk);
	if (v8->is_told_of && !walk_told(walk, v8->taken.shared, v8->taken.fingerprint))
		v8->is_missing = 1;
	v8->is_told_of = 0;
	if (v8->put_in_next >= v8->put_in)
		return v8_end_put_in(walk);
	at = BOUND((u64)v8->put_in_next++, V8_PUT_IN_MAX + 1);
	shared = v8_word(walk, v8->put_in_array, config->array_data + at * 8);
	shared &= ~V8_WEAK;
	if (!(shared & V8_TAG) || runtime_read(config->shared_bytes, shared - V8_TAG))
		return 0;
	v8->frame[V8_FRAME_BYTECODE] = 0;
	if (v8_look_up(shared))
		return 0;
	walk->window[at * 2] = v8->taken.shared;
	walk->window[at * 2 + 1] = v8->taken.fingerprint;
	v8->is_missing |= v8_want(walk);
	v8->is_told_of = !walk_told(walk, v8->taken.shared, v8->taken.fingerprint);
	if (v8->is_told_of)
		v8->does = V8_NAME;
	return 0;
}

#endif
