/* SPDX-License-Identifier: Apache-2.0 */
#include "view/top/history.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/tally.h"
#include "base/array.h"
#include "base/intern.h"
#include "profile/format/format.h"
#include "profile/read/pprof_read.h"
#include "profile/profile.h"

#define NAME_BYTES 512 /* of a name: more than a screen has columns */

int history_init(struct history *history)
{
	*history = (struct history){
		.names = intern_new(), .functions = intern_new(), .stacks = intern_new()};
	if (!history->names || !history->functions || !history->stacks)
		return -ENOMEM;
	return 0;
}

void history_clear(struct history *history)
{
	for (size_t i = 0; i < HISTORY_PORTIONS; i++)
		free(history->portions[i].entries);
	memset(history->portions, 0, sizeof(history->portions));
	history->next = history->count = 0;
}

void history_release(struct history *history)
{
	history_clear(history);
	intern_free(history->names);
	intern_free(history->functions);
	intern_free(history->stacks);
}

const struct portion *history_portion(const struct history *history, size_t index)
{
	size_t at;

	if (index >= history->count)
		return NULL;
	at = history->next + HISTORY_PORTIONS - 1 - index;
	return &history->portions[at % HISTORY_PORTIONS];
}

const char *history_name(const struct history *history, uint32_t id)
{
	if (id == HISTORY_SEVERAL)
		return "(several)";
	return intern_get(history->names, id, NULL);
}

const struct function *history_function(const struct history *history, uint32_t id)
{
	return intern_get(history->functions, id, NULL);
}

size_t history_stack(const struct history *history, uint32_t stack, const uint32_t **ret_functions)
{
	size_t size;

	*ret_functions = intern_get(history->stacks, stack, &size);
	return size / sizeof(**ret_functions);
}

/* ---- a profile becomes a portion ---- */

struct adding {
	struct history *history;
	const struct profile *profile;
	uint32_t *first; /* of location id: ids[first[id]] to ids[first[id + 1] - 1] */
	uint32_t *ids;	 /* of functions, innermost first */
	size_t count, capacity;
	uint32_t *stack; /* of the sample that is being added */
	size_t stack_capacity;
	struct portion portion;
};

static uint32_t add_name(struct history *history, const char *name)
{
	char text[NAME_BYTES];

	format_clean_name(text, sizeof(text), name);
	if (!text[0])
		return intern_string(history->names, "[unknown]");
	return intern_string(history->names, text);
}

/* Returns the last component of a path; a name that is no path stays whole. */
static const char *base_name(const char *path)
{
	const char *slash;

	if (path[0] != '/')
		return path;
	slash = strrchr(path, '/');
	if (!slash[1])
		return path;
	return slash + 1;
}

static int add_function(struct adding *adding, const char *name, uint32_t object)
{
	const struct function function = {add_name(adding->history, name), object};
	uint32_t id = intern_add(adding->history->functions, &function, sizeof(function));

	if (function.name == INTERN_FAILED || object == INTERN_FAILED || id == INTERN_FAILED)
		return -ENOMEM;
	if (ARRAY_RESERVE(adding->ids, adding->capacity, adding->count + 1) < 0)
		return -ENOMEM;
	adding->ids[adding->count++] = id;
	return 0;
}

/* Adds the name of the object that a location is in. Returns its id or INTERN_FAILED. */
static uint32_t add_object(struct adding *adding, uint32_t location)
{
	const struct profile *profile = adding->profile;
	const struct profile_object *object =
		profile_object_get(profile, profile_location_get(profile, location)->object);
	const char *path = "";

	if (object)
		path = profile_string_get(profile, object->name);
	return add_name(adding->history, base_name(path));
}

/* Adds the functions of a location, inlined ones among them. */
static int add_location(struct adding *adding, uint32_t id)
{
	const struct profile *profile = adding->profile;
	const uint32_t object_name = add_object(adding, id);
	struct profile_line lines[PROFILE_LINES_MAX];
	size_t count = profile_location_lines(profile, id, lines);
	char text[FORMAT_NAME_MAX];
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++) {
		format_line_name(text, sizeof(text), profile, id, &lines[i], i + 1 < count);
		r = add_function(adding, text, object_name);
	}
	return r;
}

static int add_locations(struct adding *adding)
{
	const uint32_t count = profile_locations(adding->profile);
	int r = 0;

	adding->first = calloc((size_t)count + 2, sizeof(*adding->first));
	if (!adding->first)
		return -ENOMEM;
	for (uint32_t id = 1; id <= count && r == 0; id++) {
		r = add_location(adding, id);
		adding->first[id + 1] = (uint32_t)adding->count;
	}
	return r;
}

/* Returns the id of a stack as functions, or INTERN_FAILED. */
static uint32_t add_stack(struct adding *adding, uint32_t stack)
{
	const uint32_t *locations, *from;
	size_t count = profile_stack_get(adding->profile, stack, &locations), depth = 0, length;

	for (size_t i = 0; i < count; i++) {
		from = adding->ids + adding->first[locations[i]];
		length = adding->first[locations[i] + 1] - adding->first[locations[i]];
		if (ARRAY_RESERVE(adding->stack, adding->stack_capacity, depth + length) < 0)
			return INTERN_FAILED;
		memcpy(adding->stack + depth, from, length * sizeof(*from));
		depth += length;
	}
	return intern_add(adding->history->stacks, adding->stack, depth * sizeof(*adding->stack));
}

static int add_entry(struct adding *adding, const struct profile_sample *sample)
{
	struct history *history = adding->history;
	const struct profile *profile = adding->profile;
	struct entry entry = {
		.pid = sample->pid,
		.tid = sample->tid,
		.process = add_name(history, profile_string_get(profile, sample->process_name)),
		.thread = add_name(history, profile_string_get(profile, sample->thread_name)),
		.stack = add_stack(adding, sample->stack),
		.cut = tally_is_cut(sample),
		.count = sample->count,
	};

	if (entry.process == INTERN_FAILED || entry.thread == INTERN_FAILED ||
	    entry.stack == INTERN_FAILED)
		return -ENOMEM;
	adding->portion.entries[adding->portion.count++] = entry;
	adding->portion.samples += entry.count;
	if (entry.cut)
		adding->portion.cut += entry.count;
	return 0;
}

static int add_entries(struct adding *adding)
{
	size_t count;
	const struct profile_sample *samples = profile_samples(adding->profile, &count);
	int r = add_locations(adding);

	adding->portion.entries = calloc(count + 1, sizeof(*adding->portion.entries));
	if (!adding->portion.entries)
		return -ENOMEM;
	for (size_t i = 0; i < count && r == 0; i++)
		r = add_entry(adding, &samples[i]);
	return r;
}

static void push_portion(struct history *history, const struct portion *portion)
{
	free(history->portions[history->next].entries);
	history->portions[history->next] = *portion;
	history->next = (history->next + 1) % HISTORY_PORTIONS;
	if (history->count < HISTORY_PORTIONS)
		history->count++;
	history->elapsed_ns += portion->duration_ns;
}

static bool is_full(const struct history *history)
{
	return intern_count(history->names) > HISTORY_NAMES_MAX ||
	       intern_count(history->functions) > HISTORY_NAMES_MAX ||
	       intern_count(history->stacks) > HISTORY_STACKS_MAX;
}

static int begin_anew(struct history *history)
{
	struct history other;
	int r = history_init(&other);

	if (r)
		return r;
	other.elapsed_ns = history->elapsed_ns;
	other.forgotten = history->forgotten + 1;
	history_release(history);
	*history = other;
	return 0;
}

static int take_profile(struct history *history, const struct profile *profile,
			const struct pprof_info *info)
{
	struct adding adding = {.history = history,
				.profile = profile,
				.portion = {.period_ns = info->times.period,
					    .by = info->by,
					    .duration_ns = info->times.duration_ns}};
	int r = add_entries(&adding);

	free(adding.first);
	free(adding.ids);
	free(adding.stack);
	if (r) {
		free(adding.portion.entries);
		return r;
	}
	push_portion(history, &adding.portion);
	history->is_time = info->is_time;
	snprintf(history->event, sizeof(history->event), "%s", info->type);
	return 0;
}

int history_add(struct history *history, const void *bytes, size_t size)
{
	const struct pprof_options options = {0};
	struct profile *profile = profile_new();
	struct pprof_info info;
	int r = 0;

	if (!profile)
		return -ENOMEM;
	if (is_full(history))
		r = begin_anew(history);
	if (r == 0)
		r = pprof_read(bytes, size, &options, profile, &info);
	if (r == 0)
		r = take_profile(history, profile, &info);
	profile_free(profile);
	return r;
}
