/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/format/threads.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/compare.h"
#include "profile/profile.h"

static int compare_processes(const struct profile_sample *a, const struct profile_sample *b)
{
	int order = compare_numbers(a->pid, b->pid);

	if (order != 0)
		return order;
	return compare_numbers(a->process_name, b->process_name);
}

static int compare_threads(const struct profile_sample *a, const struct profile_sample *b)
{
	int order = compare_processes(a, b);

	if (order == 0)
		order = compare_numbers(a->tid, b->tid);
	if (order != 0)
		return order;
	return compare_numbers(a->thread_name, b->thread_name);
}

static int compare_samples(const void *a, const void *b, void *context)
{
	const uint32_t a_index = *(const uint32_t *)a, b_index = *(const uint32_t *)b;
	const struct profile_sample a_sample = profile_sample_get(context, a_index);
	const struct profile_sample b_sample = profile_sample_get(context, b_index);
	int order = compare_threads(&a_sample, &b_sample);

	if (order != 0)
		return order;
	return compare_numbers(a_index, b_index);
}

/* Numbers a thread. `before` is the thread before it in the order of compare_threads(). */
static void number_thread(struct format_thread *thread, const struct format_thread *before)
{
	thread->process = before->process;
	if (before->pid != thread->pid) {
		thread->process++;
		return;
	}
	thread->process_again = before->process_again;
	if (before->process_name != thread->process_name) {
		thread->process++;
		thread->process_again++;
		return;
	}
	if (before->tid == thread->tid)
		thread->thread_again = before->thread_again + 1;
}

static void add_thread(struct format_threads *threads, const struct profile_sample *sample,
		       size_t first)
{
	struct format_thread thread = {
		.pid = sample->pid,
		.tid = sample->tid,
		.process_name = sample->process_name,
		.thread_name = sample->thread_name,
		.first = first,
	};

	if (threads->count > 0)
		number_thread(&thread, &threads->threads[threads->count - 1]);
	threads->threads[threads->count++] = thread;
}

static void group_samples(struct format_threads *threads, size_t count)
{
	struct profile_sample before = {0};
	struct format_thread *thread;

	for (size_t i = 0; i < count; i++) {
		const struct profile_sample sample =
			profile_sample_get(threads->profile, threads->order[i]);

		if (i == 0 || compare_threads(&before, &sample) != 0)
			add_thread(threads, &sample, i);
		thread = &threads->threads[threads->count - 1];
		thread->samples++;
		thread->count += sample.count;
		before = sample;
	}
}

int format_threads_init(struct format_threads *threads, const struct profile *profile)
{
	const size_t count = profile_samples(profile);

	*threads = (struct format_threads){.profile = profile};
	threads->order = calloc(count + 1, sizeof(*threads->order));
	threads->threads = calloc(count + 1, sizeof(*threads->threads));
	if (!threads->order || !threads->threads)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		threads->order[i] = (uint32_t)i;
	qsort_r(threads->order, count, sizeof(*threads->order), compare_samples, (void *)profile);
	group_samples(threads, count);
	return 0;
}

void format_threads_release(struct format_threads *threads)
{
	free(threads->order);
	free(threads->threads);
	free(threads->moments);
	free(threads->known);
}

static int compare_counts(const void *a, const void *b)
{
	const struct format_thread *a_thread = a, *b_thread = b;
	int order = compare_numbers(b_thread->count, a_thread->count);

	if (order != 0)
		return order;
	return compare_numbers(a_thread->first, b_thread->first);
}

void format_threads_by_count(struct format_threads *threads)
{
	qsort(threads->threads, threads->count, sizeof(*threads->threads), compare_counts);
}

/* ---- time ---- */

static int compare_moments(const void *a, const void *b)
{
	const struct format_moment *a_moment = a, *b_moment = b;
	int order = compare_numbers(a_moment->time, b_moment->time);

	if (order == 0)
		order = compare_numbers(a_moment->rest, b_moment->rest);
	if (order != 0)
		return order;
	return compare_numbers(a_moment->sample, b_moment->sample);
}

/* Returns the last time before the end: viewers leave samples out that lie at the end itself. */
static uint64_t last_time(const struct profile_times *times)
{
	if (times->duration_ns == 0)
		return 0;
	return times->duration_ns - 1;
}

static uint64_t since_start(const struct profile_times *times, uint64_t time)
{
	const uint64_t last = last_time(times);

	if (time <= times->start_monotonic_ns)
		return 0;
	time -= times->start_monotonic_ns;
	if (time > last)
		return last;
	return time;
}

static void count_known(struct format_threads *threads)
{
	struct profile_moment_walk walk = {0};

	while (profile_moment_next(threads->profile, &walk))
		threads->known[walk.moment.sample]++;
}

static bool has_rest(const struct format_threads *threads, uint32_t index)
{
	return profile_sample_get(threads->profile, index).count > threads->known[index];
}

/*
 * Gives each thread its room in moments[], one thread behind another, and notes the thread of each
 * sample. Returns the number of moments.
 */
static size_t place_moments(struct format_threads *threads, size_t *ret_thread_of)
{
	size_t total = 0;

	for (size_t i = 0; i < threads->count; i++) {
		struct format_thread *thread = &threads->threads[i];

		thread->first_moment = total;
		thread->moments = 0;
		for (size_t j = 0; j < thread->samples; j++) {
			uint32_t index = threads->order[thread->first + j];

			ret_thread_of[index] = i;
			total += threads->known[index] + has_rest(threads, index);
		}
	}
	return total;
}

static void put_moment(struct format_threads *threads, struct format_thread *thread, uint64_t time,
		       uint32_t sample, uint32_t rest)
{
	threads->moments[thread->first_moment + thread->moments++] =
		(struct format_moment){.time = time, .sample = sample, .rest = rest};
}

static void fill_moments(struct format_threads *threads, const struct profile_times *times,
			 const size_t *thread_of)
{
	const size_t sample_count = profile_samples(threads->profile);
	struct profile_moment_walk walk = {0};
	uint64_t rest_time = 0;

	threads->timed = profile_moments(threads->profile) > 0 || sample_count == 0;
	if (threads->timed)
		rest_time = last_time(times);
	while (profile_moment_next(threads->profile, &walk))
		put_moment(threads, &threads->threads[thread_of[walk.moment.sample]],
			   since_start(times, walk.moment.time), walk.moment.sample, 0);
	for (uint32_t i = 0; i < sample_count; i++)
		if (has_rest(threads, i))
			put_moment(threads, &threads->threads[thread_of[i]], rest_time, i, 1);
	for (size_t i = 0; i < threads->count; i++)
		qsort(threads->moments + threads->threads[i].first_moment,
		      threads->threads[i].moments, sizeof(*threads->moments), compare_moments);
}

int format_threads_add_moments(struct format_threads *threads, const struct profile_times *times)
{
	const size_t count = profile_samples(threads->profile);
	size_t *thread_of;
	int r = -ENOMEM;

	thread_of = calloc(count + 1, sizeof(*thread_of));
	threads->known = calloc(count + 1, sizeof(*threads->known));
	if (thread_of && threads->known) {
		count_known(threads);
		threads->moments =
			calloc(place_moments(threads, thread_of) + 1, sizeof(*threads->moments));
	}
	if (threads->moments) {
		fill_moments(threads, times, thread_of);
		r = 0;
	}
	free(thread_of);
	return r;
}

uint64_t format_moment_weight(const struct format_threads *threads,
			      const struct format_moment *moment)
{
	if (!moment->rest)
		return 1;
	return profile_sample_get(threads->profile, moment->sample).count -
	       threads->known[moment->sample];
}
