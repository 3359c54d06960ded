/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "profile/format/threads.h"
#include "profile/profile.h"

#define START 1000u

static const struct profile_times times = {
	.period = 10, .start_monotonic_ns = START, .duration_ns = 500};

static void add(struct profile *profile, uint32_t pid, uint32_t tid, const char *process,
		const char *thread, uint64_t time)
{
	const struct profile_sample sample = {
		.pid = pid,
		.tid = tid,
		.process_name = profile_string(profile, process),
		.thread_name = profile_string(profile, thread),
		.count = 1,
	};

	assert_int_equal(time ? profile_sample_add_at(profile, &sample, time)
			      : profile_sample_add(profile, &sample),
			 0);
}

static struct profile *build(void)
{
	struct profile *profile = profile_new();

	profile_keep_times(profile);
	add(profile, 20, 21, "b", "worker", START + 30);
	add(profile, 10, 10, "a", "a", START + 5);
	add(profile, 20, 20, "b", "b", START + 1);
	add(profile, 20, 21, "b", "worker", START + 10);
	add(profile, 20, 21, "b", "worker", 0);
	add(profile, 20, 21, "b", "worker", 0);
	add(profile, 20, 21, "b", "renamed", START - 7); /* before the start */
	add(profile, 20, 20, "c", "c", START + 900);	 /* after the end */
	return profile;
}

static const struct {
	uint32_t pid, tid, process, process_again, thread_again;
	const char *name;
	uint64_t count;
} expected[] = {
	{10, 10, 0, 0, 0, "a", 1},	 {20, 20, 1, 0, 0, "b", 1}, {20, 21, 1, 0, 0, "worker", 4},
	{20, 21, 1, 0, 1, "renamed", 1}, {20, 20, 2, 1, 0, "c", 1},
};

static void test_threads__are_by_process_and_name(void **state)
{
	struct profile *profile = build();
	struct format_threads threads;

	(void)state;
	assert_int_equal(format_threads_init(&threads, profile), 0);
	assert_int_equal(threads.count, 5);
	for (size_t i = 0; i < 5; i++) {
		const struct format_thread *thread = &threads.threads[i];

		assert_int_equal(thread->pid, expected[i].pid);
		assert_int_equal(thread->tid, expected[i].tid);
		assert_int_equal(thread->process, expected[i].process);
		assert_int_equal(thread->process_again, expected[i].process_again);
		assert_int_equal(thread->thread_again, expected[i].thread_again);
		assert_int_equal(thread->count, expected[i].count);
		assert_string_equal(profile_string_get(profile, thread->thread_name),
				    expected[i].name);
	}
	format_threads_by_count(&threads);
	assert_int_equal(threads.threads[0].count, 4);
	assert_int_equal(threads.threads[1].pid, 10);
	format_threads_release(&threads);
	profile_free(profile);
}

static void assert_moment(const struct format_threads *threads, size_t thread, size_t index,
			  uint64_t time, uint64_t weight)
{
	const struct format_moment *moment =
		&threads->moments[threads->threads[thread].first_moment + index];

	assert_true(index < threads->threads[thread].moments);
	assert_int_equal(moment->time, time);
	assert_int_equal(format_moment_weight(threads, moment), weight);
}

static void test_threads__moments_are_in_order(void **state)
{
	struct profile *profile = build();
	struct format_threads threads;

	(void)state;
	assert_int_equal(format_threads_init(&threads, profile), 0);
	assert_int_equal(format_threads_add_moments(&threads, &times), 0);
	assert_int_equal(threads.threads[2].moments, 3);
	assert_moment(&threads, 0, 0, 5, 1);
	assert_moment(&threads, 2, 0, 10, 1);
	assert_moment(&threads, 2, 1, 30, 1);
	assert_moment(&threads, 2, 2, 499, 2); /* samples without a time */
	assert_moment(&threads, 3, 0, 0, 1);
	assert_moment(&threads, 4, 0, 499, 1);
	format_threads_release(&threads);
	profile_free(profile);
}

static void test_threads__of_no_samples(void **state)
{
	struct profile *profile = profile_new();
	struct format_threads threads;

	(void)state;
	assert_int_equal(format_threads_init(&threads, profile), 0);
	assert_int_equal(format_threads_add_moments(&threads, &times), 0);
	assert_int_equal(threads.count, 0);
	format_threads_by_count(&threads);
	format_threads_release(&threads);
	profile_free(profile);
}

static void test_threads__times_are_kept_when_asked_for(void **state)
{
	struct profile *profile = profile_new();
	struct profile_moment_walk walk = {0};

	(void)state;
	add(profile, 1, 1, "a", "a", 5);
	assert_int_equal(profile_moments(profile), 0);
	profile_keep_times(profile);
	add(profile, 1, 1, "a", "a", 6);
	assert_int_equal(profile_moments(profile), 1);
	assert_true(profile_moment_next(profile, &walk));
	assert_int_equal(walk.moment.time, 6);
	assert_false(profile_moment_next(profile, &walk));
	profile_free(profile);
}

/* Times stop at the limit, and all samples count. */
static void test_threads__times_beyond_the_limit_are_counted(void **state)
{
	struct profile *profile = profile_new();

	(void)state;
	profile_keep_times(profile);
	for (uint64_t i = 0; i < PROFILE_MOMENTS_MAX + 3ull; i++)
		add(profile, 1, 1, "a", "a", i + 1);
	assert_int_equal(profile_sample_get(profile, 0).count, PROFILE_MOMENTS_MAX + 3);
	assert_int_equal(profile_moments(profile), PROFILE_MOMENTS_MAX);
	assert_int_equal(profile_moments_dropped(profile), 3);
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads__are_by_process_and_name),
		cmocka_unit_test(test_threads__moments_are_in_order),
		cmocka_unit_test(test_threads__of_no_samples),
		cmocka_unit_test(test_threads__times_are_kept_when_asked_for),
		cmocka_unit_test(test_threads__times_beyond_the_limit_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
