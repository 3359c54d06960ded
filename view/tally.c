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
#include "profile/format/format.h"

bool tally_is_cut(const struct profile_sample *sample, const char **ret_reason)
{
	const struct profile_reason *reason = profile_reason(sample->reason);

	*ret_reason = reason ? reason->name : NULL;
	return reason && reason->class == CLASS_CUT;
}

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

static void add_total(struct row *row, const struct profile_sample *sample)
{
	row->now.total += sample->count;
	row->base.total += sample->base;
}

static void add_self(struct row *row, const struct profile_sample *sample)
{
	row->now.self += sample->count;
	row->base.self += sample->base;
}

/* Recursion counts once. */
static void add_location(struct tally *tally, const struct profile_sample *sample, uint32_t number,
			 uint32_t location)
{
	const struct frames *frames = &tally->frames;

	for (uint32_t at = frames->first[location]; at < frames->first[location + 1]; at++) {
		struct row *row = &tally->rows[frames->ids[at]];

		if (row->seen == number)
			continue;
		row->seen = number;
		add_total(row, sample);
	}
}

static void add_stack(const struct profile *profile, struct tally *tally,
		      const struct profile_sample *sample, uint32_t number)
{
	const struct frames *frames = &tally->frames;
	const uint32_t *locations;
	size_t count = profile_stack_get(profile, sample->stack, &locations);

	for (size_t i = 0; i < count; i++)
		add_location(tally, sample, number, locations[i]);
	if (count > 0)
		add_self(&tally->rows[frames->ids[frames->first[locations[0]]]], sample);
}

static int tally_frames(const struct profile *profile, enum by by, struct tally *tally)
{
	int r = frames_make(profile, by, &tally->frames);
	size_t count;
	const struct profile_sample *samples = profile_samples(profile, &count);

	r = r ? r : reserve_rows(tally, intern_count(tally->frames.names));
	for (size_t i = 0; i < count && r == 0; i++)
		add_stack(profile, tally, &samples[i], (uint32_t)i + 1);
	return r;
}

/* ---- by samples ---- */

struct keys {
	const struct profile *profile;
	enum by by;
	struct map *rows; /* by key: the row */
	struct map *pids; /* by row and process or thread */
};

static uint64_t key_of(const struct keys *keys, const struct profile_sample *sample)
{
	const char *reason;

	switch (keys->by) {
	case BY_PROCESS:
		return sample->process_name;
	case BY_THREAD:
		return (uint64_t)sample->process_name << 32 | sample->thread_name;
	case BY_CGROUP:
		return sample->cgroup;
	default:
		return tally_is_cut(sample, &reason) ? sample->reason : UINT64_MAX;
	}
}

static void spell(const struct keys *keys, const struct profile_sample *sample, char *text,
		  size_t size)
{
	const struct profile *profile = keys->profile;
	const char *process = profile_string_get(profile, sample->process_name), *reason;

	process = *process ? process : "[unknown]";
	if (keys->by == BY_PROCESS)
		snprintf(text, size, "%s", process);
	else if (keys->by == BY_THREAD)
		snprintf(text, size, "%s/%s", process,
			 profile_string_get(profile, sample->thread_name));
	else if (keys->by == BY_CGROUP && sample->cgroup)
		snprintf(text, size, "%" PRIu64, sample->cgroup);
	else if (keys->by == BY_CGROUP)
		snprintf(text, size, "[not known]");
	else
		snprintf(text, size, "%s", tally_is_cut(sample, &reason) ? reason : "complete");
}

static int find_row(const struct keys *keys, struct tally *tally,
		    const struct profile_sample *sample, struct row **ret_row)
{
	uint64_t key = key_of(keys, sample);
	char text[2 * FORMAT_NAME_MAX], clean[FORMAT_NAME_MAX];
	uint32_t name = (uint32_t)(uintptr_t)map_get(keys->rows, key);

	if (name == 0) {
		spell(keys, sample, text, sizeof(text));
		format_clean_name(clean, sizeof(clean), text);
		name = intern_string(tally->frames.names, clean);
		if (name == INTERN_FAILED || reserve_rows(tally, (size_t)name + 1) < 0 ||
		    map_put(keys->rows, key, (void *)(uintptr_t)name) < 0)
			return -ENOMEM;
	}
	*ret_row = &tally->rows[name];
	return 0;
}

static int count_pid(const struct keys *keys, struct row *row, const struct profile_sample *sample)
{
	uint32_t id = keys->by == BY_THREAD ? sample->tid : sample->pid;
	uint64_t key = (uint64_t)row->name << 32 | id;

	if (id == 0 || map_get(keys->pids, key))
		return 0;
	row->pid = row->pid ? row->pid : id;
	row->pids++;
	return map_put(keys->pids, key, (void *)(uintptr_t)1);
}

static int add_sample(const struct keys *keys, struct tally *tally,
		      const struct profile_sample *sample)
{
	struct row *row;
	int r = find_row(keys, tally, sample, &row);

	if (r)
		return r;
	add_total(row, sample);
	add_self(row, sample);
	return keys->by == BY_PROCESS || keys->by == BY_THREAD ? count_pid(keys, row, sample) : 0;
}

static int tally_samples(const struct profile *profile, enum by by, struct tally *tally)
{
	struct keys keys = {.profile = profile, .by = by, .rows = map_new(), .pids = map_new()};
	size_t count;
	const struct profile_sample *samples = profile_samples(profile, &count);
	int r;

	tally->frames.names = intern_new();
	r = keys.rows && keys.pids && tally->frames.names ? reserve_rows(tally, 1) : -ENOMEM;
	for (size_t i = 0; i < count && r == 0; i++)
		r = add_sample(&keys, tally, &samples[i]);
	map_free(keys.rows);
	map_free(keys.pids);
	return r;
}

/* ---- both ---- */

int tally_make(const struct profile *profile, enum by by, struct tally *ret_tally)
{
	size_t count;
	const struct profile_sample *samples = profile_samples(profile, &count);

	memset(ret_tally, 0, sizeof(*ret_tally));
	for (size_t i = 0; i < count; i++) {
		ret_tally->sum += samples[i].count;
		ret_tally->base_sum += samples[i].base;
	}
	return by == BY_FUNCTION || by == BY_OBJECT ? tally_frames(profile, by, ret_tally)
						    : tally_samples(profile, by, ret_tally);
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
	bool by_total, diff;
};

static double share(uint64_t part, uint64_t sum)
{
	return sum ? (double)part / (double)sum : 0;
}

/* Of a difference: how far shares have moved, either way. */
static double weight(const struct ordering *order, const struct row *row, bool total)
{
	const struct tally *tally = order->tally;
	uint64_t now = total ? row->now.total : row->now.self;
	uint64_t base = total ? row->base.total : row->base.self;
	double change = share(now, tally->sum) - share(base, tally->base_sum);

	return order->diff ? (change < 0 ? -change : change) : (double)now;
}

static int compare_rows(const void *left, const void *right, void *context)
{
	const struct ordering *order = context;
	const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const struct row *rows = order->tally->rows;

	for (int i = 0; i < 2; i++) { /* the other one decides between equals */
		double x = weight(order, &rows[a], order->by_total != i);
		double y = weight(order, &rows[b], order->by_total != i);

		if (x < y || x > y)
			return x < y ? 1 : -1;
	}
	return strcmp(tally_name(order->tally, a), tally_name(order->tally, b));
}

uint32_t *tally_order(const struct tally *tally, bool by_total, bool diff, size_t *ret_count)
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
