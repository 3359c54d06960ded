/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/runtimes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/runtimes.h"
#include "ipc/guard.h"
#include "profile/profile.h"

struct count {
	const struct profile *profile;
	struct map *processes; /* by pid: the id of the object of a runtime */
	uint64_t *samples;     /* by id of an object */
};

/* ---- samples by object ---- */

static bool is_user(const struct profile_object *object)
{
	return object && (object->kind == KIND_NATIVE || object->kind == KIND_ANON);
}

static uint32_t object_of(const struct profile *profile, uint32_t location)
{
	return profile_location_get(profile, location)->object;
}

/* Returns the object of the innermost frame in a runtime, or 0. */
static uint32_t find_runtime(const struct profile *profile, uint32_t stack)
{
	const uint32_t *locations;
	size_t depth = profile_stack_get(profile, stack, &locations);

	for (size_t i = 0; i < depth; i++) {
		uint32_t id = object_of(profile, locations[i]);
		const struct profile_object *object = profile_object_get(profile, id);

		if (object && object->runtime)
			return id;
	}
	return 0;
}

static int find_processes(struct count *count)
{
	size_t left;
	const struct profile_sample *sample = profile_samples(count->profile, &left);

	for (; left > 0; left--, sample++) {
		uint32_t id = find_runtime(count->profile, sample->stack);
		int r;

		if (id == 0 || map_get(count->processes, sample->pid))
			continue;
		r = map_put(count->processes, sample->pid, (void *)(uintptr_t)id);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Returns the object of the innermost user frame, or 0. */
static uint32_t innermost(const struct profile *profile, uint32_t stack)
{
	const uint32_t *locations;
	size_t depth = profile_stack_get(profile, stack, &locations);

	for (size_t i = 0; i < depth; i++) {
		uint32_t id = object_of(profile, locations[i]);

		if (is_user(profile_object_get(profile, id)))
			return id;
	}
	return 0;
}

static void count_sample(struct count *count, const struct profile_sample *sample)
{
	uint32_t id = innermost(count->profile, sample->stack);
	const struct profile_object *object = profile_object_get(count->profile, id);

	if (!object)
		return;
	if (object->kind == KIND_ANON)
		id = (uint32_t)(uintptr_t)map_get(count->processes, sample->pid);
	else if (!object->runtime)
		return;
	count->samples[id] += sample->count;
}

/* ---- objects by share ---- */

static void describe(const struct profile *profile, uint32_t id, struct runtime_share *ret_share)
{
	const struct profile_object *object = profile_object_get(profile, id);
	const char *name = profile_string_get(profile, object->name), *slash = strrchr(name, '/');

	if (slash && slash[1])
		name = slash + 1;
	*ret_share = (struct runtime_share){.runtime = object->runtime};
	strncpy(ret_share->name, name, sizeof(ret_share->name) - 1);
}

static bool is_same(const struct runtime_share *a, const struct runtime_share *b)
{
	return a->runtime == b->runtime && strcmp(a->name, b->name) == 0;
}

static void move_up(struct runtime_share *first, struct runtime_share *share)
{
	for (; share > first && share->samples > share[-1].samples; share--) {
		struct runtime_share lower = share[-1];

		share[-1] = *share;
		*share = lower;
	}
}

static void enter(struct runtimes *runtimes, const struct runtime_share *share)
{
	struct runtime_share *item = runtimes->item, *last = &item[RUNTIMES_KEPT - 1];

	while (item < last && item->samples > 0 && !is_same(item, share))
		item++;
	if (item->samples > 0 && is_same(item, share))
		item->samples += share->samples;
	else if (item->samples < share->samples)
		*item = *share;
	move_up(runtimes->item, item);
}

static void enter_all(struct runtimes *runtimes, const struct count *count)
{
	size_t left;
	const struct profile_sample *sample = profile_samples(count->profile, &left);

	for (; left > 0; left--, sample++)
		runtimes->samples += sample->count;
	for (uint32_t id = 1; id <= profile_objects(count->profile); id++) {
		struct runtime_share share;

		if (count->samples[id] == 0)
			continue;
		describe(count->profile, id, &share);
		share.samples = count->samples[id];
		enter(runtimes, &share);
	}
}

int runtimes_add(struct runtimes *runtimes, const struct profile *profile)
{
	struct count count = {.profile = profile, .processes = map_new()};
	guard_free uint64_t *samples =
		calloc((size_t)profile_objects(profile) + 1, sizeof(*samples));
	const struct profile_sample *sample;
	size_t left;
	int r = -ENOMEM;

	count.samples = samples;
	if (count.processes && samples)
		r = find_processes(&count);
	if (r == 0) {
		sample = profile_samples(profile, &left);
		for (; left > 0; left--, sample++)
			count_sample(&count, sample);
		enter_all(runtimes, &count);
	}
	map_free(count.processes);
	return r;
}

void runtimes_merge(struct runtimes *runtimes, const struct runtimes *other)
{
	runtimes->samples += other->samples;
	for (size_t i = 0; i < RUNTIMES_KEPT && other->item[i].samples > 0; i++)
		enter(runtimes, &other->item[i]);
}

/* ---- notes ---- */

int runtimes_note(const struct runtimes *runtimes, struct profile *profile)
{
	char text[RUNTIME_NOTE_BYTES];

	profile_notes_clear(profile);
	for (size_t i = 0; i < RUNTIMES_KEPT; i++) {
		const struct runtime_share *share = &runtimes->item[i];
		int r;

		if (!runtime_is_noted(share->samples, runtimes->samples))
			break;
		runtime_note(text, share->runtime, share->name,
			     (double)share->samples * 100 / (double)runtimes->samples);
		r = profile_note_add(profile, text);
		if (r < 0)
			return r;
	}
	return 0;
}
