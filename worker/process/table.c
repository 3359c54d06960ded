/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/process/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "worker/process/segments.h"
#include "object/unwind/unwind_table.h"

#define RUNTIME_WORDS ((uint32_t)(sizeof(struct runtime_config) / sizeof(u32)))

struct tables {
	struct segments *segments;
	struct map *stored; /* content hash -> tables, chained */
	uint64_t bytes, rows;
};

struct tables *tables_new(struct segments *segments)
{
	struct tables *tables = calloc(1, sizeof(*tables));

	if (!tables)
		return NULL;
	tables->segments = segments;
	tables->stored = map_new();
	if (!tables->stored) {
		free(tables);
		return NULL;
	}
	return tables;
}

static void table_free(struct table *table)
{
	free(table->chunk_at);
	free(table->chunk_words);
	free(table);
}

void tables_free(struct tables *tables)
{
	size_t cursor = 0;
	uint64_t key;
	void *value;

	if (!tables)
		return;
	while (map_next(tables->stored, &cursor, &key, &value)) {
		for (struct chain *at = value, *next; at; at = next) {
			next = at->next;
			table_free((struct table *)at);
		}
	}
	map_free(tables->stored);
	free(tables);
}

static bool same_words(const struct tables *tables, uint32_t at, const void *bytes, size_t words)
{
	return memcmp(segments_at(tables->segments, at), bytes, words * sizeof(u32)) == 0;
}

/* Objects of different interpreters may have equal rules. */
static bool same_runtime(const struct tables *tables, const struct table *table,
			 const struct unwind_table *source)
{
	if (!source->runtime || table->runtime == SEGMENT_WORD_NONE)
		return !source->runtime && table->runtime == SEGMENT_WORD_NONE;
	return same_words(tables, table->runtime, source->runtime, RUNTIME_WORDS);
}

/* The hash finds candidates. Only equal bytes are shared, as both files may be an attacker's. */
static bool table_equals(const struct tables *tables, const struct table *table,
			 const struct unwind_table *source)
{
	if (table->first_page != source->first_page || table->pages != source->pages ||
	    table->chunks != source->chunks ||
	    table->dictionary_words != source->dictionary_count * 2 ||
	    !same_words(tables, table->dictionary, source->dictionary, table->dictionary_words) ||
	    !same_runtime(tables, table, source))
		return false;
	for (uint32_t i = 0; i < table->chunks; i++) {
		uint32_t words = source->chunk_words[i];

		if (source->chunk_at[i] == UINT32_MAX)
			words = 0;

		if (words != table->chunk_words[i])
			return false;
		if (words > 0 && !same_words(tables, table->chunk_at[i],
					     source->words + source->chunk_at[i], words))
			return false;
	}
	return true;
}

static struct table *find_equal(const struct tables *tables, const struct unwind_table *source)
{
	struct chain *at = map_get(tables->stored, source->content_hash);

	while (at && !table_equals(tables, (struct table *)at, source))
		at = at->next;
	return (struct table *)at;
}

static struct table *table_new(const struct unwind_table *source)
{
	struct table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	table->references = 1;
	table->first_page = source->first_page;
	table->pages = source->pages;
	table->rows = source->rows;
	table->sources = source->sources;
	table->content_hash = source->content_hash;
	table->dictionary_words = source->dictionary_count * 2;
	table->chunks = source->chunks;
	table->chunk_at = calloc(source->chunks + 1, sizeof(*table->chunk_at));
	table->chunk_words = calloc(source->chunks + 1, sizeof(*table->chunk_words));
	if (!table->chunk_at || !table->chunk_words) {
		table_free(table);
		return NULL;
	}
	return table;
}

/* Gives an area back, without grace if BPF never saw it. */
static void give_area(struct tables *tables, uint32_t word, uint32_t words, bool seen, uint64_t now)
{
	if (word == SEGMENT_WORD_NONE)
		return;
	if (seen)
		segments_release(tables->segments, word, words, now);
	else
		segments_discard(tables->segments, word, words);
}

static void give_back(struct tables *tables, const struct table *table, bool seen, uint64_t now)
{
	give_area(tables, table->dictionary, table->dictionary_words, seen, now);
	give_area(tables, table->directory, table->chunks, seen, now);
	give_area(tables, table->runtime, RUNTIME_WORDS, seen, now);
	for (uint32_t i = 0; i < table->chunks; i++)
		give_area(tables, table->chunk_at[i], table->chunk_words[i], seen, now);
}

static int store_words(struct tables *tables, const void *bytes, uint32_t words, uint32_t *word)
{
	int r;

	if (*word != SEGMENT_WORD_NONE || words == 0)
		return 0;
	r = segments_alloc_spare(tables->segments, words, word);
	if (r == 0)
		memcpy(segments_at(tables->segments, *word), bytes, words * sizeof(u32));
	return r;
}

/* Stores as much as there is room for; another call goes on from there. */
static int store(struct tables *tables, const struct unwind_table *source, struct table *table)
{
	int r = store_words(tables, source->dictionary, table->dictionary_words,
			    &table->dictionary);

	if (r == 0 && source->runtime)
		r = store_words(tables, source->runtime, RUNTIME_WORDS, &table->runtime);
	for (; r == 0 && table->stored < table->chunks; table->stored++) {
		uint32_t i = table->stored, at = source->chunk_at[i];

		if (at == UINT32_MAX)
			continue;
		r = store_words(tables, source->words + at, source->chunk_words[i],
				&table->chunk_at[i]);
		if (r < 0)
			break;
		table->chunk_words[i] = source->chunk_words[i];
		table->bytes += source->chunk_words[i] * sizeof(u32);
	}
	if (r == 0)
		r = store_words(tables, table->chunk_at, table->chunks, &table->directory);
	return r;
}

static int keep(struct tables *tables, struct table *table)
{
	int r = chain_add(tables->stored, table->content_hash, &table->chain);

	if (r < 0)
		return r;
	table->bytes += (table->dictionary_words + table->chunks) * sizeof(u32);
	if (table->runtime != SEGMENT_WORD_NONE)
		table->bytes += sizeof(struct runtime_config);
	tables->bytes += table->bytes;
	tables->rows += table->rows;
	return 0;
}

int tables_store(struct tables *tables, const struct unwind_table *source, struct table **table,
		 uint64_t now)
{
	int r;

	if (!*table) {
		*table = find_equal(tables, source);
		if (*table) {
			(*table)->references++;
			return 0;
		}
		*table = table_new(source);
		if (!*table)
			return -ENOMEM;
	}
	r = store(tables, source, *table);
	if (r == 0)
		r = keep(tables, *table);
	if (r < 0 && r != -EAGAIN) {
		give_back(tables, *table, false, now);
		table_free(*table);
		*table = NULL;
	}
	return r;
}

void tables_release(struct tables *tables, struct table *table, uint64_t now)
{
	if (!table || --table->references > 0)
		return;
	/* A table that was never finished is not in the map. */
	chain_remove(tables->stored, table->content_hash, &table->chain);
	if (table->directory != SEGMENT_WORD_NONE) {
		tables->bytes -= table->bytes;
		tables->rows -= table->rows;
	}
	give_back(tables, table, true, now);
	table_free(table);
}

void tables_totals(const struct tables *tables, uint64_t *ret_bytes, uint64_t *ret_rows)
{
	*ret_bytes = tables->bytes;
	*ret_rows = tables->rows;
}
