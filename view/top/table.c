/* SPDX-License-Identifier: Apache-2.0 */
#include "view/top/table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/compare.h"
#include "base/expression.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/runtimes.h"

struct making {
	const struct history *history;
	const struct query *query;
	struct top_table *table;
	struct map *places;	   /* by key: the row's index + 1 */
	struct amount_marks marks; /* by function */
};

/* ---- which rows ---- */

void match_set(struct match *match, const char *text)
{
	match_release(match);
	snprintf(match->text, sizeof(match->text), "%s", text);
	if (match->text[0])
		match->is_regex = !expression_compile(&match->regex, match->text, REG_ICASE);
}

void match_release(struct match *match)
{
	if (match->is_regex)
		regfree(&match->regex);
	*match = (struct match){0};
}

static bool matches(const struct match *match, const char *text)
{
	if (match->is_regex)
		return !regexec(&match->regex, text, 0, NULL, 0);
	return strcasestr(text, match->text) != NULL;
}

static bool matches_number(const struct match *match, uint32_t number)
{
	char text[16];

	snprintf(text, sizeof(text), "%" PRIu32, number);
	return matches(match, text);
}

static bool is_shown(const struct history *history, const struct query *query,
		     const struct match *match, const struct top_row *row)
{
	const struct function *function;

	if (!match || !match->text[0] || row->part == PART_ITSELF)
		return true;
	if (matches(match, history_name(history, row->name)))
		return true;
	if (matches(match, history_name(history, row->process)))
		return true;
	if (query->view == VIEW_PROCESSES)
		return matches_number(match, row->pid);
	if (query->view == VIEW_THREADS)
		return matches_number(match, row->pid) || matches_number(match, row->tid);
	function = history_function(history, row->function);
	return matches(match, history_name(history, function->object));
}

/* ---- sums ---- */

/* Returns the row of a key, valid until the next call, or NULL without memory. */
static struct top_row *row_at(struct making *making, uint64_t key, const struct top_row *fresh)
{
	struct top_table *table = making->table;
	uintptr_t place = (uintptr_t)map_get(making->places, key);
	struct top_row *row;

	if (place == 0) {
		if (ARRAY_RESERVE(table->rows, table->capacity, table->count + 1) < 0)
			return NULL;
		table->rows[table->count++] = *fresh;
		place = table->count;
		if (map_put(making->places, key, (void *)place) < 0)
			return NULL;
	}
	row = &table->rows[place - 1];
	if (row->process != fresh->process)
		row->process = HISTORY_SEVERAL;
	return row;
}

static int add_function(struct making *making, const struct entry *entry, uint32_t function,
			enum part part, bool is_leaf)
{
	const struct top_row fresh = {
		.function = function,
		.name = history_function(making->history, function)->name,
		.pid = entry->pid,
		.process = entry->process,
		.part = part,
	};
	struct top_row *row = row_at(making, (uint64_t)part << 32 | function, &fresh);

	if (!row)
		return -ENOMEM;
	amount_add(&row->amount, entry->count, is_leaf);
	return 0;
}

static int add_functions(struct making *making, const struct entry *entry)
{
	const uint32_t *functions;
	size_t count = history_stack(making->history, entry->stack, &functions);
	int r = 0;

	amount_marks_next(&making->marks);
	for (size_t i = 0; i < count && r == 0; i++)
		if (amount_marks_first(&making->marks, functions[i]))
			r = add_function(making, entry, functions[i], PART_CALLER, i == 0);
	return r;
}

/* Adds the caller of a recursion's outermost call, and the callee of the innermost one. */
static int add_calls(struct making *making, const struct entry *entry)
{
	const uint32_t *functions, wanted = making->query->function;
	size_t count = history_stack(making->history, entry->stack, &functions);
	size_t first = 0, last = count;
	int r;

	while (first < count && functions[first] != wanted)
		first++;
	if (first == count)
		return 0;
	while (functions[last - 1] != wanted)
		last--;
	r = add_function(making, entry, wanted, PART_ITSELF, first == 0);
	if (r == 0 && last < count)
		r = add_function(making, entry, functions[last], PART_CALLER, false);
	if (r == 0 && first > 0)
		r = add_function(making, entry, functions[first - 1], PART_CALLEE, first == 1);
	return r;
}

static int add_process(struct making *making, const struct entry *entry, bool thread)
{
	struct top_row fresh = {
		.name = entry->process,
		.pid = entry->pid,
		.process = entry->process,
	};
	struct top_row *row;

	if (thread) {
		fresh.name = entry->thread;
		fresh.tid = entry->tid;
	}
	row = row_at(making, (uint64_t)entry->pid << 32 | fresh.tid, &fresh);
	if (!row)
		return -ENOMEM;
	/* the newest names stay: a process has another name after exec */
	row->name = fresh.name;
	row->process = fresh.process;
	amount_add(&row->amount, entry->count, true);
	return 0;
}

static void add_runtime(struct top_table *table, const struct entry *entry)
{
	struct top_runtime *runtime = table->runtimes, *end = runtime + TOP_RUNTIMES;

	if (entry->runtime == 0)
		return;
	while (runtime < end && runtime->runtime && runtime->runtime != entry->runtime)
		runtime++;
	if (runtime == end)
		return;
	runtime->runtime = entry->runtime;
	runtime->samples += entry->count;
}

static int add_entry(struct making *making, const struct entry *entry)
{
	const struct query *query = making->query;

	if (query->pid && entry->pid != query->pid)
		return 0;
	if (query->tid && entry->tid != query->tid)
		return 0;
	making->table->sum += entry->count;
	add_runtime(making->table, entry);
	switch (query->view) {
	case VIEW_CALLS:
		return add_calls(making, entry);
	case VIEW_FUNCTIONS:
		return add_functions(making, entry);
	default:
		return add_process(making, entry, query->view == VIEW_THREADS);
	}
}

/*
 * Returns how many portions make the window, the newest one at least. A portion lasts about a
 * second, so that the sum of portions is as near to the window as it can be.
 */
static size_t count_portions(struct making *making)
{
	struct top_table *table = making->table;
	const struct portion *portion = history_portion(making->history, 0);
	size_t count = 0;

	while (portion) {
		if (count > 0 &&
		    table->elapsed_ns + portion->duration_ns / 2 > making->query->window_ns)
			break;
		table->elapsed_ns += portion->duration_ns;
		if (portion->duration_ns == 0)
			table->elapsed_ns++;
		count++;
		portion = history_portion(making->history, count);
	}
	return count;
}

static int add_portion(struct making *making, const struct portion *portion)
{
	struct top_table *table = making->table;
	int r = 0;

	table->samples += portion->samples;
	table->unproven += portion->unproven;
	table->cpu_ns += portion->samples * portion->period_ns;
	for (size_t i = 0; i < portion->count && r == 0; i++)
		r = add_entry(making, &portion->entries[i]);
	return r;
}

/* Adds the window's portions, the oldest first. */
static int add_portions(struct making *making)
{
	int r = 0;

	for (size_t left = count_portions(making); left > 0 && r == 0; left--)
		r = add_portion(making, history_portion(making->history, left - 1));
	return r;
}

/* ---- order ---- */

/* Compares numbers, larger ones first. */
static int compare_falling(uint64_t a, uint64_t b)
{
	return compare_numbers(b, a);
}

static int compare_amounts(const struct query *query, const struct top_row *a,
			   const struct top_row *b)
{
	if (query->view == VIEW_CALLS && a->part != b->part)
		return compare_numbers(a->part, b->part);
	if (query->view != VIEW_CALLS && !query->by_total && a->amount.self != b->amount.self)
		return compare_falling(a->amount.self, b->amount.self);
	return compare_falling(a->amount.total, b->amount.total);
}

static int compare_rows(const void *left, const void *right, void *context)
{
	const struct top_row *a = left, *b = right;
	const struct making *making = context;
	int order = compare_amounts(making->query, a, b);

	if (order != 0)
		return order;
	if (a->name != b->name)
		return strcmp(history_name(making->history, a->name),
			      history_name(making->history, b->name));
	if (a->function != b->function)
		return compare_numbers(a->function, b->function);
	if (a->tid != b->tid)
		return compare_numbers(a->tid, b->tid);
	return compare_numbers(a->pid, b->pid);
}

/* Keeps the rows that match, and sorts them. */
static void choose_rows(struct making *making, const struct match *match)
{
	struct top_table *table = making->table;
	size_t kept = 0;

	for (size_t i = 0; i < table->count; i++)
		if (is_shown(making->history, making->query, match, &table->rows[i]))
			table->rows[kept++] = table->rows[i];
	table->count = kept;
	if (kept > 1)
		qsort_r(table->rows, kept, sizeof(*table->rows), compare_rows, making);
}

int table_make(const struct history *history, const struct query *query, const struct match *match,
	       struct top_table *ret_table)
{
	struct making making = {.history = history, .query = query, .table = ret_table};
	int r;

	*ret_table = (struct top_table){0};
	r = amount_marks_init(&making.marks, intern_count(history->functions));
	if (r < 0)
		return r;
	making.places = map_new();
	if (making.places)
		r = add_portions(&making);
	else
		r = -ENOMEM;
	if (r == 0)
		choose_rows(&making, match);
	map_free(making.places);
	amount_marks_release(&making.marks);
	return r;
}

void table_release(struct top_table *table)
{
	free(table->rows);
	*table = (struct top_table){0};
}

const struct top_runtime *table_runtime(const struct top_table *table, const struct query *query)
{
	const struct top_runtime *most = &table->runtimes[0];

	if (query->view != VIEW_FUNCTIONS && query->view != VIEW_CALLS)
		return NULL;
	for (size_t i = 1; i < TOP_RUNTIMES; i++)
		if (table->runtimes[i].samples > most->samples)
			most = &table->runtimes[i];
	if (!runtime_is_noted(most->samples, table->sum))
		return NULL;
	return most;
}
