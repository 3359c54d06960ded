/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/format/otlp_samples.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/intern.h"
#include "profile/format/otlp.h"

_Static_assert(sizeof(struct otlp_sample) == 4 * (4 + OTLP_SAMPLE_ATTRIBUTES),
	       "a key has no padding");

/* ---- order ---- */

/*
 * A sample by its process. Samples of one process are those of one program, or of one name where
 * no program is known. Samples of a thread stay together, so that struct memo has their attributes.
 */
struct place {
	uint32_t pid;
	uint32_t program; /* 0: not known; equal programs of a pid have equal numbers */
	uint32_t name;	  /* where no program is known */
	uint32_t off_cpu; /* flag */
	uint32_t tid;
	uint32_t index; /* of the sample in the profile */
};

static bool is_same_process(const struct place *a, const struct place *b)
{
	return a->pid == b->pid && a->program == b->program && a->name == b->name;
}

static bool is_same_profile(const struct place *a, const struct place *b)
{
	return is_same_process(a, b) && a->off_cpu == b->off_cpu;
}

static int compare_places(const void *a, const void *b)
{
	const uint32_t *left = a, *right = b;

	for (size_t i = 0; i < sizeof(struct place) / sizeof(*left); i++)
		if (left[i] != right[i])
			return compare_numbers(left[i], right[i]);
	return 0;
}

/*
 * Numbers the programs. Two processes of a profile may be equal for receivers: a process that runs
 * its own program again.
 */
static uint32_t number_program(struct intern *programs, const struct profile *profile, uint32_t id)
{
	struct profile_process process = profile_process_get(profile, id);

	if (!process.executable && !process.created && !process.is_kernel)
		return 0; /* nothing to tell */
	process.generation = 0;
	return intern_add(programs, &process, sizeof(process));
}

static struct place place_of(struct intern *programs, const struct profile *profile, uint32_t index)
{
	const struct profile_sample sample = profile_sample_get(profile, index);
	struct place place = {.pid = sample.pid, .tid = sample.tid, .index = index};

	place.off_cpu = sample.state != STATE_CPU;

	place.program = number_program(programs, profile, sample.process);
	if (!place.program)
		place.name = sample.process_name;
	return place;
}

static struct place *sorted(const struct profile *profile, size_t count)
{
	struct place *places = calloc(count + 1, sizeof(*places));
	struct intern *programs = intern_new();

	if (!places || !programs) {
		free(places);
		intern_free(programs);
		return NULL;
	}
	for (size_t i = 0; i < count; i++)
		places[i] = place_of(programs, profile, (uint32_t)i);
	qsort(places, count, sizeof(*places), compare_places);
	intern_free(programs);
	return places;
}

/* ---- attributes ---- */

#define GIVEN_PREFIX  "go.label." /* of keys that a program chooses */
#define GIVEN_KEY_MAX 256u

/* The attribute of the last value that was asked for. */
struct memo {
	uint64_t value;
	int32_t attribute;
};

/* While samples are made. */
struct maker {
	struct otlp *otlp;
	struct otlp_samples *samples;
	struct memo tid, thread_name, cgroup, cgroup_path, reason, state, waker;
	int32_t *cpus; /* by profile_sample.cpu: the attribute, or 0 */
	uint32_t *of;  /* by index in the profile: the id in samples->keys */
};

static int32_t number(struct maker *maker, struct memo *memo, const char *key, uint64_t value)
{
	if (!memo->attribute || memo->value != value)
		*memo = (struct memo){value, otlp_attribute_number(maker->otlp, key, value)};
	return memo->attribute;
}

static int32_t string(struct maker *maker, struct memo *memo, const char *key, uint32_t value)
{
	const char *raw = profile_string_get(maker->otlp->profile, value);

	if (!memo->attribute || memo->value != value)
		*memo = (struct memo){value, otlp_attribute_string(maker->otlp, key, raw)};
	return memo->attribute;
}

static int32_t reason(struct maker *maker, uint32_t reason)
{
	struct memo *memo = &maker->reason;
	const char *name = profile_reason(reason)->name;

	if (!memo->attribute || memo->value != reason)
		*memo = (struct memo){reason,
				      otlp_attribute_string(maker->otlp, "keyhole.reason", name)};
	return memo->attribute;
}

static int32_t state(struct maker *maker, uint32_t state)
{
	struct memo *memo = &maker->state;
	const char *word = profile_state(state)->word;

	if (!memo->attribute || memo->value != state)
		*memo = (struct memo){state,
				      otlp_attribute_string(maker->otlp, "keyhole.wait", word)};
	return memo->attribute;
}

static int32_t cpu(struct maker *maker, uint32_t cpu)
{
	if (!maker->cpus[cpu])
		maker->cpus[cpu] =
			otlp_attribute_number(maker->otlp, "cpu.logical_number", cpu - 1u);
	return maker->cpus[cpu];
}

static void add_attributes(struct maker *maker, const struct profile_sample *from,
			   const struct profile_cgroup *cgroup, struct otlp_sample *sample)
{
	int32_t *to = sample->attributes;

	*to++ = number(maker, &maker->tid, "thread.id", from->tid);
	*to++ = string(maker, &maker->thread_name, "thread.name", from->thread_name);
	if (from->cpu && from->cpu <= PROFILE_CPUS_MAX)
		*to++ = cpu(maker, from->cpu);
	if (cgroup->id)
		*to++ = number(maker, &maker->cgroup, "keyhole.cgroup", cgroup->id);
	if (cgroup->path)
		*to++ = string(maker, &maker->cgroup_path, "keyhole.cgroup_path", cgroup->path);
	if (profile_reason_is_told(from->reason))
		*to++ = reason(maker, from->reason);
	if (from->state != STATE_CPU)
		*to++ = state(maker, from->state);
	if (from->waker)
		*to = string(maker, &maker->waker, "keyhole.waker", from->waker);
}

/* Returns the id of the attributes that a program gave, 0: none, or INTERN_FAILED. */
static uint32_t add_given(struct maker *maker, const struct profile_sample *from)
{
	const struct profile *profile = maker->otlp->profile;
	int32_t attributes[OTLP_SAMPLE_GIVEN];
	const struct profile_label *labels;
	size_t count = profile_labels_get(profile, from->labels, &labels), used = 0;
	char key[sizeof(GIVEN_PREFIX) + GIVEN_KEY_MAX];

	if (from->goroutine)
		attributes[used++] =
			otlp_attribute_number(maker->otlp, "go.goroutine.id", from->goroutine);
	for (size_t i = 0; i < count && used < OTLP_SAMPLE_GIVEN; i++) {
		snprintf(key, sizeof(key), GIVEN_PREFIX "%s",
			 profile_string_get(profile, labels[i].key));
		attributes[used++] = otlp_attribute_string(
			maker->otlp, key, profile_string_get(profile, labels[i].value));
	}
	if (used == 0)
		return 0;
	return intern_add(maker->samples->given, attributes, used * sizeof(attributes[0]));
}

/* ---- samples ---- */

/* A process is in a container where all its samples are. */
static void agree(uint32_t *of_all, uint32_t of_one, bool first)
{
	if (first)
		*of_all = of_one;
	else if (*of_all != of_one)
		*of_all = 0;
}

static void enter_process(struct maker *maker, const struct profile_sample *from, bool first,
			  bool continues, const struct profile_cgroup *cgroup)
{
	struct otlp_samples *samples = maker->samples;
	struct otlp_process *process;

	samples->process_count += first;
	process = &samples->processes[samples->process_count - 1];
	if (first)
		process->first = intern_count(samples->keys) - 1;
	process->off_cpu = from->state != STATE_CPU;
	process->continues = continues;
	process->pid = from->pid;
	process->process = from->process;
	process->process_name = from->process_name;
	agree(&process->container, cgroup->container, first);
	agree(&process->pod, cgroup->pod, first);
}

/* Returns the id of the sample's key, or 0 without memory. */
static uint32_t enter_sample(struct maker *maker, const struct profile_sample *from,
			     const struct profile_cgroup *cgroup)
{
	struct otlp_samples *samples = maker->samples;
	struct otlp_sample sample = {.process = (uint32_t)samples->process_count - 1};
	struct otlp_process *process = &samples->processes[sample.process];
	uint32_t id;

	sample.stack = otlp_stack(maker->otlp, from->stack);
	sample.link = otlp_link(maker->otlp, from->link);
	add_attributes(maker, from, cgroup, &sample);
	sample.given = add_given(maker, from);
	if (sample.given == INTERN_FAILED)
		return 0;
	id = intern_add(samples->keys, &sample, sizeof(sample));
	if (id == INTERN_FAILED)
		return 0;
	samples->counts[id - 1] += from->count;
	/* the sample may be equal to an earlier one, of another program that looks the same */
	if (id - process->first > process->count)
		process->count = id - process->first;
	return id;
}

static int enter_all(struct maker *maker, const struct place *places, size_t count)
{
	const struct profile *profile = maker->otlp->profile;
	bool continues = false;

	for (size_t i = 0; i < count; i++) {
		const uint32_t index = places[i].index;
		const struct profile_sample from = profile_sample_get(profile, index);
		const struct profile_cgroup cgroup = profile_cgroup_get(profile, from.cgroup);
		const bool first = i == 0 || !is_same_profile(&places[i], &places[i - 1]);

		if (first)
			continues = i > 0 && is_same_process(&places[i], &places[i - 1]);
		enter_process(maker, &from, first, continues, &cgroup);
		maker->of[index] = enter_sample(maker, &from, &cgroup);
		if (!maker->of[index])
			return -ENOMEM;
	}
	return 0;
}

/* ---- times ---- */

/* Returns whether the profile has the time of each sample, and counts samples. */
static bool has_times(const struct otlp *otlp)
{
	const size_t count = profile_samples(otlp->profile);
	const size_t moments = profile_moments(otlp->profile);
	uint64_t total = 0;

	if (moments == 0 || moments > PROFILE_MOMENTS_MAX || otlp->times->type)
		return false;
	for (size_t i = 0; i < count; i++) {
		const uint64_t next = profile_sample_get(otlp->profile, i).count;

		if (next > moments - total)
			return false;
		total += next;
	}
	return total == moments;
}

/* Counts the times of each sample. Returns whether each has as many as it stands for. */
static bool count_times(const struct maker *maker)
{
	const struct otlp_samples *samples = maker->samples;
	const size_t count = intern_count(samples->keys) - 1;
	struct profile_moment_walk walk = {0};
	size_t sum = 0;

	while (profile_moment_next(maker->otlp->profile, &walk))
		samples->first[maker->of[walk.moment.sample] - 1]++;
	for (size_t i = 0; i < count; i++) {
		const size_t here = samples->first[i];

		if (here != samples->counts[i])
			return false;
		samples->first[i] = sum;
		sum += here;
	}
	samples->first[count] = sum;
	return true;
}

static int compare_times(const void *a, const void *b)
{
	return compare_numbers(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* Times are nearly in order: rings of several CPUs are read one after another. */
static void sort_times(struct otlp_samples *samples)
{
	const size_t count = intern_count(samples->keys) - 1;

	for (size_t i = 0; i < count; i++)
		qsort(samples->times + samples->first[i], samples->first[i + 1] - samples->first[i],
		      sizeof(*samples->times), compare_times);
}

/* Puts the times behind one another, by sample, and widens the window to have them all. */
static int fill_times(const struct maker *maker)
{
	const struct profile_times *from = maker->otlp->times;
	const uint64_t offset = from->start_realtime_ns - from->start_monotonic_ns;
	struct otlp_samples *samples = maker->samples;
	const size_t count = intern_count(samples->keys) - 1;
	struct profile_moment_walk walk = {0};
	size_t *next = calloc(count + 1, sizeof(*next));

	samples->times = calloc(samples->first[count] + 1, sizeof(*samples->times));
	if (!next || !samples->times) {
		free(next);
		return -ENOMEM;
	}
	memcpy(next, samples->first, count * sizeof(*next));
	while (profile_moment_next(maker->otlp->profile, &walk)) {
		const uint64_t time = walk.moment.time + offset;

		samples->times[next[maker->of[walk.moment.sample] - 1]++] = time;
		if (time < samples->start)
			samples->start = time;
		if (time >= samples->end)
			samples->end = time + 1;
	}
	free(next);
	sort_times(samples);
	return 0;
}

/* ---- all ---- */

static void set_window(struct otlp_samples *samples, const struct profile_times *times)
{
	samples->start = times->start_realtime_ns;
	samples->end = samples->start + times->duration_ns;
	if (samples->end <= samples->start)
		samples->end = samples->start + 1;
}

static int make(struct maker *maker, size_t count)
{
	struct place *places = sorted(maker->otlp->profile, count);
	int r = -ENOMEM;

	if (places)
		r = enter_all(maker, places, count);
	free(places);
	if (r < 0 || !has_times(maker->otlp))
		return r;
	if (!count_times(maker))
		return 0;
	return fill_times(maker);
}

int otlp_samples_init(struct otlp *otlp)
{
	const size_t count = profile_samples(otlp->profile);
	struct otlp_samples *samples = &otlp->samples;
	struct maker maker = {.otlp = otlp, .samples = samples};
	int r = -ENOMEM;

	set_window(samples, otlp->times);
	samples->keys = intern_new();
	samples->given = intern_new();
	samples->counts = calloc(count + 1, sizeof(*samples->counts));
	samples->first = calloc(count + 1, sizeof(*samples->first));
	samples->processes = calloc(count + 1, sizeof(*samples->processes));
	maker.cpus = calloc(PROFILE_CPUS_MAX + 1, sizeof(*maker.cpus));
	maker.of = calloc(count + 1, sizeof(*maker.of));
	if (samples->keys && samples->given && samples->counts && samples->first &&
	    samples->processes && maker.cpus && maker.of)
		r = make(&maker, count);
	free(maker.cpus);
	free(maker.of);
	return r;
}

void otlp_samples_release(struct otlp_samples *samples)
{
	intern_free(samples->keys);
	intern_free(samples->given);
	free(samples->counts);
	free(samples->first);
	free(samples->times);
	free(samples->processes);
}

struct otlp_sample otlp_samples_get(const struct otlp_samples *samples, uint32_t index)
{
	struct otlp_sample sample = {0};
	size_t size;
	const void *bytes = intern_get(samples->keys, index + 1, &size);

	if (size == sizeof(sample))
		memcpy(&sample, bytes, size);
	return sample;
}
