/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of a file refer to one another in any order: our files begin with the strings, Go's end
 * with them. The reader therefore finds the parts first. Then it reads strings, mappings,
 * functions, locations and samples.
 */
#include "profile/read/pprof_input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/runtimes.h"
#include "base/waited.h"
#include "base/wire.h"

enum sample_field { /* of Sample in proto/profile.proto */
	SAMPLE_STACK = 1,
	SAMPLE_VALUES,
	SAMPLE_LABEL
};

enum label_field { /* of Label */
	LABEL_FIELD_KEY = 1,
	LABEL_FIELD_TEXT,
	LABEL_FIELD_NUMBER
};

/* ---- samples ---- */

struct pprof_sample {
	struct profile_sample to;
	uint64_t cgroup; /* id */
	uint32_t cgroup_path;
	size_t depth;
	bool cut; /* a frame found no room */
	uint64_t values[PPROF_TYPES_MAX];
	uint32_t value_count;
	struct profile_label labels[PROFILE_LABELS_MAX]; /* that the program gave */
	size_t label_count;
};

static inline int read_location_id(struct pprof_input *in, uint64_t id, struct pprof_sample *sample)
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

/*
 * Reads locations, packed or not. Most bytes of a file are read here, through a copy of the reader,
 * which can stay in registers. A failed reader gives 0, which is no location.
 */
static int read_stack(struct pprof_input *in, const struct wire *field, struct pprof_sample *sample)
{
	struct reader packed;
	int r = 0;

	if (field->type == WIRE_VARINT)
		return read_location_id(in, field->value, sample);
	if (field->type != WIRE_BYTES)
		return 0;
	packed = field->bytes;
	while (reader_left(&packed) > 0 && r == 0)
		r = read_location_id(in, wire_varint(&packed), sample);
	return r;
}

static int read_values(struct pprof_input *in, struct reader *message, struct wire *field,
		       struct pprof_sample *sample)
{
	uint64_t value;

	while (wire_number(message, field, &value)) {
		if (sample->value_count == in->tables.type_count)
			return pprof_malformed(in, "a sample has more values than types");
		sample->values[sample->value_count++] = value;
	}
	return 0;
}

/* A label with a key of no writer of ours is one that the program gave, if it has a text. */
static void add_given(struct pprof_sample *sample, uint32_t key, uint32_t text)
{
	if (key && text && sample->label_count < PROFILE_LABELS_MAX)
		sample->labels[sample->label_count++] = (struct profile_label){key, text};
}

/* Returns the meaning that a key has in this file. */
static uint8_t label_in(const struct pprof_input *in, const struct pprof_string *key)
{
	static const bool of_times[LABELS] = {
#define L(id, key) [LABEL_##id] = false,
#define T(id, key) [LABEL_##id] = true,
#include "profile/pprof_labels.def"
#undef L
	};

	if (of_times[key->label] && !in->has_states)
		return LABEL_OTHER;
	return key->label;
}

/* The label of a container is left alone: the model finds the container in the path. */
static int read_label(struct pprof_input *in, struct reader *message, struct pprof_sample *sample)
{
	struct profile_sample *to = &sample->to;
	uint64_t number[LABEL_FIELD_NUMBER + 1];
	const struct pprof_string *string, *key;
	bool whole = wire_numbers(message, number, LABEL_FIELD_NUMBER + 1);
	uint8_t label;
	int r = 0;

	key = pprof_string(in, number[LABEL_FIELD_KEY], &r);
	label = label_in(in, key);
	string = pprof_string(in, number[LABEL_FIELD_TEXT], &r);
	if (r < 0)
		return r;
	if (!whole)
		return pprof_malformed(in, "a label");
	if (label == LABEL_PID)
		to->pid = (uint32_t)number[LABEL_FIELD_NUMBER];
	else if (label == LABEL_TID)
		to->tid = (uint32_t)number[LABEL_FIELD_NUMBER];
	else if (label == LABEL_COMM)
		to->process_name = string->id;
	else if (label == LABEL_THREAD)
		to->thread_name = string->id;
	else if (label == LABEL_CGROUP)
		sample->cgroup = number[LABEL_FIELD_NUMBER];
	else if (label == LABEL_CGROUP_PATH)
		sample->cgroup_path = string->id;
	else if (label == LABEL_GOROUTINE)
		to->goroutine = number[LABEL_FIELD_NUMBER];
	else if (label == LABEL_REASON)
		to->reason = profile_reason_find(profile_string_get(in->profile, string->id));
	else if (label == LABEL_WAIT)
		to->state = profile_state_find(profile_string_get(in->profile, string->id));
	else if (label == LABEL_WAKER)
		to->waker = string->id;
	else if (label == LABEL_OTHER)
		add_given(sample, key->id, string->id);
	return 0;
}

static int read_fields(struct pprof_input *in, struct reader *message, struct pprof_sample *sample)
{
	struct wire field;
	int r = 0;

	while (r == 0 && wire_next(message, &field)) {
		if (field.field == SAMPLE_STACK)
			r = read_stack(in, &field, sample);
		else if (field.field == SAMPLE_VALUES)
			r = read_values(in, message, &field, sample);
		else if (field.field == SAMPLE_LABEL && field.type == WIRE_BYTES)
			r = read_label(in, &field.bytes, sample);
	}
	if (r == 0 && reader_failed(message))
		return pprof_malformed(in, "a sample");
	return r;
}

static int count_sample(struct pprof_input *in, const struct pprof_sample *sample,
			uint64_t *ret_count)
{
	int r;

	if (sample->value_count != in->tables.type_count)
		return pprof_malformed(in, "a sample has fewer values than types");
	r = pprof_take_value(in, sample->values, ret_count);
	if (r != -EDOM)
		return r;
	r = pprof_leave_period(in);
	if (r < 0)
		return r;
	return pprof_take_value(in, sample->values, ret_count);
}

static bool is_kept(const struct pprof_input *in, const struct pprof_sample *sample)
{
	const struct pprof_options *options = in->options;
	uint32_t leaf = 0;

	if (!options->keep)
		return true;
	if (sample->depth > 0)
		leaf = in->stack[0];
	return options->keep(in->profile, &sample->to, leaf, options->context);
}

static int add_sample(struct pprof_input *in, struct pprof_sample *sample, uint64_t count)
{
	struct profile_sample *to = &sample->to;

	if (count == 0)
		return 0;
	if (in->has_waits && sample->values[0] <= UINT64_MAX / PROFILE_WAITS_ONE)
		to->waits = sample->values[0] * PROFILE_WAITS_ONE;
	if (!to->process_name)
		to->process_name = in->file_name;
	if (!to->thread_name)
		to->thread_name = to->process_name;
	to->cgroup = profile_cgroup_add(in->profile, sample->cgroup, sample->cgroup_path);
	to->labels = profile_labels_add(in->profile, sample->labels, sample->label_count);
	if (!is_kept(in, sample))
		return 0;
	if (in->commented && to->pid)
		in->info->ours = in->info->times.walked = true;
	in->info->kept += count;
	in->info->stacks_cut += sample->cut;
	if (in->options->base)
		to->base = count;
	else
		to->count = count;
	to->stack = profile_stack_append(in->profile, in->stack, sample->depth);
	if (to->stack == PROFILE_FAILED)
		return -ENOMEM;
	return profile_sample_append(in->profile, to);
}

static int read_sample(struct pprof_input *in, struct reader *message)
{
	struct pprof_sample sample;
	uint64_t count = 0;
	int r;

	memset(&sample.to, 0, sizeof(sample.to));
	sample.cgroup = sample.cgroup_path = 0;
	sample.depth = sample.value_count = sample.label_count = 0;
	sample.cut = false;
	r = read_fields(in, message, &sample);
	if (r < 0)
		return r;
	r = count_sample(in, &sample, &count);
	if (r < 0)
		return r;
	return add_sample(in, &sample, count);
}

static int read_samples(struct pprof_input *in)
{
	struct reader file;
	struct wire field;
	int r = 0;

	in->first_sample = profile_samples(in->profile);
	reader_init(&file, in->bytes, in->size);
	while (r == 0 && wire_next(&file, &field))
		if (field.field == PPROF_SAMPLE && field.type == WIRE_BYTES)
			r = read_sample(in, &field.bytes);
	return r;
}

/* ---- the file ---- */

static bool begins_with_one(const char *comment, const char *const starts[], size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strncmp(comment, starts[i], strlen(starts[i])))
			return true;
	return false;
}

/* Returns whether a comment is one of our notes for people. */
static bool is_note(const char *comment)
{
	static const char *const starts[] = {RUNTIME_NOTE_START, WAITED_NOTE_START};

	return begins_with_one(comment, starts, sizeof(starts) / sizeof(starts[0]));
}

/* Returns whether a comment has our totals: of samples, or of times of threads. */
static bool is_of_totals(const char *comment)
{
	static const char *const starts[] = {"samples: ", "nanoseconds: "};

	return begins_with_one(comment, starts, sizeof(starts) / sizeof(starts[0])) &&
	       strstr(comment, ", complete: ");
}

static int read_comments(struct pprof_input *in)
{
	const char *comment;
	int r = 0;

	for (uint32_t i = 0; i < in->tables.comment_count && r == 0; i++) {
		comment = pprof_text(in, in->tables.comments[i], &r);
		if (is_of_totals(comment))
			in->commented = true;
		if (r == 0 && is_note(comment))
			r = profile_note_add(in->profile, comment);
	}
	return r;
}

static int choose_values(struct pprof_input *in)
{
	return pprof_choose_values(in, true);
}

static int read_all(struct pprof_input *in)
{
	static int (*const parts[])(struct pprof_input *) = {
		pprof_read_strings,   read_comments,	    choose_values, pprof_read_mappings,
		pprof_read_functions, pprof_read_locations, read_samples};
	const char *problem;
	int r = pprof_tables_read(&in->tables, in->bytes, in->size, &problem);

	if (r < 0)
		return pprof_refuse(in, r, "%s", problem);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && r == 0; i++)
		r = parts[i](in);
	/* the notes are of all samples, and name what a filter leaves out */
	if (in->info->kept != in->info->total)
		profile_notes_clear(in->profile);
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
