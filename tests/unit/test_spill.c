/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles that are larger than the memory for them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/chunks.h"
#include "base/memory_file.h"
#include "profile/format/format.h"
#include "profile/profile.h"
#include "tests/unit/build_profile.h"

#define DEPTH	 60u
#define DISTINCT 120000u
#define HOT	 1000u /* each so many samples have one stack */

/* The stack of a sample; a hot one comes again and again. */
static void make_stack(uint32_t number, uint32_t ret_stack[DEPTH])
{
	if (number % HOT == 0)
		number = 0;
	for (uint32_t i = 0; i < DEPTH; i++)
		ret_stack[i] = 1 + (number + i) % 7;
	ret_stack[0] = 1 + number % 1000;
	ret_stack[1] = 1 + number / 1000;
}

/* Different times, not in their order. */
static uint64_t time_of(uint32_t number)
{
	return build_profile_times.start_monotonic_ns + (number ^ 5) * 9973ull;
}

/* Returns a profile of DISTINCT samples, with a time each. */
static struct profile *build(int fd)
{
	struct profile *profile = profile_new();
	uint32_t object, stack[DEPTH];

	object = profile_object_add(
		profile, &(struct profile_object){.name = profile_string(profile, "/a.so")});
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(profile_location_add(profile, object, 64 * i), i + 1);
	profile_keep_times(profile);
	if (fd >= 0)
		profile_spill_to(profile, fd);
	for (uint32_t number = 0; number < DISTINCT; number++) {
		struct profile_sample sample = {.pid = 1, .tid = 1, .count = 1};

		make_stack(number, stack);
		sample.stack = profile_stack_add(profile, stack, DEPTH);
		assert_int_equal(profile_sample_add_at(profile, &sample, time_of(number)), 0);
	}
	return profile;
}

/* Each time leads to the sample and to the stack that were added with the time. */
static void assert_complete(const struct profile *profile)
{
	struct profile_moment_walk walk = {0};
	uint32_t stack[DEPTH], number = 0;
	const uint32_t *found;
	uint64_t count = 0;

	while (profile_moment_next(profile, &walk)) {
		const struct profile_sample sample =
			profile_sample_get(profile, walk.moment.sample);

		make_stack(number, stack);
		assert_int_equal(profile_stack_get(profile, sample.stack, &found), DEPTH);
		assert_memory_equal(found, stack, sizeof(stack));
		assert_int_equal(walk.moment.time, time_of(number));
		number++;
	}
	assert_int_equal(number, DISTINCT);
	assert_int_equal(profile_moments(profile), DISTINCT);
	assert_int_equal(profile_moments_dropped(profile), 0);
	for (size_t i = 0; i < profile_samples(profile); i++)
		count += profile_sample_get(profile, i).count;
	assert_int_equal(count, DISTINCT);
}

static void assert_same_output(const struct format *format, const struct profile *a,
			       const struct profile *b)
{
	size_t a_size, b_size;
	unsigned char *a_bytes = build_profile_render(format, a, false, &a_size);
	unsigned char *b_bytes = build_profile_render(format, b, false, &b_size);

	assert_non_null(a_bytes);
	assert_int_equal(a_size, b_size);
	assert_memory_equal(a_bytes, b_bytes, a_size);
	free(a_bytes);
	free(b_bytes);
}

static void test_spill__nothing_is_lost_in_the_file(void **state)
{
	int fd = memory_file("test");
	struct profile *spilled = build(fd), *whole = build(-1);
	int error;

	(void)state;
	assert_true(profile_spilled(spilled, &error) > PROFILE_MEMORY_MAX / 2);
	assert_int_equal(error, 0);
	assert_int_equal(profile_spilled(whole, &error), 0);
	assert_int_equal(error, 0);
	assert_complete(spilled);
	assert_complete(whole);
	/* a hot stack is a few more entries, and not one for each sample */
	assert_true(profile_samples(spilled) < profile_samples(whole) + 20);
	assert_same_output(&format_folded, spilled, whole);
	assert_same_output(&format_speedscope, spilled, whole);
	assert_same_output(&format_otlp, spilled, whole);
	profile_free(spilled);
	profile_free(whole);
	close(fd);
}

/* The rest of the samples stays in memory. */
static void test_spill__a_file_that_takes_nothing(void **state)
{
	int ends[2], error;
	struct profile *profile;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	profile = build(ends[0]);
	assert_int_equal(profile_spilled(profile, &error), 0);
	assert_int_equal(error, -ESPIPE);
	assert_complete(profile);
	profile_free(profile);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spill__nothing_is_lost_in_the_file),
		cmocka_unit_test(test_spill__a_file_that_takes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
