/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The marks that the walk of the stack leaves for that over an interpreter's list, and memory of
 * the process. Pure C. The includer supplies the environment that bpf/walk/runtime.bpf.h names.
 */
#ifndef KEYHOLE_BPF_WALK_LIST_BPF_H
#define KEYHOLE_BPF_WALK_LIST_BPF_H

#include "bpf/walk/memory.bpf.h"
#include "bpf/walk/table.bpf.h"
#include "bpf/walk/walk.bpf.h"

#define RUNTIME_BELOW	 1024u /* bytes below a frame that are read with it */
#define MARK_FRAME_SHIFT 48
#define MARK_ADDRESS	 ((1ull << MARK_FRAME_SHIFT) - 1)

/* ---- marks ---- */

/*
 * Marks the frame at an address, which the walk has just left to its caller at cfa. This is a
 * global function: the verifier sees it once.
 */
GLOBAL int runtime_mark(u64 cfa, u64 address)
{
	struct walk *walk = walk_state();

	/* functions of HotSpot have the marks then */
	if (!walk || walk->hotspot.is_known == HOTSPOT_KNOWN)
		return 0;
	u64 frame = walk->frames - 1, at = BOUND((u64)walk->marks, RECORD_FRAMES_MAX);

	if (!walk->marks)
		walk->marked = address;
	walk->last_marked = address;
	walk->mark[at] = (cfa & MARK_ADDRESS) | frame << MARK_FRAME_SHIFT;
	walk->place[at] = address;
	walk->marks = at + 1;
	if (walk->marks == RUNTIME_MARKS_MANY && !walk->is_list_first) {
		walk->reserved = walk_list_time(walk);
		walk->deadline -= walk->reserved;
	}
	return 0;
}

/* Returns the mark of the frame that has an address of the stack, or the number of marks. */
GLOBAL u64 runtime_mark_of(u64 address)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	u64 base = 0, marks = BOUND((u64)walk->marks, RECORD_FRAMES_MAX + 1), n = marks, cfa;

	TABLE_SEARCH(walk, base, n, 10, RECORD_FRAMES_MAX, walk->mark[mid] & MARK_ADDRESS, address);
	base = BOUND(base, RECORD_FRAMES_MAX);
	cfa = walk->mark[base] & MARK_ADDRESS;
	if (cfa <= address)
		return base + 1;
	return cfa - address <= WALK_REACH ? base : marks;
}

/*
 * Copies the config that begins at a word, with the bias of its object. Any structure that begins
 * with a root will do. So will the copy of an earlier walk, if the process has the same version of
 * its mappings. Returns 0 when there is one.
 */
GLOBAL int runtime_copy_config(u32 word, u64 bias)
{
	struct walk *walk = walk_state();
	struct segment *segment;

	if (!walk || !word)
		return 1;
	walk->list.bias = bias;
	if (walk->list.config_word == word && walk->list.config_seed == walk->seed)
		return 0;
	segment = walk_segment(word);
	if (!segment)
		return 1;
	u64 at = BOUND((u64)(word & (SEGMENT_WORDS - 1)) >> 1,
		       SEGMENT_WORDS / 2 - sizeof(struct runtime_config) / 8 + 1);
	const u64 *from = (const u64 *)segment->word + at;

	__builtin_memcpy(&walk->list.config, from, sizeof(struct runtime_config));
	walk->list.config_word = word;
	walk->list.config_seed = walk->seed;
	return 0;
}

/* ---- reading ---- */

INLINE int runtime_is_address(u64 address)
{
	return !(address & 7) && address - 4096 < WALK_ADDRESS_END - 4096;
}

/* Reads a word of the process into list->word. Returns 0 when the word was read. */
GLOBAL int runtime_read_word(u64 address)
{
	struct walk *walk = walk_state();

	if (!walk || !runtime_is_address(address))
		return 1;
	walk->list.reads++;
	return walk_read(&walk->list.word, 8, address);
}

/* Reads bytes of the process into list->memory. Returns 0 when all were read. */
GLOBAL int runtime_read(u64 bytes, u64 address)
{
	struct walk *walk = walk_state();

	if (!walk || !runtime_is_address(address))
		return 1;
	bytes = BOUND(bytes, sizeof(walk->list.memory) + 1);
	walk->list.reads++;
	return walk_read(walk->list.memory, bytes, address);
}

/*
 * Reads a frame into the window, with memory below it: there the frames of callers often are. So a
 * read serves several frames. A frame far from the one before is read alone. Returns 0 when the
 * window has the frame.
 */
INLINE int runtime_read_node(struct walk *walk, u64 bytes, u64 node)
{
	u64 page = node & ~4095ull, from = node - RUNTIME_BELOW;

	if (!runtime_is_address(node))
		return 1;
	if (node >= walk->window_start && node + bytes - walk->window_start <= walk->window_bytes)
		return 0;
	if (walk->list.config.flags & RUNTIME_APART ||
	    (walk->window_bytes && walk->window_start - node > RUNTIME_BELOW))
		from = node;
	else if (from < page)
		from = page;
	walk->list.reads++;
	walk->window_start = from;
	walk->window_bytes = node + bytes - from;
	return walk_read_window(walk->window_bytes, from);
}

/* Returns a word of a frame in the window. */
INLINE u64 runtime_node_u64(const struct walk *walk, u64 node, u32 at)
{
	return walk->window[(node - walk->window_start + at) >> 3 & (WALK_WINDOW_BYTES / 8 - 1)];
}

INLINE u32 runtime_node_u32(const struct walk *walk, u64 node, u32 at)
{
	return runtime_node_u64(walk, node, at) >> (at & 4) * 8;
}

INLINE u64 runtime_u64(const struct runtime_list *list, u32 at)
{
	return list->memory[at >> 3 & (RUNTIME_MEMORY_WORDS - 1)];
}

INLINE u32 runtime_u32(const struct runtime_list *list, u32 at)
{
	return runtime_u64(list, at) >> (at & 4) * 8;
}

/* Returns a reference in the memory that was read: 4 or 8 bytes. */
INLINE u64 runtime_reference(const struct runtime_list *list, u32 at)
{
	return runtime_u64(list, at) >> (at & 4) * 8 & list->config.code_mask;
}

/* Reads a reference into list->word. Returns 0 when it was read. */
INLINE int runtime_read_reference(struct runtime_list *list, u64 address)
{
	if (runtime_read_word(address & ~7ull))
		return 1;
	list->word = list->word >> (address & 4) * 8 & list->config.code_mask;
	return 0;
}

/* ---- code ---- */

INLINE u64 runtime_mix(u64 hash, u64 value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

/*
 * Returns a fingerprint of the code whose bytes are in list->memory. Code that lies where other
 * code was has its name, its file or its lines elsewhere, or other numbers.
 */
INLINE u32 runtime_fingerprint(struct runtime_list *list)
{
	const struct runtime_config *config = &list->config;
	u64 hash = runtime_u64(list, config->name);

	NOT_UNROLLED
	for (u32 i = 0; i < 4; i++)
		hash = runtime_mix(hash, runtime_u32(list, config->fingerprint[i]));
	NOT_UNROLLED
	for (u32 i = 0; i < RUNTIME_PARTS; i++)
		if (config->part[i] < RUNTIME_CODE_NAMES)
			hash = runtime_mix(hash, runtime_u64(list, config->part[i]));
	return hash >> 32;
}

/* Forgets the code that the walk has met. */
INLINE void runtime_forget(struct runtime_list *list)
{
	NOT_UNROLLED
	for (u32 i = 0; i < RUNTIME_CODES; i++)
		list->known[i].code = RUNTIME_CODE_FREE;
}

/* Stores list->stored, perhaps once more. Returns 0, or the result that ends the walk. */
INLINE int runtime_store(struct walk *walk)
{
	struct runtime_list *list = &walk->list;

	if (walk_store(walk, list->words, RUNTIME_WORD_FRAME | list->stored.code,
		       list->stored.place))
		return RUNTIME_CUT_DEPTH;
	list->words += 2;
	list->open = 1;
	return 0;
}

/* ---- the end ---- */

INLINE int runtime_end(struct runtime_list *list, u32 result)
{
	list->result = result;
	list->on = 0;
	return 1;
}

#endif
