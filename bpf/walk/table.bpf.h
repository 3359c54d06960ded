/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Look-ups in mapping blocks and unwind tables (layout: bpf/abi.h). Pure C, see walk.bpf.h. The
 * searches have no branches, so that the verifier sees few states. The functions are global and
 * have scalar arguments, so that the verifier checks each once. The includer supplies:
 *   BOUND(x, n)         x if x < n, else 0, on the very register that is used
 *   HIDE(walk, x)       x, of which the verifier forgets the range
 *   INLINE, GLOBAL      attributes of functions
 *   walk_state()        the state of the walk, or NULL
 *   walk_segment(word)  the segment that holds a global word number, or NULL
 */
#ifndef KEYHOLE_BPF_WALK_TABLE_BPF_H
#define KEYHOLE_BPF_WALK_TABLE_BPF_H

#include "bpf/walk/walk.bpf.h"

#define TABLE_FAILED (~0ull)

/*
 * Moves base to the last index in [base, base + n), n >= 1, whose key is <= value. The first key
 * counts as <= value. load: expression of `mid` for a key; bound: `mid` stays below.
 */
#define TABLE_SEARCH(walk, base, n, steps, bound, load, value)                        \
	do {                                                                          \
		for (u32 step_ = 0; step_ < (steps); step_++) {                       \
			if ((n) <= 1)                                                 \
				break;                                                \
			u64 stride_ = (n) >> 1, mid = BOUND((base) + stride_, bound); \
			u64 key_ = (load);                                            \
			(base) += stride_ & (0 - ((key_ - (value)-1) >> 63));         \
			(n) -= stride_;                                               \
		}                                                                     \
		(base) = HIDE(walk, base);                                            \
	} while (0)

/* Finds the mapping of an address: sets walk->mapping_*. Returns 0 or TABLE_FAILED. */
GLOBAL u64 table_find_mapping(u64 address)
{
	struct walk *walk = walk_state();

	if (!walk)
		return TABLE_FAILED;
	u32 block = walk->block;
	u64 count = walk->mappings;
	struct segment *segment = walk_segment(block);

	if (!segment || !count || address >= WALK_ADDRESS_END)
		return TABLE_FAILED;
	u64 first = (block & (SEGMENT_WORDS - 1)) >> 1, base = first, n = count;
	const u64 *starts = (const u64 *)segment->word;

	TABLE_SEARCH(walk, base, n, 13, SEGMENT_WORDS / 2, starts[mid], address);
	/* entries begin at the next multiple of 64 bytes = 8 u64 */
	u64 at = ((first + count + 7) & ~7ull) + (base - first) * 8;

	at = BOUND(at, SEGMENT_WORDS / 2 - 7);
	const struct mapping_entry *entry = (const struct mapping_entry *)&starts[at];
	u64 start = entry->start, end = entry->end;

	if (address < start || address >= end)
		return TABLE_FAILED;
	walk->mapping_start = start;
	walk->mapping_end = end;
	walk->bias = entry->bias;
	walk->first_page = entry->first_page;
	walk->pages = entry->pages;
	walk->directory = entry->directory;
	walk->dictionary = entry->dictionary;
	walk->mapping_flags = entry->flags;
	walk->mapping_runtime = entry->runtime;
	walk->mapping_rule = entry->rule;
	walk->mapping_framed_rule = entry->framed_rule;
	return 0;
}

/* Sets walk->rule to an entry of the dictionary. Returns 0 or TABLE_FAILED. */
INLINE u64 table_dictionary(struct walk *walk, u32 index)
{
	u32 word = walk->dictionary + index * 2;
	struct segment *segment = walk_segment(word);

	if (!segment)
		return TABLE_FAILED;
	u64 at = BOUND((u64)(word & (SEGMENT_WORDS - 1)) >> 1, SEGMENT_WORDS / 2);

	walk->rule = ((const u64 *)segment->word)[at];
	return 0;
}

/* Returns the dictionary index of a row whose rule byte is ROW_ESCAPE, or TABLE_FAILED. */
INLINE u64 table_escape(struct walk *walk, u32 first, u32 count, u32 row)
{
	struct segment *segment = walk_segment(first);

	if (!segment || !count)
		return TABLE_FAILED;
	u64 base = first & (SEGMENT_WORDS - 1), n = count;

	TABLE_SEARCH(walk, base, n, 15, SEGMENT_WORDS, segment->word[mid] & 0xffff, row);
	u32 escape = segment->word[BOUND(base, SEGMENT_WORDS)];

	return (escape & 0xffff) == row ? escape >> 16 : TABLE_FAILED;
}

/*
 * Finds the rule for a pc of the current mapping's object: sets walk->rule, to RULE_NONE where the
 * text has no rows. Returns first << 6 | last, the bytes of pc's 64-byte granule for which the rule
 * holds, or TABLE_FAILED for a damaged table.
 */
GLOBAL u64 table_find_rule(u64 pc)
{
	struct walk *walk = walk_state();

	if (!walk)
		return TABLE_FAILED;
	u64 page = (pc >> PAGE_BITS) - walk->first_page;

	walk->rule = RULE_MAKE(RULE_NONE, 0, 0, 0, 0);
	if (page >= walk->pages)
		return 63;
	u32 word = walk->directory + (u32)(page >> CHUNK_PAGE_BITS);
	struct segment *segment = walk_segment(word);

	if (!segment)
		return TABLE_FAILED;
	word = segment->word[BOUND((u64)(word & (SEGMENT_WORDS - 1)), SEGMENT_WORDS)];
	if (!word)
		return 63;
	segment = walk_segment(word);
	if (!segment)
		return TABLE_FAILED;

	const u16 *half = (const u16 *)segment->word;
	u64 head = BOUND((u64)(word & (SEGMENT_WORDS - 1)), SEGMENT_WORDS - CHUNK_HEAD_WORDS) * 2;
	u64 in_chunk = page & (CHUNK_PAGES - 1), value = pc & 255;
	u64 first = half[head + in_chunk], next = half[head + in_chunk + 1];
	u32 escapes = half[head + CHUNK_ESCAPES_AT], row_count = half[head + CHUNK_ROWS_AT];
	u64 rows = head + CHUNK_HEAD_U16;
	u64 own = rows + first, end = rows + next, base = own - 1, n = next - first + 1;

	TABLE_SEARCH(walk, base, n, 9, SEGMENT_WORDS * 2, half[mid] & 0xff, value);
	base = BOUND(base, SEGMENT_WORDS * 2 - 1);
	u64 row = half[base], index = row >> 8;
	/* without branches: the row may be of the granule before, or the last one */
	u64 low = row & 0xff & (0 - ((own - base - 1) >> 63));
	u64 is_last = ((base + 1 - end) >> 63) - 1;
	u64 high = (half[base + 1] & 0xff & ~is_last) | (256 & is_last);

	if (index == ROW_ESCAPE)
		index = table_escape(walk, word + CHUNK_HEAD_WORDS + ((row_count + 1) >> 1),
				     escapes, (u32)(base - rows) & 0xffff);
	if (index == TABLE_FAILED || table_dictionary(walk, index))
		return TABLE_FAILED;
	u64 granule = value & 192;

	if (low < granule)
		low = granule;
	if (high > granule + 64)
		high = granule + 64;
	return ((low - granule) & 63) << 6 | ((high - 1 - granule) & 63);
}

#endif
