/* SPDX-License-Identifier: Apache-2.0 */
/* Rows with what they used themselves and in all, also of two profiles beside each other. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "view/report/view.h"

struct table {
	const struct report *report;
	const struct screen *screen;
	struct tally tally;
	struct scale scale;
	uint32_t *order;
	size_t count, shown;
	bool by_frames; /* self and total differ */
};

/* ---- one profile ---- */

#define VALUE_COLUMNS  11u
#define SHARE_COLUMNS  7u /* " 45.2% " */
#define FOLDER_COLUMNS 8u /* for less it is not begun */

static void print_amount(const struct table *table, uint64_t count)
{
	const struct screen *screen = table->screen;
	double percent = view_percent(count, table->tally.sum);

	screen_value(screen, &table->scale, view_value(table->report, count), VALUE_COLUMNS);
	screen_style(screen, screen_heat(percent));
	fprintf(screen->out, "%6.1f%%", percent);
	screen_style(screen, STYLE_PLAIN);
}

static const char *object_of(const struct table *table, uint32_t name)
{
	const struct profile *profile = table->report->profile;
	const struct profile_object *object =
		profile_object_get(profile, table->tally.frames.objects[name]);
	const char *path = object ? profile_string_get(profile, object->name) : "";
	const char *slash = strrchr(path, '/');

	return !object || object->kind == KIND_MARKER ? "" : slash && slash[1] ? slash + 1 : path;
}

/* object+0xoffset */
static bool says(const char *name, const char *object)
{
	const size_t length = strlen(object);

	return !strncmp(name, object, length) && name[length] == '+';
}

/* Where a function is, or which process it is, if there is room for it. */
static void print_remark(const struct table *table, const struct row *row, unsigned int columns)
{
	const struct screen *screen = table->screen;
	const char *object = "";
	char text[64] = "";

	if (table->report->options->by == BY_FUNCTION) {
		object = object_of(table, row->name);
		snprintf(text, sizeof(text), object[0] == '[' ? " %s" : " (%s)", object);
		if (!*object || says(tally_name(&table->tally, row->name), object))
			return;
	} else if (row->pids == 1) {
		snprintf(text, sizeof(text), " (%" PRIu32 ")", row->pid);
	} else if (row->pids > 1) {
		snprintf(text, sizeof(text), " (%" PRIu32 " %s)", row->pids,
			 table->report->options->by == BY_THREAD ? "threads" : "processes");
	}
	if (strlen(text) > columns || strlen(text) == sizeof(text) - 1)
		return;
	screen_style(screen, STYLE_DIM);
	fputs(text, screen->out);
	screen_style(screen, STYLE_PLAIN);
}

/* Of an object the file's name first: its folder is what there may be no room for. */
static unsigned int print_path(const struct screen *screen, const char *path, unsigned int columns)
{
	const char *slash = strrchr(path, '/');
	unsigned int left = columns;

	if (path[0] != '/' || !slash[1])
		return screen_name(screen, path, columns);
	left -= screen_name(screen, slash + 1, left);
	if (left < FOLDER_COLUMNS)
		return columns;
	screen_style(screen, STYLE_DIM);
	fputs(" in ", screen->out);
	if (slash - path < (int)left - 4)
		fprintf(screen->out, "%.*s", slash > path ? (int)(slash - path) : 1, path);
	else
		screen_name(screen, path, left - 4);
	screen_style(screen, STYLE_PLAIN);
	return columns;
}

static void print_row(const struct table *table, const struct row *row)
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
	if (table->report->options->by == BY_OBJECT)
		left -= print_path(screen, tally_name(&table->tally, row->name), left);
	else
		left -= screen_name(screen, tally_name(&table->tally, row->name), left);
	print_remark(table, row, left);
	putc('\n', screen->out);
}

static void print_rest(const struct table *table)
{
	const struct screen *screen = table->screen;
	const unsigned int used = (VALUE_COLUMNS + SHARE_COLUMNS) * (table->by_frames ? 2 : 1);
	uint64_t rest = 0;
	char text[64];

	for (size_t i = table->shown; i < table->count; i++)
		rest += table->tally.rows[table->order[i]].now.self;
	if (table->shown == table->count)
		return;
	screen_style(screen, STYLE_DIM);
	print_amount(table, rest);
	screen_style(screen, STYLE_DIM);
	fprintf(screen->out, "%*s  ", (int)(used - VALUE_COLUMNS - SHARE_COLUMNS), "");
	snprintf(text, sizeof(text), "%zu more (-n 0: all)", table->count - table->shown);
	screen_name(screen, text, screen_room(screen, used + 2));
	putc('\n', screen->out);
	screen_style(screen, STYLE_PLAIN);
}

static void print_rows(const struct table *table)
{
	const struct screen *screen = table->screen;

	screen_style(screen, STYLE_HEAD);
	fprintf(screen->out, "%*s", (int)(VALUE_COLUMNS + SHARE_COLUMNS),
		table->by_frames ? "self" : table->report->info.type);
	if (table->by_frames)
		fprintf(screen->out, "%*s", (int)(VALUE_COLUMNS + SHARE_COLUMNS), "total");
	fprintf(screen->out, "  %s\n", report_options_by_name(table->report->options->by));
	screen_style(screen, STYLE_PLAIN);
	for (size_t i = 0; i < table->shown; i++)
		print_row(table, &table->tally.rows[table->order[i]]);
	print_rest(table);
}

/* ---- two profiles ---- */

/* Percent of all samples, or how many CPUs it kept busy (of other units: so much a second). */
static double normal(const struct table *table, uint64_t count, bool base)
{
	const struct report *report = table->report;
	const struct pprof_info *info = base ? &report->old : &report->info;
	double value = (double)count * (double)info->by * (info->is_time ? 1 : 1e9);

	if (report->options->by_time)
		return info->times.duration_ns ? value / (double)info->times.duration_ns : 0;
	return view_percent(count, base ? table->tally.base_sum : table->tally.sum);
}

static void print_change(const struct table *table, uint64_t base, uint64_t now)
{
	const struct screen *screen = table->screen;
	const int decimals = table->report->options->by_time ? 3 : 2;
	double old = normal(table, base, true), new = normal(table, now, false);

	fprintf(screen->out, "%7.*f%7.*f", decimals, old, decimals, new);
	screen_style(screen, new > old ? STYLE_HOT : STYLE_WARM);
	fprintf(screen->out, "%+8.*f", decimals, new - old);
	screen_style(screen, STYLE_PLAIN);
}

#define CHANGE_COLUMNS 22u

static void print_changes(const struct table *table)
{
	const struct screen *screen = table->screen;
	const unsigned int used = CHANGE_COLUMNS * (table->by_frames ? 2 : 1) + 2;

	fputs(table->report->options->by_time
		      ? "by time: how many CPUs each kept busy (of others: so much a second)\n"
		      : "by total: shares of each profile, in percent\n",
	      screen->out);
	screen_style(screen, STYLE_HEAD);
	fputs("self old    new  change", screen->out);
	fputs(table->by_frames ? "  tot. old    new change" : "", screen->out);
	fprintf(screen->out, " %s\n", report_options_by_name(table->report->options->by));
	screen_style(screen, STYLE_PLAIN);
	for (size_t i = 0; i < table->shown; i++) {
		const struct row *row = &table->tally.rows[table->order[i]];

		print_change(table, row->base.self, row->now.self);
		if (table->by_frames)
			print_change(table, row->base.total, row->now.total);
		fputs("  ", screen->out);
		screen_name(screen, tally_name(&table->tally, row->name),
			    screen_room(screen, used));
		putc('\n', screen->out);
	}
	if (table->shown < table->count)
		fprintf(screen->out, "%zu more (-n 0: all)\n", table->count - table->shown);
}

/* ---- for programs ---- */

static void print_row_json(const struct table *table, const struct row *row)
{
	const struct report *report = table->report;
	FILE *out = table->screen->out;

	fputs("    {\"name\": ", out);
	screen_json_string(out, tally_name(&table->tally, row->name));
	fputs(", ", out);
	view_json_value(report, "self", row->now.self);
	fputs(", ", out);
	view_json_value(report, "total", row->now.total);
	if (report->options->diff) {
		const uint64_t by = report->old.by;

		fprintf(out, ", \"old_self\": %" PRIu64 ", \"old_total\": %" PRIu64,
			row->base.self * by, row->base.total * by);
	}
	if (report->options->by == BY_FUNCTION) {
		fputs(", \"object\": ", out);
		screen_json_string(out, object_of(table, row->name));
	}
	if (row->pids)
		fprintf(out, ", \"ids\": %" PRIu32 ", \"first_id\": %" PRIu32, row->pids, row->pid);
	putc('}', out);
}

static void print_json(const struct table *table)
{
	FILE *out = table->screen->out;

	header_print_json(table->report);
	fprintf(out, "  \"by\": \"%s\",\n  \"rows\": [\n",
		report_options_by_name(table->report->options->by));
	for (size_t i = 0; i < table->shown; i++) {
		print_row_json(table, &table->tally.rows[table->order[i]]);
		fputs(i + 1 < table->shown ? ",\n" : "\n", out);
	}
	fputs("  ]\n}\n", out);
}

int view_table(const struct report *report)
{
	const struct options *options = report->options;
	struct table table = {.report = report, .screen = &report->screen};
	int r = tally_make(report->profile, options->by, &table.tally);

	if (r == 0) {
		table.order =
			tally_order(&table.tally, options->by_total, options->diff, &table.count);
		r = table.order ? 0 : -ENOMEM;
	}
	if (r == 0) {
		table.shown = table.count < options->lines ? table.count : options->lines;
		table.by_frames = options->by == BY_FUNCTION || options->by == BY_OBJECT;
		table.scale = scale_for(view_value(report, table.tally.sum), view_unit(report));
		if (options->json) {
			print_json(&table);
		} else {
			header_print(report);
			options->diff ? print_changes(&table) : print_rows(&table);
		}
	}
	free(table.order);
	tally_release(&table.tally);
	return r;
}
