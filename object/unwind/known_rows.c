/* SPDX-License-Identifier: Apache-2.0 */
#include "object/unwind/known_rows.h"

#include "object/elf/image.h"
#include "object/unwind/dictionary.h"
#include "object/unwind/rows.h"
#include "object/unwind/text.h"

#define ENTRY_BYTES 64u /* of an entry point without an FDE, which calls the program at once */
#define ROWS_OF_ONE 4u

/* Rows of one piece of code. */
struct piece {
	u32 pc[ROWS_OF_ONE];
	u16 rule[ROWS_OF_ONE];
	size_t count;
};

static void add(struct piece *piece, u64 pc, u16 rule)
{
	piece->pc[piece->count] = (u32)pc;
	piece->rule[piece->count++] = rule;
}

static int insert(struct rows *rows, struct piece *piece, u64 end)
{
	struct rows more = {.pc = piece->pc, .rule = piece->rule};

	add(piece, end, DICTIONARY_NONE);
	more.count = piece->count;
	return rows_insert(rows, &more);
}

static u16 root_rule(struct dictionary *dictionary)
{
	return dictionary_add(dictionary, RULE_MAKE(RULE_END, 0, 0, 0, RULE_FLAG_ENTRY));
}

static u16 stub_rule(struct dictionary *dictionary, u32 cfa, u32 slots)
{
	return dictionary_add(dictionary, RULE_MAKE(RULE_SP, 0, slots, cfa, RULE_FLAG_DERIVED));
}

static int add_stub(struct image *image, u64 base, struct dictionary *dictionary, struct rows *rows,
		    const struct stub *stub)
{
	const u64 start = stub->start - base, end = start + stub->size;
	struct piece piece = {0};

	if (stub->size == 0 || !text_holds(image, base, stub->start, stub->start + stub->size))
		return 0;
	if (rows_gap_end(rows, (u32)start) < end)
		return 0;
	if (stub->is_root) {
		add(&piece, start, root_rule(dictionary));
		return insert(rows, &piece, end);
	}
	add(&piece, start, stub_rule(dictionary, 8, 0));
	add(&piece, start + stub->inside, stub_rule(dictionary, 16, stub->slots));
	add(&piece, start + stub->outside, stub_rule(dictionary, 8, 0));
	return insert(rows, &piece, end);
}

/* Adds a program's entry point, a proven root. */
static int add_entry(struct image *image, u64 base, struct dictionary *dictionary,
		     struct rows *rows)
{
	const u64 entry = image_entry(image);
	u64 end = text_end(image, entry), gap_end;
	struct piece piece = {0};

	if (!image_is_program(image) || end == 0 || entry - base > UINT32_MAX - ENTRY_BYTES)
		return 0;
	if (end - entry > ENTRY_BYTES)
		end = entry + ENTRY_BYTES;
	gap_end = rows_gap_end(rows, (u32)(entry - base));
	if (gap_end == entry - base)
		return 0;
	if (gap_end < end - base)
		end = base + gap_end;
	add(&piece, entry - base, root_rule(dictionary));
	return insert(rows, &piece, end - base);
}

int known_rows(struct image *image, u64 base, struct dictionary *dictionary, struct rows *rows,
	       struct stub ret_stubs[STUBS])
{
	int r = 0;

	stubs_find(image, ret_stubs);
	for (u32 i = 0; i < STUBS && r == 0; i++)
		r = add_stub(image, base, dictionary, rows, &ret_stubs[i]);
	if (r < 0)
		return r;
	return add_entry(image, base, dictionary, rows);
}
