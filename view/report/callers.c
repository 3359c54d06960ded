/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints functions that match an expression, with their callers and callees. A sample counts once
 * for each pair of caller and callee.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "view/report/view.h"
#include "base/array.h"
#include "base/compare.h"
#include "base/map.h"
#include "view/report/suggest.h"
#include "view/short_name.h"

#define SHORT_NAME_BYTES 256
#define GUESSED		 "[guessed]"  /* of worker/sample: stands before a frame that is a guess */
#define GUESSED_BIT	 (1ull << 31) /* of a key; names are fewer */

struct pair {
	uint32_t of, other; /* names; other 0: the root, or the function itself */
	bool guessed;	    /* a marker is between both */
	uint32_t seen;	    /* the last sample that had it */
	uint64_t count;
};

struct pairs {
	struct map *index; /* by key_of(): place in items + 1 */
	struct pair *items;
	size_t count, capacity;
};

enum shown { /* of a function that matches */
	SHOW_CALLERS = 1,
	SHOW_CALLEES = 2
};

struct report_callers {
	const struct report *report;
	const struct screen *screen;
	struct tally tally;
	struct scale scale;
	struct name_sources sources;
	uint8_t *matches;   /* by name: bits of enum shown */
	uint32_t marker;    /* the name of GUESSED; 0: no stack has the marker */
	struct pairs above; /* with their callers */
	struct pairs below; /* with what they call */
	uint32_t *order;
	size_t count;
};

/* ---- pairs ---- */

static uint64_t key_of(const struct pair *pair)
{
	const uint64_t key = (uint64_t)pair->of << 32 | pair->other;

	if (pair->guessed)
		return key | GUESSED_BIT;
	return key;
}

static int add_pair(struct pairs *pairs, const struct pair *pair, uint64_t count, uint32_t number)
{
	const uint64_t key = key_of(pair);
	size_t at = (size_t)(uintptr_t)map_get(pairs->index, key);

	if (at == 0) {
		if (ARRAY_RESERVE(pairs->items, pairs->capacity, pairs->count + 1) < 0)
			return -ENOMEM;
		pairs->items[pairs->count++] = *pair;
		at = pairs->count;
		if (map_put(pairs->index, key, (void *)(uintptr_t)at) < 0)
			return -ENOMEM;
	}
	if (pairs->items[at - 1].seen == number)
		return 0;
	pairs->items[at - 1].seen = number;
	pairs->items[at - 1].count += count;
	return 0;
}

/*
 * Returns the pair of a name of the trace and the name `step` places further, which the marker of a
 * guess does not stand for.
 */
static struct pair pair_at(const struct report_callers *callers, const struct frames_trace *trace,
			   size_t at, int step)
{
	struct pair pair = {.of = trace->names[at]};
	size_t other = at + (size_t)step; /* behind the ends: not below the count */

	if (other < trace->count && callers->marker && trace->names[other] == callers->marker &&
	    pair.of != callers->marker) {
		pair.guessed = true;
		other += (size_t)step;
	}
	if (other < trace->count)
		pair.other = trace->names[other];
	return pair;
}

static int add_trace(struct report_callers *callers, const struct frames_trace *trace,
		     uint64_t count, uint32_t number)
{
	struct pair pair;
	int r;

	for (size_t i = 0; i < trace->count; i++) {
		if (!callers->matches[trace->names[i]])
			continue;
		pair = pair_at(callers, trace, i, 1);
		r = add_pair(&callers->above, &pair, count, number);
		if (r < 0)
			return r;
		pair = pair_at(callers, trace, i, -1);
		r = add_pair(&callers->below, &pair, count, number);
		if (r < 0)
			return r;
	}
	return 0;
}

static uint32_t find_marker(const struct report_callers *callers)
{
	for (size_t i = 0; i < callers->count; i++)
		if (!strcmp(tally_name(&callers->tally, callers->order[i]), GUESSED))
			return callers->order[i];
	return 0;
}

static int find_pairs(struct report_callers *callers)
{
	const struct profile *profile = callers->report->profile;
	const size_t count = profile_samples(profile);
	struct frames_trace trace = {0};
	int r = 0;

	callers->above.index = map_new();
	callers->below.index = map_new();
	if (!callers->above.index || !callers->below.index)
		return -ENOMEM;
	for (size_t i = 0; i < count && r == 0; i++) {
		const struct profile_sample sample = profile_sample_get(profile, i);

		r = frames_trace(&callers->tally.frames, profile, sample.stack, &trace);
		if (r == 0)
			r = add_trace(callers, &trace, sample.count, (uint32_t)i + 1);
	}
	free(trace.names);
	return r;
}

/* Orders by function, then the largest first, then by name. */
static int compare_pairs(const void *left, const void *right)
{
	const struct pair *a = left, *b = right;

	if (a->of != b->of)
		return compare_numbers(a->of, b->of);
	if (a->count != b->count)
		return compare_numbers(b->count, a->count);
	if (a->other != b->other)
		return compare_numbers(a->other, b->other);
	return compare_numbers(a->guessed, b->guessed);
}

static void sort_pairs(struct pairs *pairs)
{
	if (pairs->count)
		qsort(pairs->items, pairs->count, sizeof(*pairs->items), compare_pairs);
}

/* Returns the pairs of one function, which sorting has put next to each other. */
static const struct pair *pairs_of(const struct pairs *pairs, uint32_t of, size_t *ret_count)
{
	size_t low = 0, high = pairs->count, count = 0;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (pairs->items[middle].of < of)
			low = middle + 1;
		else
			high = middle;
	}
	while (low + count < pairs->count && pairs->items[low + count].of == of)
		count++;
	*ret_count = count;
	return pairs->items + low;
}

/* ---- which functions ---- */

/* Returns whether the pattern matches a function's name, or the short form of the name. */
static bool matches_name(const regex_t *pattern, const char *name)
{
	char text[SHORT_NAME_BYTES];

	if (!regexec(pattern, name, 0, NULL, 0))
		return true;
	short_name(name, text, sizeof(text));
	return text[0] && !regexec(pattern, text, 0, NULL, 0);
}

/* Sets the bit of the functions with samples that match. Returns how many there are. */
static size_t match_functions(struct report_callers *callers, const regex_t *pattern, uint8_t bit)
{
	size_t count = 0;

	for (size_t i = 0; i < callers->count; i++) {
		const uint32_t name = callers->order[i];

		if (!matches_name(pattern, tally_name(&callers->tally, name)))
			continue;
		callers->matches[name] |= bit;
		count++;
	}
	return count;
}

/* Does the same for a pattern that is given. Returns -ENOENT, after a line, where none matches. */
static int match_pattern(struct report_callers *callers, const char *text, const regex_t *pattern,
			 uint8_t bit)
{
	struct suggest suggest;

	if (!text || callers->count == 0 || match_functions(callers, pattern, bit) > 0)
		return 0;
	suggest_begin(&suggest, text);
	for (size_t i = 0; i < callers->count; i++)
		suggest_offer(&suggest, tally_name(&callers->tally, callers->order[i]));
	suggest_log(&suggest, "function", "list them with: keyhole report -n 0 FILE");
	return -ENOENT;
}

static int match_patterns(struct report_callers *callers)
{
	const struct options *options = callers->report->options;
	const struct patterns *patterns = &callers->report->patterns;
	int r;

	r = match_pattern(callers, options->callers, &patterns->callers, SHOW_CALLERS);
	if (r < 0)
		return r;
	return match_pattern(callers, options->callees, &patterns->callees, SHOW_CALLEES);
}

/* ---- text ---- */

#define VALUE_COLUMNS 11u
#define INDENT	      4u

static const char *other_name(const struct report_callers *callers, const struct pair *pair,
			      bool up)
{
	if (pair->other)
		return tally_name(&callers->tally, pair->other);
	if (up)
		return "[nobody: the root]";
	return "[itself]";
}

/* Prints the other name of a pair, and whether it is a guess. Returns how many columns it used. */
static unsigned int print_other(const struct report_callers *callers, const struct pair *pair,
				bool up, unsigned int columns)
{
	static const char guessed[] = " (guessed)";
	const struct screen *screen = callers->screen;
	const char *name = other_name(callers, pair, up);

	if (!pair->guessed || columns <= strlen(guessed))
		return screen_name(screen, name, columns);
	columns = screen_name(screen, name, columns - (unsigned int)strlen(guessed));
	fputs(guessed, screen->out);
	return columns + (unsigned int)strlen(guessed);
}

static void print_pairs(const struct report_callers *callers, const struct pairs *pairs,
			const struct tally_row *row, bool up)
{
	const struct screen *screen = callers->screen;
	const unsigned int used = INDENT + VALUE_COLUMNS + 7 + 2;
	const size_t lines = callers->report->options->lines;
	size_t count;
	const struct pair *pair = pairs_of(pairs, row->name, &count);
	unsigned int left;

	fprintf(screen->out, "  %s\n", up ? "called by" : "calls");
	for (size_t i = 0; i < count && i < lines; i++, pair++) {
		fprintf(screen->out, "%*s", (int)INDENT, "");
		screen_value(screen, &callers->scale, view_value(callers->report, pair->count),
			     VALUE_COLUMNS);
		fprintf(screen->out, "%6.1f%%  ", screen_percent(pair->count, row->now.total));
		left = screen_room(screen, used);
		left -= print_other(callers, pair, up, left);
		view_print_source(callers->report, &callers->sources, pair->other, left);
		putc('\n', screen->out);
	}
	if (count > lines)
		fprintf(screen->out, "%*s%zu more (-n 0: all)\n", (int)(INDENT + 12), "",
			count - lines);
}

static void print_function(const struct report_callers *callers, const struct tally_row *row)
{
	const struct screen *screen = callers->screen;

	screen_style(screen, STYLE_HEAD);
	fputs(tally_name(&callers->tally, row->name), screen->out);
	screen_style(screen, STYLE_PLAIN);
	view_print_source(callers->report, &callers->sources, row->name, UINT_MAX);
	fputs("\n  total ", screen->out);
	screen_value(screen, &callers->scale, view_value(callers->report, row->now.total), 0);
	fprintf(screen->out, " (%.1f%%), self ",
		screen_percent(row->now.total, callers->tally.sum));
	screen_value(screen, &callers->scale, view_value(callers->report, row->now.self), 0);
	fprintf(screen->out, " (%.1f%%)\n", screen_percent(row->now.self, callers->tally.sum));
	if (callers->matches[row->name] & SHOW_CALLERS)
		print_pairs(callers, &callers->above, row, true);
	if (callers->matches[row->name] & SHOW_CALLEES)
		print_pairs(callers, &callers->below, row, false);
	putc('\n', screen->out);
}

/* ---- for programs ---- */

static void put_pairs(const struct report_callers *callers, struct view_json *to,
		      const struct pairs *pairs, const struct tally_row *row, bool up)
{
	size_t count;
	const struct pair *pair = pairs_of(pairs, row->name, &count);

	json_key_array(&to->json, up ? "callers" : "callees");
	for (size_t i = 0; i < count; i++, pair++) {
		json_object(&to->json);
		json_key_clean_string(&to->json, "name", other_name(callers, pair, up));
		view_json_value(to, "total", pair->count);
		if (pair->guessed)
			json_key_literal(&to->json, "guessed", "true");
		view_json_source(to, &callers->sources, pair->other);
		json_end(&to->json);
	}
	json_end(&to->json);
}

static void put_function(const struct report_callers *callers, struct view_json *to,
			 const struct tally_row *row)
{
	json_line(&to->json);
	json_object(&to->json);
	json_key_clean_string(&to->json, "name", tally_name(&callers->tally, row->name));
	view_json_value(to, "self", row->now.self);
	view_json_value(to, "total", row->now.total);
	view_json_source(to, &callers->sources, row->name);
	if (callers->matches[row->name] & SHOW_CALLERS)
		put_pairs(callers, to, &callers->above, row, true);
	if (callers->matches[row->name] & SHOW_CALLEES)
		put_pairs(callers, to, &callers->below, row, false);
	json_end(&to->json);
}

/* ---- both ---- */

/* Removes the functions that do not match. */
static void choose_functions(struct report_callers *callers)
{
	size_t kept = 0;

	for (size_t i = 0; i < callers->count; i++)
		if (callers->matches[callers->order[i]])
			callers->order[kept++] = callers->order[i];
	callers->count = kept;
}

static const struct tally_row *row_at(const struct report_callers *callers, size_t index)
{
	return &callers->tally.rows[callers->order[index]];
}

static int print_json(const struct report_callers *callers, size_t shown)
{
	struct view_json to;
	int r = view_json_begin(&to, callers->report);

	if (r < 0)
		return view_json_end(&to, r);
	json_key_array(&to.json, "functions");
	for (size_t i = 0; i < shown; i++)
		put_function(callers, &to, row_at(callers, i));
	json_line(&to.json);
	json_end(&to.json);
	json_line(&to.json);
	json_key_number(&to.json, "left_out", callers->count - shown);
	return view_json_end(&to, 0);
}

static void print_text(const struct report_callers *callers, size_t shown)
{
	FILE *out = callers->screen->out;

	header_print(callers->report);
	for (size_t i = 0; i < shown; i++)
		print_function(callers, row_at(callers, i));
	if (shown < callers->count)
		fprintf(out, "%zu more functions match (-n 0: all)\n", callers->count - shown);
}

static int print_callers(const struct report_callers *callers)
{
	const struct options *options = callers->report->options;
	size_t shown = callers->count;

	if (shown > options->lines)
		shown = options->lines;
	if (options->json)
		return print_json(callers, shown);
	print_text(callers, shown);
	return 0;
}

static int find_callers(struct report_callers *callers)
{
	const struct report *report = callers->report;
	int r = tally_make(report->profile, BY_FUNCTION, &callers->tally);

	if (r)
		return r;
	callers->matches = calloc(callers->tally.count + 1, sizeof(*callers->matches));
	callers->order = tally_order(&callers->tally, true, NULL, &callers->count);
	if (!callers->matches || !callers->order)
		return -ENOMEM;
	callers->scale =
		scale_for(view_value(report, callers->tally.sum), view_unit(&report->info));
	r = name_sources_make(report->profile, &callers->tally.frames, &callers->sources);
	if (r < 0)
		return r;
	r = match_patterns(callers);
	if (r < 0)
		return r;
	callers->marker = find_marker(callers);
	r = find_pairs(callers);
	if (r < 0)
		return r;
	choose_functions(callers);
	sort_pairs(&callers->above);
	sort_pairs(&callers->below);
	return 0;
}

int view_callers(const struct report *report)
{
	struct report_callers callers = {.report = report, .screen = &report->screen};
	int r = find_callers(&callers);

	if (r == 0)
		r = print_callers(&callers);
	map_free(callers.above.index);
	map_free(callers.below.index);
	free(callers.above.items);
	free(callers.below.items);
	free(callers.matches);
	free(callers.order);
	name_sources_release(&callers.sources);
	tally_release(&callers.tally);
	return r;
}
