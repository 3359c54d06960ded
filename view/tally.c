/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tally.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/intern.h"
#include "base/map.h"
#include "profile/format/names.h"

static int reserve_rows(struct tally *tally, size_t count)
{
	size_t before = tally->count;

	if (count <= before)
		return 0;
	if (ARRAY_RESERVE(tally->rows, tally->capacity, count) < 0)
		return -ENOMEM;
	memset(tally->rows + before, 0, (count - before) * sizeof(*tally->rows));
	for (size_t i = before; i < count; i++)
		tally->rows[i].name = (uint32_t)i;
	tally->count = count;
	return 0;
}

/* ---- by frames ---- */

static void add_to_row(struct tally_row *row, const struct profile_sample *sample, bool is_leaf)
{
	amount_add(&row->now, sample->count, is_leaf);
	amount_add(&row->base, sample->base, is_leaf);
}

/* Adds the frames of a location. *is_leaf holds for the first frame of the stack alone. */
static void add_location(struct tally *tally, struct amount_marks *marks,
			 const struct profile_sample *sample, uint32_t location, bool *is_leaf)
{
	const struct frames *frames = &tally->frames;

	for (uint32_t at = frames->first[location]; at < frames->first[location + 1]; at++) {
		const uint32_t name = frames->ids[at];

		if (amount_marks_first(marks, name))
			add_to_row(&tally->rows[name], sample, *is_leaf);
		*is_leaf = false;
	}
}

static void add_stack(const struct profile *profile, struct tally *tally,
		      struct amount_marks *marks, const struct profile_sample *sample)
{
	const uint32_t *locations;
	size_t count = profile_stack_get(profile, sample->stack, &locations);
	bool is_leaf = true;

	amount_marks_next(marks);
	for (size_t i = 0; i < count; i++)
		add_location(tally, marks, sample, locations[i], &is_leaf);
}

static int tally_frames(const struct profile *profile, enum frames_kind kind, struct tally *tally)
{
	const size_t count = profile_samples(profile);
	struct amount_marks marks;
	int r;

	r = frames_make(profile, kind, &tally->frames);
	if (r < 0)
		return r;
	r = reserve_rows(tally, intern_count(tally->frames.names));
	if (r < 0)
		return r;
	r = amount_marks_init(&marks, tally->count);
	if (r < 0)
		return r;
	for (size_t i = 0; i < count; i++) {
		const struct profile_sample sample = profile_sample_get(profile, i);

		add_stack(profile, tally, &marks, &sample);
	}
	amount_marks_release(&marks);
	return 0;
}

/* ---- by samples ---- */

#define COMPLETE UINT64_MAX /* the key of samples with a proven stack */

struct keys {
	const struct profile *profile;
	enum by by;
	struct map *rows; /* by key: the row's name */
	struct map *pids; /* by the row's name and pid or tid: 1 */
};

static uint64_t key_of(const struct keys *keys, const struct profile_sample *sample)
{
	switch (keys->by) {
	case BY_PROCESS:
		return sample->process_name;
	case BY_THREAD:
		return (uint64_t)sample->process_name << 32 | sample->thread_name;
	case BY_CGROUP:
		return sample->cgroup;
	case BY_REASON:
		if (profile_reason_is_told(sample->reason))
			return sample->reason;
		break;
	case BY_FUNCTION: /* by frames */
	case BY_LINE:
	case BY_OBJECT:
	case BY_LANGUAGE:
	case BY_COUNT:
		break;
	}
	return COMPLETE;
}

/* Spells a cgroup by its path, or by its number in a file that has no path. */
static void spell_cgroup(const struct profile *profile, uint64_t key, char *text, size_t size)
{
	const struct profile_cgroup cgroup = profile_cgroup_get(profile, key);

	if (cgroup.path)
		snprintf(text, size, "%s", profile_string_get(profile, cgroup.path));
	else if (cgroup.id)
		snprintf(text, size, "cgroup %" PRIu64, cgroup.id);
	else
		snprintf(text, size, "[not known]");
}

static const char *spell_reason(const struct profile_sample *sample)
{
	if (!profile_reason_is_told(sample->reason))
		return "complete";
	return profile_reason(sample->reason)->name;
}

/* Writes the raw name of the sample's row. */
static void spell_key(const struct keys *keys, const struct profile_sample *sample, char *text,
		      size_t size)
{
	const struct profile *profile = keys->profile;
	const char *process = format_process_name(profile, sample->process_name);
	const char *thread = profile_string_get(profile, sample->thread_name);

	switch (keys->by) {
	case BY_PROCESS:
		snprintf(text, size, "%s", process);
		break;
	case BY_THREAD:
		snprintf(text, size, "%s/%s", process, thread);
		break;
	case BY_CGROUP:
		spell_cgroup(profile, sample->cgroup, text, size);
		break;
	case BY_REASON:
		snprintf(text, size, "%s", spell_reason(sample));
		break;
	case BY_FUNCTION: /* by frames */
	case BY_LINE:
	case BY_OBJECT:
	case BY_LANGUAGE:
	case BY_COUNT:
		text[0] = '\0';
		break;
	}
}

/* Makes the row of a new key. Keys that are spelled alike share a row. */
static int make_row(const struct keys *keys, struct tally *tally,
		    const struct profile_sample *sample, uint64_t key, uint32_t *ret_name)
{
	char text[2 * FORMAT_NAME_MAX], clean[FORMAT_NAME_MAX];

	spell_key(keys, sample, text, sizeof(text));
	format_clean_name(clean, sizeof(clean), text);
	*ret_name = intern_string(tally->frames.names, clean);
	if (*ret_name == INTERN_FAILED)
		return -ENOMEM;
	if (reserve_rows(tally, (size_t)*ret_name + 1) < 0)
		return -ENOMEM;
	return map_put(keys->rows, key, (void *)(uintptr_t)*ret_name);
}

static int find_row(const struct keys *keys, struct tally *tally,
		    const struct profile_sample *sample, struct tally_row **ret_row)
{
	uint64_t key = key_of(keys, sample);
	uint32_t name = (uint32_t)(uintptr_t)map_get(keys->rows, key);
	int r;

	if (name == 0) {
		r = make_row(keys, tally, sample, key, &name);
		if (r < 0)
			return r;
	}
	*ret_row = &tally->rows[name];
	return 0;
}

static int count_pid(const struct keys *keys, struct tally_row *row,
		     const struct profile_sample *sample)
{
	uint32_t id = keys->by == BY_THREAD ? sample->tid : sample->pid;
	uint64_t key = (uint64_t)row->name << 32 | id;

	if (id == 0 || map_get(keys->pids, key))
		return 0;
	if (row->pid == 0)
		row->pid = id;
	row->pids++;
	return map_put(keys->pids, key, (void *)(uintptr_t)1);
}

static int add_sample(const struct keys *keys, struct tally *tally,
		      const struct profile_sample *sample)
{
	struct tally_row *row;
	int r = find_row(keys, tally, sample, &row);

	if (r < 0)
		return r;
	add_to_row(row, sample, true);
	if (keys->by == BY_PROCESS || keys->by == BY_THREAD)
		return count_pid(keys, row, sample);
	return 0;
}

static int add_samples(const struct keys *keys, struct tally *tally)
{
	const size_t count = profile_samples(keys->profile);
	int r;

	tally->frames.names = intern_new();
	if (!keys->rows || !keys->pids || !tally->frames.names)
		return -ENOMEM;
	r = reserve_rows(tally, 1);
	for (size_t i = 0; i < count && r == 0; i++) {
		const struct profile_sample sample = profile_sample_get(keys->profile, i);

		r = add_sample(keys, tally, &sample);
	}
	return r;
}

static int tally_samples(const struct profile *profile, enum by by, struct tally *tally)
{
	const struct keys keys = {
		.profile = profile, .by = by, .rows = map_new(), .pids = map_new()};
	int r = add_samples(&keys, tally);

	map_free(keys.rows);
	map_free(keys.pids);
	return r;
}

/* ---- both ---- */

int tally_make(const struct profile *profile, enum by by, struct tally *ret_tally)
{
	const size_t count = profile_samples(profile);

	memset(ret_tally, 0, sizeof(*ret_tally));
	for (size_t i = 0; i < count; i++) {
		const struct profile_sample sample = profile_sample_get(profile, i);

		ret_tally->sum += sample.count;
		ret_tally->base_sum += sample.base;
	}
	if (by == BY_FUNCTION)
		return tally_frames(profile, FRAMES_FUNCTIONS, ret_tally);
	if (by == BY_LINE)
		return tally_frames(profile, FRAMES_LINES, ret_tally);
	if (by == BY_OBJECT)
		return tally_frames(profile, FRAMES_OBJECTS, ret_tally);
	if (by == BY_LANGUAGE)
		return tally_frames(profile, FRAMES_LANGUAGES, ret_tally);
	return tally_samples(profile, by, ret_tally);
}

void tally_release(struct tally *tally)
{
	frames_release(&tally->frames);
	free(tally->rows);
}

const char *tally_name(const struct tally *tally, uint32_t row)
{
	return intern_get(tally->frames.names, row, NULL);
}

struct ordering {
	const struct tally *tally;
	bool by_total;
	const struct tally_scale *diff;
};

static double share(uint64_t part, double whole)
{
	if (whole <= 0)
		return 0;
	return (double)part / whole;
}

/* Returns the amount, or for a difference how far the share has moved, up or down. */
static double weight(const struct ordering *order, const struct tally_row *row, bool total)
{
	uint64_t now = total ? row->now.total : row->now.self;
	uint64_t base = total ? row->base.total : row->base.self;
	double change;

	if (!order->diff)
		return (double)now;
	change = share(now, order->diff->now) - share(base, order->diff->base);
	if (change < 0)
		return -change;
	return change;
}

/* Compares two rows by their totals or by their selfs: the larger one comes first. */
static int compare_weights(const struct ordering *order, const struct tally_row *a,
			   const struct tally_row *b, bool total)
{
	double a_weight = weight(order, a, total), b_weight = weight(order, b, total);

	return (a_weight < b_weight) - (a_weight > b_weight);
}

static int compare_rows(const void *left, const void *right, void *context)
{
	const struct ordering *order = context;
	const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const struct tally_row *rows = order->tally->rows;

	int r = compare_weights(order, &rows[a], &rows[b], order->by_total);

	if (r == 0) /* of equal totals self decides, and the other way round */
		r = compare_weights(order, &rows[a], &rows[b], !order->by_total);
	if (r != 0)
		return r;
	return strcmp(tally_name(order->tally, a), tally_name(order->tally, b));
}

uint32_t *tally_order(const struct tally *tally, bool by_total, const struct tally_scale *diff,
		      size_t *ret_count)
{
	struct ordering order = {.tally = tally, .by_total = by_total, .diff = diff};
	uint32_t *names = calloc(tally->count + 1, sizeof(*names));
	size_t count = 0;

	if (!names)
		return NULL;
	for (uint32_t name = 1; name < tally->count; name++)
		if (tally->rows[name].now.total || tally->rows[name].base.total)
			names[count++] = name;
	qsort_r(names, count, sizeof(*names), compare_rows, &order);
	*ret_count = count;
	return names;
}
