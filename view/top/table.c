/* SPDX-License-Identifier: Apache-2.0 */
#include "view/top/table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/expression.h"
#include "base/intern.h"
#include "base/map.h"

struct making {
	const struct history *history;
	const struct query *query;
	struct table *table;
	struct map *places; /* by key: the row's index + 1 */
	uint32_t *seen;	    /* by function: the last sample that had it; recursion counts once */
	uint32_t number;
};

/* ---- which rows ---- */

void match_set(struct match *match, const char *text)
{
	match_release(match);
	snprintf(match->text, sizeof(match->text), "%s", text);
	match->is_regex =
		match->text[0] && !expression_compile(&match->regex, match->text, REG_ICASE);
}

void match_release(struct match *match)
{
	if (match->is_regex)
		regfree(&match->regex);
	*match = (struct match){0};
}

static bool matches(const struct match *match, const char *text)
{
	return match->is_regex ? !regexec(&match->regex, text, 0, NULL, 0)
			       : strcasestr(text, match->text) != NULL;
}

static bool is_shown(const struct history *history, const struct query *query,
		     const struct match *match, const struct row *row)
{
	char pid[16];

	if (!match || !match->text[0] || row->part == PART_ITSELF)
		return true;
	if (matches(match, history_name(history, row->name)))
		return true;
	if (query->view == VIEW_PROCESSES || query->view == VIEW_THREADS) {
		snprintf(pid, sizeof(pid), "%" PRIu32, row->pid);
		return matches(match, pid);
	}
	return matches(match,
		       history_name(history, history_function(history, row->function)->object)) ||
	       matches(match, history_name(history, row->process));
}

/* ---- sums ---- */

/* NULL: no memory. Valid until the next call. */
static struct row *row_at(struct making *making, uint64_t key, const struct row *fresh)
{
	struct table *table = making->table;
	uintptr_t place = (uintptr_t)map_get(making->places, key);
	struct row *row;

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

static int add(struct making *making, const struct entry *entry, uint32_t function, enum part part,
	       uint64_t self, uint64_t total)
{
	const struct row fresh = {
		.function = function,
		.name = history_function(making->history, function)->name,
		.pid = entry->pid,
		.process = entry->process,
		.part = part,
	};
	struct row *row = row_at(making, (uint64_t)part << 32 | function, &fresh);

	if (!row)
		return -ENOMEM;
	row->self += self;
	row->total += total;
	return 0;
}

static int add_functions(struct making *making, const struct entry *entry)
{
	const uint32_t *functions;
	size_t count = history_stack(making->history, entry->stack, &functions);
	int r = 0;

	making->number++;
	for (size_t i = 0; i < count && r == 0; i++) {
		if (making->seen[functions[i]] == making->number)
			continue;
		making->seen[functions[i]] = making->number;
		r = add(making, entry, functions[i], PART_CALLER, i == 0 ? entry->count : 0,
			entry->count);
	}
	return r;
}

/* Of a recursion, what called the outermost and what the innermost calls. */
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
	r = add(making, entry, wanted, PART_ITSELF, first == 0 ? entry->count : 0, entry->count);
	if (r == 0 && last < count)
		r = add(making, entry, functions[last], PART_CALLER, 0, entry->count);
	if (r == 0 && first > 0)
		r = add(making, entry, functions[first - 1], PART_CALLEE,
			first == 1 ? entry->count : 0, entry->count);
	return r;
}

static int add_process(struct making *making, const struct entry *entry, bool thread)
{
	const struct row fresh = {
		.name = thread ? entry->thread : entry->process,
		.pid = entry->pid,
		.tid = thread ? entry->tid : 0,
		.process = entry->process,
	};
	struct row *row = row_at(making, (uint64_t)entry->pid << 32 | fresh.tid, &fresh);

	if (!row)
		return -ENOMEM;
	/* the newest: a process gets its own after exec */
	row->name = fresh.name;
	row->process = fresh.process;
	row->self += entry->count;
	row->total += entry->count;
	return 0;
}

static int add_entry(struct making *making, const struct entry *entry)
{
	const struct query *query = making->query;

	if ((query->pid && entry->pid != query->pid) || (query->tid && entry->tid != query->tid))
		return 0;
	making->table->sum += entry->count;
	switch (query->view) {
	case VIEW_CALLS:
		return add_calls(making, entry);
	case VIEW_FUNCTIONS:
		return add_functions(making, entry);
	default:
		return add_process(making, entry, query->view == VIEW_THREADS);
	}
}

/* From the oldest one on. */
static int add_portions(struct making *making)
{
	struct table *table = making->table;
	const struct portion *portion;
	size_t count = 0;
	int r = 0;

	while ((portion = history_portion(making->history, count))) {
		/* as near to the window as there is one: they are not of exactly a second */
		if (count > 0 &&
		    table->elapsed_ns + portion->duration_ns / 2 > making->query->window_ns)
			break;
		table->elapsed_ns += portion->duration_ns ? portion->duration_ns : 1;
		count++;
	}
	while (count-- > 0 && r == 0) {
		portion = history_portion(making->history, count);
		table->samples += portion->samples;
		table->cut += portion->cut;
		table->cpu_ns += portion->samples * portion->period_ns;
		for (size_t i = 0; i < portion->count && r == 0; i++)
			r = add_entry(making, &portion->entries[i]);
	}
	return r;
}

/* ---- order ---- */

static int compare(const void *a, const void *b, void *context)
{
	const struct row *x = a, *y = b;
	const struct making *making = context;
	uint64_t x_most = making->query->by_total ? x->total : x->self;
	uint64_t y_most = making->query->by_total ? y->total : y->self;

	if (making->query->view == VIEW_CALLS) {
		if (x->part != y->part)
			return x->part < y->part ? -1 : 1;
		x_most = x->total;
		y_most = y->total;
	}
	if (x_most != y_most)
		return x_most > y_most ? -1 : 1;
	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	if (x->name != y->name)
		return strcmp(history_name(making->history, x->name),
			      history_name(making->history, y->name));
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return x->tid != y->tid ? (x->tid < y->tid ? -1 : 1)
				: (x->pid > y->pid) - (x->pid < y->pid);
}

static void choose(struct making *making, const struct match *match)
{
	struct table *table = making->table;
	size_t kept = 0;

	for (size_t i = 0; i < table->count; i++)
		if (is_shown(making->history, making->query, match, &table->rows[i]))
			table->rows[kept++] = table->rows[i];
	table->count = kept;
	if (kept > 1)
		qsort_r(table->rows, kept, sizeof(*table->rows), compare, making);
}

int table_make(const struct history *history, const struct query *query, const struct match *match,
	       struct table *ret_table)
{
	struct making making = {.history = history, .query = query, .table = ret_table};
	int r;

	*ret_table = (struct table){0};
	making.places = map_new();
	making.seen = calloc(intern_count(history->functions), sizeof(*making.seen));
	r = making.places && making.seen ? add_portions(&making) : -ENOMEM;
	if (r == 0)
		choose(&making, match);
	map_free(making.places);
	free(making.seen);
	return r;
}

void table_release(struct table *table)
{
	free(table->rows);
	*table = (struct table){0};
}
