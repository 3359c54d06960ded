/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/reachable.h"

#include <errno.h>
#include <stdlib.h>

#include "profile/profile.h"

#define REACHED UINT32_MAX /* and not copied yet */

struct ids { /* what an id of the old one is in the new one; 0: not reached */
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
	return ids->items ? 0 : -ENOMEM;
}

static uint32_t ids_get(const struct ids *ids, uint32_t id)
{
	return id < ids->count ? ids->items[id] : 0;
}

/* Whether it is for the first time. */
static bool reach(struct ids *ids, uint32_t id)
{
	if (id == 0 || id >= ids->count || ids->items[id])
		return false;
	ids->items[id] = REACHED;
	return true;
}

/* ---- what is there ---- */

static void reach_location(struct copy *copy, uint32_t id)
{
	struct profile_line lines[PROFILE_LINES_MAX];
	size_t count;

	if (!reach(&copy->locations, id))
		return;
	reach(&copy->objects, profile_location_get(copy->from, id)->object);
	count = profile_location_lines(copy->from, id, lines);
	for (size_t i = 0; i < count; i++)
		if (reach(&copy->functions, lines[i].function))
			reach(&copy->objects,
			      profile_function_get(copy->from, lines[i].function)->object);
}

static void reach_all(struct copy *copy)
{
	size_t count, depth;
	const struct profile_sample *samples = profile_samples(copy->from, &count);
	const uint32_t *locations;

	for (size_t i = 0; i < count; i++) {
		if (!reach(&copy->stacks, samples[i].stack))
			continue;
		depth = profile_stack_get(copy->from, samples[i].stack, &locations);
		for (size_t j = 0; j < depth; j++)
			reach_location(copy, locations[j]);
	}
}

/* ---- into the new one ---- */

static int keep(struct ids *ids, uint32_t id, uint32_t new)
{
	if (new == PROFILE_FAILED)
		return -ENOMEM;
	ids->items[id] = new;
	return 0;
}

static int copy_string(struct copy *copy, uint32_t id, uint32_t *ret_id)
{
	int r = 0;

	if (reach(&copy->strings, id))
		r = keep(&copy->strings, id,
			 profile_string(copy->to, profile_string_get(copy->from, id)));
	*ret_id = ids_get(&copy->strings, id);
	return r;
}

static int copy_object(struct copy *copy, uint32_t id)
{
	struct profile_object object = *profile_object_get(copy->from, id);
	int r = copy_string(copy, object.name, &object.name);

	r = r ? r : copy_string(copy, object.build_id, &object.build_id);
	return r ? r : keep(&copy->objects, id, profile_object_add(copy->to, &object));
}

static int copy_function(struct copy *copy, uint32_t id)
{
	struct profile_function function = *profile_function_get(copy->from, id);
	int r = copy_string(copy, function.name, &function.name);

	r = r ? r : copy_string(copy, function.system_name, &function.system_name);
	r = r ? r : copy_string(copy, function.file, &function.file);
	function.object = ids_get(&copy->objects, function.object);
	return r ? r : keep(&copy->functions, id, profile_function_add(copy->to, &function));
}

/* The old id is the variant: two never become one. */
static int copy_location(struct copy *copy, uint32_t id)
{
	const struct profile_location *old = profile_location_get(copy->from, id);
	const uint32_t object = ids_get(&copy->objects, old->object);
	struct profile_line lines[PROFILE_LINES_MAX];
	const size_t inlined = profile_location_lines(copy->from, id, lines) - 1;
	uint32_t new = profile_location_add_variant(copy->to, object, old->address, id);
	struct profile_location *location = profile_location_get(copy->to, new);

	if (keep(&copy->locations, id, new))
		return -ENOMEM;
	location->function = ids_get(&copy->functions, old->function);
	location->line = old->line;
	for (size_t i = 0; i < inlined; i++)
		lines[i].function = ids_get(&copy->functions, lines[i].function);
	return inlined ? profile_location_set_inlined(copy->to, new, lines, inlined) : 0;
}

static int copy_stack(struct copy *copy, uint32_t id)
{
	uint32_t stack[PROFILE_STACK_MAX];
	const uint32_t *locations;
	size_t count = profile_stack_get(copy->from, id, &locations);

	for (size_t i = 0; i < count; i++)
		stack[i] = ids_get(&copy->locations, locations[i]);
	return keep(&copy->stacks, id, profile_stack_append(copy->to, stack, count));
}

/* Those that were reached, in their order. */
static int copy_reached(struct copy *copy, const struct ids *ids,
			int (*one)(struct copy *copy, uint32_t id))
{
	int r = 0;

	for (uint32_t id = 1; id < ids->count && r == 0; id++)
		r = ids->items[id] ? one(copy, id) : 0;
	return r;
}

static int copy_samples(struct copy *copy)
{
	size_t count;
	const struct profile_sample *samples = profile_samples(copy->from, &count);
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++) {
		struct profile_sample sample = samples[i];

		r = copy_string(copy, sample.process_name, &sample.process_name);
		r = r ? r : copy_string(copy, sample.thread_name, &sample.thread_name);
		sample.stack = ids_get(&copy->stacks, sample.stack);
		r = r ? r : profile_sample_append(copy->to, &sample);
	}
	return r;
}

static int copy_all(struct copy *copy)
{
	int r = copy_reached(copy, &copy->objects, copy_object);

	r = r ? r : copy_reached(copy, &copy->functions, copy_function);
	r = r ? r : copy_reached(copy, &copy->locations, copy_location);
	r = r ? r : copy_reached(copy, &copy->stacks, copy_stack);
	return r ? r : copy_samples(copy);
}

int profile_reachable(const struct profile *from, struct profile **ret_profile)
{
	struct copy copy = {.from = from, .to = profile_new()};
	int r = copy.to ? 0 : -ENOMEM;

	r = r ? r : ids_init(&copy.strings, profile_strings(from));
	r = r ? r : ids_init(&copy.objects, profile_objects(from));
	r = r ? r : ids_init(&copy.functions, profile_functions(from));
	r = r ? r : ids_init(&copy.locations, profile_locations(from));
	r = r ? r : ids_init(&copy.stacks, profile_stacks(from));
	if (r == 0) {
		reach_all(&copy);
		r = copy_all(&copy);
	}
	free(copy.strings.items);
	free(copy.objects.items);
	free(copy.functions.items);
	free(copy.locations.items);
	free(copy.stacks.items);
	if (r) {
		profile_free(copy.to);
		copy.to = NULL;
	}
	*ret_profile = copy.to;
	return r;
}
