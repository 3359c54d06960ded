/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "ipc/time.h"
#include "view/report/view.h"
#include "profile/format/format.h"
#include "profile/format/names.h"

double view_value(const struct report *report, uint64_t count)
{
	return (double)count * (double)report->info.by;
}

const char *view_unit(const struct pprof_info *info)
{
	if (info->is_time)
		return "nanoseconds";
	return info->unit;
}

/* Returns the path of the profile that is shown: of a difference the newer one. */
static const char *shown_path(const struct options *options)
{
	if (options->diff)
		return options->files[1];
	return options->files[0];
}

struct fates {
	struct format_totals totals;
	uint64_t reason[PROFILE_REASONS_MAX]; /* of those that are cut */
};

static void count_fates(const struct report *report, struct fates *fates)
{
	const size_t count = profile_samples(report->profile);

	*fates = (struct fates){0};
	format_totals(report->profile, &fates->totals);
	for (size_t i = 0; i < count; i++) {
		const struct profile_sample sample = profile_sample_get(report->profile, i);

		if (profile_reason_is_cut(sample.reason) && sample.reason < PROFILE_REASONS_MAX)
			fates->reason[sample.reason] += sample.count;
	}
}

static void print_samples(const struct screen *screen, unsigned int *column,
			  const struct pprof_info *info)
{
	screen_part(screen, column, ", %" PRIu64, info->total);
	if (info->times.event)
		screen_part(screen, column, " samples of %" PRIu64 " %s", info->times.period,
			    info->times.event);
	else
		screen_part(screen, column, " samples of %.3g ms",
			    (double)info->times.period / NS_PER_MS);
}

/*
 * Prints "FILE: 11.90 s of cpu in 10.0 s, 1178 samples of 10.1 ms", or "FILE: 120 page-faults in
 * 2.0 s".
 */
static void print_file(const struct report *report, const char *path, const struct pprof_info *info)
{
	const struct screen *screen = &report->screen;
	const double value = (double)info->total * (double)info->by;
	const char *of = info->times.event ? "" : " of";
	struct scale scale = scale_for(value, view_unit(info));
	char name[FORMAT_NAME_MAX];
	unsigned int column;

	format_clean_name(name, sizeof(name), format_base_name(path));
	screen_style(screen, STYLE_HEAD);
	column = screen_name(screen, name, screen->width / 2);
	screen_style(screen, STYLE_PLAIN);
	screen_part(screen, &column, ": %.*f%s%s %s", scale.decimals, value / scale.by, scale.unit,
		    of, info->type);
	if (info->times.duration_ns)
		screen_part(screen, &column, " in %.1f s",
			    (double)info->times.duration_ns / NS_PER_SECOND);
	if (info->times.period > 1)
		print_samples(screen, &column, info);
	putc('\n', screen->out);
}

#define AMOUNT_MAX 32

/* Writes a number of samples, or the time that they stand for where the file counts times. */
static const char *amount(const struct report *report, uint64_t count, char ret_text[AMOUNT_MAX])
{
	const struct scale scale = scale_for((double)count, view_unit(&report->info));

	if (count > 0 && report->info.is_time && report->info.times.type)
		snprintf(ret_text, AMOUNT_MAX, "%.*f%s", scale.decimals, (double)count / scale.by,
			 scale.unit);
	else
		snprintf(ret_text, AMOUNT_MAX, "%" PRIu64, count);
	return ret_text;
}

/* Prints how many stacks are cut, or for how long. Only files of keyhole say so. */
static void print_fates(const struct report *report)
{
	char text[AMOUNT_MAX];
	const struct screen *screen = &report->screen;
	const char *separator = ":";
	unsigned int column = 0;
	struct fates fates;

	count_fates(report, &fates);
	screen_part(screen, &column, "complete %s (%.2f %%),",
		    amount(report, fates.totals.complete, text),
		    screen_percent(fates.totals.complete, fates.totals.samples));
	if (fates.totals.guessed)
		screen_part(screen, &column, " complete (guessed) %s,",
			    amount(report, fates.totals.guessed, text));
	screen_part(screen, &column, " cut %s", amount(report, fates.totals.cut, text));
	for (uint32_t i = 0; i < PROFILE_REASONS_MAX; i++) {
		if (!fates.reason[i])
			continue;
		fputs(separator, screen->out);
		column++;
		screen_part(screen, &column, " %s %s", profile_reason(i)->name,
			    amount(report, fates.reason[i], text));
		separator = ",";
	}
	putc('\n', screen->out);
}

/* Prints what the recording says about its own samples. */
static void print_told(const struct report *report)
{
	size_t count;
	const uint32_t *notes = profile_notes(report->profile, &count);

	for (size_t i = 0; i < count; i++)
		fprintf(report->screen.out, "note %s\n",
			profile_string_get(report->profile, notes[i]));
}

static void print_notes(const struct report *report, const struct pprof_info *info)
{
	FILE *out = report->screen.out;

	if (!info->kept && info->total)
		fputs("shown: nothing of it, no sample matches the filters that were given\n", out);
	else if (info->kept != info->total)
		fprintf(out, "shown: %.2f %% of it, by the filters that were given\n",
			screen_percent(info->kept, info->total));
	if (info->stacks_cut)
		fprintf(out,
			"note: %" PRIu64
			" stacks with more than %d frames: without the outermost\n",
			info->stacks_cut, PROFILE_STACK_MAX);
	if (info->lines_cut)
		fprintf(out, "note: %" PRIu64 " functions inlined deeper than %d: left out\n",
			info->lines_cut, PROFILE_LINES_MAX);
	if (info->strings_cut)
		fprintf(out, "note: %" PRIu64 " long names cut\n", info->strings_cut);
	if ((!info->ours || info->times.type) && info->kept && strchr(info->types, ','))
		fprintf(out, "values: %s (--sample-type)\n", info->types);
}

void header_print(const struct report *report)
{
	const struct options *options = report->options;

	if (options->diff) {
		print_file(report, options->files[0], &report->old);
		print_notes(report, &report->old);
	}
	print_file(report, shown_path(options), &report->info);
	if (report->info.ours && !options->diff && report->info.kept)
		print_fates(report);
	print_notes(report, &report->info);
	if (!options->diff)
		print_told(report);
	putc('\n', report->screen.out);
}

/* ---- sources ---- */

unsigned int view_print_source(const struct report *report, const struct name_sources *sources,
			       uint32_t name, unsigned int columns)
{
	const struct screen *screen = &report->screen;
	const struct source *source = name_sources_get(sources, name);
	char text[FORMAT_NAME_MAX], clean[FORMAT_NAME_MAX];

	if (!source)
		return 0;
	source_spell_short(report->profile, source, text, sizeof(text));
	format_clean_name(clean, sizeof(clean), text);
	if (strlen(clean) + 2 > columns)
		return 0;
	screen_style(screen, STYLE_DIM);
	fprintf(screen->out, "  %s", clean);
	screen_style(screen, STYLE_PLAIN);
	return (unsigned int)strlen(clean) + 2;
}

/* ---- for programs ---- */

void view_json_source(struct view_json *to, const struct name_sources *sources, uint32_t name)
{
	const struct source *source = name_sources_get(sources, name);

	if (!source)
		return;
	json_key_string(&to->json, "file", profile_string_get(to->report->profile, source->file));
	if (source->line)
		json_key_number(&to->json, "line", source->line);
}

void view_json_value(struct view_json *to, const char *key, uint64_t count)
{
	/* pprof_read() refuses sums beyond 63 bits */
	json_key_number(&to->json, key, count * to->report->info.by);
}

/* Prints how many samples the values are of, and what a sample is worth. */
static void put_samples(struct json *json, const struct pprof_info *info)
{
	const char *unit = info->times.event;

	if (!unit)
		unit = "nanoseconds";
	json_key_number(json, "samples", info->total);
	json_key_number(json, "period", info->times.period);
	json_key_string(json, "period_unit", unit);
}

static void put_file(struct json *json, const char *key, const char *path,
		     const struct pprof_info *info)
{
	json_line(json);
	json_key_object(json, key);
	json_key_string(json, "file", path);
	json_key_string(json, "type", info->type);
	json_key_string(json, "unit", view_unit(info));
	json_key_number(json, "total", info->total * info->by);
	json_key_number(json, "shown", info->kept * info->by);
	if (!info->times.type)
		put_samples(json, info);
	json_key_number(json, "start_ns", info->times.start_realtime_ns);
	json_key_number(json, "duration_ns", info->times.duration_ns);
	json_end(json);
}

static void put_fates(struct json *json, const struct report *report)
{
	struct fates fates;

	count_fates(report, &fates);
	json_line(json);
	json_key_number(json, "complete", fates.totals.complete);
	json_key_number(json, "guessed", fates.totals.guessed);
	json_key_number(json, "cut", fates.totals.cut);
	json_key_object(json, "reasons");
	for (uint32_t i = 0; i < PROFILE_REASONS_MAX; i++)
		if (fates.reason[i])
			json_key_number(json, profile_reason(i)->name, fates.reason[i]);
	json_end(json);
}

static void put_told(struct json *json, const struct report *report)
{
	size_t count;
	const uint32_t *notes = profile_notes(report->profile, &count);

	if (count == 0 || report->options->diff)
		return;
	json_line(json);
	json_key_array(json, "notes");
	for (size_t i = 0; i < count; i++)
		json_string(json, profile_string_get(report->profile, notes[i]));
	json_end(json);
}

int view_json_begin(struct view_json *to, const struct report *report)
{
	const struct options *options = report->options;
	int r = output_init(&to->output, fileno(report->screen.out), false);

	to->report = report;
	json_init(&to->json, &to->output);
	to->json.readable = true;
	if (r < 0)
		return r;
	json_object(&to->json);
	if (options->diff)
		put_file(&to->json, "old", options->files[0], &report->old);
	put_file(&to->json, "profile", shown_path(options), &report->info);
	if (report->info.ours)
		put_fates(&to->json, report);
	put_told(&to->json, report);
	json_line(&to->json);
	return 0;
}

int view_json_end(struct view_json *to, int r)
{
	if (r == 0) {
		json_line(&to->json);
		json_end(&to->json);
		json_finish(&to->json);
		r = output_finish(&to->output);
	}
	output_release(&to->output);
	return r;
}
