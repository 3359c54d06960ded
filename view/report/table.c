/* SPDX-License-Identifier: Apache-2.0 */
/* Prints rows with self and total, of one profile or of two beside each other. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/time.h"
#include "profile/offset_name.h"
#include "view/report/view.h"
#include "view/source.h"
#include "profile/format/names.h"

struct report_table {
	const struct report *report;
	const struct screen *screen;
	struct tally tally;
	struct name_sources sources; /* of functions and lines; else none */
	struct scale scale;
	uint32_t *order;
	size_t count, shown;
	bool by_frames; /* self and total differ */
};

static const char *row_name(const struct report_table *table, const struct tally_row *row)
{
	return tally_name(&table->tally, row->name);
}

/* ---- one profile ---- */

#define VALUE_COLUMNS  11u
#define SHARE_COLUMNS  7u /* " 45.2% " */
#define FOLDER_COLUMNS 8u /* less room than this stays empty */

static void print_amount(const struct report_table *table, uint64_t count)
{
	const struct screen *screen = table->screen;
	double percent = screen_percent(count, table->tally.sum);

	screen_value(screen, &table->scale, view_value(table->report, count), VALUE_COLUMNS);
	screen_style(screen, screen_heat(percent));
	fprintf(screen->out, "%6.1f%%", percent);
	screen_style(screen, STYLE_PLAIN);
}

/* Returns the raw file name of a function's object, or "" for several objects and for markers. */
static const char *object_of(const struct report_table *table, uint32_t name)
{
	const struct profile *profile = table->report->profile;
	const struct profile_object *object =
		profile_object_get(profile, table->tally.frames.objects[name]);

	if (!profile_object_is_file(object))
		return "";
	return format_base_name(profile_string_get(profile, object->name));
}

static void spell_object(const struct report_table *table, const struct tally_row *row, char *text,
			 size_t size)
{
	char object[FORMAT_NAME_MAX];
	int length;

	format_clean_name(object, sizeof(object), object_of(table, row->name));
	if (!object[0] || offset_name_is_of(row_name(table, row), object))
		return;
	if (strcmp(row_name(table, row), object) == 0) /* "[anon]" */
		return;
	if (object[0] == '[')
		length = snprintf(text, size, " %s", object);
	else
		length = snprintf(text, size, " (%s)", object);
	if (length < 0 || (size_t)length >= size)
		text[0] = '\0'; /* a cut name says little */
}

static void spell_pids(const struct report_table *table, const struct tally_row *row, char *text,
		       size_t size)
{
	if (row->pids == 1)
		snprintf(text, size, " (%" PRIu32 ")", row->pid);
	else if (row->pids > 1)
		snprintf(text, size, " (%" PRIu32 " %s)", row->pids,
			 report_options_by_ids(table->report->options->by));
}

static const struct source *source_at(const struct report_table *table, const struct tally_row *row)
{
	return name_sources_get(&table->sources, row->name);
}

/* Returns the function of a line, or NULL: several functions, or a row that is no line. */
static const char *function_of(const struct report_table *table, const struct tally_row *row)
{
	uint32_t function;

	if (table->report->options->by != BY_LINE) /* others have no functions */
		return NULL;
	function = table->tally.frames.functions[row->name];
	if (function == 0)
		return NULL;
	return tally_name(&table->tally, function);
}

/* Spells the function of a line that is known; a line without a source is a function itself. */
static void spell_function(const struct report_table *table, const struct tally_row *row,
			   char *text, size_t size)
{
	const char *function = function_of(table, row);
	int length;

	if (!source_at(table, row)) {
		spell_object(table, row, text, size);
		return;
	}
	if (!function)
		return;
	length = snprintf(text, size, " (%s)", function);
	if (length < 0 || (size_t)length >= size)
		text[0] = '\0';
}

/*
 * Prints a function's object, a line's function or a row's process, where there is room for all of
 * it. Returns how many columns it used.
 */
static unsigned int print_remark(const struct report_table *table, const struct tally_row *row,
				 unsigned int columns)
{
	const struct screen *screen = table->screen;
	const enum by by = table->report->options->by;
	char text[64] = "";

	if (by == BY_FUNCTION)
		spell_object(table, row, text, sizeof(text));
	else if (by == BY_LINE)
		spell_function(table, row, text, sizeof(text));
	else
		spell_pids(table, row, text, sizeof(text));
	if (!text[0] || strlen(text) > columns || strlen(text) == sizeof(text) - 1)
		return 0;
	screen_style(screen, STYLE_DIM);
	fputs(text, screen->out);
	screen_style(screen, STYLE_PLAIN);
	return (unsigned int)strlen(text);
}

static void print_folder(const struct screen *screen, const char *path, unsigned int columns)
{
	const char *slash = strrchr(path, '/');
	int length = (int)(slash - path);

	if (length >= (int)columns) {
		screen_name(screen, path, columns);
		return;
	}
	if (length == 0) /* "/" */
		length = 1;
	fprintf(screen->out, "%.*s", length, path);
}

/* Prints " in FOLDER" of an absolute path, unless there is little room. */
static void print_in_folder(const struct screen *screen, const char *path, unsigned int columns)
{
	static const char in[] = " in ";

	if (columns < FOLDER_COLUMNS)
		return;
	screen_style(screen, STYLE_DIM);
	fputs(in, screen->out);
	print_folder(screen, path, columns - (unsigned int)strlen(in));
	screen_style(screen, STYLE_PLAIN);
}

static bool has_folder(const char *path)
{
	return path[0] == '/' && strrchr(path, '/')[1];
}

/* Prints the file's name before its folder, so that a lack of room cuts the folder. */
static void print_path(const struct report_table *table, const struct tally_row *row,
		       unsigned int columns)
{
	const char *path = row_name(table, row);
	const char *name = path;
	unsigned int left = columns;

	if (has_folder(path))
		name = format_base_name(path);
	left -= screen_name(table->screen, name, left);
	if (table->report->options->by == BY_LINE)
		left -= print_remark(table, row, left);
	if (has_folder(path))
		print_in_folder(table->screen, path, left);
}

/* Returns whether the row's name is the path of a file. */
static bool is_path(const struct report_table *table, const struct tally_row *row)
{
	const enum by by = table->report->options->by;

	return by == BY_OBJECT || (by == BY_LINE && source_at(table, row));
}

static void print_row(const struct report_table *table, const struct tally_row *row)
{
	const struct screen *screen = table->screen;
	unsigned int used = VALUE_COLUMNS + SHARE_COLUMNS + 2, left;

	print_amount(table, row->now.self);
	if (table->by_frames) {
		print_amount(table, row->now.total);
		used += VALUE_COLUMNS + SHARE_COLUMNS;
	}
	fputs("  ", screen->out);
	left = screen_room(screen, used);
	if (is_path(table, row)) {
		print_path(table, row, left);
	} else {
		left -= screen_name(screen, row_name(table, row), left);
		print_remark(table, row, left);
	}
	putc('\n', screen->out);
}

/* Returns the samples of the rows that are not shown. */
static uint64_t rest_of(const struct report_table *table)
{
	uint64_t rest = 0;

	for (size_t i = table->shown; i < table->count; i++)
		rest += table->tally.rows[table->order[i]].now.self;
	return rest;
}

static void print_rest(const struct report_table *table)
{
	const struct screen *screen = table->screen;
	unsigned int used = VALUE_COLUMNS + SHARE_COLUMNS + 2;
	const uint64_t rest = rest_of(table);
	char text[64];

	if (table->shown == table->count)
		return;
	screen_style(screen, STYLE_DIM);
	print_amount(table, rest);
	screen_style(screen, STYLE_DIM);
	if (table->by_frames) {
		fprintf(screen->out, "%*s", (int)(VALUE_COLUMNS + SHARE_COLUMNS), "");
		used += VALUE_COLUMNS + SHARE_COLUMNS;
	}
	fputs("  ", screen->out);
	snprintf(text, sizeof(text), "%zu more (-n 0: all)", table->count - table->shown);
	screen_name(screen, text, screen_room(screen, used));
	putc('\n', screen->out);
	screen_style(screen, STYLE_PLAIN);
}

static void print_rows(const struct report_table *table)
{
	const struct screen *screen = table->screen;

	const int columns = VALUE_COLUMNS + SHARE_COLUMNS;

	screen_style(screen, STYLE_HEAD);
	if (table->by_frames)
		fprintf(screen->out, "%*s%*s", columns, "self", columns, "total");
	else
		fprintf(screen->out, "%*s", columns, table->report->info.type);
	fprintf(screen->out, "  %s\n", report_options_by_name(table->report->options->by));
	screen_style(screen, STYLE_PLAIN);
	for (size_t i = 0; i < table->shown; i++)
		print_row(table, &table->tally.rows[table->order[i]]);
	print_rest(table);
}

/* ---- two profiles ---- */

/* Returns the count that keeps one CPU busy, or of other units is one a second. */
static double count_of_one(const struct pprof_info *info)
{
	double of_one = (double)info->times.duration_ns / (double)info->by;

	if (!info->is_time)
		of_one /= NS_PER_SECOND;
	return of_one;
}

/* Returns CPUs kept busy, or of other units the amount a second. */
static double rate(const struct pprof_info *info, uint64_t count)
{
	if (info->times.duration_ns == 0)
		return 0;
	return (double)count / count_of_one(info);
}

static uint32_t *order_changes(const struct report_table *table, size_t *ret_count)
{
	const struct report *report = table->report;
	struct tally_scale scale = {(double)table->tally.sum, (double)table->tally.base_sum};

	if (report->options->by_time)
		scale = (struct tally_scale){count_of_one(&report->info),
					     count_of_one(&report->old)};
	return tally_order(&table->tally, report->options->by_total, &scale, ret_count);
}

static uint32_t *order_rows(const struct report_table *table, size_t *ret_count)
{
	if (table->report->options->diff)
		return order_changes(table, ret_count);
	return tally_order(&table->tally, table->report->options->by_total, NULL, ret_count);
}

static void print_change(const struct report_table *table, uint64_t base, uint64_t now)
{
	const struct report *report = table->report;
	const struct screen *screen = table->screen;
	int decimals = 2;
	double old = screen_percent(base, table->tally.base_sum);
	double new = screen_percent(now, table->tally.sum);

	if (report->options->by_time) {
		decimals = 3;
		old = rate(&report->old, base);
		new = rate(&report->info, now);
	}

	fprintf(screen->out, "%7.*f%7.*f", decimals, old, decimals, new);
	screen_style(screen, new > old ? STYLE_HOT : STYLE_WARM);
	fprintf(screen->out, "%+8.*f", decimals, new - old);
	screen_style(screen, STYLE_PLAIN);
}

#define CHANGE_COLUMNS 22u

static void print_changes_head(const struct report_table *table)
{
	const struct screen *screen = table->screen;

	if (table->report->options->by_time)
		fputs("by time: how many CPUs each kept busy (of others: so much a second)\n",
		      screen->out);
	else
		fputs("by total: shares of each profile, in percent\n", screen->out);
	screen_style(screen, STYLE_HEAD);
	fputs("self old    new  change", screen->out);
	if (table->by_frames)
		fputs("  tot. old    new change", screen->out);
	fprintf(screen->out, " %s\n", report_options_by_name(table->report->options->by));
	screen_style(screen, STYLE_PLAIN);
}

static void print_row_changes(const struct report_table *table, const struct tally_row *row)
{
	const struct screen *screen = table->screen;
	unsigned int used = CHANGE_COLUMNS + 2, left;

	print_change(table, row->base.self, row->now.self);
	if (table->by_frames) {
		print_change(table, row->base.total, row->now.total);
		used += CHANGE_COLUMNS;
	}
	fputs("  ", screen->out);
	left = screen_room(screen, used);
	if (is_path(table, row))
		print_path(table, row, left);
	else
		screen_name(screen, row_name(table, row), left);
	putc('\n', screen->out);
}

static void print_changes(const struct report_table *table)
{
	print_changes_head(table);
	for (size_t i = 0; i < table->shown; i++)
		print_row_changes(table, &table->tally.rows[table->order[i]]);
	if (table->shown < table->count)
		fprintf(table->screen->out, "%zu more (-n 0: all)\n", table->count - table->shown);
}

/* ---- for programs ---- */

static void put_row(const struct report_table *table, struct view_json *to,
		    const struct tally_row *row)
{
	const struct report *report = table->report;
	const char *function = function_of(table, row);
	struct json *json = &to->json;

	json_line(json);
	json_object(json);
	json_key_clean_string(json, "name", row_name(table, row));
	view_json_value(to, "self", row->now.self);
	view_json_value(to, "total", row->now.total);
	if (report->options->diff) {
		json_key_number(json, "old_self", row->base.self * report->old.by);
		json_key_number(json, "old_total", row->base.total * report->old.by);
	}
	if (report->options->by == BY_FUNCTION || report->options->by == BY_LINE)
		json_key_string(json, "object", object_of(table, row->name));
	if (function)
		json_key_clean_string(json, "function", function);
	view_json_source(to, &table->sources, row->name);
	if (row->pids) {
		json_key_number(json, "ids", row->pids);
		json_key_number(json, "first_id", row->pid);
	}
	json_end(json);
}

static int print_json(const struct report_table *table)
{
	struct view_json to;
	int r = view_json_begin(&to, table->report);

	if (r < 0)
		return view_json_end(&to, r);
	json_key_string(&to.json, "by", report_options_by_name(table->report->options->by));
	json_line(&to.json);
	json_key_array(&to.json, "rows");
	for (size_t i = 0; i < table->shown; i++)
		put_row(table, &to, &table->tally.rows[table->order[i]]);
	json_line(&to.json);
	json_end(&to.json);
	json_line(&to.json);
	json_key_number(&to.json, "left_out", table->count - table->shown);
	view_json_value(&to, "left_out_self", rest_of(table));
	return view_json_end(&to, 0);
}

/* ---- all ---- */

static int fill_table(struct report_table *table)
{
	const struct report *report = table->report;
	const struct options *options = report->options;
	int r = tally_make(report->profile, options->by, &table->tally);

	if (r < 0)
		return r;
	if (options->by == BY_FUNCTION || options->by == BY_LINE)
		r = name_sources_make(report->profile, &table->tally.frames, &table->sources);
	if (r < 0)
		return r;
	table->order = order_rows(table, &table->count);
	if (!table->order)
		return -ENOMEM;
	table->shown = table->count;
	if (table->shown > options->lines)
		table->shown = options->lines;
	table->by_frames = tally_is_by_frames(options->by);
	table->scale = scale_for(view_value(report, table->tally.sum), view_unit(&report->info));
	return 0;
}

static int print_table(const struct report_table *table)
{
	const struct options *options = table->report->options;

	if (options->json)
		return print_json(table);
	header_print(table->report);
	if (options->diff)
		print_changes(table);
	else
		print_rows(table);
	return 0;
}

int view_table(const struct report *report)
{
	struct report_table table = {.report = report, .screen = &report->screen};
	int r = fill_table(&table);

	if (r == 0)
		r = print_table(&table);
	free(table.order);
	name_sources_release(&table.sources);
	tally_release(&table.tally);
	return r;
}
