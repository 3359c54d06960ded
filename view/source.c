/* SPDX-License-Identifier: Apache-2.0 */
#include "view/source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/intern.h"
#include "profile/format/lines.h"
#include "profile/format/names.h"
#include "profile/profile.h"
#include "view/amount.h"
#include "view/frames.h"

struct source source_of(const struct profile *profile, const struct format_line *line)
{
	const struct profile_function *function = profile_function_get(profile, line->function);
	struct source source = {0};

	if (!function || !function->file)
		return source;
	source.file = function->file;
	source.line = line->line;
	return source;
}

/* Returns the source of a line, or where the line has no number the begin of the function. */
static struct source source_or_begin(const struct profile *profile, const struct format_line *line)
{
	struct source source = source_of(profile, line);

	if (source.file && source.line == 0)
		source.line = format_first_line(profile_function_get(profile, line->function));
	return source;
}

static void spell(const char *file, uint32_t line, char *text, size_t size)
{
	if (line)
		snprintf(text, size, "%s:%" PRIu32, file, line);
	else
		snprintf(text, size, "%s", file);
}

void source_spell(const struct profile *profile, const struct source *source, char *ret_text,
		  size_t size)
{
	spell(profile_string_get(profile, source->file), source->line, ret_text, size);
}

void source_spell_short(const struct profile *profile, const struct source *source, char *ret_text,
			size_t size)
{
	spell(format_base_name(profile_string_get(profile, source->file)), source->line, ret_text,
	      size);
}

/* ---- of names ---- */

struct source_key {
	uint32_t name;
	struct source source;
};

struct source_finder {
	const struct profile *profile;
	const struct frames *frames;
	struct source *found;	/* by name */
	uint64_t *most;		/* by name: the samples of its source so far */
	uint64_t *weights;	/* by location: samples whose stacks hold the location */
	struct intern *keys;	/* struct source_key */
	uint64_t *counts;	/* by key */
	size_t known, capacity; /* of counts */
};

static void weigh_stack(struct source_finder *finder, struct amount_marks *marks,
			const struct profile_sample *sample)
{
	const uint32_t *stack;
	size_t count = profile_stack_get(finder->profile, sample->stack, &stack);

	amount_marks_next(marks);
	for (size_t i = 0; i < count; i++)
		if (amount_marks_first(marks, stack[i]))
			finder->weights[stack[i]] += sample->count + sample->base;
}

static int weigh_locations(struct source_finder *finder)
{
	const size_t count = profile_samples(finder->profile);
	struct amount_marks marks;
	int r = amount_marks_init(&marks, profile_locations(finder->profile));

	if (r < 0)
		return r;
	for (size_t i = 0; i < count; i++) {
		const struct profile_sample sample = profile_sample_get(finder->profile, i);

		weigh_stack(finder, &marks, &sample);
	}
	amount_marks_release(&marks);
	return 0;
}

static int count_source(struct source_finder *finder, const struct source_key *key, uint64_t weight)
{
	const uint32_t id = intern_add(finder->keys, key, sizeof(*key));

	if (id == INTERN_FAILED)
		return -ENOMEM;
	if (ARRAY_RESERVE(finder->counts, finder->capacity, (size_t)id + 1) < 0)
		return -ENOMEM;
	for (; finder->known <= id; finder->known++)
		finder->counts[finder->known] = 0;
	finder->counts[id] += weight;
	if (finder->counts[id] > finder->most[key->name]) {
		finder->most[key->name] = finder->counts[id];
		finder->found[key->name] = key->source;
	}
	return 0;
}

static int count_location(struct source_finder *finder, uint32_t id)
{
	const uint32_t *names = &finder->frames->ids[finder->frames->first[id]];
	struct format_line lines[PROFILE_LINES_MAX];
	size_t count = format_location_lines(finder->profile, id, lines);
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++) {
		struct source_key key = {.name = names[i]};

		if (finder->frames->kind == FRAMES_LINES)
			key.source = source_of(finder->profile, &lines[i]);
		else
			key.source = source_or_begin(finder->profile, &lines[i]);
		if (key.source.file)
			r = count_source(finder, &key, finder->weights[id]);
	}
	return r;
}

static int find_sources(struct source_finder *finder)
{
	int r = weigh_locations(finder);

	for (uint32_t id = 1; id <= profile_locations(finder->profile) && r == 0; id++)
		r = count_location(finder, id);
	return r;
}

int name_sources_make(const struct profile *profile, const struct frames *frames,
		      struct name_sources *ret_sources)
{
	const size_t names = intern_count(frames->names);
	struct source_finder finder = {.profile = profile, .frames = frames};
	int r = -ENOMEM;

	*ret_sources = (struct name_sources){.count = names};
	ret_sources->items = finder.found = calloc(names, sizeof(*finder.found));
	finder.most = calloc(names, sizeof(*finder.most));
	finder.weights = calloc((size_t)profile_locations(profile) + 1, sizeof(*finder.weights));
	finder.keys = intern_new();
	if (finder.found && finder.most && finder.weights && finder.keys)
		r = find_sources(&finder);
	intern_free(finder.keys);
	free(finder.most);
	free(finder.weights);
	free(finder.counts);
	return r;
}

const struct source *name_sources_get(const struct name_sources *sources, uint32_t name)
{
	if (name >= sources->count || !sources->items[name].file)
		return NULL;
	return &sources->items[name];
}

void name_sources_release(struct name_sources *sources)
{
	free(sources->items);
	*sources = (struct name_sources){0};
}
