/* SPDX-License-Identifier: Apache-2.0 */
#include "object/unwind/unwind_table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "ipc/guard.h"
#include "base/hash.h"
#include "object/elf/image.h"
#include "object/elf/image_eh_frame.h"
#include "object/elf/pclntab.h"
#include "object/unwind/chunk.h"
#include "object/unwind/dictionary.h"
#include "object/unwind/frame.h"
#include "object/unwind/frame_rows.h"
#include "object/unwind/go_rows.h"
#include "object/unwind/go_switch.h"
#include "object/unwind/known_rows.h"
#include "object/unwind/pace.h"
#include "object/unwind/rows.h"
#include "object/unwind/stub.h"
#include "object/unwind/text.h"

/*
 * Bounds the words of a table by the size of its input. A chunk without own rows needs as many
 * words as one with rows. Without a bound, a few hostile bytes for much text could fill the
 * segments. 64 Ki words are 30 MB of text under a single FDE; the densest instructions need 5 words
 * a byte.
 */
#define TABLE_WORDS_MIN	     (64u << 10)
#define TABLE_WORDS_PER_BYTE 16u

struct builder {
	struct image *image;
	struct pace *pace;
	u64 base;	  /* chunk aligned, below all executable segments; rows count from here */
	struct rows rows; /* of the source that is being read */
	struct rows all;  /* of the sources before */
	u64 frames;
	u64 input; /* bytes of all sources */
	u64 damaged;
	u32 sources;		  /* UNWIND_*: those with rows in `all` */
	struct frame_range known; /* the text that Go's table is about */
	struct go_layout layout;  /* zeros: not known */
	struct dictionary *dictionary;
	struct stub stubs[STUBS];
	struct image_bytes eh_frame; /* size 0: none */
	struct frame_section section;
};

static void builder_free(struct builder *builder)
{
	if (!builder)
		return;
	dictionary_free(builder->dictionary);
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
	free(table->runtime);
	free(table->dictionary);
	free(table->chunk_at);
	free(table->chunk_words);
	free(table->words);
	free(table);
}

/* ---- the finished table ---- */

/* Replaces the rows' rule numbers by final indices. */
static int lay_out_rules(struct builder *builder, struct unwind_table *table, u16 *ret_none)
{
	u32 rules = dictionary_count(builder->dictionary);
	u32 *uses guard_free = calloc(rules, sizeof(*uses));
	u16 *index guard_free = calloc(rules, sizeof(*index));
	int r = 0;

	if (!uses || !index)
		return -ENOMEM;
	for (size_t i = 0; i < builder->all.count && r == 0; i++) {
		uses[builder->all.rule[i]]++;
		r = pace_step(builder->pace);
	}
	if (r < 0)
		return r;
	table->rules_unsupported = uses[DICTIONARY_UNSUPPORTED];
	r = dictionary_layout(builder->dictionary, uses, index, table);
	if (r < 0)
		return r;
	for (size_t i = 0; i < builder->all.count && r == 0; i++) {
		builder->all.rule[i] = index[builder->all.rule[i]];
		r = pace_step(builder->pace);
	}
	*ret_none = index[DICTIONARY_NONE];
	return r;
}

static int lay_out_rows(struct builder *builder, u16 none, struct unwind_table *table)
{
	u32 first = builder->all.pc[0] & ~(u32)(CHUNK_BYTES - 1);
	u64 first_page = (builder->base + first) >> PAGE_BITS;
	struct chunk_rows rows = {
		.pc = builder->all.pc,
		.rule = builder->all.rule,
		.count = builder->all.count,
		.pace = builder->pace,
	};
	int r;

	for (size_t i = 0; i < builder->all.count; i++) {
		builder->all.pc[i] -= first;
		r = pace_step(builder->pace);
		if (r < 0)
			return r;
	}
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
	table->sources = builder->sources;
	table->go_thread_local_at = builder->layout.thread_local_at;
	table->go_in_word = builder->layout.in_word;
	table->go_current = builder->layout.current;
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

	word[words++] = hash_bytes(&key, builder->eh_frame.bytes, builder->eh_frame.size);
	word[words++] = builder->eh_frame.address;
	word[words++] = image_entry(builder->image);
	word[words++] = image_is_program(builder->image);
	if (builder->sources & ~UNWIND_EH_FRAME) {
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

static int add_frames(struct builder *builder)
{
	const struct frame_rows_of of = {
		.image = builder->image,
		.base = builder->base,
		.dictionary = builder->dictionary,
		.known = builder->known,
		.pace = builder->pace,
	};
	u64 frames;
	int r = frame_rows(&of, &builder->section, &builder->rows, &frames);

	builder->damaged += builder->section.damaged;
	builder->input += builder->section.size;
	if (r < 0)
		return r;
	builder->frames += frames;
	return 0;
}

static int add_eh_frame(struct builder *builder)
{
	struct image_bytes bytes;
	int r = image_eh_frame(builder->image, &bytes);

	if (r < 0)
		return r;
	builder->eh_frame = bytes;
	frame_section_init(&builder->section, bytes.bytes, bytes.size, bytes.address);
	return add_frames(builder);
}

static int add_debug_frame(struct builder *builder)
{
	struct image_bytes bytes;
	int r = image_section(builder->image, ".debug_frame", &bytes);

	if (r < 0)
		return r;
	frame_section_init_debug(&builder->section, bytes.bytes, bytes.size);
	return add_frames(builder);
}

static int add_go_row(void *context, u64 pc, u64 rule)
{
	struct builder *builder = context;
	int r;

	if (pc - builder->base > UINT32_MAX)
		return -EFBIG;
	r = pace_step(builder->pace);
	if (r < 0)
		return r;
	r = rows_reserve(&builder->rows, 1);
	if (r < 0)
		return r;
	rows_add(&builder->rows, pc - builder->base, dictionary_add(builder->dictionary, rule));
	if (builder->known.end == 0)
		builder->known.start = pc;
	builder->known.end = pc;
	return 0;
}

static int add_go(struct builder *builder)
{
	struct image_bytes bytes;
	struct go_layout layout;
	u64 functions;
	int r = pclntab_bytes(builder->image, &bytes);

	if (r < 0)
		return r;
	r = go_rows(builder->image, &bytes, add_go_row, builder, &functions, &layout);
	if (r < 0) {
		builder->known = (struct frame_range){0};
		return r;
	}
	builder->input += bytes.size;
	builder->frames += functions;
	builder->layout = layout;
	return 0;
}

/*
 * Adds the rows of one source to builder->rows, in order of address, and its bytes to
 * builder->input. Returns 0, -ENOENT for an object without such a source, -EBADMSG or another
 * error. A source that fails gives no row.
 */
typedef int add_source(struct builder *builder);

/*
 * The best first: each source fills the ranges in which the sources before it have no rule. Go's
 * table is before .debug_frame, for Go's linker also describes there the functions that change
 * stacks, as if they did not.
 */
static const struct {
	add_source *add;
	u32 bit; /* UNWIND_* */
} sources[] = {
	{add_eh_frame, UNWIND_EH_FRAME},
	{add_go, UNWIND_GO},
	{add_debug_frame, UNWIND_DEBUG_FRAME},
};

/* Returns whether an error ends the work, where others leave it to the next source. */
static bool is_final(int error)
{
	return error == -ENOMEM || error == -ETIME || error == -ECANCELED;
}

/* Returns 0 when a source has rows, or else the first error other than -ENOENT, or -ENOENT. */
static int add_sources(struct builder *builder)
{
	int result = -ENOENT;

	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		int r = sources[i].add(builder);

		if (r < 0)
			rows_free(&builder->rows);
		if (r == 0)
			r = rows_fill(&builder->all, &builder->rows);
		if (r == 1)
			builder->sources |= sources[i].bit;
		if (is_final(r))
			return r;
		if (r < 0 && result == -ENOENT)
			result = r;
	}
	if (builder->all.count > 0)
		return 0;
	return result;
}

static int build(struct builder *builder, struct unwind_table **ret_table)
{
	int r;

	builder->dictionary = dictionary_new();
	if (!builder->dictionary)
		return -ENOMEM;
	builder->base = text_base(builder->image);
	r = add_sources(builder);
	if (r < 0)
		return r;
	r = known_rows(builder->image, builder->base, builder->dictionary, &builder->all,
		       builder->stubs);
	if (r < 0)
		return r;
	r = rows_settle(&builder->all, builder->pace);
	if (r < 0)
		return r;
	return finish_table(builder, ret_table);
}

int unwind_table_build(struct image *image, struct unwind_table **ret_table, u64 *ret_damaged)
{
	return unwind_table_build_paced(image, NULL, ret_table, ret_damaged);
}

int unwind_table_build_paced(struct image *image, struct pace *pace,
			     struct unwind_table **ret_table, u64 *ret_damaged)
{
	struct builder *builder guard_builder = calloc(1, sizeof(*builder));
	int r;

	*ret_damaged = 0;
	if (!builder)
		return -ENOMEM;
	builder->image = image;
	builder->pace = pace;
	builder->eh_frame.bytes = (const unsigned char *)"";
	r = build(builder, ret_table);
	*ret_damaged = builder->damaged;
	return r;
}

int unwind_table_set_runtime(struct unwind_table *table, const struct runtime_config *config)
{
	const u64 flag = RULE_MAKE(0, 0, 0, 0, RULE_FLAG_RUNTIME);
	struct hash_key key = content_key();

	table->runtime = malloc(sizeof(*table->runtime));
	if (!table->runtime)
		return -ENOMEM;
	*table->runtime = *config;
	for (u32 i = 0; i < table->rules && !(config->flags & RUNTIME_HEAPS); i++)
		if (rule_kind(table->dictionary[i]) != RULE_NONE)
			table->dictionary[i] |= flag;
	table->content_hash ^= hash_bytes(&key, config, sizeof(*config));
	return 0;
}

u64 unwind_table_rule(const struct unwind_table *table, u64 pc)
{
	u64 page = (pc >> PAGE_BITS) - table->first_page;
	u32 chunk = (u32)(page >> CHUNK_PAGE_BITS);

	if (page >= table->pages || table->chunk_at[chunk] == CHUNK_NONE)
		return RULE_NONE;
	return table->dictionary[chunk_find(table->words + table->chunk_at[chunk], (u32)pc)];
}
