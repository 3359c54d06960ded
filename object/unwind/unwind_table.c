/* SPDX-License-Identifier: Apache-2.0 */
#include "object/unwind/unwind_table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "ipc/guard.h"
#include "base/array.h"
#include "base/hash.h"
#include "object/elf/image.h"
#include "object/elf/image_eh_frame.h"
#include "object/elf/pclntab.h"
#include "object/unwind/cfi.h"
#include "object/unwind/chunk.h"
#include "object/unwind/dictionary.h"
#include "object/unwind/frame.h"
#include "object/unwind/go_rows.h"
#include "object/unwind/rule.h"
#include "object/unwind/stub.h"
#include "object/unwind/text.h"

#define GAP_MIN	    16u /* smaller ones are padding: the rule before them goes on */
#define ENTRY_BYTES 64u /* of an entry point without an FDE; such code calls the program at once */
/* "Offsets" larger than any section: of the entry point, of the first stub. */
#define NO_RECORD   UINT32_MAX
#define STUB_RECORD (NO_RECORD - STUBS)

/*
 * Chunks without own rows cost as much as their rows would: few bytes of unwind information for
 * much text are no program, but an attempt on the kernel's memory. 64 Ki words are 30 MB of text
 * under a single FDE; the densest instructions need 5 words a byte.
 */
#define TABLE_WORDS_MIN	     (64u << 10)
#define TABLE_WORDS_PER_BYTE 16u

/* An FDE in order of address: start - base in the high half, its record's offset in the low one. */
static u64 frame_item(u32 start, u32 offset)
{
	return (u64)start << 32 | offset;
}

struct builder {
	struct image *image;
	u64 base; /* chunk aligned, below all executable segments; rows are relative to it */
	u64 *items;
	size_t item_count, item_capacity;
	u64 covered; /* end of the text that has rows so far */
	u32 *row_pc;
	u16 *row_rule; /* number in the dictionary */
	size_t row_count, pc_capacity, rule_capacity;
	u64 frames;
	bool go; /* the section is that of go_rows() */
	struct dictionary *dictionary;
	struct stub stubs[STUBS];
	size_t initial_of[FRAME_CIES]; /* CIE's offset + 1 */
	struct cfi_row initial[FRAME_CIES];
	struct frame_section section;
	struct cfi cfi;
};

static void builder_free(struct builder *builder)
{
	if (!builder)
		return;
	dictionary_free(builder->dictionary);
	free(builder->items);
	free(builder->row_pc);
	free(builder->row_rule);
	free(builder);
}

static void guard_builder_(struct builder **builder)
{
	builder_free(*builder);
}
#define guard_builder __attribute__((cleanup(guard_builder_)))

static void guard_table_(struct unwind_table **table)
{
	unwind_table_free(*table);
}
#define guard_table __attribute__((cleanup(guard_table_)))

void unwind_table_free(struct unwind_table *table)
{
	if (!table)
		return;
	free(table->dictionary);
	free(table->chunk_at);
	free(table->chunk_words);
	free(table->words);
	free(table);
}

/* Linkers leave FDEs of code that they removed, at address 0 or thereabouts. */
static bool is_text(const struct image *image, u64 base, const struct frame_fde *fde)
{
	return fde->end <= text_end(image, fde->start) && fde->end - base <= UINT32_MAX;
}

/* ---- FDEs in order ---- */

static int add_item(struct builder *builder, u64 item)
{
	int r = ARRAY_RESERVE(builder->items, builder->item_capacity, builder->item_count + 1);

	if (r == 0)
		builder->items[builder->item_count++] = item;
	return r;
}

/* A start and what nothing has covered before: the program's entry point is a proven root. */
static int add_entry(struct builder *builder, bool covered)
{
	u64 entry = image_entry(builder->image);

	if (covered || !image_is_program(builder->image) || text_end(builder->image, entry) == 0 ||
	    entry - builder->base > UINT32_MAX - ENTRY_BYTES)
		return 0;
	return add_item(builder, frame_item((u32)(entry - builder->base), NO_RECORD));
}

static int add_stubs(struct builder *builder)
{
	int r = 0;

	for (u32 i = 0; i < STUBS && r == 0; i++) {
		const struct stub *stub = &builder->stubs[i];
		const struct frame_fde range = {.start = stub->start,
						.end = stub->start + stub->size};

		if (stub->size > 0 && is_text(builder->image, builder->base, &range))
			r = add_item(builder, frame_item((u32)(stub->start - builder->base),
							 STUB_RECORD + i));
	}
	return r;
}

static int collect(struct builder *builder)
{
	u64 entry = image_entry(builder->image);
	bool entry_covered = false;
	struct frame_fde fde;
	int r;

	stubs_find(builder->image, builder->stubs);
	while (frame_next(&builder->section, &fde)) {
		if (!is_text(builder->image, builder->base, &fde)) {
			builder->section.damaged++;
			continue;
		}
		entry_covered |= entry >= fde.start && entry < fde.end;
		stubs_cover(builder->stubs, fde.start, fde.end);
		r = add_item(builder,
			     frame_item((u32)(fde.start - builder->base), (u32)fde.offset));
		if (r < 0)
			return r;
		builder->frames++;
	}
	if (builder->frames == 0)
		return builder->section.damaged > 0 ? -EBADMSG : -ENOENT;
	r = add_stubs(builder);
	return r < 0 ? r : add_entry(builder, entry_covered);
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

/* By address; those with the same start keep the order of the section. */
static int sort_items(struct builder *builder)
{
	u64 *items = builder->items, *other guard_free = NULL, *swapped;
	size_t count = builder->item_count, i;

	for (i = 1; i < count && items[i - 1] >> 32 <= items[i] >> 32; i++)
		;
	if (i >= count)
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
	builder->items = items;
	builder->item_capacity = count;
	return 0;
}

/* ---- rows ---- */

static int reserve_rows(struct builder *builder, size_t more)
{
	size_t need = builder->row_count + more;
	int r;

	if (need > UNWIND_ROWS_MAX)
		return -EFBIG;
	r = ARRAY_RESERVE(builder->row_pc, builder->pc_capacity, need);
	return r < 0 ? r : ARRAY_RESERVE(builder->row_rule, builder->rule_capacity, need);
}

/* Rows come in order of address; a row without text and one that changes nothing disappear. */
static void add_row(struct builder *builder, u64 pc, u16 rule)
{
	size_t count = builder->row_count;

	if (count > 0 && builder->row_pc[count - 1] == (u32)pc)
		count--;
	if (count == 0 || builder->row_rule[count - 1] != rule) {
		builder->row_pc[count] = (u32)pc;
		builder->row_rule[count++] = rule;
	}
	builder->row_count = count;
}

static const struct cfi_row *initial_row(struct builder *builder, const struct frame_cie *cie)
{
	struct cfi_row *row = &builder->initial[cie->slot];

	if (builder->initial_of[cie->slot] == cie->offset + 1)
		return row;
	builder->initial_of[cie->slot] = 0;
	if (cfi_initial(&builder->section, cie, row) < 0)
		return NULL;
	builder->initial_of[cie->slot] = cie->offset + 1;
	return row;
}

static void add_frame_rows(struct builder *builder, const struct frame_fde *fde,
			   const struct cfi_row *initial, u64 limit)
{
	struct cfi *cfi = &builder->cfi;
	struct rule_maker maker = {.section = &builder->section};
	struct rule_wide wide;

	cfi_init(cfi, &builder->section, fde, initial, limit);
	while (cfi_next(cfi)) {
		u64 rule = rule_maker_next(&maker, cfi, &wide);
		u16 number = rule_kind(rule) == RULE_WIDE
				     ? dictionary_add_wide(builder->dictionary, rule, &wide)
				     : dictionary_add(builder->dictionary, rule);

		add_row(builder, cfi->start - builder->base, number);
	}
	if (cfi->damaged) {
		builder->section.damaged++;
		add_row(builder, cfi->end - builder->base, DICTIONARY_NONE);
	}
}

/* Text from the end of what is covered to a start has no information; returns room for rows. */
static int begin_frame(struct builder *builder, u64 start, size_t rows)
{
	int r = reserve_rows(builder, rows + 3);

	if (r == 0 && builder->row_count > 0 && start - builder->covered >= GAP_MIN)
		add_row(builder, builder->covered - builder->base, DICTIONARY_NONE);
	return r;
}

static int add_entry_rows(struct builder *builder, u64 start, u64 limit)
{
	u64 end = text_end(builder->image, start);
	u64 rule = RULE_MAKE(RULE_END, 0, 0, 0, RULE_FLAG_ENTRY);
	int r = begin_frame(builder, start, 1);

	if (r < 0)
		return r;
	end = end - start < ENTRY_BYTES ? end : start + ENTRY_BYTES;
	add_row(builder, start - builder->base, dictionary_add(builder->dictionary, rule));
	builder->covered = end < limit ? end : limit;
	return 0;
}

static void add_stub_row(struct builder *builder, u64 pc, u32 cfa, u32 slots)
{
	u64 rule = RULE_MAKE(RULE_SP, 0, slots, cfa, RULE_FLAG_DERIVED);

	add_row(builder, pc - builder->base, dictionary_add(builder->dictionary, rule));
}

/* Whole or not at all: what else begins within it knows better. */
static int add_stub_rows(struct builder *builder, const struct stub *stub, u64 limit)
{
	int r;

	if (limit - stub->start < stub->size)
		return 0;
	r = begin_frame(builder, stub->start, 3);
	if (r < 0)
		return r;
	add_stub_row(builder, stub->start, 8, 0);
	add_stub_row(builder, stub->start + stub->inside, 16, stub->slots);
	add_stub_row(builder, stub->start + stub->outside, 8, 0);
	builder->covered = stub->start + stub->size;
	return 0;
}

/* One FDE up to where the next one starts: an unwinder finds the last start before a pc. */
static int add_frame(struct builder *builder, u32 offset, u64 limit)
{
	struct frame_fde fde;
	const struct cfi_row *initial;
	int r = frame_fde_at(&builder->section, offset, &fde);

	initial = r == 0 ? initial_row(builder, fde.cie) : NULL;
	if (!initial) {
		builder->section.damaged++;
		return 0;
	}
	r = begin_frame(builder, fde.start, fde.instructions_end - fde.instructions);
	if (r < 0)
		return r;
	add_frame_rows(builder, &fde, initial, limit);
	builder->covered = fde.end < limit ? fde.end : limit;
	return 0;
}

static int add_all_rows(struct builder *builder)
{
	int r = 0;

	for (size_t i = 0; i < builder->item_count && r == 0; i++) {
		u32 offset = (u32)builder->items[i];
		u64 start = builder->base + (builder->items[i] >> 32);
		u64 limit = i + 1 < builder->item_count
				    ? builder->base + (builder->items[i + 1] >> 32)
				    : UINT64_MAX;

		if (start == limit)
			continue;
		if (offset == NO_RECORD)
			r = add_entry_rows(builder, start, limit);
		else if (offset >= STUB_RECORD)
			r = add_stub_rows(builder, &builder->stubs[offset - STUB_RECORD], limit);
		else
			r = add_frame(builder, offset, limit);
	}
	if (r < 0 || builder->row_count == 0)
		return r < 0 ? r : -EBADMSG;
	add_row(builder, builder->covered - builder->base, DICTIONARY_NONE);
	return 0;
}

/* ---- the finished table ---- */

/* Gives the rows their rules' final indices. */
static int lay_out_rules(struct builder *builder, struct unwind_table *table, u16 *ret_none)
{
	u32 rules = dictionary_count(builder->dictionary);
	u32 *uses guard_free = calloc(rules, sizeof(*uses));
	u16 *index guard_free = calloc(rules, sizeof(*index));
	int r;

	if (!uses || !index)
		return -ENOMEM;
	for (size_t i = 0; i < builder->row_count; i++)
		uses[builder->row_rule[i]]++;
	table->rules_unsupported = uses[DICTIONARY_UNSUPPORTED];
	r = dictionary_layout(builder->dictionary, uses, index, &table->dictionary,
			      &table->dictionary_count);
	if (r < 0)
		return r;
	for (size_t i = 0; i < builder->row_count; i++)
		builder->row_rule[i] = index[builder->row_rule[i]];
	*ret_none = index[DICTIONARY_NONE];
	return 0;
}

static int lay_out_rows(struct builder *builder, u16 none, struct unwind_table *table)
{
	u32 first = builder->row_pc[0] & ~(u32)(CHUNK_BYTES - 1);
	u64 first_page = (builder->base + first) >> PAGE_BITS;
	struct chunk_rows rows = {builder->row_pc, builder->row_rule, builder->row_count, 0};
	int r;

	for (size_t i = 0; i < builder->row_count; i++)
		builder->row_pc[i] -= first;
	rows.words_max = TABLE_WORDS_MIN + TABLE_WORDS_PER_BYTE * builder->section.size;
	r = chunk_write_all(&rows, none, table);
	if (r < 0)
		return r;
	table->pages = table->chunks * CHUNK_PAGES;
	if (first_page + table->pages > UINT32_MAX)
		return -EFBIG;
	table->first_page = (u32)first_page;
	table->rows = builder->row_count;
	table->frames = builder->frames;
	return 0;
}

/*
 * Files are made by attackers, so the hash has a key; this process alone compares its results. The
 * kernel gives every process 16 random bytes.
 */
static struct hash_key content_key(void)
{
	const void *random = (const void *)getauxval(AT_RANDOM);
	struct hash_key key = {0, 0};

	if (random)
		memcpy(&key, random, sizeof(key));
	return key;
}

/* Everything a table depends on. */
static u64 content_hash(struct builder *builder, const struct unwind_table *table)
{
	struct hash_key key = content_key();
	const struct image_segment *segments;
	size_t count = image_segments(builder->image, &segments), words = 0;
	u64 word[7 + 2 * STUBS + 2 * IMAGE_SEGMENTS_MAX];

	word[words++] = hash_bytes(&key, builder->section.bytes, builder->section.size);
	word[words++] = builder->section.address;
	word[words++] = image_entry(builder->image);
	word[words++] = image_is_program(builder->image);
	/* these rows depend on text as well */
	if (builder->go) {
		word[words++] = hash_bytes(&key, builder->row_pc, builder->row_count * sizeof(u32));
		word[words++] =
			hash_bytes(&key, builder->row_rule, builder->row_count * sizeof(u16));
		word[words++] =
			hash_bytes(&key, table->dictionary, table->dictionary_count * sizeof(u64));
	}
	for (int i = 0; i < STUBS; i++) {
		word[words++] = builder->stubs[i].start;
		word[words++] = (u64)builder->stubs[i].size << 32 | builder->stubs[i].inside;
	}
	for (size_t i = 0; i < count; i++) {
		if (!segments[i].executable)
			continue;
		word[words++] = segments[i].address;
		word[words++] = image_segment_end(builder->image, &segments[i]);
	}
	return hash_bytes(&key, word, words * sizeof(*word));
}

static int finish(struct builder *builder, struct unwind_table **ret_table)
{
	struct unwind_table *table guard_table = calloc(1, sizeof(*table));
	u16 none;
	int r;

	if (!table)
		return -ENOMEM;
	r = lay_out_rules(builder, table, &none);
	if (r == 0)
		r = lay_out_rows(builder, none, table);
	if (r < 0)
		return r;
	table->content_hash = content_hash(builder, table);
	*ret_table = take_pointer(table);
	return 0;
}

static int builder_run(struct builder *builder)
{
	int r = collect(builder);

	if (r == 0)
		r = sort_items(builder);
	return r < 0 ? r : add_all_rows(builder);
}

static int add_go_row(void *context, u64 pc, u64 rule)
{
	struct builder *builder = context;
	int r = pc - builder->base <= UINT32_MAX ? reserve_rows(builder, 1) : -EFBIG;

	if (r == 0)
		add_row(builder, pc - builder->base, dictionary_add(builder->dictionary, rule));
	return r;
}

/* What is compiled, for its size and hash, is then the table of Go. */
static int find_section(struct image *image, struct image_bytes *ret_bytes, bool *ret_go)
{
	int r = image_eh_frame(image, ret_bytes);

	*ret_go = r == -ENOENT;
	return *ret_go ? pclntab_section(image, ret_bytes) : r;
}

int unwind_table_build(struct image *image, struct unwind_table **ret_table, u64 *ret_damaged)
{
	struct builder *builder guard_builder = NULL;
	struct image_bytes bytes;
	bool go;
	int r = find_section(image, &bytes, &go);

	*ret_damaged = 0;
	if (r < 0)
		return r;
	builder = calloc(1, sizeof(*builder));
	if (!builder)
		return -ENOMEM;
	builder->dictionary = dictionary_new();
	if (!builder->dictionary)
		return -ENOMEM;
	builder->image = image;
	builder->go = go;
	builder->base = text_base(image);
	frame_section_init(&builder->section, bytes.bytes, bytes.size, bytes.address);
	r = go ? go_rows(image, add_go_row, builder, &builder->frames) : builder_run(builder);
	*ret_damaged = builder->section.damaged;
	return r < 0 ? r : finish(builder, ret_table);
}

u64 unwind_table_rule(const struct unwind_table *table, u64 pc)
{
	u64 page = (pc >> PAGE_BITS) - table->first_page;
	u32 chunk = (u32)(page >> CHUNK_PAGE_BITS);

	if (page >= table->pages || table->chunk_at[chunk] == CHUNK_NONE)
		return RULE_NONE;
	return table->dictionary[chunk_find(table->words + table->chunk_at[chunk], (u32)pc)];
}

/* ---- names ---- */

/* The first of `count` ascending pcs that is not below a value. */
static size_t lower_bound(const u64 *pcs, size_t count, u64 value)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pcs[middle] < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int unwind_function_starts(struct image *image, const u64 *pcs, size_t count, u64 *ret_starts)
{
	struct frame_section *section guard_free = NULL;
	u64 *ends guard_free = calloc(count + 1, sizeof(*ends));
	struct image_bytes bytes;
	struct frame_fde fde;
	u64 base = text_base(image), start = 0, end = 0;
	int r = image_eh_frame(image, &bytes);

	section = malloc(sizeof(*section));
	if (r < 0 || !section || !ends)
		return r < 0 ? r : -ENOMEM;
	for (size_t i = 0; i < count; i++)
		ret_starts[i] = 0;
	frame_section_init(section, bytes.bytes, bytes.size, bytes.address);
	/* the last start before each pc, and then before all pcs that follow it */
	while (frame_next(section, &fde)) {
		size_t at = lower_bound(pcs, count, fde.start);

		if (at == count || fde.start < ret_starts[at] || !is_text(image, base, &fde))
			continue;
		ret_starts[at] = fde.start;
		ends[at] = fde.end;
	}
	for (size_t i = 0; i < count; i++) {
		if (ends[i] > 0) {
			start = ret_starts[i];
			end = ends[i];
		}
		ret_starts[i] = pcs[i] < end ? start : 0;
	}
	return 0;
}
