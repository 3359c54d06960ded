/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/why/findings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/guard.h"
#include "profile/format/names.h"
#include "profile/profile.h"
#include "worker/why/sources.h"

/* ---- names ---- */

void findings_clean(const char *name, char *ret_text, size_t size)
{
	char clean[FORMAT_NAME_MAX];
	char *to = clean;

	format_clean_name(clean, sizeof(clean), name);
	/* The name is UTF-8 now. Some terminals have no place for a character that is not ASCII: it
	 * becomes one mark. */
	for (const char *from = clean; *from; from++) {
		unsigned char byte = (unsigned char)*from;

		if ((byte & 0xc0) == 0x80) /* a further byte of a character */
			continue;
		*to++ = byte < 0x80 ? *from : '?';
	}
	*to = '\0';
	format_clean_name(ret_text, size, clean);
}

void findings_name(const struct findings *findings, uint32_t id, char *ret_text, size_t size)
{
	const struct profile_object *object = profile_object_get(findings->profile, id);
	const char *name = "(no frame)", *slash;

	if (object)
		name = profile_string_get(findings->profile, object->name);
	slash = strrchr(name, '/');
	if (slash && slash[1])
		name = slash + 1;
	findings_clean(name, ret_text, size);
}

/* ---- counts ---- */

/* Returns false for frames of the kernel, and for marks of cuts and guesses. */
static bool is_user_frame(const struct profile *profile, uint32_t location)
{
	const struct profile_object *object =
		profile_object_get(profile, profile_location_get(profile, location)->object);

	if (object->kind == KIND_MARKER)
		return strcmp(profile_string_get(profile, object->name), PROFILE_UNKNOWN) == 0;
	return object->kind == KIND_NATIVE || object->kind == KIND_ANON;
}

/* Returns whether a frame marks that functions of the interpreted program are missing. */
static bool is_list_cut(const struct profile *profile, uint32_t location)
{
	const struct profile_location *at = profile_location_get(profile, location);
	const struct profile_function *function = profile_function_get(profile, at->function);

	return profile_object_get(profile, at->object)->kind == KIND_MARKER && function &&
	       strcmp(profile_string_get(profile, function->name), PROFILE_CUT_LIST) == 0;
}

static bool is_named(const struct profile *profile, uint32_t location)
{
	const struct profile_function *function =
		profile_function_get(profile, profile_location_get(profile, location)->function);

	return function && function->named;
}

/* Keeps a sample from being counted twice for an object. */
struct seen {
	uint32_t frame, unnamed; /* number of the last sample with such a frame in the object */
};

static void count_frame(struct finding *finding, struct seen *seen, uint32_t number, bool named,
			uint64_t count)
{
	if (seen->frame != number)
		finding->samples += count;
	seen->frame = number;
	if (named || seen->unnamed == number)
		return;
	finding->unnamed += count;
	seen->unnamed = number;
}

static void count_end(struct finding *finding, const struct profile_sample *sample)
{
	finding->ended += sample->count;
	finding->reason[sample->reason] += sample->count;
	if (profile_reason_is_cut(sample->reason))
		finding->cut += sample->count;
}

static void count_frames(struct findings *findings, const struct profile_sample *sample,
			 uint32_t number, struct seen *seen)
{
	const struct profile *profile = findings->profile;
	struct finding *items = findings->items;
	const uint32_t *locations;
	size_t depth = profile_stack_get(profile, sample->stack, &locations);
	uint32_t last = 0;

	for (size_t i = 0; i < depth; i++) {
		uint32_t object = profile_location_get(profile, locations[i])->object;

		if (is_list_cut(profile, locations[i]))
			findings->listless += sample->count;
		if (!is_user_frame(profile, locations[i]))
			continue;
		if (last == 0)
			items[object].self += sample->count;
		count_frame(&items[object], &seen[object], number, is_named(profile, locations[i]),
			    sample->count);
		last = object;
	}
	if (last == 0)
		items[0].samples += sample->count;
	count_end(&items[last], sample);
}

static void count_samples(struct findings *findings, struct seen *seen)
{
	const size_t count = profile_samples(findings->profile);

	for (size_t i = 0; i < count; i++) {
		const struct profile_sample sample = profile_sample_get(findings->profile, i);
		const struct profile_reason *reason = profile_reason(sample.reason);

		if (!reason || sample.reason >= SUMMARY_REASONS)
			continue;
		if (sample.pid != findings->sources->pid) {
			findings->others += sample.count;
			continue;
		}
		findings->samples += sample.count;
		if (reason->class == CLASS_CUT)
			findings->cut += sample.count;
		if (reason->class == CLASS_GUESS)
			findings->guessed += sample.count;
		findings->reason[sample.reason] += sample.count;
		count_frames(findings, &sample, (uint32_t)i + 1, seen);
	}
}

static int compare(uint64_t left, uint64_t right)
{
	return (left > right) - (left < right);
}

static int by_use(const void *a, const void *b)
{
	const struct finding *left = a, *right = b;

	if (left->ended != right->ended)
		return compare(right->ended, left->ended);
	if (left->samples != right->samples)
		return compare(right->samples, left->samples);
	return compare(left->object, right->object);
}

/* Leaves out the objects of children alone. */
static void keep_used(struct findings *findings, size_t count)
{
	struct finding *items = findings->items;

	for (size_t i = 0; i < count; i++) {
		bool mapped = items[i].source && items[i].source->mappings > 0;

		if (items[i].samples > 0 || mapped)
			items[findings->count++] = items[i];
	}
	qsort(items, findings->count, sizeof(*items), by_use);
}

int findings_collect(const struct profile *profile, const struct sources *sources,
		     struct findings *ret_findings)
{
	struct findings findings = {.profile = profile, .sources = sources};
	size_t count = (size_t)profile_objects(profile) + 1;
	guard_free struct seen *seen = calloc(count, sizeof(*seen));

	*ret_findings = findings;
	findings.items = calloc(count, sizeof(*findings.items));
	if (!findings.items || !seen) {
		free(findings.items);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++)
		findings.items[i].object = (uint32_t)i;
	for (size_t i = 0; i < sources->count; i++)
		findings.items[sources->items[i].object].source = &sources->items[i];
	count_samples(&findings, seen);
	keep_used(&findings, count);
	*ret_findings = findings;
	return 0;
}

void findings_release(struct findings *findings)
{
	free(findings->items);
	findings->items = NULL;
	findings->count = 0;
}

size_t findings_next_reason(const uint64_t reason[SUMMARY_REASONS],
			    const bool done[SUMMARY_REASONS])
{
	size_t most = SUMMARY_REASONS;

	for (size_t i = 0; i < SUMMARY_REASONS; i++) {
		if (reason[i] == 0 || done[i])
			continue;
		if (most == SUMMARY_REASONS || reason[i] > reason[most])
			most = i;
	}
	return most;
}
