/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Newlines of scripts. V8 has no lines of functions, but places in the text of a script. So events
 * tell where that text has newlines, and nothing else of it. Pure C. The includer supplies the
 * environment that bpf/walk/hotspot.bpf.h names.
 */
#ifndef KEYHOLE_BPF_WALK_V8_SCRIPT_BPF_H
#define KEYHOLE_BPF_WALK_V8_SCRIPT_BPF_H

#include "bpf/walk/list.bpf.h"
#include "bpf/walk/memory.bpf.h"
#include "bpf/walk/v8_object.bpf.h"
#include "bpf/walk/walk.bpf.h"

/* Returns a number of the script of a function, in a process. */
INLINE u64 v8_script_key(const struct walk *walk, u64 script, u32 fingerprint)
{
	return (script ^ (u64)fingerprint << 32) + walk->seed;
}

/* Returns whether the text of a script is not in memory. */
INLINE int v8_is_unread(const struct walk *walk, u64 script, u32 fingerprint)
{
	u64 key = v8_script_key(walk, script, fingerprint);
	int found = 0;

	NOT_UNROLLED
	for (u32 i = 0; i < V8_UNREAD; i++)
		found |= walk->v8.unread[i] == key;
	return found;
}

/*
 * Remembers the script of the function that was taken last, if events are to tell of its newlines.
 * Returns whether they are.
 */
INLINE int v8_want(struct walk *walk)
{
	struct v8 *v8 = &walk->v8;
	const struct v8_function *taken = &v8->taken;

	if (!taken->script || v8_is_unread(walk, taken->script, taken->script_fingerprint) ||
	    walk_told(walk, taken->script - V8_TAG, taken->script_fingerprint - 1))
		return 0;
	if (!v8->script) {
		v8->script = taken->script;
		v8->script_fingerprint = taken->script_fingerprint;
	}
	return 1;
}

/* Begins to look for newlines, where an earlier walk has ended. Returns 0. */
INLINE int v8_begin_script(struct walk *walk)
{
	struct v8 *v8 = &walk->v8;
	u64 scanned = v8_script_key(walk, v8->script, v8->script_fingerprint);

	v8->does = V8_SCAN;
	v8->at = v8->chunks = 0;
	if (v8->scanned != scanned)
		v8->chunk = 0;
	v8->scanned = scanned;
	v8_find_text(v8_word(walk, v8->script, walk->list.config.v8.script_source));
	v8->source = v8->text;
	/* no event has bytes of an earlier walk */
	__builtin_memset(walk->window, 0, CODE_TINY_END);
	walk->window_bytes = 0;
	return 0;
}

/* Returns a bit for each newline in a word: of 8 characters, or of 4 in the lowest bits. */
INLINE u64 v8_newlines(u64 word, u32 is_wide)
{
	u64 low = is_wide ? 0x7fff7fff7fff7fffull : 0x7f7f7f7f7f7f7f7full;
	u64 x = word ^ (is_wide ? 0x000a000a000a000aull : 0x0a0a0a0a0a0a0a0aull);

	x = ~(((x & low) + low) | x | low);
	if (is_wide)
		return (x >> 15) * 0x1000200040008000ull >> 60;
	return (x >> 7) * 0x0102040810204080ull >> 56;
}

/* Finds the newlines of the block in list->memory, of characters from v8->at on. Returns 0. */
GLOBAL int v8_block(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	u32 is_wide = walk->v8.source.is_wide, bits = is_wide ? 4 : 8;
	u64 at = walk->v8.at;

	NOT_UNROLLED
	for (u32 i = 0; i < V8_BLOCK_BYTES / 8; i++) {
		u64 found = v8_newlines(walk->list.memory[i], is_wide);

		walk->window[at >> 6 & (CODE_TINY_END / 8 - 1)] |= found << (at & 63);
		at += bits;
	}
	return 0;
}

/* Tells of a chunk's newlines. Returns whether the event was sent. */
INLINE int v8_send(struct walk *walk, u32 number)
{
	struct v8 *v8 = &walk->v8;
	int sent;

	walk->hotspot.inlined = CODE_TINY_END / 16;
	sent = walk_tell_inlined(walk, v8->script - V8_TAG, v8->script_fingerprint + number);
	__builtin_memset(walk->window, 0, CODE_TINY_END);
	v8->at = 0;
	return sent && ++v8->chunks < V8_CHUNKS;
}

/* Remembers that the text of a script is not in memory. Returns 1: the end. */
INLINE int v8_end_unread(struct v8 *v8)
{
	v8->unread[v8->unread_next++ & (V8_UNREAD - 1)] = v8->scanned;
	return 1;
}

/* Looks at the next block of a script. Returns 0 to go on, or 1 at the end. */
GLOBAL int v8_scan(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	struct v8 *v8 = &walk->v8;
	u32 unit = v8->source.is_wide ? 2 : 1, first = v8->chunk * V8_CHUNK + v8->at;
	u32 length = v8->source.length;
	u64 bytes = V8_BLOCK_BYTES, left;

	if (length > V8_LENGTH_MAX)
		length = V8_LENGTH_MAX;
	if (!length)
		return v8_end_unread(v8);
	if (first >= length) {
		if (v8->at && !v8_send(walk, v8->chunk))
			return 1;
		v8->chunk = 0;
		v8_send(walk, ~0u);
		return 1;
	}
	if (!v8->at && walk_told(walk, v8->script - V8_TAG, v8->script_fingerprint + v8->chunk)) {
		v8->chunk++;
		return 0;
	}
	left = (u64)(length - first) * unit;
	if (left < bytes) {
		bytes = left;
		__builtin_memset(walk->list.memory, 0, V8_BLOCK_BYTES);
	}
	u64 from = v8->source.data + (u64)first * unit;

	walk->list.reads++;
	bytes = BOUND(bytes, V8_BLOCK_BYTES + 1);
	if (from - 4096 >= WALK_ADDRESS_END - 4096 || walk_read(walk->list.memory, bytes, from))
		return v8_end_unread(v8);
	v8_block();
	v8->at += V8_BLOCK_BYTES / unit;
	if (v8->at < V8_CHUNK)
		return 0;
	if (!v8_send(walk, v8->chunk))
		return 1;
	v8->chunk++;
	return 0;
}

#endif
