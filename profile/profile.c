/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each table of unique entries is a struct intern of keys. Its ids count up from 1 and serve as the
 * ids of the model.
 */
#include "profile/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/intern.h"
#include "base/map.h"
#include "profile/container.h"

_Static_assert(PROFILE_FAILED == INTERN_FAILED, "ids are those of struct intern");
_Static_assert(sizeof(struct profile_sample) == 48, "a key has no padding");
_Static_assert(sizeof(struct profile_cgroup) == 16, "a key has no padding");

/* The key of a cgroup whose id has another path: the number in struct profile.cgroups. */
#define CGROUP_NUMBERED (1ull << 63)

struct profile {
	struct intern *strings;
	struct intern *functions;     /* struct profile_function */
	struct intern *location_keys; /* struct location_key */
	struct intern *inlined;	      /* struct profile_line[] */
	struct intern *stacks;	      /* uint32_t[] */
	struct intern *sample_keys;   /* struct profile_sample of counts 0 */
	struct intern *cgroups;	      /* struct profile_cgroup */
	struct map *cgroup_ids;	      /* by id: the number of the first one in cgroups */
	struct profile_object *objects;
	struct profile_location *locations;
	struct profile_sample *samples;
	struct profile_moment *moments;
	size_t object_count, object_capacity;
	size_t location_count, location_capacity;
	size_t sample_count, sample_capacity;
	size_t moment_count, moment_capacity;
	uint64_t moments_dropped;
	bool keep_times;
	uint32_t notes[PROFILE_NOTES_MAX]; /* strings */
	size_t note_count;
};

struct location_key {
	uint64_t object, address, variant;
};

static const struct profile_reason reasons[] = {
#define X(name, class, help) {#name, CLASS_##class, help},
#include "bpf/counters.def"
#undef X
	/* of files alone: behind each enum sample_reason */
	{"cut_unknown", CLASS_CUT,
	 "for a reason of another version of keyhole, which wrote the file"},
};

_Static_assert(sizeof(reasons) / sizeof(reasons[0]) <= PROFILE_REASONS_MAX, "all reasons fit");

const struct profile_reason *profile_reason(uint32_t reason)
{
	if (reason >= sizeof(reasons) / sizeof(reasons[0]))
		return NULL;
	return &reasons[reason];
}

/* Returns the reason of the name, or the number of reasons. */
static uint32_t find_reason(const char *name)
{
	uint32_t i = 0;

	while (profile_reason(i) && strcmp(reasons[i].name, name) != 0)
		i++;
	return i;
}

uint32_t profile_reason_find(const char *name)
{
	const uint32_t reason = find_reason(name);

	if (profile_reason(reason))
		return reason;
	if (strncmp(name, "end_", strlen("end_")) == 0)
		return find_reason("end_root");
	if (strncmp(name, "guess_", strlen("guess_")) == 0)
		return find_reason("guess_root");
	return find_reason("cut_unknown");
}

bool profile_reason_is_cut(uint32_t reason)
{
	const struct profile_reason *row = profile_reason(reason);

	return row && row->class == CLASS_CUT;
}

bool profile_reason_is_guess(uint32_t reason)
{
	const struct profile_reason *row = profile_reason(reason);

	return row && row->class == CLASS_GUESS;
}

bool profile_reason_is_told(uint32_t reason)
{
	return profile_reason_is_cut(reason) || profile_reason_is_guess(reason);
}

struct profile *profile_new(void)
{
	struct profile *profile = calloc(1, sizeof(*profile));

	if (!profile)
		return NULL;
	profile->strings = intern_new();
	profile->functions = intern_new();
	profile->location_keys = intern_new();
	profile->inlined = intern_new();
	profile->stacks = intern_new();
	profile->sample_keys = intern_new();
	profile->cgroups = intern_new();
	profile->cgroup_ids = map_new();
	if (!profile->strings || !profile->functions || !profile->location_keys ||
	    !profile->inlined || !profile->stacks || !profile->sample_keys || !profile->cgroups ||
	    !profile->cgroup_ids) {
		profile_free(profile);
		return NULL;
	}
	return profile;
}

void profile_free(struct profile *profile)
{
	if (!profile)
		return;
	intern_free(profile->strings);
	intern_free(profile->functions);
	intern_free(profile->location_keys);
	intern_free(profile->inlined);
	intern_free(profile->stacks);
	intern_free(profile->sample_keys);
	intern_free(profile->cgroups);
	map_free(profile->cgroup_ids);
	free(profile->objects);
	free(profile->locations);
	free(profile->samples);
	free(profile->moments);
	free(profile);
}

uint32_t profile_string(struct profile *profile, const char *string)
{
	return intern_string(profile->strings, string);
}

const char *profile_string_get(const struct profile *profile, uint32_t id)
{
	return intern_get(profile->strings, id, NULL);
}

uint32_t profile_strings(const struct profile *profile)
{
	return intern_count(profile->strings);
}

int profile_note_add(struct profile *profile, const char *raw)
{
	uint32_t id;

	if (profile->note_count == PROFILE_NOTES_MAX)
		return 0;
	id = profile_string(profile, raw);
	if (id == PROFILE_FAILED)
		return -ENOMEM;
	profile->notes[profile->note_count++] = id;
	return 0;
}

void profile_notes_clear(struct profile *profile)
{
	profile->note_count = 0;
}

const uint32_t *profile_notes(const struct profile *profile, size_t *ret_count)
{
	*ret_count = profile->note_count;
	return profile->notes;
}

uint32_t profile_object_add(struct profile *profile, const struct profile_object *object)
{
	const size_t need = profile->object_count + 1;

	if (ARRAY_RESERVE(profile->objects, profile->object_capacity, need) < 0)
		return PROFILE_FAILED;
	profile->objects[profile->object_count++] = *object;
	return (uint32_t)profile->object_count;
}

struct profile_object *profile_object_get(const struct profile *profile, uint32_t id)
{
	if (id == 0 || id > profile->object_count)
		return NULL;
	return &profile->objects[id - 1];
}

uint32_t profile_objects(const struct profile *profile)
{
	return (uint32_t)profile->object_count;
}

uint32_t profile_function_add(struct profile *profile, const struct profile_function *function)
{
	struct profile_function key;

	memset(&key, 0, sizeof(key)); /* the hash covers the padding, too */
	key.name = function->name;
	key.system_name = function->system_name;
	key.file = function->file;
	key.line = function->line;
	key.object = function->object;
	key.start = function->start;
	key.named = function->named;
	return intern_add(profile->functions, &key, sizeof(key));
}

const struct profile_function *profile_function_get(const struct profile *profile, uint32_t id)
{
	size_t size;
	const void *function = intern_get(profile->functions, id, &size);

	if (size == 0)
		return NULL;
	return function;
}

uint32_t profile_functions(const struct profile *profile)
{
	return intern_count(profile->functions) - 1;
}

uint32_t profile_location_add(struct profile *profile, uint32_t object, uint64_t address)
{
	return profile_location_add_variant(profile, object, address, 0);
}

uint32_t profile_location_add_variant(struct profile *profile, uint32_t object, uint64_t address,
				      uint64_t variant)
{
	const struct location_key key = {.object = object, .address = address, .variant = variant};
	const size_t need = profile->location_count + 1;
	uint32_t id;

	if (ARRAY_RESERVE(profile->locations, profile->location_capacity, need) < 0)
		return PROFILE_FAILED;
	id = intern_add(profile->location_keys, &key, sizeof(key));
	if (id != PROFILE_FAILED && id > profile->location_count)
		profile->locations[profile->location_count++] =
			(struct profile_location){.object = object, .address = address};
	return id;
}

struct profile_location *profile_location_get(const struct profile *profile, uint32_t id)
{
	if (id == 0 || id > profile->location_count)
		return NULL;
	return &profile->locations[id - 1];
}

uint32_t profile_locations(const struct profile *profile)
{
	return (uint32_t)profile->location_count;
}

const struct profile_object *profile_location_object(const struct profile *profile, uint32_t id)
{
	const struct profile_location *location = profile_location_get(profile, id);

	if (!location)
		return NULL;
	return profile_object_get(profile, location->object);
}

enum profile_kind profile_location_kind(const struct profile *profile, uint32_t id)
{
	const struct profile_object *object = profile_location_object(profile, id);

	if (!object)
		return KIND_NATIVE;
	return object->kind;
}

size_t profile_location_lines(const struct profile *profile, uint32_t id,
			      struct profile_line ret_lines[PROFILE_LINES_MAX])
{
	const struct profile_location *location = profile_location_get(profile, id);
	const void *inlined;
	size_t size, count;

	ret_lines[0] = (struct profile_line){0};
	if (!location)
		return 1;
	inlined = intern_get(profile->inlined, location->inlined, &size);
	count = size / sizeof(*ret_lines);
	if (count > 0)
		memcpy(ret_lines, inlined, size);
	ret_lines[count] = (struct profile_line){location->function, location->line};
	return count + 1;
}

int profile_location_set_inlined(struct profile *profile, uint32_t id,
				 const struct profile_line *inlined, size_t count)
{
	struct profile_location *location = profile_location_get(profile, id);
	size_t kept = count;
	uint32_t set;

	if (kept > PROFILE_LINES_MAX - 1)
		kept = PROFILE_LINES_MAX - 1;
	inlined += count - kept;
	set = intern_add(profile->inlined, inlined, kept * sizeof(*inlined));
	if (set == INTERN_FAILED)
		return -ENOMEM;
	if (location)
		location->inlined = set;
	return 0;
}

uint32_t profile_stack_add(struct profile *profile, const uint32_t *locations, size_t count)
{
	if (count > PROFILE_STACK_MAX)
		return PROFILE_FAILED;
	return intern_add(profile->stacks, locations, count * sizeof(*locations));
}

uint32_t profile_stack_append(struct profile *profile, const uint32_t *locations, size_t count)
{
	if (count == 0)
		return 0;
	if (count > PROFILE_STACK_MAX)
		return PROFILE_FAILED;
	return intern_append(profile->stacks, locations, count * sizeof(*locations));
}

size_t profile_stack_get(const struct profile *profile, uint32_t id, const uint32_t **ret_locations)
{
	size_t size;

	*ret_locations = intern_get(profile->stacks, id, &size);
	return size / sizeof(**ret_locations);
}

uint32_t profile_stacks(const struct profile *profile)
{
	return intern_count(profile->stacks) - 1;
}

static uint32_t first_cgroup(const struct profile *profile, uint64_t id)
{
	return (uint32_t)(uintptr_t)map_get(profile->cgroup_ids, id);
}

static bool cgroup_is(const struct profile *profile, uint64_t key, uint32_t path)
{
	return profile_cgroup_get(profile, key).path == path;
}

/* Returns the string of the container's id in a path, or 0. */
static uint32_t container_of_path(struct profile *profile, uint32_t path)
{
	char id[CONTAINER_ID_BYTES];
	uint32_t string;

	if (!container_id(profile_string_get(profile, path), id))
		return 0;
	string = profile_string(profile, id);
	if (string == PROFILE_FAILED)
		return 0;
	return string;
}

uint64_t profile_cgroup_add(struct profile *profile, uint64_t id, uint32_t path)
{
	struct profile_cgroup cgroup = {.id = id, .path = path};
	const bool known = id == 0 || id >= CGROUP_NUMBERED || first_cgroup(profile, id);
	uint64_t without_path = id;
	uint32_t number;

	if (id == 0 && path == 0)
		return 0;
	if (known && id != 0 && cgroup_is(profile, id, path))
		return id;
	if (known)
		without_path = 0;
	if (intern_count(profile->cgroups) > PROFILE_CGROUPS_MAX)
		return without_path;
	cgroup.container = container_of_path(profile, path);
	number = intern_add(profile->cgroups, &cgroup, sizeof(cgroup));
	if (number == INTERN_FAILED)
		return without_path;
	if (known)
		return CGROUP_NUMBERED | number;
	if (map_put(profile->cgroup_ids, id, (void *)(uintptr_t)number) < 0)
		return CGROUP_NUMBERED | number;
	return id;
}

struct profile_cgroup profile_cgroup_get(const struct profile *profile, uint64_t key)
{
	struct profile_cgroup cgroup = {.id = key};
	uint32_t number = first_cgroup(profile, key);
	const void *bytes;
	size_t size;

	if (key >= CGROUP_NUMBERED)
		number = (uint32_t)key;
	bytes = intern_get(profile->cgroups, number, &size);
	if (size == sizeof(cgroup))
		memcpy(&cgroup, bytes, size);
	return cgroup;
}

/* Gives ids to samples that were appended: a sample's id is its index + 1. */
static int give_ids_to_appended(struct profile *profile)
{
	while (intern_count(profile->sample_keys) <= profile->sample_count)
		if (intern_append(profile->sample_keys, NULL, 0) == INTERN_FAILED)
			return -ENOMEM;
	return 0;
}

static int reserve_sample(struct profile *profile)
{
	const size_t need = profile->sample_count + 1;

	return ARRAY_RESERVE(profile->samples, profile->sample_capacity, need);
}

/* Returns the id of the sample, or INTERN_FAILED. */
static uint32_t sample_add(struct profile *profile, const struct profile_sample *sample)
{
	struct profile_sample key = *sample;
	uint32_t id;

	key.count = key.base = 0;
	if (give_ids_to_appended(profile) < 0)
		return INTERN_FAILED;
	if (reserve_sample(profile) < 0)
		return INTERN_FAILED;
	id = intern_add(profile->sample_keys, &key, sizeof(key));
	if (id == INTERN_FAILED)
		return INTERN_FAILED;
	if (id > profile->sample_count)
		profile->samples[profile->sample_count++] = key;
	profile->samples[id - 1].count += sample->count;
	profile->samples[id - 1].base += sample->base;
	return id;
}

int profile_sample_add(struct profile *profile, const struct profile_sample *sample)
{
	if (sample_add(profile, sample) == INTERN_FAILED)
		return -ENOMEM;
	return 0;
}

static int add_moment(struct profile *profile, const struct profile_moment *moment)
{
	const size_t need = profile->moment_count + 1;

	if (need > PROFILE_MOMENTS_MAX)
		return -E2BIG;
	if (ARRAY_RESERVE(profile->moments, profile->moment_capacity, need) < 0)
		return -ENOMEM;
	profile->moments[profile->moment_count++] = *moment;
	return 0;
}

int profile_sample_add_at(struct profile *profile, const struct profile_sample *sample,
			  uint64_t time)
{
	struct profile_moment moment = {.time = time};
	uint32_t id = sample_add(profile, sample);

	if (id == INTERN_FAILED)
		return -ENOMEM;
	if (!profile->keep_times)
		return 0;
	moment.sample = id - 1;
	if (add_moment(profile, &moment) < 0)
		profile->moments_dropped++;
	return 0;
}

int profile_sample_append(struct profile *profile, const struct profile_sample *sample)
{
	if (reserve_sample(profile) < 0)
		return -ENOMEM;
	profile->samples[profile->sample_count++] = *sample;
	return 0;
}

void profile_samples_scale(struct profile *profile, size_t from, uint64_t factor)
{
	for (size_t i = from; i < profile->sample_count; i++) {
		profile->samples[i].count *= factor;
		profile->samples[i].base *= factor;
	}
}

const struct profile_sample *profile_samples(const struct profile *profile, size_t *ret_count)
{
	*ret_count = profile->sample_count;
	return profile->samples;
}

int profile_forget_samples(struct profile *profile)
{
	struct intern *stacks = intern_new(), *sample_keys = intern_new(), *cgroups = intern_new();
	struct map *cgroup_ids = map_new();

	if (!stacks || !sample_keys || !cgroups || !cgroup_ids) {
		intern_free(stacks);
		intern_free(sample_keys);
		intern_free(cgroups);
		map_free(cgroup_ids);
		return -ENOMEM;
	}
	intern_free(profile->stacks);
	intern_free(profile->sample_keys);
	intern_free(profile->cgroups);
	map_free(profile->cgroup_ids);
	profile->stacks = stacks;
	profile->sample_keys = sample_keys;
	profile->cgroups = cgroups;
	profile->cgroup_ids = cgroup_ids;
	profile->sample_count = profile->moment_count = 0;
	return 0;
}

void profile_keep_times(struct profile *profile)
{
	profile->keep_times = true;
}

const struct profile_moment *profile_moments(const struct profile *profile, size_t *ret_count)
{
	*ret_count = profile->moment_count;
	return profile->moments;
}

uint64_t profile_moments_dropped(const struct profile *profile)
{
	return profile->moments_dropped;
}
