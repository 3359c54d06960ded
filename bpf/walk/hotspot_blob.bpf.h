/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where HotSpot has its code (RUNTIME_HEAPS): heaps, and the blobs in them. Pure C. The includer
 * supplies the environment that bpf/walk/runtime.bpf.h names.
 */
#ifndef KEYHOLE_BPF_WALK_HOTSPOT_BLOB_BPF_H
#define KEYHOLE_BPF_WALK_HOTSPOT_BLOB_BPF_H

#include "bpf/walk/list.bpf.h"
#include "bpf/walk/memory.bpf.h"
#include "bpf/walk/table.bpf.h"
#include "bpf/walk/walk.bpf.h"

/* Returns a u32 of the process, or 0. */
INLINE u32 hotspot_u32(struct walk *walk, u64 address)
{
	if (runtime_read_word(address & ~7ull))
		return 0;
	return walk->list.word >> (address & 4) * 8;
}

/* Returns a u16 of the process, or 0. */
INLINE u32 hotspot_u16(struct walk *walk, u64 address)
{
	return hotspot_u32(walk, address & ~3ull) >> (address & 2) * 8 & 0xffff;
}

/* Returns a pointer of the process, or 0. */
INLINE u64 hotspot_pointer(struct walk *walk, u64 address)
{
	return runtime_read_word(address) ? 0 : walk->list.word;
}

/* ---- heaps ---- */

GLOBAL int hotspot_read_heap(u32 number, u64 address)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	const struct runtime_hotspot *config = &walk->list.config.hotspot;
	struct hotspot_heap *heap = &walk->hotspot.heap[number & (HOTSPOT_HEAPS - 1)];

	heap->low = hotspot_pointer(walk, address + config->heap_low);
	heap->high = hotspot_pointer(walk, address + config->heap_high);
	heap->segments = hotspot_pointer(walk, address + config->heap_segments);
	heap->shift = hotspot_u32(walk, address + config->heap_shift);
	return 0;
}

INLINE void hotspot_read_heaps(struct walk *walk)
{
	const struct runtime_hotspot *config = &walk->list.config.hotspot;
	u64 heaps = hotspot_pointer(walk, config->heaps + walk->list.bias), data;
	u32 count;

	if (!config->heaps_data) {
		hotspot_read_heap(0, heaps);
		return;
	}
	count = hotspot_u32(walk, heaps + config->heaps_count);
	data = hotspot_pointer(walk, heaps + config->heaps_data);
	NOT_UNROLLED
	for (u32 i = 0; i < HOTSPOT_HEAPS && i < count; i++)
		hotspot_read_heap(i, hotspot_pointer(walk, data + i * 8ull));
}

/*
 * Reads where the code is, which stays there as long as the process lives. Returns whether there is
 * any: HotSpot makes it a little after its start.
 */
GLOBAL int hotspot_read_code(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	struct hotspot *hotspot = &walk->hotspot;
	const struct runtime_hotspot *config = &walk->list.config.hotspot;
	u64 queue;

	__builtin_memset(hotspot->heap, 0, sizeof(hotspot->heap));
	hotspot_read_heaps(walk);
	queue = hotspot_pointer(walk, config->interpreter + walk->list.bias);
	hotspot->code = hotspot_pointer(walk, queue + config->code_start);
	hotspot->code_bytes = hotspot_u32(walk, queue + config->code_bytes);
	hotspot->returns = hotspot_pointer(walk, config->returns + walk->list.bias);
	hotspot->named = 0;
	return hotspot->heap[0].low && hotspot->code && hotspot->returns;
}

/*
 * Returns whether all fields lie in what the walk reads. Behind that, buffers have bytes of an
 * earlier walk, perhaps of a process without a grant.
 */
INLINE int hotspot_is_within(const struct runtime_hotspot *config)
{
	u32 last = config->size;

	if (config->complete > last)
		last = config->complete;
	if (config->frame > last)
		last = config->frame;
	if (config->name > last)
		last = config->name;
	if (config->method > last)
		last = config->method;
	if (config->kind > last)
		last = config->kind;
	if (config->own > last)
		last = config->own;
	if (config->code.at > last)
		last = config->code.at;
	if ((last & ~7u) + 8 > config->head_bytes || config->head_bytes > RUNTIME_HEAD_BYTES)
		return 0;
	last = config->pool;
	if (config->code_size > last)
		last = config->code_size;
	if (config->constant_size > last)
		last = config->constant_size;
	if (config->name_index > last)
		last = config->name_index;
	if (config->signature_index > last)
		last = config->signature_index;
	return (last & ~7u) + 8 <= config->constant_bytes &&
	       config->constant_bytes <= RUNTIME_HEAD_BYTES;
}

/*
 * Returns whether the runtime of the mapping that was found last is HotSpot, and whether its code
 * is known.
 */
GLOBAL int hotspot_is_there(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	struct hotspot *hotspot = &walk->hotspot;
	u64 key = (walk->seed ^ walk->mapping_runtime) + walk->bias;

	if (hotspot->is_known)
		return hotspot->is_known == HOTSPOT_KNOWN;
	hotspot->is_known = HOTSPOT_NONE;
	if (walk_has_copy(walk) || !walk_may_list(walk) ||
	    runtime_copy_config(walk->mapping_runtime, walk->bias) ||
	    (walk->list.config.flags & RUNTIME_FRAMES) != RUNTIME_HEAPS ||
	    !hotspot_is_within(&walk->list.config.hotspot))
		return 0;
	if (hotspot->key != key) {
		hotspot->key = 0;
		if (!hotspot_read_code())
			return 0;
		hotspot->key = key;
	}
	hotspot->blob = hotspot->size = 0;
	hotspot->is_known = HOTSPOT_KNOWN;
	walk->marks = 0;
	walk->marked = walk->list.config.hotspot.inside + walk->list.bias;
	return 1;
}

/* ---- blobs ---- */

#define HOTSPOT_FREE 0xffu /* of a segment */
#define HOTSPOT_HOPS 14u   /* a large block has a step back for each 254 segments */

/* Returns the number of the heap that has an address, or HOTSPOT_HEAPS. */
INLINE u32 hotspot_heap_of(const struct hotspot *hotspot, u64 address)
{
	u32 number = HOTSPOT_HEAPS;

	NOT_UNROLLED
	for (u32 i = 0; i < HOTSPOT_HEAPS; i++)
		if (address - hotspot->heap[i].low < hotspot->heap[i].high - hotspot->heap[i].low)
			number = i;
	return number;
}

/* Returns the blob that has an address, or 0. */
GLOBAL u64 hotspot_find(u64 address)
{
	struct walk *walk = walk_state();
	u32 number = walk ? hotspot_heap_of(&walk->hotspot, address) : HOTSPOT_HEAPS;

	if (!walk || number >= HOTSPOT_HEAPS)
		return 0;
	const struct hotspot_heap *heap = &walk->hotspot.heap[number & (HOTSPOT_HEAPS - 1)];
	u64 segment = (address - heap->low) >> (heap->shift & 31), at, back;

	NOT_UNROLLED
	for (u32 i = 0; i < HOTSPOT_HOPS; i++) {
		at = heap->segments + segment;
		if (runtime_read_word(at & ~7ull))
			return 0;
		back = walk->list.word >> (at & 7) * 8 & 0xff;
		if (!back)
			return heap->low + (segment << (heap->shift & 31)) +
			       walk->list.config.hotspot.block_bytes;
		if (back == HOTSPOT_FREE || back > segment)
			return 0;
		segment -= back;
	}
	return 0;
}

/* Returns the address of a part of a blob, or 0. */
GLOBAL u64 hotspot_part(u64 blob, u32 at, u32 base)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	if (base == HOTSPOT_POINTER)
		return hotspot_pointer(walk, blob + at);
	if (base != HOTSPOT_OFFSET) {
		u64 piece = hotspot_pointer(walk, blob + base);

		return piece ? piece + hotspot_u32(walk, blob + at) : 0;
	}
	return blob + hotspot_u32(walk, blob + at);
}

#define NAME_COMPILED 0x00646f6874656d6eull /* "nmethod" */
#define NAME_NATIVE   0x6e2065766974616eull /* "native nmethod" */
#define NAME_STUBS    0x74756f5262757453ull /* "StubRoutines" */

/* Sets hotspot->kind, by the name of the blob where nothing else says it. */
INLINE void hotspot_set_kind(struct walk *walk)
{
	struct hotspot *hotspot = &walk->hotspot;
	const struct runtime_hotspot *config = &walk->list.config.hotspot;

	hotspot->name = runtime_u64(&walk->list, config->name);
	if (config->kind) {
		u32 kind = runtime_u32(&walk->list, config->kind) >> (config->kind & 3) * 8;

		hotspot->kind = HOTSPOT_OTHER;
		if ((kind & 0xff) == config->kind_compiled) {
			hotspot->kind = HOTSPOT_COMPILED;
			return;
		}
	}
	if (hotspot->named != hotspot->name) {
		u64 text = 0;

		hotspot->named = hotspot->name;
		hotspot->kind_named = HOTSPOT_OTHER;
		walk->list.reads++;
		if (walk_read(&walk->list.word, 8, hotspot->name))
			hotspot->named = 0;
		else
			text = walk->list.word;
		if (text == NAME_COMPILED || text == NAME_NATIVE)
			hotspot->kind_named = HOTSPOT_COMPILED;
		if (text == NAME_STUBS)
			hotspot->kind_named = HOTSPOT_STUBS;
	}
	hotspot->kind = hotspot->kind_named;
}

#define HOTSPOT_SEEN_WORDS 8u /* from the head of the blob's block on */

/*
 * Returns a number of what tells a blob from another one at its address, or 0. The head of its
 * block says that the block is in use.
 */
GLOBAL u32 hotspot_seen(u64 blob)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	struct runtime_list *list = &walk->list;
	u64 seen = 0;

	if (runtime_read(HOTSPOT_SEEN_WORDS * 8, blob - list->config.hotspot.block_bytes))
		return 0;
	NOT_UNROLLED
	for (u32 i = 0; i < HOTSPOT_SEEN_WORDS; i++)
		seen = runtime_mix(seen, list->memory[i]);
	return seen >> 32 | 1;
}

INLINE struct hotspot_blob *hotspot_entry(struct walk *walk, u64 address)
{
	u32 place =
		(u32)(address >> HOTSPOT_GRANULE_BITS) * 0x9e3779b1u >> (32 - HOTSPOT_BLOB_BITS);

	return &walk->blob[place];
}

/* Returns whether a blob that walks have met is still there. */
INLINE int hotspot_is_still(struct walk *walk, struct hotspot_blob *known)
{
	u64 now = walk->looked;

	if (now - known->trusted_at < HOTSPOT_TRUST_NS)
		return 1;
	if (known->seen != hotspot_seen(known->blob))
		return 0;
	if (known->kind == HOTSPOT_COMPILED &&
	    hotspot_pointer(walk, known->blob + walk->list.config.hotspot.method) != known->method)
		return 0;
	known->trusted_at = now;
	return 1;
}

/* Takes the blob of an address that walks have met there. Returns 0 when it is there still. */
INLINE int hotspot_recall(struct walk *walk, u64 address)
{
	struct hotspot *hotspot = &walk->hotspot;
	struct hotspot_blob *known = hotspot_entry(walk, address);

	if (address - known->blob >= known->size || known->key != hotspot->key ||
	    !hotspot_is_still(walk, known))
		return 1;
	hotspot->blob = known->blob;
	hotspot->begin = known->begin;
	hotspot->method = known->method;
	hotspot->name = known->name;
	hotspot->own = known->own;
	hotspot->size = known->size;
	hotspot->frame = known->frame;
	hotspot->complete = known->complete;
	hotspot->kind = known->kind;
	return 0;
}

/* Remembers the blob that was met last, for an address in it. */
INLINE void hotspot_remember(struct walk *walk, u64 address)
{
	const struct hotspot *hotspot = &walk->hotspot;
	struct hotspot_blob *known = hotspot_entry(walk, address);

	known->key = hotspot->key;
	known->seen = hotspot_seen(hotspot->blob);
	known->size = known->seen ? hotspot->size : 0;
	known->trusted_at = walk->looked;
	known->blob = hotspot->blob;
	known->begin = hotspot->begin;
	known->method = hotspot->method;
	known->name = hotspot->name;
	known->own = hotspot->own;
	known->frame = hotspot->frame;
	known->complete = hotspot->complete;
	known->kind = hotspot->kind;
	known->scope = 0;
}

/* Reads the blob that has an address into walk->hotspot. Returns 0 when there is one. */
GLOBAL int hotspot_take_blob(u64 address)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	struct hotspot *hotspot = &walk->hotspot;
	struct runtime_list *list = &walk->list;
	const struct runtime_hotspot *config = &list->config.hotspot;
	u64 blob;

	if (address - hotspot->blob < hotspot->size || !hotspot_recall(walk, address))
		return 0;
	blob = hotspot_find(address);
	hotspot->size = 0;
	if (!blob || runtime_read(config->head_bytes, blob))
		return 1;
	hotspot->blob = blob;
	hotspot->size = runtime_u32(list, config->size);
	hotspot->frame = runtime_u32(list, config->frame);
	hotspot->complete = runtime_u32(list, config->complete) >> (config->complete & 2) * 8;
	if (config->complete_bytes == 2)
		hotspot->complete &= 0xffff;
	hotspot->method = runtime_u64(list, config->method);
	hotspot_set_kind(walk);
	hotspot->own = runtime_u64(list, config->own);
	hotspot->begin = runtime_u64(list, config->code.at);
	if (config->code.base == HOTSPOT_OFFSET)
		hotspot->begin = blob + runtime_u32(list, config->code.at);
	if (address - blob >= hotspot->size)
		return 1;
	hotspot_remember(walk, address);
	return 0;
}

#endif
