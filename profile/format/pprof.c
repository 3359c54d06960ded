/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes pprof's format (proto/profile.proto). Serialized protobuf messages that follow one another
 * are the same as one merged message: a reader appends repeated fields (protobuf's encoding guide,
 * "Last One Wins"). The writer therefore writes many small messages of one element each. Memory
 * never holds the tree of messages, or the packed profile.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generated/version.h"
#include "proto/profile.pb-c.h"
#include "base/array.h"
#include "profile/format/format.h"
#include "profile/format/lines.h"
#include "profile/format/names.h"
#include "profile/format/output.h"
#include "profile/main_object.h"
#include "profile/profile.h"

enum own_string {
	OWN_SAMPLES,
	OWN_COUNT,
#define L(id, key) OWN_##id,
#include "profile/pprof_labels.def"
#undef L
	OWN_UNKNOWN,
	OWN_WAITS,
	OWN_ON_CPU,
	OWN_OFF_CPU,
	OWN_TYPE, /* of format_worth(), like the next one; neither is in own_strings[] */
	OWN_UNIT,
	OWN_STRINGS
};

static const char *const own_strings[OWN_STRINGS] = {
	[OWN_SAMPLES] = "samples",	 [OWN_COUNT] = "count",
#define L(id, key) [OWN_##id] = key,
#include "profile/pprof_labels.def"
#undef L
	[OWN_UNKNOWN] = PROFILE_UNKNOWN, [OWN_WAITS] = "waits",
	[OWN_ON_CPU] = "on-cpu",	 [OWN_OFF_CPU] = "off-cpu",
};

enum {
#define L(id, key) +1
	LABELS_MAX = PROFILE_LABELS_MAX
#include "profile/pprof_labels.def"
#undef L
};

struct pprof {
	const struct profile *profile;
	const struct profile_times *times;
	struct output output;
	int64_t strings;		/* written so far */
	int64_t own[OWN_STRINGS];	/* indexes of strings; 0: not written */
	bool unknown_written;		/* unknown_function() */
	int64_t states[PROFILE_STATES]; /* the same of enum profile_state */
	int64_t reasons
		[PROFILE_REASONS_MAX]; /* by enum sample_reason: index of its name; 0: no name */
	uint64_t locations[PROFILE_STACK_MAX];
	Perftools__Profiles__Line lines[PROFILE_LINES_MAX];
	Perftools__Profiles__Line *line[PROFILE_LINES_MAX]; /* to lines[], as messages want them */
	uint8_t *packed;				    /* of put_part() */
	size_t capacity;				    /* of packed, in bytes */
};

/* Holds the labels of one sample: the memory that the message points to. */
struct label_list {
	Perftools__Profiles__Label label[LABELS_MAX];
	Perftools__Profiles__Label *pointer[LABELS_MAX];
	size_t count;
};

static void put_part(struct pprof *pprof, const Perftools__Profiles__Profile *part)
{
	size_t size = perftools__profiles__profile__get_packed_size(part);

	if (ARRAY_RESERVE(pprof->packed, pprof->capacity, size) < 0) {
		output_fail(&pprof->output, -ENOMEM);
		return;
	}
	perftools__profiles__profile__pack(part, pprof->packed);
	output_write(&pprof->output, pprof->packed, size);
}

/* Writes a raw string, clean, and returns its index. */
static int64_t put_string(struct pprof *pprof, const char *raw)
{
	Perftools__Profiles__Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
	char clean[FORMAT_NAME_MAX], *texts[] = {clean};

	format_clean_name(clean, sizeof(clean), raw);
	part.n_string_table = 1;
	part.string_table = texts;
	put_part(pprof, &part);
	return pprof->strings++;
}

/* Writes the profile's strings first, so that ids are indexes. The writer's own strings follow. */
static void put_strings(struct pprof *pprof)
{
	const struct format_worth worth = format_worth(pprof->times);

	for (uint32_t id = 0; id < profile_strings(pprof->profile); id++)
		put_string(pprof, profile_string_get(pprof->profile, id));
	for (size_t i = 0; i < OWN_STRINGS; i++) {
		if (own_strings[i])
			pprof->own[i] = put_string(pprof, own_strings[i]);
	}
	pprof->own[OWN_TYPE] = put_string(pprof, worth.type);
	pprof->own[OWN_UNIT] = put_string(pprof, worth.unit);
	for (uint32_t i = 0; i < PROFILE_STATES && pprof->times->tick; i++)
		pprof->states[i] = put_string(pprof, profile_state(i)->word);
	for (uint32_t i = 0; i < PROFILE_REASONS_MAX; i++) {
		if (profile_reason_is_told(i))
			pprof->reasons[i] = put_string(pprof, profile_reason(i)->name);
	}
}

static int64_t reason_string(const struct pprof *pprof, uint32_t reason)
{
	if (reason >= PROFILE_REASONS_MAX)
		return 0;
	return pprof->reasons[reason];
}

/*
 * Values that are no samples have a type of their own alone: the file says no count, no period.
 * Times of threads also have a number of waits.
 */
static void set_types(struct pprof *pprof, Perftools__Profiles__Profile *part,
		      Perftools__Profiles__ValueType **types, size_t count)
{
	part->sample_type = types;
	part->n_sample_type = count;
	part->default_sample_type = types[count - 1]->type;
	if (pprof->times->type)
		return;
	part->period_type = types[count - 1];
	part->period = (int64_t)pprof->times->period;
}

static void put_times(struct pprof *pprof)
{
	Perftools__Profiles__Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
	Perftools__Profiles__ValueType count = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
	Perftools__Profiles__ValueType value = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
	Perftools__Profiles__ValueType *types[] = {&count, &value};

	count.type = pprof->own[OWN_SAMPLES];
	count.unit = pprof->own[OWN_COUNT];
	value.type = pprof->own[OWN_TYPE];
	value.unit = pprof->own[OWN_UNIT];
	if (pprof->times->tick)
		count.type = pprof->own[OWN_WAITS];
	if (pprof->times->type && !pprof->times->tick)
		set_types(pprof, &part, &types[1], 1);
	else
		set_types(pprof, &part, types, 2);
	part.time_nanos = (int64_t)pprof->times->start_realtime_ns;
	part.duration_nanos = (int64_t)pprof->times->duration_ns;
	put_part(pprof, &part);
}

static void put_comments(struct pprof *pprof)
{
	Perftools__Profiles__Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
	struct format_totals totals;
	char text[128], guessed[48] = "";
	const char *unit = "samples";
	int64_t comments[2 + PROFILE_NOTES_MAX];
	size_t notes;
	const uint32_t *note = profile_notes(pprof->profile, &notes);

	format_totals(pprof->profile, &totals);
	if (totals.guessed)
		snprintf(guessed, sizeof(guessed), "complete (guessed): %" PRIu64 ", ",
			 totals.guessed);
	if (pprof->times->type)
		unit = pprof->times->unit;
	snprintf(text, sizeof(text), "%s: %" PRIu64 ", complete: %" PRIu64 ", %scut: %" PRIu64,
		 unit, totals.samples, totals.complete, guessed, totals.cut);
	comments[0] = put_string(pprof, "keyhole " KEYHOLE_VERSION);
	comments[1] = put_string(pprof, text);
	for (size_t i = 0; i < notes; i++)
		comments[2 + i] = note[i];
	part.n_comment = 2 + notes;
	/* counts are neither samples nor times of threads, or the stacks are another profiler's */
	if (!pprof->times->walked || (pprof->times->type && !pprof->times->tick))
		part.n_comment = 1;
	part.comment = comments;
	put_part(pprof, &part);
}

/* Sets has_functions always: proto/README.md says why. */
static void put_mapping(struct pprof *pprof, uint32_t id, const struct profile_object *object)
{
	Perftools__Profiles__Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
	Perftools__Profiles__Mapping mapping = PERFTOOLS__PROFILES__MAPPING__INIT;
	Perftools__Profiles__Mapping *mappings[] = {&mapping};

	mapping.id = id;
	mapping.memory_start = object->start;
	mapping.memory_limit = object->limit;
	mapping.file_offset = object->file_offset;
	mapping.filename = object->name;
	mapping.build_id = object->build_id;
	mapping.has_functions = true;
	part.n_mapping = 1;
	part.mapping = mappings;
	put_part(pprof, &part);
}

/* Writes the main program first: readers show the first mapping as the profile's "File:". */
static void put_mappings(struct pprof *pprof)
{
	static const enum profile_kind order[] = {KIND_KERNEL, KIND_NATIVE, KIND_ANON, KIND_SCRIPT};
	const uint32_t first = profile_main_object(pprof->profile);

	if (first)
		put_mapping(pprof, first, profile_object_get(pprof->profile, first));
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		for (uint32_t id = 1; id <= profile_objects(pprof->profile); id++) {
			const struct profile_object *object =
				profile_object_get(pprof->profile, id);

			if (id != first && object->kind == order[i])
				put_mapping(pprof, id, object);
		}
	}
}

/* Keeps a line without a source: the file that the profile was read from may have had one. */
static void put_function(struct pprof *pprof, uint64_t id, const struct profile_function *from)
{
	Perftools__Profiles__Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
	Perftools__Profiles__Function function = PERFTOOLS__PROFILES__FUNCTION__INIT;
	Perftools__Profiles__Function *functions[] = {&function};

	function.id = id;
	function.name = from->name;
	function.system_name = from->system_name;
	function.filename = from->file;
	function.start_line = from->line;
	part.n_function = 1;
	part.function = functions;
	put_part(pprof, &part);
}

static void put_functions(struct pprof *pprof)
{
	for (uint32_t id = 1; id <= profile_functions(pprof->profile); id++) {
		struct profile_function function = *profile_function_get(pprof->profile, id);

		if (!format_function_is_named(pprof->profile, id))
			function.name = (uint32_t)pprof->own[OWN_UNKNOWN];
		put_function(pprof, id, &function);
	}
}

/*
 * Writes a function of its own for the owner of a location's code, and returns the function's id.
 * The ids of these functions follow those of the profile.
 */
static uint64_t own_function(struct pprof *pprof, const struct format_line *owner)
{
	uint64_t id = (uint64_t)profile_functions(pprof->profile) + owner->location;
	struct profile_function unnamed = {0};
	char room[OFFSET_NAME_BYTES];
	const char *raw = format_line_name(pprof->profile, owner, room);

	unnamed.name = unnamed.system_name = (uint32_t)put_string(pprof, raw);
	put_function(pprof, id, &unnamed);
	return id;
}

/*
 * Returns the id of the function that all inlined lines without a function share, and writes the
 * function once. The id follows those of own_function().
 */
static uint64_t unknown_function(struct pprof *pprof)
{
	uint64_t id =
		(uint64_t)profile_functions(pprof->profile) + profile_locations(pprof->profile) + 1;
	struct profile_function unknown = {0};

	if (pprof->unknown_written)
		return id;
	unknown.name = unknown.system_name = (uint32_t)pprof->own[OWN_UNKNOWN];
	put_function(pprof, id, &unknown);
	pprof->unknown_written = true;
	return id;
}

/*
 * Returns the function of a line, never 0: `go tool pprof` refuses a file with a line that has no
 * function, and other readers drop the frame.
 */
static uint64_t line_function(struct pprof *pprof, const struct format_line *line)
{
	uint32_t function = format_line_function(pprof->profile, line);

	if (function)
		return function;
	if (line->depth == 0)
		return own_function(pprof, line);
	return unknown_function(pprof);
}

/* Makes the lines of a location, innermost first, and returns their number. */
static size_t make_lines(struct pprof *pprof, uint32_t id)
{
	struct format_line lines[PROFILE_LINES_MAX];
	size_t count = format_location_lines(pprof->profile, id, lines);

	for (size_t i = 0; i < count; i++) {
		perftools__profiles__line__init(&pprof->lines[i]);
		pprof->lines[i].function_id = line_function(pprof, &lines[i]);
		pprof->lines[i].line = lines[i].line;
		pprof->line[i] = &pprof->lines[i];
	}
	return count;
}

static void put_location(struct pprof *pprof, uint32_t id)
{
	const struct profile_location *at = profile_location_get(pprof->profile, id);
	Perftools__Profiles__Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
	Perftools__Profiles__Location location = PERFTOOLS__PROFILES__LOCATION__INIT;
	Perftools__Profiles__Location *locations[] = {&location};

	location.id = id;
	if (profile_object_is_file(profile_object_get(pprof->profile, at->object)))
		location.mapping_id = at->object;
	location.address = at->address;
	location.n_line = make_lines(pprof, id);
	location.line = pprof->line;
	part.n_location = 1;
	part.location = locations;
	put_part(pprof, &part);
}

/* Returns whether this file has the key for a label of the writer's own. */
static bool is_own_key(const struct pprof *pprof, const char *key)
{
	static const struct {
		const char *key;
		bool of_times;
	} keys[] = {
#define L(id, key) {key, false},
#define T(id, key) {key, true},
#include "profile/pprof_labels.def"
#undef L
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(keys[i].key, key) == 0)
			return pprof->times->tick || !keys[i].of_times;
	return false;
}

static void add_label(struct label_list *list, int64_t key, int64_t string, uint64_t number)
{
	Perftools__Profiles__Label *label = &list->label[list->count];

	if (string == 0 && number == 0)
		return;
	perftools__profiles__label__init(label);
	label->key = key;
	label->str = string;
	label->num = (int64_t)number;
	list->pointer[list->count++] = label;
}

/* Adds the labels that the program gave, but none with a key of the writer's own. */
static void add_given(const struct pprof *pprof, uint32_t id, struct label_list *list)
{
	const struct profile_label *labels;
	size_t count = profile_labels_get(pprof->profile, id, &labels);

	for (size_t i = 0; i < count && list->count < LABELS_MAX; i++)
		if (!is_own_key(pprof, profile_string_get(pprof->profile, labels[i].key)))
			add_label(list, labels[i].key, labels[i].value, 0);
}

static void add_state(const struct pprof *pprof, const struct profile_sample *sample,
		      struct label_list *list)
{
	const int64_t *own = pprof->own;

	if (sample->state == STATE_CPU) {
		add_label(list, own[OWN_STATE], own[OWN_ON_CPU], 0);
		return;
	}
	add_label(list, own[OWN_STATE], own[OWN_OFF_CPU], 0);
	add_label(list, own[OWN_WAIT], pprof->states[sample->state], 0);
	add_label(list, own[OWN_WAKER], sample->waker, 0);
}

static void make_labels(const struct pprof *pprof, const struct profile_sample *sample,
			struct label_list *ret_list)
{
	const struct profile_cgroup cgroup = profile_cgroup_get(pprof->profile, sample->cgroup);
	const int64_t *own = pprof->own;

	ret_list->count = 0;
	add_label(ret_list, own[OWN_PID], 0, sample->pid);
	add_label(ret_list, own[OWN_TID], 0, sample->tid);
	add_label(ret_list, own[OWN_COMM], sample->process_name, 0);
	add_label(ret_list, own[OWN_THREAD], sample->thread_name, 0);
	add_label(ret_list, own[OWN_CGROUP], 0, cgroup.id);
	add_label(ret_list, own[OWN_CGROUP_PATH], cgroup.path, 0);
	add_label(ret_list, own[OWN_CONTAINER], cgroup.container, 0);
	add_label(ret_list, own[OWN_REASON], reason_string(pprof, sample->reason), 0);
	add_label(ret_list, own[OWN_GOROUTINE], 0, sample->goroutine);
	if (pprof->times->tick)
		add_state(pprof, sample, ret_list);
	add_given(pprof, sample->labels, ret_list);
}

static void put_sample(struct pprof *pprof, const struct profile_sample *from)
{
	Perftools__Profiles__Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
	Perftools__Profiles__Sample sample = PERFTOOLS__PROFILES__SAMPLE__INIT;
	Perftools__Profiles__Sample *samples[] = {&sample};
	int64_t values[] = {(int64_t)from->count, (int64_t)(from->count * pprof->times->period)};
	const uint32_t *locations;
	struct label_list labels;

	sample.n_location_id = profile_stack_get(pprof->profile, from->stack, &locations);
	for (size_t i = 0; i < sample.n_location_id; i++)
		pprof->locations[i] = locations[i];
	sample.location_id = pprof->locations;
	sample.n_value = 2;
	sample.value = values;
	if (pprof->times->tick)
		values[0] = (int64_t)(from->waits / PROFILE_WAITS_ONE);
	else if (pprof->times->type)
		sample.n_value = 1;
	make_labels(pprof, from, &labels);
	sample.n_label = labels.count;
	sample.label = labels.pointer;
	part.n_sample = 1;
	part.sample = samples;
	put_part(pprof, &part);
}

static void put_samples(struct pprof *pprof)
{
	const size_t count = profile_samples(pprof->profile);

	for (size_t i = 0; i < count; i++) {
		const struct profile_sample sample = profile_sample_get(pprof->profile, i);

		put_sample(pprof, &sample);
	}
}

static int render(const struct profile *profile, const struct profile_times *times,
		  const struct format_options *options, int fd)
{
	struct pprof *pprof = calloc(1, sizeof(*pprof));
	int r;

	(void)options; /* threads are labels here, always */
	if (!pprof)
		return -ENOMEM;
	pprof->profile = profile;
	pprof->times = times;
	r = output_init(&pprof->output, fd, true);
	if (r == 0) {
		put_strings(pprof);
		put_times(pprof);
		put_comments(pprof);
		put_mappings(pprof);
		put_functions(pprof);
		for (uint32_t id = 1; id <= profile_locations(profile); id++)
			put_location(pprof, id);
		put_samples(pprof);
		r = output_finish(&pprof->output);
	}
	output_release(&pprof->output);
	free(pprof->packed);
	free(pprof);
	return r;
}

const struct format format_pprof = {
	.render = render,
};
