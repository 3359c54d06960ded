/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each table of unique entries is a struct intern of keys. Its ids count up from 1 and serve as the
 * ids of the model.
 */
#include "profile/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/languages.h"
#include "base/array.h"
#include "base/intern.h"
#include "base/map.h"
#include "profile/container.h"
#include "profile/location_list.h"
#include "profile/moment_list.h"
#include "profile/process_list.h"
#include "profile/sample_list.h"
#include "profile/spill.h"
#include "profile/stack_list.h"

_Static_assert(PROFILE_FAILED == INTERN_FAILED, "ids are those of struct intern");
_Static_assert(sizeof(struct profile_cgroup) == 24, "a key has no padding");

/* The key of a cgroup whose id has another path: the number in struct profile.cgroups. */
#define CGROUP_NUMBERED (1ull << 63)

struct profile {
	struct intern *strings;
	struct intern *functions; /* struct profile_function */
	struct intern *inlined;	  /* struct profile_line[] */
	struct intern *cgroups;	  /* struct profile_cgroup */
	struct intern *labels;	  /* struct profile_label, one after another */
	struct map *cgroup_ids;	  /* by id: the number of the first one in cgroups */
	struct intern *links;	  /* struct profile_link */
	struct process_list processes;
	struct profile_object *objects;
	struct location_list locations;
	struct stack_list stacks;
	struct sample_list samples;
	struct moment_list moments;
	struct spill spill;
	size_t object_count, object_capacity;
	uint64_t moments_dropped;
	bool keep_times;
	uint32_t notes[PROFILE_NOTES_MAX]; /* strings */
	size_t note_count;
};

struct profile *profile_new(void)
{
	struct profile *profile = calloc(1, sizeof(*profile));

	if (!profile)
		return NULL;
	profile->strings = intern_new();
	profile->functions = intern_new();
	profile->inlined = intern_new();
	profile->cgroups = intern_new();
	profile->labels = intern_new();
	profile->cgroup_ids = map_new();
	profile->links = intern_new();
	profile->spill.fd = -1;
	if (location_list_init(&profile->locations) < 0 || stack_list_init(&profile->stacks) < 0 ||
	    sample_list_init(&profile->samples) < 0 || process_list_init(&profile->processes) < 0 ||
	    !profile->strings || !profile->functions || !profile->inlined || !profile->cgroups ||
	    !profile->cgroup_ids || !profile->links || !profile->labels) {
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
	intern_free(profile->inlined);
	intern_free(profile->cgroups);
	intern_free(profile->labels);
	map_free(profile->cgroup_ids);
	intern_free(profile->links);
	process_list_release(&profile->processes);
	free(profile->objects);
	location_list_release(&profile->locations);
	stack_list_release(&profile->stacks);
	sample_list_release(&profile->samples);
	moment_list_release(&profile->moments);
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

	return location_list_add(&profile->locations, &key);
}

struct profile_location *profile_location_get(const struct profile *profile, uint32_t id)
{
	if (id == 0 || id > profile->locations.count)
		return NULL;
	return &profile->locations.locations[id - 1];
}

uint32_t profile_locations(const struct profile *profile)
{
	return (uint32_t)profile->locations.count;
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

const struct language *profile_location_language(const struct profile *profile, uint32_t id)
{
	const struct profile_object *object = profile_location_object(profile, id);

	if (object && object->kind == KIND_SCRIPT)
		return language_of_runtime(object->runtime);
	if (object && object->kind == KIND_ANON)
		return language_of_made_object(profile_string_get(profile, object->name));
	return NULL;
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
	return stack_list_add(&profile->stacks, locations, count);
}

uint32_t profile_stack_append(struct profile *profile, const uint32_t *locations, size_t count)
{
	if (count > PROFILE_STACK_MAX)
		return PROFILE_FAILED;
	return stack_list_append(&profile->stacks, locations, count);
}

size_t profile_stack_get(const struct profile *profile, uint32_t id, const uint32_t **ret_locations)
{
	return stack_list_get(&profile->stacks, id, ret_locations);
}

uint32_t profile_stacks(const struct profile *profile)
{
	return profile->stacks.count;
}

static uint32_t first_cgroup(const struct profile *profile, uint64_t id)
{
	return (uint32_t)(uintptr_t)map_get(profile->cgroup_ids, id);
}

static bool cgroup_is(const struct profile *profile, uint64_t key, uint32_t path)
{
	return profile_cgroup_get(profile, key).path == path;
}

/* Returns the string's id, or 0 without memory. */
static uint32_t string_or_none(struct profile *profile, const char *string)
{
	const uint32_t id = profile_string(profile, string);

	if (id == PROFILE_FAILED)
		return 0;
	return id;
}

/* Returns the string of the container's id in a path, or 0. */
static uint32_t container_of_path(struct profile *profile, uint32_t path)
{
	char id[CONTAINER_ID_BYTES];

	if (!container_id(profile_string_get(profile, path), id))
		return 0;
	return string_or_none(profile, id);
}

/* Returns the string of the pod's uid in a path, or 0. */
static uint32_t pod_of_path(struct profile *profile, uint32_t path)
{
	char uid[CONTAINER_POD_BYTES];

	if (!container_pod(profile_string_get(profile, path), uid))
		return 0;
	return string_or_none(profile, uid);
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
	cgroup.pod = pod_of_path(profile, path);
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

uint32_t profile_process_add(struct profile *profile, const struct profile_process *process)
{
	return process_list_add(&profile->processes, process);
}

struct profile_process profile_process_get(const struct profile *profile, uint32_t id)
{
	return process_list_get(&profile->processes, id);
}

uint32_t profile_labels_add(struct profile *profile, const struct profile_label *labels,
			    size_t count)
{
	uint32_t id;

	for (size_t i = 0; i < count; i++)
		if (labels[i].key == PROFILE_FAILED || labels[i].value == PROFILE_FAILED)
			return 0;
	if (count == 0)
		return 0;
	id = intern_find(profile->labels, labels, count * sizeof(*labels));
	if (id || intern_count(profile->labels) > PROFILE_LABEL_SETS_MAX)
		return id;
	id = intern_add(profile->labels, labels, count * sizeof(*labels));
	return id == INTERN_FAILED ? 0 : id;
}

size_t profile_labels_get(const struct profile *profile, uint32_t id,
			  const struct profile_label **ret_labels)
{
	size_t size;

	*ret_labels = intern_get(profile->labels, id, &size);
	return size / sizeof(**ret_labels);
}

uint32_t profile_link_add(struct profile *profile, const struct profile_link *link)
{
	uint32_t id = intern_find(profile->links, link, sizeof(*link));

	if (id || intern_count(profile->links) > PROFILE_LINKS_MAX)
		return id;
	id = intern_add(profile->links, link, sizeof(*link));
	if (id == INTERN_FAILED)
		return 0;
	return id;
}

struct profile_link profile_link_get(const struct profile *profile, uint32_t id)
{
	struct profile_link link = {0};
	size_t size;
	const void *bytes = intern_get(profile->links, id, &size);

	if (size == sizeof(link))
		memcpy(&link, bytes, size);
	return link;
}

void profile_spill_to(struct profile *profile, int fd)
{
	profile->spill.fd = fd;
}

uint64_t profile_spilled(const struct profile *profile, int *ret_error)
{
	*ret_error = profile->spill.error;
	return profile->spill.at;
}

static void spill_some(struct profile *profile)
{
	spill_turn(&profile->spill, &profile->stacks, &profile->samples, &profile->moments);
}

int profile_sample_add(struct profile *profile, const struct profile_sample *sample)
{
	uint32_t index;
	int r = sample_list_add(&profile->samples, sample, &index);

	spill_some(profile);
	return r;
}

static int add_moment(struct profile *profile, const struct profile_moment *moment)
{
	if (profile->moments.count >= PROFILE_MOMENTS_MAX && !spill_has_room(&profile->spill))
		return -E2BIG;
	return moment_list_add(&profile->moments, moment);
}

int profile_moment_append(struct profile *profile, const struct profile_moment *moment)
{
	int r = add_moment(profile, moment);

	profile->moments_dropped += r < 0;
	return r;
}

int profile_sample_add_at(struct profile *profile, const struct profile_sample *sample,
			  uint64_t time)
{
	struct profile_moment moment = {.time = time};
	int r = sample_list_add(&profile->samples, sample, &moment.sample);

	if (r < 0)
		return r;
	if (profile->keep_times)
		profile_moment_append(profile, &moment);
	spill_some(profile);
	return 0;
}

int profile_sample_append(struct profile *profile, const struct profile_sample *sample)
{
	return sample_list_append(&profile->samples, sample);
}

void profile_samples_scale(struct profile *profile, size_t from, uint64_t factor)
{
	sample_list_scale(&profile->samples, from, factor);
}

size_t profile_samples(const struct profile *profile)
{
	return profile->samples.count;
}

struct profile_sample profile_sample_get(const struct profile *profile, size_t index)
{
	return sample_list_get(&profile->samples, index);
}

int profile_forget_samples(struct profile *profile)
{
	struct intern *cgroups = intern_new();
	struct intern *links = intern_new();
	struct intern *labels = intern_new();
	struct map *cgroup_ids = map_new();
	struct stack_list stacks;
	struct sample_list samples;
	struct process_list processes = {0};

	if (!cgroups || !cgroup_ids || !links || !labels || process_list_init(&processes) < 0 ||
	    stack_list_init(&stacks) < 0 || sample_list_init(&samples) < 0) {
		intern_free(labels);
		intern_free(links);
		intern_free(cgroups);
		map_free(cgroup_ids);
		process_list_release(&processes);
		return -ENOMEM;
	}
	intern_free(profile->cgroups);
	intern_free(profile->labels);
	intern_free(profile->links);
	process_list_release(&profile->processes);
	map_free(profile->cgroup_ids);
	stack_list_release(&profile->stacks);
	sample_list_release(&profile->samples);
	moment_list_release(&profile->moments);
	profile->cgroups = cgroups;
	profile->links = links;
	profile->labels = labels;
	profile->processes = processes;
	profile->moments_dropped = 0;
	profile->cgroup_ids = cgroup_ids;
	profile->stacks = stacks;
	profile->samples = samples;
	return 0;
}

void profile_keep_times(struct profile *profile)
{
	profile->keep_times = true;
}

bool profile_keeps_times(const struct profile *profile)
{
	return profile->keep_times;
}

size_t profile_moments(const struct profile *profile)
{
	return profile->moments.count;
}

bool profile_moment_next(const struct profile *profile, struct profile_moment_walk *walk)
{
	return moment_list_next(&profile->moments, walk);
}

uint64_t profile_moments_dropped(const struct profile *profile)
{
	return profile->moments_dropped;
}
