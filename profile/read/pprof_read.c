/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of a file refer to one another in any order (ours has the strings first, Go's last): where
 * they lie is found first, then strings, mappings, functions, locations and samples are read.
 */
#include "profile/read/pprof_input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "profile/format/format.h"
#include "profile/read/wire.h"

/* ---- which value ---- */

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
	char list[2 * sizeof(in->info->types)] = "";
	size_t used = 0;
	int r = 0;

	for (uint32_t i = 0; i < in->tables.type_count && used < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
					 pprof_text(in, in->tables.types[i].type, &r));
	format_clean_name(in->info->types, sizeof(in->info->types), list);
	return r;
}

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
	return r || !in->options->sample_type
		       ? r
		       : pprof_refuse(in, -ENOENT, "no sample type %s; it has: %s", wanted,
				      in->info->types);
}

static uint64_t find_count(struct pprof_input *in, int *r)
{
	for (uint32_t i = 0; i < in->tables.type_count; i++)
		if (!strcmp(pprof_text(in, in->tables.types[i].unit, r), "count"))
			return i;
	return in->tables.type_count;
}

/*
 * Of time: the samples themselves are taken, if there is a period and `linear`. Of samples: their
 * period, so that they have a time as well.
 */
static int choose_values(struct pprof_input *in, bool linear)
{
	const struct pprof_value_type *type;
	const char *period_unit;
	struct pprof_info *info = in->info;
	uint64_t period_scale, count;
	int r = choose_column(in);

	if (r)
		return r;
	type = &in->tables.types[in->column];
	format_clean_name(info->type, sizeof(info->type), pprof_text(in, type->type, &r));
	format_clean_name(info->unit, sizeof(info->unit), pprof_text(in, type->unit, &r));
	in->scale = time_scale(info->unit);
	info->is_time = in->scale > 0;
	in->scale = in->scale ? in->scale : 1;
	info->times.period = info->by = 1;
	info->times.start_realtime_ns = in->tables.time;
	info->times.duration_ns = in->tables.duration;
	if (!strcmp(info->unit, "count"))
		info->times.event = info->type;
	format_clean_name(info->event, sizeof(info->event),
			  pprof_text(in, in->tables.period_type.type, &r));
	period_unit = pprof_text(in, in->tables.period_type.unit, &r);
	period_scale = strcmp(period_unit, "count") ? time_scale(period_unit) : 1;
	count = find_count(in, &r);
	if (r || !period_scale || !linear || in->tables.period == 0 ||
	    in->tables.period > INT64_MAX / period_scale || count == in->tables.type_count)
		return r;
	if (in->column != count && (type->type != in->tables.period_type.type ||
				    type->unit != in->tables.period_type.unit))
		return r;
	if (in->column != count) {
		in->checked = in->column;
		in->checked_by = in->tables.period;
		in->column = (uint32_t)count;
		in->scale = 1;
		info->by = in->tables.period * period_scale;
	} else if (strcmp(info->type, "samples") != 0) {
		return r;
	}
	info->times.period = in->tables.period * period_scale;
	info->times.event = strcmp(period_unit, "count") ? NULL : info->event;
	return r;
}

/* ---- samples ---- */

struct sample {
	struct profile_sample to;
	size_t depth;
	bool cut; /* a frame found no room */
	uint64_t values[PPROF_TYPES_MAX];
	uint32_t value_count;
};

static inline int read_location_id(struct pprof_input *in, uint64_t id, struct sample *sample)
{
	const uint32_t index = pprof_ids_get(&in->location_ids, id);

	if (!index)
		return pprof_malformed(in, "a sample's location is not there");
	if (sample->depth < PROFILE_STACK_MAX)
		in->stack[sample->depth++] = in->first_location + index - 1;
	else
		sample->cut = true;
	return 0;
}

/* Packed or not. A copy of the reader, because most bytes of a file are read here. When it fails it
 * gives 0, which is no location. */
static int read_stack(struct pprof_input *in, const struct wire *field, struct sample *sample)
{
	struct reader packed;
	int r = 0;

	if (field->type == WIRE_VARINT)
		return read_location_id(in, field->value, sample);
	if (field->type != WIRE_BYTES)
		return 0;
	packed = field->bytes;
	while (reader_left(&packed) > 0 && r == 0)
		r = read_location_id(in, wire_varint_of_list(&packed), sample);
	return r;
}

static int read_values(struct pprof_input *in, struct reader *message, struct wire *field,
		       struct sample *sample)
{
	uint64_t value;

	while (wire_number(message, field, &value)) {
		if (sample->value_count == in->tables.type_count)
			return pprof_malformed(in, "a sample has more values than types");
		sample->values[sample->value_count++] = value;
	}
	return 0;
}

static uint32_t reason_of(const char *name)
{
	const struct profile_reason *reason;

	for (uint32_t i = 0; (reason = profile_reason(i)); i++)
		if (!strcmp(reason->name, name))
			return i;
	return 0;
}

static int read_label(struct pprof_input *in, struct reader *message, struct profile_sample *to)
{
	uint64_t number[4] = {0}; /* by field */
	const struct pprof_string *string;
	struct wire field;
	uint8_t label;
	int r = 0;

	while (wire_next(message, &field))
		if (field.type == WIRE_VARINT && field.field < 4)
			number[field.field] = field.value;
	label = pprof_string(in, number[1], &r)->label;
	string = pprof_string(in, number[2], &r);
	if (r || reader_failed(message))
		return r ? r : pprof_malformed(in, "a label");
	if (label == LABEL_PID)
		to->pid = (uint32_t)number[3];
	else if (label == LABEL_TID)
		to->tid = (uint32_t)number[3];
	else if (label == LABEL_COMM)
		to->process_name = string->id;
	else if (label == LABEL_THREAD)
		to->thread_name = string->id;
	else if (label == LABEL_CGROUP)
		to->cgroup = number[3];
	else if (label == LABEL_REASON)
		to->reason = reason_of(profile_string_get(in->profile, string->id));
	return 0;
}

static int read_fields(struct pprof_input *in, struct reader *message, struct sample *sample)
{
	struct wire field;
	int r = 0;

	while (r == 0 && wire_next(message, &field)) {
		if (field.field == 1)
			r = read_stack(in, &field, sample);
		else if (field.field == 2)
			r = read_values(in, message, &field, sample);
		else if (field.field == 3 && field.type == WIRE_BYTES)
			r = read_label(in, &field.bytes, &sample->to);
	}
	return r == 0 && reader_failed(message) ? pprof_malformed(in, "a sample") : r;
}

static const char too_large[] = "the sum of all samples is too large";

/* -EDOM: the value is not a multiple of the period. */
static int take_value(struct pprof_input *in, const struct sample *sample, uint64_t *ret_count)
{
	uint64_t value = sample->values[in->column], product;

	if (sample->value_count != in->tables.type_count)
		return pprof_malformed(in, "a sample has fewer values than types");
	if (value > INT64_MAX)
		return pprof_malformed(in, "a value is negative; it may be a difference");
	if (in->checked_by && (__builtin_mul_overflow(value, in->checked_by, &product) ||
			       product != sample->values[in->checked]))
		return -EDOM;
	if (__builtin_mul_overflow(value, in->scale, ret_count) ||
	    __builtin_add_overflow(in->info->total, *ret_count, &in->info->total) ||
	    in->info->total > INT64_MAX / in->info->times.period)
		return pprof_malformed(in, too_large);
	return 0;
}

/*
 * This sample's value is not a multiple of the period: from here on values are what the file has.
 * Those of the samples before it were multiples, so that theirs are known.
 */
static int leave_period(struct pprof_input *in)
{
	uint64_t factor = in->checked_by;
	int r;

	in->checked_by = 0;
	r = choose_values(in, false);
	if (r)
		return r;
	if (in->info->total == 0)
		return 0;
	if (__builtin_mul_overflow(factor, in->scale, &factor) ||
	    __builtin_mul_overflow(in->info->total, factor, &in->info->total) ||
	    in->info->total > INT64_MAX)
		return pprof_malformed(in, too_large);
	in->info->kept *= factor;
	profile_samples_scale(in->profile, in->first_sample, factor);
	return 0;
}

static int add_sample(struct pprof_input *in, struct sample *sample, uint64_t count)
{
	const struct pprof_options *options = in->options;
	struct profile_sample *to = &sample->to;

	if (count == 0)
		return 0;
	if (!to->process_name)
		to->process_name = in->file_name;
	if (!to->thread_name)
		to->thread_name = to->process_name;
	if (options->keep &&
	    !options->keep(in->profile, to, sample->depth ? in->stack[0] : 0, options->context))
		return 0;
	in->info->ours |=
		in->commented && to->pid; /* others' files, converted, have no processes */
	in->info->kept += count;
	in->info->stacks_cut += sample->cut;
	to->count = options->base ? 0 : count;
	to->base = options->base ? count : 0;
	to->stack = profile_stack_append(in->profile, in->stack, sample->depth);
	return to->stack == PROFILE_FAILED ? -ENOMEM : profile_sample_append(in->profile, to);
}

static int read_sample(struct pprof_input *in, struct reader *message)
{
	struct sample sample;
	uint64_t count = 0;
	int r;

	memset(&sample.to, 0, sizeof(sample.to));
	sample.depth = sample.value_count = 0;
	sample.cut = false;
	r = read_fields(in, message, &sample);
	r = r ? r : take_value(in, &sample, &count);
	if (r == -EDOM) {
		r = leave_period(in);
		r = r ? r : take_value(in, &sample, &count);
	}
	return r ? r : add_sample(in, &sample, count);
}

static int read_samples(struct pprof_input *in)
{
	struct reader file;
	struct wire field;
	int r = 0;

	profile_samples(in->profile, &in->first_sample);
	reader_init(&file, in->bytes, in->size);
	while (r == 0 && wire_next(&file, &field))
		if (field.field == PPROF_SAMPLE && field.type == WIRE_BYTES)
			r = read_sample(in, &field.bytes);
	return r;
}

/* ---- all ---- */

static int read_comments(struct pprof_input *in)
{
	int r = 0;

	for (uint32_t i = 0; i < in->tables.comment_count; i++)
		if (!strncmp(pprof_text(in, in->tables.comments[i], &r), "keyhole ", 8))
			in->commented = true;
	return r;
}

static int read_all(struct pprof_input *in)
{
	static int (*const parts[])(struct pprof_input *) = {
		pprof_read_mappings, pprof_read_functions, pprof_read_locations, read_samples};
	const char *problem;
	int r = pprof_tables_read(&in->tables, in->bytes, in->size, &problem);

	if (r)
		return pprof_refuse(in, r, "%s", problem);
	r = pprof_read_strings(in);
	r = r ? r : read_comments(in);
	r = r ? r : choose_values(in, true);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && r == 0; i++)
		r = parts[i](in);
	return r;
}

int pprof_read(const void *bytes, size_t size, const struct pprof_options *options,
	       struct profile *profile, struct pprof_info *ret_info)
{
	struct pprof_input *in = calloc(1, sizeof(*in));
	int r;

	memset(ret_info, 0, sizeof(*ret_info));
	if (!in)
		return -ENOMEM;
	in->bytes = bytes;
	in->size = size;
	in->options = options;
	in->profile = profile;
	in->info = ret_info;
	r = read_all(in);
	pprof_tables_release(&in->tables);
	pprof_ids_release(&in->mapping_ids);
	pprof_ids_release(&in->function_ids);
	pprof_ids_release(&in->location_ids);
	map_free(in->markers);
	free(in->strings);
	free(in->functions);
	free(in);
	return r;
}
