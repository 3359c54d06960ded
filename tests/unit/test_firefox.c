/* SPDX-License-Identifier: Apache-2.0 */
/* tests/formats/readers.py checks the tables' shapes and references. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "tests/unit/build_profile.h"
#include "tests/unit/json_check.h"
#include "profile/format/format.h"
#include "profile/profile.h"

/* The caller frees it. */
static char *render(const struct profile *profile)
{
	size_t size;
	char *text = (char *)build_profile_render(&format_firefox, profile, false, &size);

	assert_non_null(text);
	assert_null(json_check(text, size));
	return text;
}

static void assert_pieces(const char *text, const char *const *pieces)
{
	for (; *pieces; pieces++)
		if (!strstr(text, *pieces))
			fail_msg("missing: %s\nin: %s", *pieces, text);
}

static void test_firefox__tables(void **state)
{
	static const char *const pieces[] = {
		"\"interval\":10,\"startTime\":1700000000000,",
		"\"preprocessedProfileVersion\":70,\"symbolicated\":true",
		"{\"label\":\"Samples\",\"format\":\"integer\",\"value\":10}",
		"{\"label\":\"Cut stacks\",\"format\":\"integer\",\"value\":1}",
		"{\"label\":\"Without a time, all at 0\",\"format\":\"integer\",\"value\":10}",
		"{\"arch\":\"\",\"name\":\"app\",\"path\":\"/usr/bin/app\",\"debugName\":\"app\","
		"\"debugPath\":\"/usr/bin/app\",\"breakpadId\":\"\","
		"\"codeId\":\"0123456789abcdef\"}",
		/* main, work, read_it below both; read_it alone; the marker and plain */
		"\"stackTable\":{\"frame\":[0,1,2,2,4,3],\"prefixOffset\":[0,1,1,0,0,1],"
		"\"length\":6}",
		"\"address\":[4660,9029,-1,8756,-1],\"lib\":[0,0,1,3,-1]",
		"\"category\":[1,1,2,1,3]",
		"\"isMainThread\":false,\"processName\":\"app\",\"pid\":\"100\",\"tid\":101",
		/* a weight alone, as the time is unknown */
		"\"samples\":{\"stack\":[2],\"time\":[0],\"weight\":[2],"
		"\"weightType\":\"samples\",\"length\":1}",
		NULL,
	};
	struct profile *profile = build_profile();
	char *text = render(profile);

	(void)state;
	assert_pieces(text, pieces);
	free(text);
	profile_free(profile);
}

/* A thread is idle between samples that are more than two periods apart. */
static void test_firefox__a_line_of_time(void **state)
{
	static const uint64_t after[] = {1000000, 11000000, 30000001, 60500000};
	static const char *const pieces[] = {
		"\"stack\":[0,0,0,null,0],\"time\":[1,11,30.000001,50.5,60.5],"
		"\"weight\":[1,1,1,0,1]",
		"\"threadCPUDelta\":[10000000,10000000,10000000,0,10000000],\"length\":5",
		"\"profilingEndTime\":2000,",
		"{\"label\":\"Without a time, at the end\",\"format\":\"integer\",\"value\":0}",
		NULL,
	};
	struct profile *profile = profile_new();
	uint32_t location = profile_location_add(profile, 0, 1);
	struct profile_sample sample = {.stack = profile_stack_add(profile, &location, 1),
					.count = 1};
	char *text;

	(void)state;
	profile_keep_times(profile);
	for (size_t i = 0; i < 4; i++)
		profile_sample_add_at(profile, &sample,
				      build_profile_times.start_monotonic_ns + after[i]);
	text = render(profile);
	assert_pieces(text, pieces);
	free(text);
	profile_free(profile);
}

static void test_firefox__names_do_not_make_two_threads_one(void **state)
{
	static const char *const names[] = {"sh", "ls"};
	static const char *const pieces[] = {
		"\"isMainThread\":true,\"processName\":\"sh\",\"pid\":\"7\",\"tid\":7,",
		"\"isMainThread\":true,\"processName\":\"ls\",\"pid\":\"7.1\",\"tid\":7,",
		"\"isMainThread\":false,\"processName\":\"ls\",\"pid\":\"7.1\",\"tid\":\"7.1\",",
		NULL,
	};
	struct profile *profile = profile_new();
	char *text;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct profile_sample sample = {
			.pid = 7,
			.tid = 7,
			.process_name = profile_string(profile, names[i > 0]),
			.thread_name = profile_string(profile, i > 1 ? "again" : names[i]),
			.count = 1,
		};

		profile_sample_add(profile, &sample);
	}
	text = render(profile);
	assert_pieces(text, pieces);
	free(text);
	profile_free(profile);
}

/* A line number belongs to a source: without one, the number is left out. */
static void test_firefox__a_line_has_a_source(void **state)
{
	static const char *const pieces[] = {
		"\"source\":[null,0],\"lineNumber\":[null,7]",
		NULL,
	};
	struct profile *profile = profile_new();
	struct profile_function function = {.name = profile_string(profile, "f"), .line = 7};
	char *text;

	(void)state;
	profile_function_add(profile, &function);
	function.file = profile_string(profile, "f.c");
	profile_function_add(profile, &function);
	text = render(profile);
	assert_pieces(text, pieces);
	free(text);
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_firefox__tables),
		cmocka_unit_test(test_firefox__a_line_of_time),
		cmocka_unit_test(test_firefox__names_do_not_make_two_threads_one),
		cmocka_unit_test(test_firefox__a_line_has_a_source),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
