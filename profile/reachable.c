/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/reachable.h"

#include <errno.h>
#include <stdlib.h>

#include "profile/profile.h"

#define REACHED UINT32_MAX /* and not copied yet */

struct ids { /* by id of the old profile: the id in the new one; 0: not reached */
	uint32_t *items;
	uint32_t count;
};

struct copy {
	const struct profile *from;
	struct profile *to;
	struct ids strings, objects, functions, locations, stacks;
};

static int ids_init(struct ids *ids, uint32_t most)
{
	ids->count = most + 1;
	ids->items = calloc(ids->count, sizeof(*ids->items));
	if (!ids->items)
		return -ENOMEM;
	return 0;
}

static uint32_t ids_get(const struct ids *ids, uint32_t id)
{
	if (id >= ids->count)
		return 0;
	return ids->items[id];
}

/* Marks the id. Returns true for the first time. */
static bool reach(struct ids *ids, uint32_t id)
{
	if (id == 0 || id >= ids->count || ids->items[id])
		return false;
	ids->items[id] = REACHED;
	return true;
}

/* ---- marks what samples refer to ---- */

static void reach_function(struct copy *copy, uint32_t id)
{
	if (reach(&copy->functions, id))
		reach(&copy->objects, profile_function_get(copy->from, id)->object);
}

static void reach_location(struct copy *copy, uint32_t id)
{
	struct profile_line lines[PROFILE_LINES_MAX];
	size_t count;

	if (!reach(&copy->locations, id))
		return;
	reach(&copy->objects, profile_location_get(copy->from, id)->object);
	count = profile_location_lines(copy->from, id, lines);
	for (size_t i = 0; i < count; i++)
		reach_function(copy, lines[i].function);
}

static void reach_all(struct copy *copy)
{
	const size_t count = profile_samples(copy->from);

	for (size_t i = 0; i < count; i++) {
		const uint32_t stack = profile_sample_get(copy->from, i).stack, *locations;
		size_t depth;

		if (!reach(&copy->stacks, stack))
			continue;
		depth = profile_stack_get(copy->from, stack, &locations);
		for (size_t j = 0; j < depth; j++)
			reach_location(copy, locations[j]);
	}
}

/* ---- copies what is marked ---- */

static int keep_id(struct ids *ids, uint32_t id, uint32_t new)
{
	if (new == PROFILE_FAILED)
		return -ENOMEM;
	ids->items[id] = new;
	return 0;
}

static int copy_string(struct copy *copy, uint32_t id, uint32_t *ret_id)
{
	uint32_t new;
	int r = 0;

	if (reach(&copy->strings, id)) {
		new = profile_string(copy->to, profile_string_get(copy->from, id));
		r = keep_id(&copy->strings, id, new);
	}
	*ret_id = ids_get(&copy->strings, id);
	return r;
}

static int copy_object(struct copy *copy, uint32_t id)
{
	struct profile_object object = *profile_object_get(copy->from, id);
	int r;

	r = copy_string(copy, object.name, &object.name);
	if (r < 0)
		return r;
	r = copy_string(copy, object.build_id, &object.build_id);
	if (r < 0)
		return r;
	r = copy_string(copy, object.go_build_id, &object.go_build_id);
	if (r < 0)
		return r;
	r = copy_string(copy, object.file_id, &object.file_id);
	if (r < 0)
		return r;
	return keep_id(&copy->objects, id, profile_object_add(copy->to, &object));
}

static int copy_function(struct copy *copy, uint32_t id)
{
	struct profile_function function = *profile_function_get(copy->from, id);
	int r;

	r = copy_string(copy, function.name, &function.name);
	if (r < 0)
		return r;
	r = copy_string(copy, function.system_name, &function.system_name);
	if (r < 0)
		return r;
	r = copy_string(copy, function.file, &function.file);
	if (r < 0)
		return r;
	function.object = ids_get(&copy->objects, function.object);
	return keep_id(&copy->functions, id, profile_function_add(copy->to, &function));
}

/* The old id serves as the variant, so that two locations never become one. */
static int copy_location(struct copy *copy, uint32_t id)
{
	const struct profile_location *old = profile_location_get(copy->from, id);
	const uint32_t object = ids_get(&copy->objects, old->object);
	struct profile_line lines[PROFILE_LINES_MAX];
	const size_t inlined = profile_location_lines(copy->from, id, lines) - 1;
	uint32_t new = profile_location_add_variant(copy->to, object, old->address, id);
	struct profile_location *location = profile_location_get(copy->to, new);

	if (keep_id(&copy->locations, id, new) < 0)
		return -ENOMEM;
	location->function = ids_get(&copy->functions, old->function);
	location->line = old->line;
	for (size_t i = 0; i < inlined; i++)
		lines[i].function = ids_get(&copy->functions, lines[i].function);
	if (inlined == 0)
		return 0;
	return profile_location_set_inlined(copy->to, new, lines, inlined);
}

static int copy_stack(struct copy *copy, uint32_t id)
{
	uint32_t stack[PROFILE_STACK_MAX];
	const uint32_t *locations;
	size_t count = profile_stack_get(copy->from, id, &locations);

	for (size_t i = 0; i < count; i++)
		stack[i] = ids_get(&copy->locations, locations[i]);
	return keep_id(&copy->stacks, id, profile_stack_append(copy->to, stack, count));
}

/* Copies the entries that were reached, in their order. */
static int copy_reached(struct copy *copy, const struct ids *ids,
			int (*copy_one)(struct copy *copy, uint32_t id))
{
	int r;

	for (uint32_t id = 1; id < ids->count; id++) {
		if (!ids->items[id])
			continue;
		r = copy_one(copy, id);
		if (r < 0)
			return r;
	}
	return 0;
}

static int copy_cgroup(struct copy *copy, uint64_t *key)
{
	struct profile_cgroup cgroup = profile_cgroup_get(copy->from, *key);
	int r;

	if (!cgroup.path)
		return 0;
	r = copy_string(copy, cgroup.path, &cgroup.path);
	if (r < 0)
		return r;
	*key = profile_cgroup_add(copy->to, cgroup.id, cgroup.path);
	return 0;
}

static int copy_process(struct copy *copy, uint32_t *id)
{
	struct profile_process process = profile_process_get(copy->from, *id);
	int r;

	if (!*id)
		return 0;
	r = copy_string(copy, process.executable, &process.executable);
	if (r == 0)
		r = copy_string(copy, process.attributes, &process.attributes);
	if (r < 0)
		return r;
	*id = profile_process_add(copy->to, &process);
	return 0;
}

static void copy_link(struct copy *copy, uint32_t *id)
{
	const struct profile_link link = profile_link_get(copy->from, *id);

	if (*id)
		*id = profile_link_add(copy->to, &link);
}

static int copy_labels(struct copy *copy, uint32_t *id)
{
	const struct profile_label *from;
	struct profile_label labels[PROFILE_LABELS_MAX];
	size_t count = profile_labels_get(copy->from, *id, &from);
	int r = 0;

	if (count > PROFILE_LABELS_MAX)
		count = PROFILE_LABELS_MAX;
	for (size_t i = 0; i < count && r == 0; i++) {
		r = copy_string(copy, from[i].key, &labels[i].key);
		if (r == 0)
			r = copy_string(copy, from[i].value, &labels[i].value);
	}
	if (r == 0)
		*id = profile_labels_add(copy->to, labels, count);
	return r;
}

static int copy_sample(struct copy *copy, struct profile_sample sample)
{
	int r;

	r = copy_string(copy, sample.process_name, &sample.process_name);
	if (r < 0)
		return r;
	r = copy_string(copy, sample.thread_name, &sample.thread_name);
	if (r < 0)
		return r;
	r = copy_string(copy, sample.waker, &sample.waker);
	if (r < 0)
		return r;
	r = copy_cgroup(copy, &sample.cgroup);
	if (r < 0)
		return r;
	r = copy_process(copy, &sample.process);
	if (r < 0)
		return r;
	r = copy_labels(copy, &sample.labels);
	if (r < 0)
		return r;
	copy_link(copy, &sample.link);
	sample.stack = ids_get(&copy->stacks, sample.stack);
	return profile_sample_append(copy->to, &sample);
}

static int copy_samples(struct copy *copy)
{
	const size_t count = profile_samples(copy->from);
	int r;

	for (size_t i = 0; i < count; i++) {
		r = copy_sample(copy, profile_sample_get(copy->from, i));
		if (r < 0)
			return r;
	}
	return 0;
}

/* The samples have the same indexes. A time beyond the limit counts as dropped in the copy. */
static void copy_moments(struct copy *copy)
{
	struct profile_moment_walk walk = {0};

	if (profile_keeps_times(copy->from))
		profile_keep_times(copy->to);
	while (profile_moment_next(copy->from, &walk))
		profile_moment_append(copy->to, &walk.moment);
}

static int copy_notes(struct copy *copy)
{
	size_t count;
	const uint32_t *notes = profile_notes(copy->from, &count);
	int r;

	for (size_t i = 0; i < count; i++) {
		r = profile_note_add(copy->to, profile_string_get(copy->from, notes[i]));
		if (r < 0)
			return r;
	}
	return 0;
}

static int copy_all(struct copy *copy)
{
	int r;

	r = copy_notes(copy);
	if (r < 0)
		return r;
	r = copy_reached(copy, &copy->objects, copy_object);
	if (r < 0)
		return r;
	r = copy_reached(copy, &copy->functions, copy_function);
	if (r < 0)
		return r;
	r = copy_reached(copy, &copy->locations, copy_location);
	if (r < 0)
		return r;
	r = copy_reached(copy, &copy->stacks, copy_stack);
	if (r < 0)
		return r;
	r = copy_samples(copy);
	if (r == 0)
		copy_moments(copy);
	return r;
}

static int copy_init(struct copy *copy, const struct profile *from)
{
	const struct {
		struct ids *ids;
		uint32_t most;
	} tables[] = {
		{&copy->strings, profile_strings(from)},
		{&copy->objects, profile_objects(from)},
		{&copy->functions, profile_functions(from)},
		{&copy->locations, profile_locations(from)},
		{&copy->stacks, profile_stacks(from)},
	};
	int r;

	*copy = (struct copy){.from = from, .to = profile_new()};
	if (!copy->to)
		return -ENOMEM;
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		r = ids_init(tables[i].ids, tables[i].most);
		if (r < 0)
			return r;
	}
	return 0;
}

static void copy_release(struct copy *copy)
{
	free(copy->strings.items);
	free(copy->objects.items);
	free(copy->functions.items);
	free(copy->locations.items);
	free(copy->stacks.items);
}

int profile_reachable(const struct profile *from, struct profile **ret_profile)
{
	struct copy copy;
	int r = copy_init(&copy, from);

	if (r == 0) {
		reach_all(&copy);
		r = copy_all(&copy);
	}
	copy_release(&copy);
	if (r < 0) {
		profile_free(copy.to);
		copy.to = NULL;
	}
	*ret_profile = copy.to;
	return r;
}
