/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/why/why_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/format/format.h"
#include "profile/profile.h"
#include "worker/why/causes.h"

/* ---- names ---- */

void why_clean(const char *name, char *ret_text, size_t size)
{
	char clean[FORMAT_NAME_MAX];
	char *to = clean;

	format_clean_name(clean, sizeof(clean), name);
	/* it is UTF-8 now: one mark for each character that some terminal has no place for */
	for (const char *from = clean; *from; from++)
		if (((unsigned char)*from & 0xc0) != 0x80)
			*to++ = (unsigned char)*from < 0x80 ? *from : '?';
	*to = '\0';
	format_clean_name(ret_text, size, clean);
}

void why_name(const struct profile *profile, uint32_t id, char *ret_text, size_t size)
{
	const struct profile_object *object = profile_object_get(profile, id);
	const char *name = object ? profile_string_get(profile, object->name) : "(no frame)";
	const char *slash = strrchr(name, '/');

	why_clean(slash && slash[1] ? slash + 1 : name, ret_text, size);
}

/* ---- rows ---- */

/* Not the kernel's, nor a mark of where a stack was cut. */
static bool is_user_frame(const struct profile *profile, uint32_t location)
{
	const struct profile_object *object =
		profile_object_get(profile, profile_location_get(profile, location)->object);

	return object->kind == KIND_NATIVE ||
	       (object->kind == KIND_MARKER &&
		strncmp(profile_string_get(profile, object->name), "[cut", 4) != 0);
}

static bool is_named(const struct profile *profile, uint32_t location)
{
	const struct profile_function *function =
		profile_function_get(profile, profile_location_get(profile, location)->function);

	return function && function->named;
}

/* What one sample has shown of an object so far. */
struct seen {
	uint32_t frame, unnamed; /* number of the last sample with one */
};

static void count_frames(struct why *why, const struct profile_sample *sample, uint32_t number,
			 struct seen *seen)
{
	const struct profile *profile = why->profile;
	const uint32_t *locations;
	size_t depth = profile_stack_get(profile, sample->stack, &locations);
	uint32_t last = 0;

	for (size_t i = 0; i < depth; i++) {
		uint32_t object = profile_location_get(profile, locations[i])->object;

		if (!is_user_frame(profile, locations[i]))
			continue;
		if (last == 0)
			why->rows[object].self += sample->count;
		if (seen[object].frame != number)
			why->rows[object].samples += sample->count;
		if (!is_named(profile, locations[i]) && seen[object].unnamed != number) {
			why->rows[object].unnamed += sample->count;
			seen[object].unnamed = number;
		}
		seen[object].frame = number;
		last = object;
	}
	why->rows[0].samples += last == 0 ? sample->count : 0;
	why->rows[last].ended += sample->count;
	why->rows[last].reason[sample->reason] += sample->count;
	if (profile_reason(sample->reason)->class == CLASS_CUT)
		why->rows[last].cut += sample->count;
}

static void count_samples(struct why *why, struct seen *seen)
{
	size_t count;
	const struct profile_sample *samples = profile_samples(why->profile, &count);

	for (size_t i = 0; i < count; i++) {
		const struct profile_reason *reason = profile_reason(samples[i].reason);

		if (!reason || samples[i].reason >= SUMMARY_REASONS)
			continue;
		if (samples[i].pid != why->sources->pid) {
			why->others += samples[i].count;
			continue;
		}
		why->samples += samples[i].count;
		why->cut += reason->class == CLASS_CUT ? samples[i].count : 0;
		why->reason[samples[i].reason] += samples[i].count;
		count_frames(why, &samples[i], (uint32_t)i + 1, seen);
	}
}

static int by_use(const void *a, const void *b)
{
	const struct row *left = a, *right = b;

	if (left->ended != right->ended)
		return left->ended > right->ended ? -1 : 1;
	if (left->samples != right->samples)
		return left->samples > right->samples ? -1 : 1;
	return left->object < right->object ? -1 : left->object > right->object;
}

/* Objects of children only are not the process's. */
static void keep_used(struct why *why, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct row *row = &why->rows[i];

		if (row->samples > 0 || (row->source && row->source->mappings > 0))
			why->rows[why->count++] = *row;
	}
	qsort(why->rows, why->count, sizeof(*why->rows), by_use);
}

int why_rows(struct why *why)
{
	size_t count = (size_t)profile_objects(why->profile) + 1;
	struct seen *seen = calloc(count, sizeof(*seen));

	why->rows = calloc(count, sizeof(*why->rows));
	if (!why->rows || !seen) {
		free(seen);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++)
		why->rows[i].object = (uint32_t)i;
	for (size_t i = 0; i < why->sources->count; i++)
		why->rows[why->sources->items[i].object].source = &why->sources->items[i];
	count_samples(why, seen);
	free(seen);
	keep_used(why, count);
	return 0;
}

size_t why_most(const uint64_t reason[SUMMARY_REASONS], const bool done[SUMMARY_REASONS])
{
	size_t most = SUMMARY_REASONS;

	for (size_t i = 0; i < SUMMARY_REASONS; i++)
		if (reason[i] > 0 && !done[i] &&
		    (most == SUMMARY_REASONS || reason[i] > reason[most]))
			most = i;
	return most;
}
