/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "generated/version.h"
#include "tests/unit/build_profile.h"
#include "tests/unit/json_check.h"
#include "profile/format/format.h"
#include "profile/profile.h"

/* The caller frees it. */
static char *render(const struct profile *profile)
{
	size_t size;
	char *text = (char *)build_profile_render(&format_speedscope, profile, false, &size);

	assert_non_null(text);
	assert_null(json_check(text, size));
	return text;
}

static void test_speedscope__a_thread_is_a_profile(void **state)
{
	static const char *const pieces[] = {
		"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",",
		"\"exporter\":\"keyhole@" KEYHOLE_VERSION "\"",
		"{\"name\":\"ns::work\",\"file\":\"/usr/bin/app\"}",
		"{\"name\":\"read_it\",\"file\":\"[kernel]\"}",
		"{\"name\":\"[cut: no rule]\"}", /* no file */
		"{\"name\":\"libplain.so.1+0x2234\",\"file\":\"/usr/lib/libplain.so.1\"}",
		"\"name\":\"app (pid 100) / work;er? (tid 101)\",\"unit\":\"nanoseconds\","
		"\"startValue\":0,\"endValue\":20000000,\"samples\":[[0,1,2]],"
		"\"weights\":[20000000]}",
		"\"name\":\"evil;?[2J (pid 200) / evil (tid 200)\"",
	};
	struct profile *profile = build_profile();
	char *text = render(profile);

	(void)state;
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++)
		assert_non_null(strstr(text, pieces[i]));
	/* the one with most samples is first */
	assert_non_null(strstr(text, "\"profiles\":[{\"type\":\"sampled\",\"name\":\"kthreadd "));
	free(text);
	profile_free(profile);
}

/* The format has no labels. */
static void test_speedscope__goroutines_are_not_shown(void **state)
{
	struct profile *profile = build_profile_of_goroutines();
	char *text = render(profile);

	(void)state;
	assert_non_null(strstr(text, "\"name\":\"go (pid 300) / go (tid 301)\",\"unit\":"
				     "\"nanoseconds\",\"startValue\":0,\"endValue\":60000000,"));
	assert_null(strstr(text, "handler"));
	free(text);
	profile_free(profile);
}

/* The samples of one thread do not come in the order of time. */
static void test_speedscope__stacks_are_in_order_of_time(void **state)
{
	static const unsigned int order[] = {3, 1, 1, 0, 2};
	struct profile *profile = profile_new();
	char *text;

	(void)state;
	profile_keep_times(profile);
	for (unsigned int i = 0; i < 5; i++) {
		uint32_t location = profile_location_add(profile, 0, i == 2 ? 1 : i);
		struct profile_sample sample = {.stack = profile_stack_add(profile, &location, 1),
						.count = 1};

		profile_sample_add_at(profile, &sample,
				      build_profile_times.start_monotonic_ns + order[i] * 10);
	}
	text = render(profile);
	/* locations 0, 1, 1, 3 and 4 at 30, 10, 10, 0 and 20 */
	assert_non_null(strstr(text, "\"samples\":[[2],[1],[3],[0]],"
				     "\"weights\":[10000000,20000000,10000000,10000000]"));
	free(text);
	profile_free(profile);
}

static void test_speedscope__addresses_of_one_function_are_one_frame(void **state)
{
	struct profile *profile = profile_new();
	struct profile_function function = {.name = profile_string(profile, "f"), .named = true};
	uint32_t id = profile_function_add(profile, &function);
	char *text;

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		uint32_t location = profile_location_add(profile, 0, i);
		struct profile_sample sample = {.stack = profile_stack_add(profile, &location, 1),
						.count = 1};

		profile_location_get(profile, location)->function = i < 2 ? id : 0;
		profile_sample_add(profile, &sample);
	}
	text = render(profile);
	assert_non_null(strstr(text, "\"samples\":[[0],[1]],\"weights\":[20000000,10000000]"));
	free(text);
	profile_free(profile);
}

/* An inlined function looks the same as a called one. */
static void test_speedscope__inlined_functions_are_frames(void **state)
{
	struct profile *profile = profile_new();
	struct profile_function function = {.name = profile_string(profile, "f"),
					    .file = profile_string(profile, "f.c"),
					    .line = 12};
	uint32_t outer = profile_function_add(profile, &function), stack[2];
	struct profile_line inner;
	char *text;

	(void)state;
	function.name = profile_string(profile, "in");
	inner.function = profile_function_add(profile, &function);
	for (unsigned int i = 0; i < 3; i++) {
		struct profile_sample sample = {.count = 1};

		stack[0] = profile_location_add(profile, 0, i);
		stack[1] = profile_location_add(profile, 0, 9);
		profile_location_get(profile, stack[1])->function = outer;
		profile_location_get(profile, stack[0])->function = i < 2 ? outer : inner.function;
		if (i < 2)
			profile_location_set_inlined(profile, stack[0], &inner, 1);
		sample.stack = profile_stack_add(profile, stack, i < 2 ? 1 : 2);
		profile_sample_add(profile, &sample);
	}
	text = render(profile);
	assert_non_null(strstr(text, "{\"name\":\"in\",\"file\":\"f.c\",\"line\":12}"));
	assert_non_null(strstr(text, "\"samples\":[[0,1]],\"weights\":[30000000]"));
	free(text);
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_speedscope__a_thread_is_a_profile),
		cmocka_unit_test(test_speedscope__goroutines_are_not_shown),
		cmocka_unit_test(test_speedscope__stacks_are_in_order_of_time),
		cmocka_unit_test(test_speedscope__addresses_of_one_function_are_one_frame),
		cmocka_unit_test(test_speedscope__inlined_functions_are_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
