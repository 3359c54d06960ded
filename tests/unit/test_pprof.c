/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "bpf/abi.h"
#include "generated/version.h"
#include "proto/profile.pb-c.h"
#include "tests/unit/build_profile.h"
#include "profile/format/format.h"
#include "profile/profile.h"

#define UNPACKED_MAX (8u << 20)

static Perftools__Profiles__Profile *unpack(const struct profile *profile)
{
	size_t size;
	unsigned char *packed = build_profile_render(&format_pprof, profile, false, &size);
	unsigned char *bytes = malloc(UNPACKED_MAX);
	z_stream stream = {.next_in = packed, .avail_in = (uInt)size};
	Perftools__Profiles__Profile *found;

	assert_non_null(packed);
	stream.next_out = bytes;
	stream.avail_out = UNPACKED_MAX;
	assert_int_equal(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(stream.avail_in, 0);
	found = perftools__profiles__profile__unpack(NULL, stream.total_out, bytes);
	assert_non_null(found);
	inflateEnd(&stream);
	free(packed);
	free(bytes);
	return found;
}

static int setup(void **state)
{
	struct profile *profile = build_profile();

	*state = unpack(profile);
	profile_free(profile);
	return 0;
}

static int teardown(void **state)
{
	perftools__profiles__profile__free_unpacked(*state, NULL);
	return 0;
}

static const char *string(const Perftools__Profiles__Profile *found, int64_t index)
{
	assert_in_range(index, 0, found->n_string_table - 1);
	return found->string_table[index];
}

static void assert_type(const Perftools__Profiles__Profile *found,
			const Perftools__Profiles__ValueType *value, const char *type,
			const char *unit)
{
	assert_string_equal(string(found, value->type), type);
	assert_string_equal(string(found, value->unit), unit);
}

static void test_pprof__types_and_times(void **state)
{
	const Perftools__Profiles__Profile *found = *state;

	assert_int_equal(found->n_sample_type, 2);
	assert_type(found, found->sample_type[0], "samples", "count");
	assert_type(found, found->sample_type[1], "cpu", "nanoseconds");
	assert_type(found, found->period_type, "cpu", "nanoseconds");
	assert_string_equal(string(found, found->default_sample_type), "cpu");
	assert_int_equal(found->period, 10000000);
	assert_int_equal(found->time_nanos, 1700000000000000000);
	assert_int_equal(found->duration_nanos, 2000000000);
	assert_int_equal(found->drop_frames, 0);
	assert_int_equal(found->keep_frames, 0);
	assert_int_equal(found->doc_url, 0);
	assert_string_equal(found->string_table[0], "");
}

static void test_pprof__comments(void **state)
{
	const Perftools__Profiles__Profile *found = *state;

	assert_int_equal(found->n_comment, 2);
	assert_string_equal(string(found, found->comment[0]), "keyhole " KEYHOLE_VERSION);
	assert_string_equal(string(found, found->comment[1]), "samples: 10, complete: 9, cut: 1");
}

static void test_pprof__mappings(void **state)
{
	static const struct {
		uint64_t id, start, limit, offset;
		const char *name, *build_id;
	} expected[] = {
		{1, 0x1000, 0x5000, 0x1000, "/usr/bin/app", "0123456789abcdef"},
		{2, 0, 0, 0, "[kernel]", ""},
		{4, 0x2000, 0x3000, 0x800, "/usr/lib/libplain.so.1", ""},
	};
	const Perftools__Profiles__Profile *found = *state;

	assert_int_equal(found->n_mapping, 3);
	for (size_t i = 0; i < 3; i++) {
		const Perftools__Profiles__Mapping *mapping = found->mapping[i];

		assert_int_equal(mapping->id, expected[i].id);
		assert_int_equal(mapping->memory_start, expected[i].start);
		assert_int_equal(mapping->memory_limit, expected[i].limit);
		assert_int_equal(mapping->file_offset, expected[i].offset);
		assert_string_equal(string(found, mapping->filename), expected[i].name);
		assert_string_equal(string(found, mapping->build_id), expected[i].build_id);
		assert_true(mapping->has_functions);
		assert_false(mapping->has_filenames);
		assert_false(mapping->has_line_numbers);
		assert_false(mapping->has_inline_frames);
	}
}

static const Perftools__Profiles__Function *function_of(const Perftools__Profiles__Profile *found,
							uint64_t id)
{
	for (size_t i = 0; i < found->n_function; i++) {
		if (found->function[i]->id == id)
			return found->function[i];
	}
	fail_msg("no function %lu", (unsigned long)id);
	return NULL;
}

static void test_pprof__locations_and_functions(void **state)
{
	static const struct {
		uint64_t mapping, address;
		const char *name, *system_name;
	} expected[] = {
		{1, 0x1234, "main", "main"},
		{1, 0x2345, "ns::work", "_ZN2ns4workEv"},
		{2, 0x40, "read_it", "__x64_sys_read"},
		{4, 0x2234, "libplain.so.1+0x2234", "libplain.so.1+0x2234"},
		{0, 1, "[cut: no rule]", "[cut: no rule]"},
	};
	const Perftools__Profiles__Profile *found = *state;
	const Perftools__Profiles__Function *function;

	assert_int_equal(found->n_location, 5);
	assert_int_equal(found->n_function, 5);
	for (size_t i = 0; i < 5; i++) {
		const Perftools__Profiles__Location *location = found->location[i];

		assert_int_equal(location->id, i + 1);
		assert_int_equal(location->mapping_id, expected[i].mapping);
		assert_int_equal(location->address, expected[i].address);
		assert_false(location->is_folded);
		assert_int_equal(location->n_line, 1);
		assert_int_equal(location->line[0]->line, 0);
		function = function_of(found, location->line[0]->function_id);
		assert_string_equal(string(found, function->name), expected[i].name);
		assert_string_equal(string(found, function->system_name), expected[i].system_name);
		assert_int_equal(function->filename, 0);
		assert_int_equal(function->start_line, 0);
	}
}

static void test_pprof__files_lines_and_inlined_functions(void **state)
{
	struct profile *profile = build_profile();
	struct profile_function inlined = {.name = profile_string(profile, "within"),
					   .system_name = profile_string(profile, "within"),
					   .file = profile_string(profile, "/src/a.go"),
					   .line = 30,
					   .named = true};
	const struct profile_line line = {profile_function_add(profile, &inlined), 33};
	const Perftools__Profiles__Function *function;
	const Perftools__Profiles__Location *location;
	Perftools__Profiles__Profile *found;

	(void)state;
	profile_location_get(profile, 1)->line = 44;
	assert_int_equal(profile_location_set_inlined(profile, 1, &line, 1), 0);
	assert_int_equal(profile_location_set_inlined(profile, 4, &line, 1), 0);
	found = unpack(profile);
	location = found->location[0];
	assert_int_equal(location->n_line, 2);
	assert_int_equal(location->line[0]->line, 33);
	assert_int_equal(location->line[1]->line, 44);
	function = function_of(found, location->line[0]->function_id);
	assert_string_equal(string(found, function->name), "within");
	assert_string_equal(string(found, function->filename), "/src/a.go");
	assert_int_equal(function->start_line, 30);
	function = function_of(found, location->line[1]->function_id);
	assert_string_equal(string(found, function->name), "main");
	/* one without a function of its own */
	location = found->location[3];
	assert_int_equal(location->n_line, 2);
	function = function_of(found, location->line[1]->function_id);
	assert_string_equal(string(found, function->name), "libplain.so.1+0x2234");
	perftools__profiles__profile__free_unpacked(found, NULL);
	profile_free(profile);
}

/* Readers refuse a line with function 0: inlined lines without a function share one. */
static void test_pprof__inlined_lines_without_a_function_share_one(void **state)
{
	static const struct profile_line lines[] = {{0, 5}, {0, 6}};
	struct profile *profile = build_profile();
	const Perftools__Profiles__Location *location;
	const Perftools__Profiles__Function *function;
	Perftools__Profiles__Profile *found;
	uint64_t shared;

	(void)state;
	assert_int_equal(profile_location_set_inlined(profile, 1, lines, 2), 0);
	assert_int_equal(profile_location_set_inlined(profile, 5, lines, 1), 0);
	found = unpack(profile);
	assert_int_equal(found->n_function, 6);
	location = found->location[0];
	assert_int_equal(location->n_line, 3);
	shared = location->line[0]->function_id;
	assert_int_not_equal(shared, 0);
	assert_int_equal(location->line[1]->function_id, shared);
	assert_int_equal(location->line[1]->line, 6);
	function = function_of(found, shared);
	assert_string_equal(string(found, function->name), PROFILE_UNKNOWN);
	assert_string_equal(string(found, function->system_name), PROFILE_UNKNOWN);
	function = function_of(found, location->line[2]->function_id);
	assert_string_equal(string(found, function->name), "main");
	location = found->location[4];
	assert_int_equal(location->n_line, 2);
	assert_int_equal(location->line[0]->function_id, shared);
	assert_int_not_equal(location->line[1]->function_id, shared);
	perftools__profiles__profile__free_unpacked(found, NULL);
	profile_free(profile);
}

struct expected_label {
	const char *key, *string;
	int64_t number;
};

struct expected_sample {
	uint64_t locations[4];
	int64_t count;
	struct expected_label labels[8];
};

static const struct expected_sample expected_samples[] = {
	{{2, 1}, 3, {{"pid", "", 100}, {"tid", "", 100}, {"comm", "app", 0}, {"thread", "app", 0}}},
	{{3, 2, 1},
	 2,
	 {{"pid", "", 100},
	  {"tid", "", 101},
	  {"comm", "app", 0},
	  {"thread", "work;er?", 0},
	  {"cgroup", "", 77},
	  {"cgroup_path", "/a?[2J/docker-" BUILD_CONTAINER ".scope", 0},
	  {"container", BUILD_CONTAINER, 0}}},
	{{4, 5},
	 1,
	 {{"pid", "", 200},
	  {"tid", "", 200},
	  {"comm", "evil;?[2J", 0},
	  {"thread", "evil", 0},
	  {"reason", "cut_no_rule", 0}}},
	{{3},
	 4,
	 {{"pid", "", 2}, {"tid", "", 2}, {"comm", "kthreadd", 0}, {"thread", "kthreadd", 0}}},
};

static void assert_labels(const Perftools__Profiles__Profile *found,
			  const Perftools__Profiles__Sample *sample,
			  const struct expected_label *expected)
{
	size_t count = 0;

	while (expected[count].key)
		count++;
	assert_int_equal(sample->n_label, count);
	for (size_t i = 0; i < count; i++) {
		assert_string_equal(string(found, sample->label[i]->key), expected[i].key);
		assert_string_equal(string(found, sample->label[i]->str), expected[i].string);
		assert_int_equal(sample->label[i]->num, expected[i].number);
		assert_int_equal(sample->label[i]->num_unit, 0);
	}
}

static void test_pprof__samples_and_labels(void **state)
{
	const Perftools__Profiles__Profile *found = *state;

	assert_int_equal(found->n_sample, 4);
	for (size_t i = 0; i < 4; i++) {
		const struct expected_sample *expected = &expected_samples[i];
		const Perftools__Profiles__Sample *sample = found->sample[i];
		size_t count = 0;

		while (expected->locations[count])
			count++;
		assert_int_equal(sample->n_location_id, count);
		assert_memory_equal(sample->location_id, expected->locations,
				    count * sizeof(uint64_t));
		assert_int_equal(sample->n_value, 2);
		assert_int_equal(sample->value[0], expected->count);
		assert_int_equal(sample->value[1], expected->count * 10000000);
		assert_labels(found, sample, expected->labels);
	}
}

#define OF_GO                                                  \
	{"pid", "", 300}, {"tid", "", 301}, {"comm", "go", 0}, \
	{                                                      \
		"thread", "go", 0                              \
	}

/* Labels of the program come behind ours, and none has a key of ours. */
static void test_pprof__labels_of_goroutines(void **state)
{
	char long_key[BUILD_LONG_KEY_BYTES + 1] = {0};
	const struct expected_label expected[][8] = {
		{OF_GO, {0}},
		{OF_GO, {"goroutine", "", 17}, {"handler", "first", 0}, {0}},
		{OF_GO, {"goroutine", "", 18}, {long_key, "second", 0}, {0}},
	};
	struct profile *profile = build_profile_of_goroutines();
	Perftools__Profiles__Profile *found = unpack(profile);

	(void)state;
	memset(long_key, 'k', BUILD_LONG_KEY_BYTES);
	assert_int_equal(found->n_sample, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(found->sample[i]->value[0], i + 1);
		assert_labels(found, found->sample[i], expected[i]);
	}
	perftools__profiles__profile__free_unpacked(found, NULL);
	profile_free(profile);
}

static void test_pprof__an_empty_profile_is_valid(void **state)
{
	struct profile *profile = profile_new();
	Perftools__Profiles__Profile *found = unpack(profile);

	(void)state;
	assert_int_equal(found->n_sample, 0);
	assert_int_equal(found->n_sample_type, 2);
	perftools__profiles__profile__free_unpacked(found, NULL);
	profile_free(profile);
}

/* The profile exceeds the buffers and has the deepest possible stack. */
static void test_pprof__a_large_profile(void **state)
{
	struct profile *profile = profile_new();
	uint32_t stack[PROFILE_STACK_MAX];
	uint64_t sum = 0;
	Perftools__Profiles__Profile *found;

	(void)state;
	for (uint32_t i = 0; i < PROFILE_STACK_MAX; i++)
		stack[i] = profile_location_add(profile, 0, i * 2654435761u);
	for (uint32_t i = 0; i < 500; i++) {
		struct profile_sample sample = {
			.pid = i,
			.stack = profile_stack_add(profile, stack, PROFILE_STACK_MAX - i),
			.count = i};

		profile_sample_add(profile, &sample);
	}
	found = unpack(profile);
	assert_int_equal(found->n_sample, 500);
	assert_int_equal(found->n_location, PROFILE_STACK_MAX);
	assert_int_equal(found->n_function, PROFILE_STACK_MAX);
	for (size_t i = 0; i < 500; i++) {
		assert_int_equal(found->sample[i]->n_location_id, PROFILE_STACK_MAX - i);
		sum += (uint64_t)found->sample[i]->value[0];
	}
	assert_int_equal(sum, 499 * 500 / 2);
	perftools__profiles__profile__free_unpacked(found, NULL);
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pprof__types_and_times),
		cmocka_unit_test(test_pprof__comments),
		cmocka_unit_test(test_pprof__mappings),
		cmocka_unit_test(test_pprof__locations_and_functions),
		cmocka_unit_test(test_pprof__samples_and_labels),
		cmocka_unit_test(test_pprof__labels_of_goroutines),
		cmocka_unit_test(test_pprof__files_lines_and_inlined_functions),
		cmocka_unit_test(test_pprof__inlined_lines_without_a_function_share_one),
		cmocka_unit_test(test_pprof__an_empty_profile_is_valid),
		cmocka_unit_test(test_pprof__a_large_profile),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
