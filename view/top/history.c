/* SPDX-License-Identifier: Apache-2.0 */
#include "view/top/history.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/tally.h"
#include "base/array.h"
#include "base/intern.h"
#include "profile/format/lines.h"
#include "profile/format/names.h"
#include "profile/read/pprof_read.h"
#include "profile/profile.h"
#include "profile/runtime_finder.h"
#include "profile/runtimes.h"

#define NAME_BYTES 512 /* of a name: more than a screen has columns */

int history_init(struct history *history)
{
	*history = (struct history){
		.names = intern_new(),
		.functions = intern_new(),
		.stacks = intern_new(),
		.runtimes = intern_new(),
	};
	if (!history->names || !history->functions || !history->stacks || !history->runtimes)
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
	intern_free(history->runtimes);
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

const struct history_runtime *history_runtime(const struct history *history, uint32_t id)
{
	return intern_get(history->runtimes, id, NULL);
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
	struct format_lines functions; /* ids of history->functions */
	struct runtime_finder runtimes;
	uint32_t *stack; /* of the sample that is being added */
	size_t stack_capacity;
	struct portion portion;
};

static uint32_t add_name(struct history *history, const char *raw)
{
	char clean[NAME_BYTES];

	format_clean_name(clean, sizeof(clean), format_known_name(raw));
	return intern_string(history->names, clean);
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

/* Returns the function's id or INTERN_FAILED. */
static uint32_t add_function(struct history *history, const char *name, uint32_t object)
{
	const struct function function = {add_name(history, name), object};

	if (function.name == INTERN_FAILED || object == INTERN_FAILED)
		return INTERN_FAILED;
	return intern_add(history->functions, &function, sizeof(function));
}

/* Adds the name of the object that a location is in. Returns its id or INTERN_FAILED. */
static uint32_t add_object(struct adding *adding, uint32_t location)
{
	const struct profile *profile = adding->profile;
	const struct profile_object *object = profile_location_object(profile, location);
	const char *path = "";

	if (object)
		path = profile_string_get(profile, object->name);
	return add_name(adding->history, base_name(path));
}

static uint32_t add_line(void *context, const struct format_line *line)
{
	struct adding *adding = context;
	char room[OFFSET_NAME_BYTES];
	const char *name = format_line_name(adding->profile, line, room);

	return add_function(adding->history, name, add_object(adding, line->location));
}

static void reverse(uint32_t *items, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		uint32_t item = items[i];

		items[i] = items[count - 1 - i];
		items[count - 1 - i] = item;
	}
}

/* Returns the id of a stack as functions, the innermost one first, or INTERN_FAILED. */
static uint32_t add_stack(struct adding *adding, uint32_t stack)
{
	struct format_walk walk = format_walk_begin(&adding->functions, stack);
	uint32_t id = format_walk_next(&walk);
	size_t depth = 0;

	for (; id != 0; id = format_walk_next(&walk)) {
		if (ARRAY_RESERVE(adding->stack, adding->stack_capacity, depth + 1) < 0)
			return INTERN_FAILED;
		adding->stack[depth++] = id;
	}
	reverse(adding->stack, depth);
	return intern_add(adding->history->stacks, adding->stack, depth * sizeof(*adding->stack));
}

/* Sets the runtime that the sample belongs to, or 0. Returns 0 or -ENOMEM. */
static int add_runtime(struct adding *adding, const struct profile_sample *sample,
		       uint32_t *ret_runtime)
{
	struct history *history = adding->history;
	uint32_t id = runtime_finder_object(&adding->runtimes, sample);
	const struct profile_object *object = profile_object_get(adding->profile, id);
	struct history_runtime runtime;

	*ret_runtime = 0;
	if (!object)
		return 0;
	runtime.runtime = object->runtime;
	runtime.name =
		add_name(history, base_name(profile_string_get(adding->profile, object->name)));
	if (runtime.name == INTERN_FAILED)
		return -ENOMEM;
	*ret_runtime = intern_add(history->runtimes, &runtime, sizeof(runtime));
	if (*ret_runtime == INTERN_FAILED)
		return -ENOMEM;
	return 0;
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
		.unproven = profile_reason_is_told(sample->reason),
		.count = sample->count,
	};

	if (entry.process == INTERN_FAILED || entry.thread == INTERN_FAILED ||
	    entry.stack == INTERN_FAILED)
		return -ENOMEM;
	if (add_runtime(adding, sample, &entry.runtime) < 0)
		return -ENOMEM;
	adding->portion.entries[adding->portion.count++] = entry;
	adding->portion.samples += entry.count;
	if (entry.unproven)
		adding->portion.unproven += entry.count;
	return 0;
}

static int add_entries(struct adding *adding)
{
	const size_t count = profile_samples(adding->profile);
	int r = format_lines_init(&adding->functions, adding->profile, add_line, adding);

	if (r == 0)
		r = runtime_finder_init(&adding->runtimes, adding->profile);
	adding->portion.entries = calloc(count + 1, sizeof(*adding->portion.entries));
	if (!adding->portion.entries)
		return -ENOMEM;
	for (size_t i = 0; i < count && r == 0; i++) {
		const struct profile_sample sample = profile_sample_get(adding->profile, i);

		r = add_entry(adding, &sample);
	}
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

	format_lines_release(&adding.functions);
	runtime_finder_release(&adding.runtimes);
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
	if (r == 0) {
		runtimes_recall(profile);
		r = take_profile(history, profile, &info);
	}
	profile_free(profile);
	return r;
}
