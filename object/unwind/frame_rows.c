/* SPDX-License-Identifier: Apache-2.0 */
#include "object/unwind/frame_rows.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "ipc/guard.h"
#include "object/unwind/cfi.h"
#include "object/unwind/dictionary.h"
#include "object/unwind/pace.h"
#include "object/unwind/rows.h"
#include "object/unwind/rule.h"
#include "object/unwind/text.h"

#define GAP_MIN 16u /* bytes; a smaller gap is padding, and the rule before it goes on */

struct maker {
	const struct frame_rows_of *of;
	struct frame_section *section;
	struct rows *rows;
	u64 *items; /* FDEs, made by frame_item() */
	size_t item_count, item_capacity;
	u64 covered;		       /* end of the text that has rows so far */
	size_t initial_of[FRAME_CIES]; /* CIE's offset + 1 */
	struct cfi_row initial[FRAME_CIES];
	struct cfi cfi;
};

static void maker_free(struct maker *maker)
{
	if (!maker)
		return;
	free(maker->items);
	free(maker);
}

static void guard_maker_(struct maker **maker)
{
	maker_free(*maker);
}
#define guard_maker __attribute__((cleanup(guard_maker_)))

/* ---- FDEs in order ---- */

/* Makes a key that sorts FDEs by address: start - base, then the record's offset in the section. */
static u64 frame_item(u32 start, u32 offset)
{
	return (u64)start << 32 | offset;
}

static int add_item(struct maker *maker, u64 item)
{
	int r = ARRAY_RESERVE(maker->items, maker->item_capacity, maker->item_count + 1);

	if (r == 0)
		maker->items[maker->item_count++] = item;
	return r;
}

/*
 * Returns whether an FDE is of a function that the linker has removed. The linker of C leaves such
 * FDEs in .debug_frame, at address 0.
 */
static bool is_removed(const struct maker *maker, const struct frame_fde *fde)
{
	return maker->section->format == FRAME_DEBUG && fde->start == 0;
}

static bool is_known(const struct maker *maker, const struct frame_fde *fde)
{
	return fde->start >= maker->of->known.start && fde->start < maker->of->known.end;
}

static int collect_items(struct maker *maker)
{
	const struct frame_rows_of *of = maker->of;
	struct frame_section *section = maker->section;
	struct frame_fde fde;
	int r;

	while (frame_next(section, &fde)) {
		r = pace_step(of->pace);
		if (r < 0)
			return r;
		if (is_removed(maker, &fde) || is_known(maker, &fde))
			continue;
		if (!text_holds(of->image, of->base, fde.start, fde.end)) {
			section->damaged++;
			continue;
		}
		r = add_item(maker, frame_item((u32)(fde.start - of->base), (u32)fde.offset));
		if (r < 0)
			return r;
	}
	if (maker->item_count > 0)
		return 0;
	if (section->damaged > 0)
		return -EBADMSG;
	return -ENOENT;
}

#define RADIX_BITS 11u

static void radix_pass(const u64 *from, u64 *to, size_t count, u32 shift)
{
	u32 at[1u << RADIX_BITS] = {0}, sum = 0, digits;

	for (size_t i = 0; i < count; i++)
		at[from[i] >> shift & ((1u << RADIX_BITS) - 1)]++;
	for (u32 digit = 0; digit < 1u << RADIX_BITS; digit++) {
		digits = at[digit];
		at[digit] = sum;
		sum += digits;
	}
	for (size_t i = 0; i < count; i++)
		to[at[from[i] >> shift & ((1u << RADIX_BITS) - 1)]++] = from[i];
}

static bool is_sorted(const u64 *items, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (items[i - 1] >> 32 > items[i] >> 32)
			return false;
	return true;
}

/* Sorts by address. Items with the same start keep the order of the section. */
static int sort_items(struct maker *maker)
{
	u64 *items = maker->items, *other guard_free = NULL, *swapped;
	size_t count = maker->item_count;

	if (is_sorted(items, count))
		return 0;
	other = malloc(count * sizeof(*other));
	if (!other)
		return -ENOMEM;
	for (u32 shift = 32; shift < 64; shift += RADIX_BITS) {
		radix_pass(items, other, count, shift);
		swapped = items;
		items = other;
		other = swapped;
	}
	maker->items = items;
	maker->item_capacity = count;
	return 0;
}

/* ---- rows ---- */

static void add_row(struct maker *maker, u64 pc, u16 rule)
{
	rows_add(maker->rows, pc - maker->of->base, rule);
}

static const struct cfi_row *initial_row(struct maker *maker, const struct frame_cie *cie)
{
	struct cfi_row *row = &maker->initial[cie->slot];

	if (maker->initial_of[cie->slot] == cie->offset + 1)
		return row;
	maker->initial_of[cie->slot] = 0;
	if (cfi_initial(maker->section, cie, row) < 0)
		return NULL;
	maker->initial_of[cie->slot] = cie->offset + 1;
	return row;
}

static int add_frame_rows(struct maker *maker, const struct frame_fde *fde,
			  const struct cfi_row *initial, u64 limit)
{
	struct cfi *cfi = &maker->cfi;
	struct rule_maker rules = {.section = maker->section};
	struct rule_wide wide;

	cfi_init(cfi, maker->section, fde, initial, limit);
	cfi->pace = maker->of->pace;
	while (cfi_next(cfi)) {
		u64 rule = rule_maker_next(&rules, cfi, &wide);
		u16 number;

		if (rule_kind(rule) == RULE_WIDE)
			number = dictionary_add_wide(maker->of->dictionary, rule, &wide);
		else
			number = dictionary_add(maker->of->dictionary, rule);
		add_row(maker, cfi->start, number);
	}
	if (cfi->damaged) {
		maker->section->damaged++;
		add_row(maker, cfi->end, DICTIONARY_NONE);
	}
	return cfi->error;
}

/* Makes room for rows, and ends the rules before `start` where text has no information. */
static int begin_frame(struct maker *maker, u64 start, size_t rows)
{
	int r = rows_reserve(maker->rows, rows + 3);

	if (r < 0 || maker->rows->count == 0)
		return r;
	if (start - maker->covered >= GAP_MIN)
		add_row(maker, maker->covered, DICTIONARY_NONE);
	else if (start > maker->covered)
		add_row(maker, maker->covered, ROWS_PADDING);
	return 0;
}

/* Notes that text has rows up to an end, or up to the limit where something else begins. */
static void cover(struct maker *maker, u64 end, u64 limit)
{
	if (end > limit)
		end = limit;
	maker->covered = end;
}

/* Adds an FDE up to the start of the next one: unwinders take the last start before a pc. */
static int add_frame(struct maker *maker, u32 offset, u64 limit)
{
	struct frame_fde fde;
	const struct cfi_row *initial = NULL;
	int r = frame_fde_at(maker->section, offset, &fde);

	if (r == 0)
		initial = initial_row(maker, fde.cie);
	if (!initial) {
		maker->section->damaged++;
		return 0;
	}
	r = begin_frame(maker, fde.start, fde.instructions_end - fde.instructions);
	if (r < 0)
		return r;
	cover(maker, fde.end, limit);
	return add_frame_rows(maker, &fde, initial, limit);
}

/* Returns the start of an item, or UINT64_MAX behind the last one. */
static u64 item_start(const struct maker *maker, size_t index)
{
	if (index >= maker->item_count)
		return UINT64_MAX;
	return maker->of->base + (maker->items[index] >> 32);
}

static int add_all_rows(struct maker *maker)
{
	int r;

	for (size_t i = 0; i < maker->item_count; i++) {
		u64 limit = item_start(maker, i + 1);

		if (item_start(maker, i) == limit)
			continue;
		r = add_frame(maker, (u32)maker->items[i], limit);
		if (r < 0)
			return r;
	}
	if (maker->rows->count == 0)
		return -EBADMSG;
	add_row(maker, maker->covered, DICTIONARY_NONE);
	return 0;
}

int frame_rows(const struct frame_rows_of *of, struct frame_section *section, struct rows *rows,
	       u64 *ret_frames)
{
	struct maker *maker guard_maker = calloc(1, sizeof(*maker));
	int r;

	if (!maker)
		return -ENOMEM;
	maker->of = of;
	maker->section = section;
	maker->rows = rows;
	r = collect_items(maker);
	if (r < 0)
		return r;
	*ret_frames = maker->item_count;
	r = sort_items(maker);
	if (r < 0)
		return r;
	return add_all_rows(maker);
}
