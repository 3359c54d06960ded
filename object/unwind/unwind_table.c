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
#include "object/unwind/rows.h"
#include "object/unwind/rule.h"
#include "object/unwind/stub.h"
#include "object/unwind/text.h"

#define GAP_MIN	    16u /* bytes; a smaller gap is padding, and the rule before it goes on */
#define ENTRY_BYTES 64u /* of an entry point without an FDE, which calls the program at once */
/* "Offsets" larger than any section, for the entry point and for the first stub. */
#define NO_RECORD   UINT32_MAX
#define STUB_RECORD (NO_RECORD - STUBS)

/*
 * Bounds the words of a table by the size of its input. A chunk without own rows needs as many
 * words as one with rows. Without a bound, a few hostile bytes for much text could fill the
 * segments. 64 Ki words are 30 MB of text under a single FDE; the densest instructions need 5 words
 * a byte.
 */
#define TABLE_WORDS_MIN	     (64u << 10)
#define TABLE_WORDS_PER_BYTE 16u

/* Makes a key that sorts FDEs by address: start - base, then the record's offset in the section. */
static u64 frame_item(u32 start, u32 offset)
{
	return (u64)start << 32 | offset;
}

struct builder {
	struct image *image;
	u64 base; /* chunk aligned, below all executable segments; rows are relative to it */
	u64 *items;
	size_t item_count, item_capacity;
	u64 covered;	  /* end of the text that has rows so far */
	struct rows rows; /* of the source that is being read */
	struct rows all;  /* of the sources before; pcs are relative to base */
	u64 frames;
	u64 input;	/* bytes of all sources */
	bool from_text; /* some rows depend on instructions */
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
	rows_free(&builder->rows);
	rows_free(&builder->all);
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

/* ---- FDEs in order ---- */

static int add_item(struct builder *builder, u64 item)
{
	int r = ARRAY_RESERVE(builder->items, builder->item_capacity, builder->item_count + 1);

	if (r == 0)
		builder->items[builder->item_count++] = item;
	return r;
}

/* Adds a program's entry point, a proven root, unless an FDE covers it. */
static int add_entry(struct builder *builder, bool covered)
{
	u64 entry = image_entry(builder->image);

	if (covered || !image_is_program(builder->image))
		return 0;
	if (text_end(builder->image, entry) == 0)
		return 0;
	if (entry - builder->base > UINT32_MAX - ENTRY_BYTES)
		return 0;
	return add_item(builder, frame_item((u32)(entry - builder->base), NO_RECORD));
}

static int add_stubs(struct builder *builder)
{
	u64 item;
	int r = 0;

	for (u32 i = 0; i < STUBS && r == 0; i++) {
		const struct stub *stub = &builder->stubs[i];
		const u64 end = stub->start + stub->size;

		if (stub->size == 0)
			continue;
		if (!text_holds(builder->image, builder->base, stub->start, end))
			continue;
		item = frame_item((u32)(stub->start - builder->base), STUB_RECORD + i);
		r = add_item(builder, item);
	}
	return r;
}

static int collect_items(struct builder *builder)
{
	u64 entry = image_entry(builder->image);
	bool entry_covered = false;
	struct frame_fde fde;
	int r;

	stubs_find(builder->image, builder->stubs);
	while (frame_next(&builder->section, &fde)) {
		if (!text_holds(builder->image, builder->base, fde.start, fde.end)) {
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
	if (builder->frames == 0 && builder->section.damaged > 0)
		return -EBADMSG;
	if (builder->frames == 0)
		return -ENOENT;
	r = add_stubs(builder);
	if (r < 0)
		return r;
	return add_entry(builder, entry_covered);
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
static int sort_items(struct builder *builder)
{
	u64 *items = builder->items, *other guard_free = NULL, *swapped;
	size_t count = builder->item_count;

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
	builder->items = items;
	builder->item_capacity = count;
	return 0;
}

/* ---- rows ---- */

static void add_row(struct builder *builder, u64 pc, u16 rule)
{
	rows_add(&builder->rows, pc, rule);
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
		u16 number;

		if (rule_kind(rule) == RULE_WIDE)
			number = dictionary_add_wide(builder->dictionary, rule, &wide);
		else
			number = dictionary_add(builder->dictionary, rule);
		add_row(builder, cfi->start - builder->base, number);
	}
	if (cfi->damaged) {
		builder->section.damaged++;
		add_row(builder, cfi->end - builder->base, DICTIONARY_NONE);
	}
}

/* Makes room for rows, and ends the rules before a gap: text up to `start` has no information. */
static int begin_frame(struct builder *builder, u64 start, size_t rows)
{
	int r = rows_reserve(&builder->rows, rows + 3);

	if (r == 0 && builder->rows.count > 0 && start - builder->covered >= GAP_MIN)
		add_row(builder, builder->covered - builder->base, DICTIONARY_NONE);
	return r;
}

/* Notes that text has rows up to an end, or up to the limit where something else begins. */
static void cover(struct builder *builder, u64 end, u64 limit)
{
	if (end > limit)
		end = limit;
	builder->covered = end;
}

static int add_entry_rows(struct builder *builder, u64 start, u64 limit)
{
	u64 end = text_end(builder->image, start);
	u64 rule = RULE_MAKE(RULE_END, 0, 0, 0, RULE_FLAG_ENTRY);
	int r = begin_frame(builder, start, 1);

	if (r < 0)
		return r;
	if (end - start > ENTRY_BYTES)
		end = start + ENTRY_BYTES;
	add_row(builder, start - builder->base, dictionary_add(builder->dictionary, rule));
	cover(builder, end, limit);
	return 0;
}

static void add_stub_row(struct builder *builder, u64 pc, u32 cfa, u32 slots)
{
	u64 rule = RULE_MAKE(RULE_SP, 0, slots, cfa, RULE_FLAG_DERIVED);

	add_row(builder, pc - builder->base, dictionary_add(builder->dictionary, rule));
}

/* Adds a whole stub. A stub in which an FDE begins is left to that FDE. */
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

/* Adds an FDE up to the start of the next one: unwinders take the last start before a pc. */
static int add_frame(struct builder *builder, u32 offset, u64 limit)
{
	struct frame_fde fde;
	const struct cfi_row *initial = NULL;
	int r = frame_fde_at(&builder->section, offset, &fde);

	if (r == 0)
		initial = initial_row(builder, fde.cie);
	if (!initial) {
		builder->section.damaged++;
		return 0;
	}
	r = begin_frame(builder, fde.start, fde.instructions_end - fde.instructions);
	if (r < 0)
		return r;
	add_frame_rows(builder, &fde, initial, limit);
	cover(builder, fde.end, limit);
	return 0;
}

/* Returns the start of an item, or UINT64_MAX behind the last one. */
static u64 item_start(const struct builder *builder, size_t index)
{
	if (index >= builder->item_count)
		return UINT64_MAX;
	return builder->base + (builder->items[index] >> 32);
}

static int add_item_rows(struct builder *builder, size_t index)
{
	u32 offset = (u32)builder->items[index];
	u64 start = item_start(builder, index), limit = item_start(builder, index + 1);

	if (start == limit)
		return 0;
	if (offset == NO_RECORD)
		return add_entry_rows(builder, start, limit);
	if (offset >= STUB_RECORD)
		return add_stub_rows(builder, &builder->stubs[offset - STUB_RECORD], limit);
	return add_frame(builder, offset, limit);
}

static int add_all_rows(struct builder *builder)
{
	int r;

	for (size_t i = 0; i < builder->item_count; i++) {
		r = add_item_rows(builder, i);
		if (r < 0)
			return r;
	}
	if (builder->rows.count == 0)
		return -EBADMSG;
	add_row(builder, builder->covered - builder->base, DICTIONARY_NONE);
	return 0;
}

/* ---- the finished table ---- */

/* Replaces the rows' rule numbers by final indices. */
static int lay_out_rules(struct builder *builder, struct unwind_table *table, u16 *ret_none)
{
	u32 rules = dictionary_count(builder->dictionary);
	u32 *uses guard_free = calloc(rules, sizeof(*uses));
	u16 *index guard_free = calloc(rules, sizeof(*index));
	int r;

	if (!uses || !index)
		return -ENOMEM;
	for (size_t i = 0; i < builder->all.count; i++)
		uses[builder->all.rule[i]]++;
	table->rules_unsupported = uses[DICTIONARY_UNSUPPORTED];
	r = dictionary_layout(builder->dictionary, uses, index, &table->dictionary,
			      &table->dictionary_count);
	if (r < 0)
		return r;
	for (size_t i = 0; i < builder->all.count; i++)
		builder->all.rule[i] = index[builder->all.rule[i]];
	*ret_none = index[DICTIONARY_NONE];
	return 0;
}

static int lay_out_rows(struct builder *builder, u16 none, struct unwind_table *table)
{
	u32 first = builder->all.pc[0] & ~(u32)(CHUNK_BYTES - 1);
	u64 first_page = (builder->base + first) >> PAGE_BITS;
	struct chunk_rows rows = {builder->all.pc, builder->all.rule, builder->all.count, 0};
	int r;

	for (size_t i = 0; i < builder->all.count; i++)
		builder->all.pc[i] -= first;
	rows.words_max = TABLE_WORDS_MIN + TABLE_WORDS_PER_BYTE * builder->input;
	r = chunk_write_all(&rows, none, table);
	if (r < 0)
		return r;
	table->pages = table->chunks * CHUNK_PAGES;
	if (first_page + table->pages > UINT32_MAX)
		return -EFBIG;
	table->first_page = (u32)first_page;
	table->rows = builder->all.count;
	table->frames = builder->frames;
	return 0;
}

/*
 * Returns the key of content hashes. Attackers make files, so the hash has a key, which this
 * process alone uses. The kernel gives every process 16 random bytes.
 */
static struct hash_key content_key(void)
{
	const void *random = (const void *)getauxval(AT_RANDOM);
	struct hash_key key = {0, 0};

	if (random)
		memcpy(&key, random, sizeof(key));
	return key;
}

/* Hashes all input that a table depends on. */
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
	if (builder->from_text) {
		word[words++] = hash_bytes(&key, builder->all.pc, builder->all.count * sizeof(u32));
		word[words++] =
			hash_bytes(&key, builder->all.rule, builder->all.count * sizeof(u16));
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

static int finish_table(struct builder *builder, struct unwind_table **ret_table)
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

/* ---- sources ---- */

static int add_eh_frame(struct builder *builder)
{
	struct image_bytes bytes;
	int r = image_eh_frame(builder->image, &bytes);

	if (r < 0)
		return r;
	frame_section_init(&builder->section, bytes.bytes, bytes.size, bytes.address);
	builder->input += bytes.size;
	r = collect_items(builder);
	if (r < 0)
		return r;
	r = sort_items(builder);
	if (r < 0)
		return r;
	return add_all_rows(builder);
}

static int add_go_row(void *context, u64 pc, u64 rule)
{
	struct builder *builder = context;
	int r;

	if (pc - builder->base > UINT32_MAX)
		return -EFBIG;
	r = rows_reserve(&builder->rows, 1);
	if (r < 0)
		return r;
	add_row(builder, pc - builder->base, dictionary_add(builder->dictionary, rule));
	return 0;
}

static int add_go(struct builder *builder)
{
	struct image_bytes bytes;
	u64 functions;
	int r = pclntab_bytes(builder->image, &bytes);

	if (r < 0)
		return r;
	r = go_rows(builder->image, &bytes, add_go_row, builder, &functions);
	if (r < 0)
		return r;
	builder->input += bytes.size;
	builder->frames += functions;
	builder->from_text = true;
	return 0;
}

/*
 * Adds the rows of one source to builder->rows, in order of address, and its bytes to
 * builder->input. Returns 0, -ENOENT for an object without such a source, -EBADMSG or another
 * error. A source that fails gives no row.
 */
typedef int add_source(struct builder *builder);

/* The best first: each source fills the ranges in which the sources before it have no rule. */
static add_source *const sources[] = {add_eh_frame, add_go};

/* Returns 0 when a source has rows, or else the first error other than -ENOENT, or -ENOENT. */
static int add_sources(struct builder *builder)
{
	int result = -ENOENT;

	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		int r = sources[i](builder);

		if (r < 0)
			rows_free(&builder->rows);
		if (r == 0)
			r = rows_fill(&builder->all, &builder->rows);
		if (r == -ENOMEM)
			return r;
		if (r < 0 && result == -ENOENT)
			result = r;
	}
	if (builder->all.count > 0)
		return 0;
	return result;
}

int unwind_table_build(struct image *image, struct unwind_table **ret_table, u64 *ret_damaged)
{
	struct builder *builder guard_builder = calloc(1, sizeof(*builder));
	int r;

	*ret_damaged = 0;
	if (!builder)
		return -ENOMEM;
	builder->dictionary = dictionary_new();
	if (!builder->dictionary)
		return -ENOMEM;
	builder->image = image;
	builder->base = text_base(image);
	frame_section_init(&builder->section, "", 0, 0);
	r = add_sources(builder);
	*ret_damaged = builder->section.damaged;
	if (r < 0)
		return r;
	return finish_table(builder, ret_table);
}

u64 unwind_table_rule(const struct unwind_table *table, u64 pc)
{
	u64 page = (pc >> PAGE_BITS) - table->first_page;
	u32 chunk = (u32)(page >> CHUNK_PAGE_BITS);

	if (page >= table->pages || table->chunk_at[chunk] == CHUNK_NONE)
		return RULE_NONE;
	return table->dictionary[chunk_find(table->words + table->chunk_at[chunk], (u32)pc)];
}
