/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "tests/unit/build_profile.h"
#include "profile/format/format.h"
#include "profile/profile.h"
#include "profile/reachable.h"

static void test_reachable__all_of_a_profile_stays(void **state)
{
	struct profile *profile = build_profile(), *copy;
	const struct format *const formats[] = {&format_folded, &format_speedscope,
						&format_otlp_json};

	(void)state;
	assert_int_equal(profile_reachable(profile, &copy), 0);
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		size_t size, copied;
		unsigned char *before = build_profile_render(formats[i], profile, true, &size);
		unsigned char *after = build_profile_render(formats[i], copy, true, &copied);

		assert_int_equal(size, copied);
		assert_memory_equal(before, after, size);
		free(before);
		free(after);
	}
	profile_free(profile);
	profile_free(copy);
}

static bool has_string(const struct profile *profile, const char *string)
{
	for (uint32_t id = 0; id < profile_strings(profile); id++)
		if (!strcmp(profile_string_get(profile, id), string))
			return true;
	return false;
}

static uint32_t add_function(struct profile *profile, const char *name, const char *file)
{
	struct profile_function function = {.name = profile_string(profile, name),
					    .system_name = profile_string(profile, name),
					    .file = profile_string(profile, file),
					    .line = 9};

	return profile_function_add(profile, &function);
}

/* Adds a location of a new function with another one inlined, and returns its stack. */
static uint32_t add_stack(struct profile *profile, uint32_t object, const char *const names[3])
{
	uint32_t id = profile_location_add(profile, object, 0x1234);
	struct profile_line inlined = {add_function(profile, names[1], names[2]), 5};
	uint32_t function = add_function(profile, names[0], names[2]);

	profile_location_get(profile, id)->function = function;
	profile_location_get(profile, id)->line = 7;
	assert_int_equal(profile_location_set_inlined(profile, id, &inlined, 1), 0);
	return profile_stack_add(profile, &id, 1);
}

/* Leaves the profile as a filter does: the others' samples go, everything else stays. */
static struct profile *filtered_profile(void)
{
	static const char *const theirs[] = {"their_function", "their_inlined", "/their/file.c"};
	static const char *const ours[] = {"our_function", "our_inlined", "/our/file.c"};
	struct profile *profile = profile_new();
	struct profile_object object = {.name = profile_string(profile, "/their/program"),
					.build_id = profile_string(profile, "aa")};
	struct profile_sample sample = {.pid = 5, .count = 3};

	profile_string(profile, "their_comm");
	add_stack(profile, profile_object_add(profile, &object), theirs);
	object.name = profile_string(profile, "/our/program");
	object.build_id = profile_string(profile, "bb");
	sample.stack = add_stack(profile, profile_object_add(profile, &object), ours);
	sample.process_name = profile_string(profile, "our_comm");
	sample.thread_name = profile_string(profile, "our_thread");
	profile_sample_add(profile, &sample);
	return profile;
}

static void test_reachable__of_others_nothing_stays(void **state)
{
	static const char *const gone[] = {"their_function", "their_inlined",  "/their/file.c",
					   "their_comm",     "/their/program", "aa"};
	static const char *const kept[] = {
		"our_function", "our_inlined",	"/our/file.c", "our_comm",
		"our_thread",	"/our/program", "bb"};
	struct profile *profile = filtered_profile(), *copy;
	struct profile_line lines[PROFILE_LINES_MAX];

	(void)state;
	assert_int_equal(profile_reachable(profile, &copy), 0);
	profile_free(profile);
	for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
		assert_false(has_string(copy, gone[i]));
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		assert_true(has_string(copy, kept[i]));
	assert_int_equal(profile_objects(copy), 1);
	assert_int_equal(profile_functions(copy), 2);
	assert_int_equal(profile_locations(copy), 1);
	assert_int_equal(profile_stacks(copy), 1);
	assert_int_equal(profile_location_lines(copy, 1, lines), 2);
	assert_int_equal(lines[0].line, 5);
	assert_int_equal(lines[1].line, 7);
	profile_free(copy);
}

static void test_reachable__of_no_samples_nothing_stays(void **state)
{
	struct profile *profile = profile_new(), *copy;
	struct profile_object object = {.name = profile_string(profile, "/their/program")};

	(void)state;
	profile_object_add(profile, &object);
	assert_int_equal(profile_reachable(profile, &copy), 0);
	assert_int_equal(profile_objects(copy), 0);
	assert_int_equal(profile_strings(copy), 1);
	profile_free(profile);
	profile_free(copy);
}

/* A sample keeps its times, its program and its CPU. */
static void test_reachable__times_and_processes_stay(void **state)
{
	struct profile *profile = profile_new(), *copy;
	const uint32_t path = profile_string(profile, "/our/program");
	const struct profile_process process = {
		.generation = 3,
		.pid = 5,
		.created = 77,
		.executable = path,
		.attributes = profile_string(profile, "service.name=ours\n")};
	const struct profile_link links[2] = {{{1}, {2}}, {{3}, {4}}};
	struct profile_sample sample = {.pid = 5, .cpu = 9, .count = 1}, found;
	struct profile_link link;
	struct profile_moment_walk walk = {0};

	(void)state;
	profile_keep_times(profile);
	profile_sample_add_at(profile, &sample, 100);
	sample.process = profile_process_add(profile, &process);
	profile_link_add(profile, &links[0]); /* of no sample */
	sample.link = profile_link_add(profile, &links[1]);
	profile_sample_add_at(profile, &sample, 300);
	profile_sample_add_at(profile, &sample, 200);
	assert_int_equal(profile_reachable(profile, &copy), 0);
	profile_free(profile);
	assert_true(profile_keeps_times(copy));
	assert_int_equal(profile_moments(copy), 3);
	assert_true(profile_moment_next(copy, &walk));
	assert_int_equal(walk.moment.time, 100);
	assert_int_equal(walk.moment.sample, 0);
	assert_true(profile_moment_next(copy, &walk));
	assert_int_equal(walk.moment.time, 300);
	assert_int_equal(walk.moment.sample, 1);
	found = profile_sample_get(copy, 1);
	assert_int_equal(found.cpu, 9);
	assert_int_equal(profile_process_get(copy, found.process).created, 77);
	assert_string_equal(
		profile_string_get(copy, profile_process_get(copy, found.process).executable),
		"/our/program");
	assert_string_equal(
		profile_string_get(copy, profile_process_get(copy, found.process).attributes),
		"service.name=ours\n");
	assert_int_equal(profile_sample_get(copy, 0).process, 0);
	assert_int_equal(profile_sample_get(copy, 0).link, 0);
	assert_int_equal(found.link, 1);
	link = profile_link_get(copy, found.link);
	assert_memory_equal(&link, &links[1], sizeof(link));
	profile_free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reachable__all_of_a_profile_stays),
		cmocka_unit_test(test_reachable__of_others_nothing_stays),
		cmocka_unit_test(test_reachable__of_no_samples_nothing_stays),
		cmocka_unit_test(test_reachable__times_and_processes_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
