/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/runtimes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/runtimes.h"
#include "ipc/guard.h"
#include "profile/profile.h"
#include "profile/runtime_finder.h"

/* ---- objects by share ---- */

/* Returns the name of an object without folders. */
static const char *base_name(const struct profile *profile, const struct profile_object *object)
{
	const char *name = profile_string_get(profile, object->name), *slash = strrchr(name, '/');

	if (slash && slash[1])
		return slash + 1;
	return name;
}

static void describe(const struct profile *profile, uint32_t id, struct runtime_share *ret_share)
{
	const struct profile_object *object = profile_object_get(profile, id);
	const char *name = base_name(profile, object);

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

/* Enters the objects that have samples. samples: by id of an object. */
static void enter_all(struct runtimes *runtimes, const struct profile *profile,
		      const uint64_t *samples)
{
	for (uint32_t id = 1; id <= profile_objects(profile); id++) {
		struct runtime_share share;

		if (samples[id] == 0)
			continue;
		describe(profile, id, &share);
		share.samples = samples[id];
		enter(runtimes, &share);
	}
}

int runtimes_add(struct runtimes *runtimes, const struct profile *profile)
{
	guard_free uint64_t *samples =
		calloc((size_t)profile_objects(profile) + 1, sizeof(*samples));
	struct runtime_finder finder;
	const size_t count = profile_samples(profile);
	int r = runtime_finder_init(&finder, profile);

	if (r == 0 && !samples)
		r = -ENOMEM;
	for (size_t i = 0; i < count && r == 0; i++) {
		const struct profile_sample sample = profile_sample_get(profile, i);

		samples[runtime_finder_object(&finder, &sample)] += sample.count;
		runtimes->samples += sample.count;
	}
	if (r == 0)
		enter_all(runtimes, profile, samples);
	runtime_finder_release(&finder);
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

static void recall(struct profile *profile, const char *name, uint32_t runtime)
{
	for (uint32_t id = 1; id <= profile_objects(profile); id++) {
		struct profile_object *object = profile_object_get(profile, id);

		if (object->kind != KIND_NATIVE)
			continue;
		if (strncmp(base_name(profile, object), name, RUNTIME_NAME_BYTES - 1) == 0)
			object->runtime = runtime;
	}
}

void runtimes_recall(struct profile *profile)
{
	size_t count;
	const uint32_t *notes = profile_notes(profile, &count);

	for (size_t i = 0; i < count; i++) {
		char name[RUNTIME_NAME_BYTES];
		const char *note = profile_string_get(profile, notes[i]);
		uint32_t runtime = runtime_of_note(note, name, sizeof(name));

		if (runtime != RUNTIME_NONE)
			recall(profile, name, runtime);
	}
}
