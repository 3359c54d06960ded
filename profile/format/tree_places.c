/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/format/tree_places.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/intern.h"
#include "profile/format/lines.h"
#include "profile/format/names.h"
#include "profile/format/tree.h"

struct place_key {
	uint32_t frame;
	struct tree_place place;
};

struct finder {
	struct tree *tree;
	const struct format_lines *lines;
	const struct profile *profile;
	uint64_t *weights;	/* by location: samples whose stacks hold the location */
	size_t *last;		/* by location: the last sample in weights, from 1 on */
	struct intern *keys;	/* struct place_key */
	uint64_t *counts;	/* by key */
	size_t known, capacity; /* of counts */
	uint64_t *most;		/* by frame: the count of its place so far */
};

/* ---- samples of locations ---- */

static void add_weights(struct finder *finder, const struct profile_sample *sample, size_t number)
{
	const uint32_t *stack;
	size_t count = profile_stack_get(finder->profile, sample->stack, &stack);

	for (size_t i = 0; i < count; i++) {
		if (finder->last[stack[i]] == number)
			continue;
		finder->last[stack[i]] = number;
		finder->weights[stack[i]] += sample->count + sample->base;
	}
}

static void find_weights(struct finder *finder)
{
	const size_t count = profile_samples(finder->profile);

	for (size_t i = 0; i < count; i++) {
		const struct profile_sample sample = profile_sample_get(finder->profile, i);

		add_weights(finder, &sample, i + 1);
	}
}

/* ---- samples of places ---- */

static int count_place(struct finder *finder, const struct place_key *key, uint64_t weight)
{
	uint32_t id = intern_add(finder->keys, key, sizeof(*key));

	if (id == INTERN_FAILED)
		return -ENOMEM;
	if (ARRAY_RESERVE(finder->counts, finder->capacity, (size_t)id + 1) < 0)
		return -ENOMEM;
	for (; finder->known <= id; finder->known++)
		finder->counts[finder->known] = 0;
	finder->counts[id] += weight;
	if (finder->counts[id] > finder->most[key->frame]) {
		finder->most[key->frame] = finder->counts[id];
		finder->tree->places[key->frame] = key->place;
	}
	return 0;
}

/* Finds the source of a line. Without a source, place->file and place->line stay 0. */
static int find_source(const struct finder *finder, const struct format_line *line,
		       struct tree_place *place)
{
	const struct profile_function *function =
		profile_function_get(finder->profile, line->function);

	if (!function)
		return 0;
	place->file = format_intern_clean(finder->tree->texts,
					  profile_string_get(finder->profile, function->file));
	if (place->file == INTERN_FAILED)
		return -ENOMEM;
	if (!place->file)
		return 0;
	place->line = line->line;
	if (place->line == 0)
		place->line = format_first_line(function);
	return 0;
}

static int count_line(struct finder *finder, const struct format_line *line, uint32_t frame)
{
	struct place_key key = {.frame = frame};
	int r;

	key.place.object = format_intern_clean(
		finder->tree->texts, format_location_file(finder->profile, line->location));
	if (key.place.object == INTERN_FAILED)
		return -ENOMEM;
	r = find_source(finder, line, &key.place);
	if (r < 0)
		return r;
	return count_place(finder, &key, finder->weights[line->location]);
}

static int count_location(struct finder *finder, uint32_t id)
{
	struct format_line lines[PROFILE_LINES_MAX];
	size_t count = format_location_lines(finder->profile, id, lines);
	const uint32_t *frames = &finder->lines->ids[finder->lines->first[id]];
	int r = 0;

	/* frames[] has the outermost line first, lines[] has it last */
	for (size_t i = 0; i < count && r == 0; i++)
		r = count_line(finder, &lines[count - 1 - i], frames[i]);
	return r;
}

static int count_locations(struct finder *finder)
{
	int r = 0;

	for (uint32_t id = 1; id <= profile_locations(finder->profile) && r == 0; id++)
		r = count_location(finder, id);
	return r;
}

int tree_places_find(struct tree *tree, const struct format_lines *lines)
{
	const size_t frames = intern_count(tree->frames);
	const size_t locations = profile_locations(lines->profile) + (size_t)1;
	struct finder finder = {.tree = tree, .lines = lines, .profile = lines->profile};
	int r = -ENOMEM;

	finder.keys = intern_new();
	finder.weights = calloc(locations, sizeof(*finder.weights));
	finder.last = calloc(locations, sizeof(*finder.last));
	finder.most = calloc(frames, sizeof(*finder.most));
	tree->places = calloc(frames, sizeof(*tree->places));
	if (finder.keys && finder.weights && finder.last && finder.most && tree->places) {
		find_weights(&finder);
		r = count_locations(&finder);
	}
	intern_free(finder.keys);
	free(finder.weights);
	free(finder.last);
	free(finder.counts);
	free(finder.most);
	return r;
}
