/* SPDX-License-Identifier: Apache-2.0 */
/* tests/formats/readers.py checks the dictionary's rules, and that JSON is the same message. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "generated/version.h"
#include "proto/otlp.pb-c.h"
#include "tests/unit/build_profile.h"
#include "tests/unit/build_random.h"
#include "tests/unit/json_check.h"
#include "profile/format/format.h"
#include "profile/profile.h"

/* The message has no unknown field: protobuf-c would make it as long. */
static Otlp__ProfilesData *unpack(const struct profile *profile)
{
	size_t size;
	unsigned char *bytes = build_profile_render(&format_otlp, profile, false, &size);
	Otlp__ProfilesData *found;

	assert_non_null(bytes);
	found = otlp__profiles_data__unpack(NULL, size, bytes);
	assert_non_null(found);
	assert_int_equal(otlp__profiles_data__get_packed_size(found), size);
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
	otlp__profiles_data__free_unpacked(*state, NULL);
	return 0;
}

static const char *string(const Otlp__ProfilesData *found, int32_t index)
{
	assert_in_range(index, 0, found->dictionary->n_string_table - 1);
	return found->dictionary->string_table[index];
}

static void test_otlp__a_process_is_a_resource(void **state)
{
	static const struct {
		int64_t pid;
		const char *name;
		size_t samples;
	} expected[] = {{2, "kthreadd", 1}, {100, "app", 2}, {200, "evil;?[2J", 1}};
	const Otlp__ProfilesData *found = *state;

	assert_int_equal(found->n_resource_profiles, 3);
	for (size_t i = 0; i < 3; i++) {
		const Otlp__ResourceProfiles *resource = found->resource_profiles[i];
		Otlp__KeyValue **attributes = resource->resource->attributes;
		const Otlp__ScopeProfiles *scope = resource->scope_profiles[0];
		char service[128];

		assert_int_equal(resource->resource->n_attributes, 3); /* and no host.name */
		assert_string_equal(attributes[0]->key, "process.pid");
		assert_int_equal(attributes[0]->value->int_value, expected[i].pid);
		assert_string_equal(attributes[1]->key, "process.executable.name");
		assert_string_equal(attributes[1]->value->string_value, expected[i].name);
		snprintf(service, sizeof(service), "unknown_service:%s", expected[i].name);
		assert_string_equal(attributes[2]->key, "service.name");
		assert_string_equal(attributes[2]->value->string_value, service);
		assert_int_equal(resource->n_scope_profiles, 1);
		assert_string_equal(scope->scope->name, "keyhole");
		assert_string_equal(scope->scope->version, KEYHOLE_VERSION);
		assert_int_equal(scope->n_profiles, 1);
		assert_int_equal(scope->profiles[0]->n_samples, expected[i].samples);
	}
}

static void test_otlp__types_and_times(void **state)
{
	const Otlp__ProfilesData *found = *state;
	const Otlp__Profile *profile = found->resource_profiles[1]->scope_profiles[0]->profiles[0];

	assert_string_equal(string(found, profile->sample_type->type_strindex), "samples");
	assert_string_equal(string(found, profile->sample_type->unit_strindex), "count");
	assert_string_equal(string(found, profile->period_type->type_strindex), "cpu");
	assert_string_equal(string(found, profile->period_type->unit_strindex), "nanoseconds");
	assert_int_equal(profile->period, 10000000);
	assert_int_equal(profile->time_unix_nano, 1700000000000000000);
	assert_int_equal(profile->duration_nano, 2000000000);
}

static const Otlp__AnyValue *attribute(const Otlp__ProfilesData *found, const int32_t *indexes,
				       size_t count, const char *key)
{
	for (size_t i = 0; i < count; i++) {
		const Otlp__KeyValueAndUnit *pair = found->dictionary->attribute_table[indexes[i]];

		if (!strcmp(string(found, pair->key_strindex), key))
			return pair->value;
	}
	return NULL;
}

#define OF(element, key) \
	attribute(found, (element)->attribute_indices, (element)->n_attribute_indices, key)

static void test_otlp__samples_and_attributes(void **state)
{
	const Otlp__ProfilesData *found = *state;
	const Otlp__Profile *app = found->resource_profiles[1]->scope_profiles[0]->profiles[0];
	const Otlp__Profile *evil = found->resource_profiles[2]->scope_profiles[0]->profiles[0];
	const Otlp__Sample *sample = app->samples[1];

	assert_int_equal(sample->n_values, 1);
	assert_int_equal(sample->values[0], 2);
	assert_int_equal(sample->n_timestamps_unix_nano, 0);
	assert_int_equal(OF(sample, "thread.id")->int_value, 101);
	assert_string_equal(OF(sample, "thread.name")->string_value, "work;er?");
	assert_int_equal(OF(sample, "keyhole.cgroup")->int_value, 77);
	assert_string_equal(OF(sample, "keyhole.cgroup_path")->string_value,
			    "/a?[2J/docker-" BUILD_CONTAINER ".scope");
	assert_null(OF(sample, "keyhole.reason"));
	assert_null(OF(app->samples[0], "keyhole.cgroup"));
	assert_null(OF(app->samples[0], "keyhole.cgroup_path"));
	assert_string_equal(OF(evil->samples[0], "keyhole.reason")->string_value, "cut_no_rule");
}

static void test_otlp__stacks(void **state)
{
	static const struct {
		const char *name, *system_name, *file, *type;
		uint64_t address;
	} expected[] = {
		{"read_it", "__x64_sys_read", "[kernel]", "kernel", 0x40},
		{"ns::work", "_ZN2ns4workEv", "/usr/bin/app", "native", 0x2345},
		{"main", "main", "/usr/bin/app", "native", 0x1234},
	};
	const Otlp__ProfilesData *found = *state;
	const Otlp__ProfilesDictionary *tables = found->dictionary;
	const Otlp__Profile *app = found->resource_profiles[1]->scope_profiles[0]->profiles[0];
	const Otlp__Stack *stack = tables->stack_table[app->samples[1]->stack_index];

	assert_int_equal(stack->n_location_indices, 3);
	for (size_t i = 0; i < 3; i++) {
		const Otlp__Location *at = tables->location_table[stack->location_indices[i]];
		const Otlp__Mapping *mapping = tables->mapping_table[at->mapping_index];
		const Otlp__Function *function =
			tables->function_table[at->lines[0]->function_index];

		assert_int_equal(at->address, expected[i].address);
		assert_int_equal(at->n_lines, 1);
		assert_string_equal(string(found, function->name_strindex), expected[i].name);
		assert_string_equal(string(found, function->system_name_strindex),
				    expected[i].system_name);
		assert_string_equal(string(found, mapping->filename_strindex), expected[i].file);
		assert_string_equal(OF(at, "profile.frame.type")->string_value, expected[i].type);
	}
	assert_string_equal(
		OF(tables->mapping_table[1], "process.executable.build_id.gnu")->string_value,
		"0123456789abcdef");
}

static void test_otlp__what_is_equal_is_one(void **state)
{
	struct build_random of = {.objects = 20,
				  .locations = 200,
				  .stacks = 200,
				  .depth = 20,
				  .threads = 30,
				  .samples = 2000};
	struct profile *profile = build_random_profile(&of);
	Otlp__ProfilesData *found = unpack(profile);
	const Otlp__ProfilesDictionary *tables = found->dictionary;

	(void)state;
	for (size_t i = 0; i < tables->n_string_table; i++)
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(tables->string_table[i], tables->string_table[j]);
	assert_string_equal(tables->string_table[0], "");
	assert_int_equal(otlp__link__get_packed_size(tables->link_table[0]), 0);
	assert_int_equal(otlp__stack__get_packed_size(tables->stack_table[0]), 0);
	otlp__profiles_data__free_unpacked(found, NULL);
	profile_free(profile);
}

static void test_otlp__an_empty_profile_has_no_resource(void **state)
{
	struct profile *profile = profile_new();
	Otlp__ProfilesData *found = unpack(profile);

	(void)state;
	assert_int_equal(found->n_resource_profiles, 0);
	assert_int_equal(found->dictionary->n_string_table, 1);
	assert_int_equal(found->dictionary->n_mapping_table, 1);
	otlp__profiles_data__free_unpacked(found, NULL);
	profile_free(profile);
}

static void test_otlp__a_resource_has_the_host(void **state)
{
	struct profile *profile = build_profile();
	struct profile_times times = build_profile_times;
	const struct format_options options = {0};
	int fd = memfd_create("otlp", MFD_CLOEXEC);
	char text[65536] = "";

	(void)state;
	times.host = "db\n1";
	assert_int_equal(format_otlp_json.render(profile, &times, &options, fd), 0);
	assert_true(pread(fd, text, sizeof(text) - 1, 0) > 0);
	assert_non_null(
		strstr(text, "{\"key\":\"host.name\",\"value\":{\"stringValue\":\"db?1\"}}"));
	close(fd);
	profile_free(profile);
}

#define CONTAINER_ATTRIBUTE \
	"{\"key\":\"container.id\",\"value\":{\"stringValue\":\"" BUILD_CONTAINER "\"}}"

/* Returns whether a process has the container when these are the cgroups of its samples. */
static bool has_container(const uint64_t cgroups[2])
{
	struct profile *profile = profile_new();
	size_t size;
	char *text;
	bool has;

	profile_cgroup_add(profile, 77, profile_string(profile, BUILD_CGROUP));
	profile_cgroup_add(profile, 78, profile_string(profile, BUILD_CGROUP "/below"));
	profile_cgroup_add(profile, 79, profile_string(profile, "/system.slice"));
	for (uint32_t i = 0; i < 2; i++) {
		const struct profile_sample sample = {
			.pid = 5, .tid = 5 + i, .cgroup = cgroups[i], .count = 1};

		profile_sample_add(profile, &sample);
	}
	text = (char *)build_profile_render(&format_otlp_json, profile, false, &size);
	assert_null(json_check(text, size));
	has = strstr(text, CONTAINER_ATTRIBUTE) != NULL;
	free(text);
	profile_free(profile);
	return has;
}

static void test_otlp__a_resource_has_the_container_of_all_samples(void **state)
{
	(void)state;
	assert_true(has_container((uint64_t[]){77, 77}));
	assert_true(has_container((uint64_t[]){77, 78}));
	assert_false(has_container((uint64_t[]){77, 79}));
	assert_false(has_container((uint64_t[]){79, 77}));
	assert_false(has_container((uint64_t[]){77, 0}));
	assert_false(has_container((uint64_t[]){80, 77}));
	assert_false(has_container((uint64_t[]){79, 79}));
}

static void test_otlp__json_is_json(void **state)
{
	struct profile *profile = build_profile();
	size_t size;
	char *text = (char *)build_profile_render(&format_otlp_json, profile, false, &size);

	(void)state;
	assert_null(json_check(text, size));
	assert_non_null(strstr(text, "\"timeUnixNano\":\"1700000000000000000\""));
	assert_non_null(strstr(text, "{\"key\":\"process.pid\",\"value\":{\"intValue\":\"100\"}}"));
	free(text);
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_otlp__a_process_is_a_resource),
		cmocka_unit_test(test_otlp__types_and_times),
		cmocka_unit_test(test_otlp__samples_and_attributes),
		cmocka_unit_test(test_otlp__stacks),
		cmocka_unit_test(test_otlp__what_is_equal_is_one),
		cmocka_unit_test(test_otlp__an_empty_profile_has_no_resource),
		cmocka_unit_test(test_otlp__a_resource_has_the_host),
		cmocka_unit_test(test_otlp__a_resource_has_the_container_of_all_samples),
		cmocka_unit_test(test_otlp__json_is_json),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
