/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses which value of a sample is its count, and how many units a count is worth. */
#include "profile/read/pprof_input.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "profile/format/names.h"

static const char too_large[] = "the sum of all samples is too large";

/* Returns nanoseconds, or 0 for a unit that is no time. */
static uint64_t time_scale(const char *unit)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{"nanoseconds", 1},
		{"microseconds", 1000},
		{"milliseconds", 1000000},
		{"seconds", 1000000000},
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(unit, units[i].name))
			return units[i].ns;
	return 0;
}

static int list_types(struct pprof_input *in)
{
	const struct pprof_tables *tables = &in->tables;
	char list[2 * sizeof(in->info->types)] = "";
	const char *separator = "", *type;
	size_t used = 0;
	int r = 0;

	for (uint32_t i = 0; i < tables->type_count && used < sizeof(list); i++) {
		type = pprof_text(in, tables->types[i].type, &r);
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", separator, type);
		separator = ", ";
	}
	format_clean_name(in->info->types, sizeof(in->info->types), list);
	return r;
}

/* Takes the type that the options name, or else the file's default type, or else the last one. */
static int choose_column(struct pprof_input *in)
{
	const struct pprof_tables *tables = &in->tables;
	const char *wanted = in->options->sample_type;
	int r = list_types(in);

	in->column = tables->type_count - 1;
	if (!wanted)
		wanted = pprof_text(in, tables->default_type, &r);
	for (uint32_t i = 0; i < tables->type_count && *wanted && r == 0; i++) {
		if (!strcmp(pprof_text(in, tables->types[i].type, &r), wanted)) {
			in->column = i;
			return r;
		}
	}
	if (r < 0 || !in->options->sample_type)
		return r;
	return pprof_refuse(in, -ENOENT, "no sample type %s; it has: %s", wanted, in->info->types);
}

/* Returns the first column of counts, or the number of columns where there is none. */
static uint32_t find_count(struct pprof_input *in, int *r)
{
	for (uint32_t i = 0; i < in->tables.type_count; i++)
		if (!strcmp(pprof_text(in, in->tables.types[i].unit, r), "count"))
			return i;
	return in->tables.type_count;
}

/* Returns whether values are times of threads off their CPU, or on and off it. */
static bool are_times_of_threads(struct pprof_input *in, const struct pprof_value_type *type,
				 int *r)
{
	const char *name = pprof_text(in, type->type, r);

	if (strcmp(name, "off_cpu") != 0 && strcmp(name, "wall") != 0)
		return false;
	return time_scale(pprof_text(in, type->unit, r)) > 0;
}

/* Describes the chosen column as it is in the file: a count is worth one of the column's unit. */
static int describe_column(struct pprof_input *in)
{
	const struct pprof_value_type *type = &in->tables.types[in->column];
	const struct pprof_value_type *period = &in->tables.period_type;
	struct pprof_info *info = in->info;
	int r = 0;

	format_clean_name(info->type, sizeof(info->type), pprof_text(in, type->type, &r));
	format_clean_name(info->unit, sizeof(info->unit), pprof_text(in, type->unit, &r));
	format_clean_name(info->event, sizeof(info->event), pprof_text(in, period->type, &r));
	in->scale = time_scale(info->unit);
	info->is_time = in->scale > 0;
	if (in->scale == 0)
		in->scale = 1;
	info->times.period = info->by = 1;
	info->times.start_realtime_ns = in->tables.time;
	info->times.duration_ns = in->tables.duration;
	if (!strcmp(info->unit, "count"))
		info->times.event = info->type;
	info->times.type = info->type;
	info->times.unit = info->unit;
	if (info->is_time)
		info->times.unit = "nanoseconds";
	for (uint32_t i = 0; i < in->tables.type_count; i++)
		in->has_states |= are_times_of_threads(in, &in->tables.types[i], &r);
	if (are_times_of_threads(in, type, &r))
		info->times.tick = 1; /* the file does not say for how long a sample stands */
	in->has_waits = info->times.tick && in->column > 0 &&
			!strcmp(pprof_text(in, in->tables.types[0].type, &r), "waits");
	return r;
}

/*
 * Returns how many nanoseconds or events a sample is worth, or 0 where the file has no period that
 * says so. *ret_counts: the period is one of events.
 */
static uint64_t period_worth(struct pprof_input *in, bool *ret_counts, int *r)
{
	const char *unit = pprof_text(in, in->tables.period_type.unit, r);
	uint64_t scale = time_scale(unit);

	*ret_counts = !strcmp(unit, "count");
	if (*ret_counts)
		scale = 1;
	if (scale == 0 || in->tables.period > INT64_MAX / scale)
		return 0;
	return in->tables.period * scale;
}

static bool is_of_period(const struct pprof_tables *tables, uint32_t column)
{
	return tables->types[column].type == tables->period_type.type &&
	       tables->types[column].unit == tables->period_type.unit;
}

/* Counts samples in place of the chosen column, as long as that column is samples * period. */
static void take_counts(struct pprof_input *in, uint32_t counts, uint64_t worth)
{
	in->checked = in->column;
	in->checked_by = in->tables.period;
	in->column = counts;
	in->scale = 1;
	in->info->by = worth;
}

int pprof_choose_values(struct pprof_input *in, bool linear)
{
	struct pprof_info *info = in->info;
	bool period_counts;
	uint64_t worth;
	uint32_t counts;
	int r;

	r = choose_column(in);
	if (r < 0)
		return r;
	r = describe_column(in);
	worth = period_worth(in, &period_counts, &r);
	counts = find_count(in, &r);
	if (r < 0)
		return r;
	if (!linear || worth == 0 || counts == in->tables.type_count)
		return 0;
	if (in->column == counts && strcmp(info->type, "samples") != 0)
		return 0;
	if (in->column != counts) {
		if (!is_of_period(&in->tables, in->column))
			return 0;
		take_counts(in, counts, worth);
	}
	info->times.period = worth;
	info->times.event = info->times.type = info->times.unit = NULL;
	if (period_counts)
		info->times.event = info->event;
	return 0;
}

/* Returns whether the value is the multiple of the period that the file has beside it. */
static bool is_multiple(const struct pprof_input *in, uint64_t value, const uint64_t *values)
{
	uint64_t product;

	if (in->checked_by == 0)
		return true;
	if (__builtin_mul_overflow(value, in->checked_by, &product))
		return false;
	return product == values[in->checked];
}

int pprof_take_value(struct pprof_input *in, const uint64_t *values, uint64_t *ret_count)
{
	struct pprof_info *info = in->info;
	const uint64_t value = values[in->column];

	if (value > INT64_MAX)
		return pprof_malformed(in, "a value is negative; it may be a difference");
	if (!is_multiple(in, value, values))
		return -EDOM;
	if (__builtin_mul_overflow(value, in->scale, ret_count))
		return pprof_malformed(in, too_large);
	if (__builtin_add_overflow(info->total, *ret_count, &info->total))
		return pprof_malformed(in, too_large);
	if (info->total > INT64_MAX / info->times.period)
		return pprof_malformed(in, too_large);
	return 0;
}

int pprof_leave_period(struct pprof_input *in)
{
	struct pprof_info *info = in->info;
	uint64_t factor = in->checked_by;
	int r;

	in->checked_by = 0;
	r = pprof_choose_values(in, false);
	if (r < 0)
		return r;
	if (info->total == 0)
		return 0;
	if (__builtin_mul_overflow(factor, in->scale, &factor))
		return pprof_malformed(in, too_large);
	if (__builtin_mul_overflow(info->total, factor, &info->total) || info->total > INT64_MAX)
		return pprof_malformed(in, too_large);
	info->kept *= factor;
	profile_samples_scale(in->profile, in->first_sample, factor);
	return 0;
}
