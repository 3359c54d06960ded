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
#include "bpf/abi.h"
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

static void test_otlp__goroutines(void **state)
{
	struct profile *profile = build_profile_of_goroutines();
	Otlp__ProfilesData *found = unpack(profile);
	Otlp__Sample **samples =
		found->resource_profiles[0]->scope_profiles[0]->profiles[0]->samples;
	char long_key[BUILD_LONG_KEY_BYTES] = "go.label.";

	(void)state;
	assert_null(OF(samples[0], "go.goroutine.id"));
	assert_null(OF(samples[0], "go.label.handler"));
	assert_int_equal(OF(samples[1], "go.goroutine.id")->int_value, 17);
	assert_string_equal(OF(samples[1], "go.label.handler")->string_value, "first");
	/* no other attribute has this prefix */
	assert_string_equal(OF(samples[1], "go.label.pid")->string_value, "of another");
	assert_string_equal(OF(samples[1], "go.label.empty")->string_value, "");
	assert_int_equal(OF(samples[2], "go.goroutine.id")->int_value, 18);
	/* a key is cut at 256 bytes */
	memset(long_key + strlen(long_key), 'k', 256);
	assert_string_equal(OF(samples[2], long_key)->string_value, "second");
	otlp__profiles_data__free_unpacked(found, NULL);
	profile_free(profile);
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
}

/* Returns the mapping of a file name. */
static const Otlp__Mapping *mapping_of(const Otlp__ProfilesData *found, const char *name)
{
	const Otlp__ProfilesDictionary *tables = found->dictionary;

	for (size_t i = 1; i < tables->n_mapping_table; i++)
		if (!strcmp(string(found, tables->mapping_table[i]->filename_strindex), name))
			return tables->mapping_table[i];
	fail();
	return NULL;
}

#define GNU	"process.executable.build_id.gnu"
#define GO	"process.executable.build_id.go"
#define HTLHASH "process.executable.build_id.htlhash"

static void test_otlp__a_mapping_has_its_ids(void **state)
{
	struct profile *profile = build_profile();
	Otlp__ProfilesData *found;
	const Otlp__Mapping *app, *library, *kernel;

	(void)state;
	profile_object_get(profile, 1)->file_id =
		profile_string(profile, "00112233445566778899aabbccddeeff");
	profile_object_get(profile, 1)->go_build_id = profile_string(profile, "a/b\x7f");
	found = unpack(profile);
	app = mapping_of(found, "/usr/bin/app");
	library = mapping_of(found, "/usr/lib/libplain.so.1");
	kernel = mapping_of(found, "[kernel]");
	assert_string_equal(OF(app, GNU)->string_value, "0123456789abcdef");
	assert_string_equal(OF(app, GO)->string_value, "a/b?");
	assert_string_equal(OF(app, HTLHASH)->string_value, "00112233445566778899aabbccddeeff");
	assert_null(OF(library, GNU));
	assert_null(OF(library, GO));
	/* an id is made of the name where nobody has read the file */
	assert_int_equal(strlen(OF(library, HTLHASH)->string_value), 32);
	assert_int_equal(strlen(OF(kernel, HTLHASH)->string_value), 32);
	assert_string_not_equal(OF(library, HTLHASH)->string_value,
				OF(kernel, HTLHASH)->string_value);
	otlp__profiles_data__free_unpacked(found, NULL);
	profile_free(profile);
}

static Otlp__ProfilesData *unpack_with(const struct profile *profile,
				       const struct profile_times *times,
				       const struct format_options *options)
{
	size_t size;
	unsigned char *bytes =
		build_profile_render_as(&format_otlp, profile, times, options, &size);
	Otlp__ProfilesData *found;

	assert_non_null(bytes);
	found = otlp__profiles_data__unpack(NULL, size, bytes);
	assert_non_null(found);
	free(bytes);
	return found;
}

/* Kernels of two builds have different ids. */
static void test_otlp__the_kernels_id_is_that_of_its_build(void **state)
{
	static const char *const kernels[] = {"6.1 #1", "6.1 #2", "6.1 #1"};
	struct profile *profile = build_profile();
	const struct format_options options = {0};
	char id[3][33];

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct profile_times times = build_profile_times;
		Otlp__ProfilesData *found;

		times.kernel = kernels[i];
		found = unpack_with(profile, &times, &options);
		snprintf(id[i], sizeof(id[i]), "%s",
			 OF(mapping_of(found, "[kernel]"), HTLHASH)->string_value);
		otlp__profiles_data__free_unpacked(found, NULL);
	}
	assert_string_not_equal(id[0], id[1]);
	assert_string_equal(id[0], id[2]);
	profile_free(profile);
}

/* devfiler refuses a request with a frame of Rust. */
static void test_otlp__compat(void **state)
{
	static const char *const types[] = {"rust", "native"};
	struct profile *profile = profile_new();
	uint32_t at = build_profile_location(profile, "/usr/bin/app", "app::main");
	struct profile_function function = *profile_function_get(profile, 1);
	struct profile_sample sample = {.pid = 100, .count = 1};

	(void)state;
	function.system_name = profile_string(profile, "_RNvCs123_3app4main");
	profile_location_get(profile, at)->function = profile_function_add(profile, &function);
	sample.stack = profile_stack_add(profile, &at, 1);
	profile_sample_add(profile, &sample);
	for (size_t i = 0; i < 2; i++) {
		const struct format_options options = {.otlp_compat = i == 1};
		Otlp__ProfilesData *found = unpack_with(profile, &build_profile_times, &options);

		assert_string_equal(OF(found->dictionary->location_table[1], "profile.frame.type")
					    ->string_value,
				    types[i]);
		otlp__profiles_data__free_unpacked(found, NULL);
	}
	profile_free(profile);
}

/* ---- times ---- */

#define START 5000000000ull /* CLOCK_MONOTONIC, as build_profile_times has it */

/* Adds samples of process 100 at times; a time of 0 is not kept. */
static struct profile *timed(const uint64_t *times, size_t count)
{
	struct profile *profile = profile_new();
	const uint32_t at = build_profile_location(profile, "/usr/bin/app", "main");
	struct profile_sample sample = {.pid = 100, .tid = 100, .count = 1};

	sample.stack = profile_stack_add(profile, &at, 1);
	profile_keep_times(profile);
	for (size_t i = 0; i < count; i++) {
		sample.cpu = 1 + i % 2;
		if (times[i])
			profile_sample_add_at(profile, &sample, times[i]);
		else
			profile_sample_add(profile, &sample);
	}
	return profile;
}

static const Otlp__Profile *only_profile(const Otlp__ProfilesData *found)
{
	assert_int_equal(found->n_resource_profiles, 1);
	assert_int_equal(found->resource_profiles[0]->scope_profiles[0]->n_profiles, 1);
	return found->resource_profiles[0]->scope_profiles[0]->profiles[0];
}

static void test_otlp__samples_have_their_times(void **state)
{
	struct profile *profile = timed((uint64_t[]){START + 7, START + 9, START + 5}, 3);
	Otlp__ProfilesData *found = unpack(profile);
	const Otlp__Profile *only = only_profile(found);

	(void)state;
	assert_int_equal(only->n_samples, 2);
	assert_int_equal(only->samples[0]->n_values, 0);
	assert_int_equal(only->samples[0]->n_timestamps_unix_nano, 2);
	assert_int_equal(only->samples[0]->timestamps_unix_nano[0], 1700000000000000005);
	assert_int_equal(only->samples[0]->timestamps_unix_nano[1], 1700000000000000007);
	assert_int_equal(OF(only->samples[0], "cpu.logical_number")->int_value, 0);
	assert_int_equal(only->samples[1]->timestamps_unix_nano[0], 1700000000000000009);
	assert_int_equal(OF(only->samples[1], "cpu.logical_number")->int_value, 1);
	assert_int_equal(only->time_unix_nano, 1700000000000000000);
	assert_int_equal(only->duration_nano, 2000000000);
	otlp__profiles_data__free_unpacked(found, NULL);
	profile_free(profile);
}

/* A record may have been held since before the window, or come while it ends. */
static void test_otlp__a_window_has_all_its_times(void **state)
{
	struct profile *profile = timed((uint64_t[]){START - 10, START + 2000000000}, 2);
	Otlp__ProfilesData *found = unpack(profile);
	const Otlp__Profile *only = only_profile(found);

	(void)state;
	assert_int_equal(only->time_unix_nano, 1700000000000000000 - 10);
	assert_int_equal(only->duration_nano, 2000000000 + 10 + 1);
	otlp__profiles_data__free_unpacked(found, NULL);
	profile_free(profile);
}

/* One time is lacking: no sample has one, and the count has all samples. */
static void test_otlp__times_of_some_samples_are_left_out(void **state)
{
	struct profile *profile = timed((uint64_t[]){START, START + 1, START + 2, 0, START + 3}, 5);
	Otlp__ProfilesData *found = unpack(profile);
	const Otlp__Profile *only = only_profile(found);

	(void)state;
	assert_int_equal(only->n_samples, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(only->samples[i]->n_values, 1);
		assert_int_equal(only->samples[i]->values[0], 3 - i);
		assert_int_equal(only->samples[i]->n_timestamps_unix_nano, 0);
	}
	otlp__profiles_data__free_unpacked(found, NULL);
	profile_free(profile);
}

/* Samples whose keys differ in the profile may have equal attributes. */
static void test_otlp__equal_samples_are_one(void **state)
{
	struct profile *profile = timed((uint64_t[]){START}, 1);
	struct profile_sample sample = profile_sample_get(profile, 0);
	Otlp__ProfilesData *found;

	(void)state;
	sample.reason = REASON_end_named; /* no reason that is told */
	profile_sample_add_at(profile, &sample, START + 4);
	profile_sample_append(profile, &sample); /* as of a sample that was moved to a file */
	profile_moment_append(profile, &(struct profile_moment){.time = START + 2, .sample = 2});
	sample.thread_name = profile_string(profile, "a\n");
	profile_sample_add_at(profile, &sample, START);
	sample.thread_name = profile_string(profile, "a\r");
	profile_sample_add_at(profile, &sample, START);
	found = unpack(profile);
	assert_int_equal(only_profile(found)->n_samples, 2);
	assert_int_equal(only_profile(found)->samples[0]->n_timestamps_unix_nano, 3);
	assert_int_equal(only_profile(found)->samples[1]->n_timestamps_unix_nano, 2);
	otlp__profiles_data__free_unpacked(found, NULL);
	profile_free(profile);
}

static void test_otlp__a_period_is_never_0(void **state)
{
	struct profile *profile = timed((uint64_t[]){0}, 1);
	struct profile_times times = {.period = 0};
	const struct format_options options = {0};
	Otlp__ProfilesData *found = unpack_with(profile, &times, &options);

	(void)state;
	assert_int_equal(only_profile(found)->period, 1);
	assert_non_null(only_profile(found)->period_type);
	assert_int_equal(only_profile(found)->duration_nano, 1);
	otlp__profiles_data__free_unpacked(found, NULL);
	profile_free(profile);
}

/* ---- processes ---- */

/* Returns the text of an attribute of the n-th resource, or NULL. */
static const char *of_resource(const Otlp__ProfilesData *found, size_t number, const char *key)
{
	const Otlp__Resource *resource = found->resource_profiles[number]->resource;

	for (size_t i = 0; i < resource->n_attributes; i++)
		if (!strcmp(resource->attributes[i]->key, key))
			return resource->attributes[i]->value->string_value;
	return NULL;
}

static struct profile *programs(void)
{
	struct profile *profile = profile_new();
	struct profile_process process = {
		.generation = 1, .pid = 5, .created = 1700000000123456789};
	struct profile_sample sample = {.pid = 5, .tid = 5, .count = 1};

	process.executable = profile_string(profile, "/bin/sh");
	sample.process = profile_process_add(profile, &process);
	sample.process_name = profile_string(profile, "sh");
	profile_sample_add(profile, &sample);
	sample.process_name = profile_string(profile, "renamed");
	profile_sample_add(profile, &sample);
	process.generation = 2; /* the program runs itself */
	sample.process = profile_process_add(profile, &process);
	profile_sample_add(profile, &sample);
	process.generation = 3;
	process.executable = profile_string(profile, "/usr/bin/curl\n");
	sample.process = profile_process_add(profile, &process);
	profile_sample_add(profile, &sample);
	return profile;
}

/* Attributes of one process are about keyhole's own programs, and others about all. */
static void test_otlp__resources_have_the_users_attributes(void **state)
{
	static const struct profile_attribute attributes[] = {
		{"service.name", "profiler"}, {"deployment.environment.name", "te\nst"},
		{"process.pid", "7"},	      {"", "nothing"},
		{"service.name", "agent"},    {"host.name", "node-1"},
		{"k8s.pod.name", "mine"},
	};
	static const char *const ours[] = {"/usr/bin/keyhole", "/usr/bin/curl"};
	const struct profile_own own = {.programs = ours,
					.program_count = 2,
					.attributes = attributes,
					.attribute_count = 7};
	struct profile *profile = programs();
	struct profile_times times = build_profile_times;
	const struct format_options options = {0};
	Otlp__ProfilesData *found;

	(void)state;
	times.own = &own;
	times.host = "machine";
	found = unpack_with(profile, &times, &options);
	for (size_t i = 0; i < 2; i++) {
		assert_string_equal(of_resource(found, i, "deployment.environment.name"), "te?st");
		assert_string_equal(of_resource(found, i, "host.name"), "node-1");
	}
	assert_string_equal(of_resource(found, 0, "service.name"), "unknown_service:sh");
	assert_null(of_resource(found, 0, "k8s.pod.name"));
	assert_string_equal(of_resource(found, 1, "service.name"), "agent");
	assert_string_equal(of_resource(found, 1, "k8s.pod.name"), "mine");
	assert_int_equal(found->resource_profiles[1]->resource->attributes[0]->value->int_value, 5);
	assert_int_equal(found->resource_profiles[0]->resource->n_attributes, 7);
	assert_int_equal(found->resource_profiles[1]->resource->n_attributes, 8);
	otlp__profiles_data__free_unpacked(found, NULL);
	profile_free(profile);
}

/* A process that renames itself is one, and one that runs another program is another. */
static void test_otlp__a_resource_is_a_program(void **state)
{
	struct profile *profile = programs();
	struct profile_times times = build_profile_times;
	const struct format_options options = {0};
	Otlp__ProfilesData *found;

	(void)state;
	times.arch = "amd64";
	found = unpack_with(profile, &times, &options);
	assert_int_equal(found->n_resource_profiles, 2);
	assert_string_equal(of_resource(found, 0, "process.executable.name"), "sh");
	assert_string_equal(of_resource(found, 0, "process.executable.path"), "/bin/sh");
	assert_string_equal(of_resource(found, 0, "process.creation.time"),
			    "2023-11-14T22:13:20.123Z");
	assert_string_equal(of_resource(found, 0, "host.arch"), "amd64");
	assert_string_equal(of_resource(found, 0, "os.type"), "linux");
	assert_string_equal(of_resource(found, 1, "service.name"), "unknown_service:curl?");
	assert_string_equal(of_resource(found, 1, "process.executable.path"), "/usr/bin/curl?");
	assert_int_equal(found->resource_profiles[0]->scope_profiles[0]->profiles[0]->n_samples, 1);
	otlp__profiles_data__free_unpacked(found, NULL);
	profile_free(profile);
}

/* By date -u -d @SECONDS. */
static void test_otlp__times_of_creation(void **state)
{
	static const struct {
		uint64_t created;
		const char *text;
	} rows[] = {
		{1, "1970-01-01T00:00:00.000Z"},
		{951782399999999999, "2000-02-28T23:59:59.999Z"},
		{951782400000000000, "2000-02-29T00:00:00.000Z"},
		{1709251199000000000, "2024-02-29T23:59:59.000Z"},
		{1709251200000000000, "2024-03-01T00:00:00.000Z"},
		{1767225599500000000, "2025-12-31T23:59:59.500Z"},
		{4107542400000000000, "2100-03-01T00:00:00.000Z"},
		{UINT64_MAX, "2554-07-21T23:34:33.709Z"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct profile *profile = profile_new();
		const struct profile_process process = {
			.generation = 1, .pid = 5, .created = rows[i].created};
		struct profile_sample sample = {.pid = 5, .count = 1};
		Otlp__ProfilesData *found;

		sample.process = profile_process_add(profile, &process);
		profile_sample_add(profile, &sample);
		found = unpack(profile);
		assert_string_equal(of_resource(found, 0, "process.creation.time"), rows[i].text);
		otlp__profiles_data__free_unpacked(found, NULL);
		profile_free(profile);
	}
}

/* A program that runs itself again looks the same: equal samples of both are one. */
static void test_otlp__a_program_that_runs_itself_again(void **state)
{
	const uint32_t cpus[] = {1, 2, 1}, generations[] = {1, 1, 2};
	struct profile *profile = profile_new();
	const Otlp__Profile *only;
	Otlp__ProfilesData *found;
	uint64_t total = 0;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		const struct profile_process process = {
			.generation = generations[i], .pid = 5, .created = 1};
		struct profile_sample sample = {.pid = 5, .tid = 5, .count = 1, .cpu = cpus[i]};

		sample.process = profile_process_add(profile, &process);
		profile_sample_add(profile, &sample);
	}
	found = unpack(profile);
	assert_int_equal(found->n_resource_profiles, 1);
	only = found->resource_profiles[0]->scope_profiles[0]->profiles[0];
	assert_int_equal(only->n_samples, 2);
	for (size_t i = 0; i < only->n_samples; i++)
		for (size_t value = 0; value < only->samples[i]->n_values; value++)
			total += (uint64_t)only->samples[i]->values[value];
	assert_int_equal(total, 3);
	otlp__profiles_data__free_unpacked(found, NULL);
	profile_free(profile);
}

#define TOLD_MAX 64 /* OTLP_TOLD_MAX of profile/format/otlp.h */

/* Adds a sample of a program that says something of itself. */
static void add_talker(struct profile *profile, uint32_t pid, const char *attributes)
{
	const struct profile_process process = {
		.generation = pid,
		.pid = pid,
		.executable = profile_string(profile, "/bin/app"),
		.attributes = profile_string(profile, attributes),
	};
	struct profile_sample sample = {.pid = pid, .tid = pid, .count = 1};

	sample.process = profile_process_add(profile, &process);
	sample.process_name = profile_string(profile, "app");
	profile_sample_add(profile, &sample);
}

static size_t attributes_of(const Otlp__ProfilesData *found, size_t number)
{
	return found->resource_profiles[number]->resource->n_attributes;
}

/* The service's name is the process's own affair, and keyhole knows the rest better. */
static void test_otlp__processes_say_what_they_are(void **state)
{
	struct profile *profile = profile_new();
	struct profile_times times = build_profile_times;
	const struct format_options options = {0};
	Otlp__ProfilesData *found;

	(void)state;
	times.arch = "amd64";
	add_talker(profile, 5, "");
	add_talker(profile, 6,
		   "service.name=checkout\nservice.version=1=2\nhost.arch=mine\n"
		   "process.pid=7\nprocess.executable.path=/bin/other\n"
		   "service.name=second\nservice.version=second\nempty=\n");
	add_talker(profile, 7, "service.name=checkout\n");
	found = unpack_with(profile, &times, &options);
	assert_int_equal(found->n_resource_profiles, 3);
	assert_string_equal(of_resource(found, 0, "service.name"), "unknown_service:app");
	assert_null(of_resource(found, 0, "service.version"));
	assert_string_equal(of_resource(found, 1, "service.name"), "checkout");
	assert_string_equal(of_resource(found, 1, "service.version"), "1=2");
	assert_string_equal(of_resource(found, 1, "empty"), "");
	assert_string_equal(of_resource(found, 1, "host.arch"), "amd64");
	assert_string_equal(of_resource(found, 1, "process.executable.path"), "/bin/app");
	assert_int_equal(found->resource_profiles[1]->resource->attributes[0]->value->int_value, 6);
	assert_int_equal(attributes_of(found, 1), attributes_of(found, 0) + 2);
	assert_string_equal(of_resource(found, 2, "service.name"), "checkout");
	assert_int_equal(attributes_of(found, 2), attributes_of(found, 0));
	otlp__profiles_data__free_unpacked(found, NULL);
	profile_free(profile);
}

static void test_otlp__attributes_of_a_process_are_bounded(void **state)
{
	struct profile *profile = profile_new();
	char text[TOLD_MAX * 16 * 2] = "";
	Otlp__ProfilesData *found;

	(void)state;
	for (unsigned int i = 0; i < 2 * TOLD_MAX; i++)
		snprintf(text + strlen(text), 16, "key%u=%u\n", i, i);
	add_talker(profile, 5, "");
	add_talker(profile, 6, text);
	found = unpack(profile);
	assert_int_equal(attributes_of(found, 1), attributes_of(found, 0) + TOLD_MAX);
	assert_string_equal(of_resource(found, 1, "key63"), "63");
	assert_null(of_resource(found, 1, "key64"));
	otlp__profiles_data__free_unpacked(found, NULL);
	profile_free(profile);
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

/* Samples that differ in their span are two, also where one of them is in none. */
static struct profile *build_links(void)
{
	const struct profile_link links[2] = {{"trace-of-request", "spanspan"},
					      {"trace-of-another", "spanspan"}};
	struct profile *profile = profile_new();
	struct profile_sample sample = {.pid = 5, .tid = 5, .count = 1};

	profile_link_add(profile, &(struct profile_link){{9}, {9}}); /* of no sample */
	for (size_t i = 0; i < 5; i++) {
		sample.link = i < 4 ? profile_link_add(profile, &links[i % 2]) : 0;
		assert_int_equal(profile_sample_add(profile, &sample), 0);
	}
	return profile;
}

static void test_otlp__links(void **state)
{
	struct profile *profile = build_links();
	Otlp__ProfilesData *found = unpack(profile);
	const Otlp__Profile *of = found->resource_profiles[0]->scope_profiles[0]->profiles[0];
	Otlp__Link **links = found->dictionary->link_table;

	(void)state;
	assert_int_equal(found->dictionary->n_link_table, 3);
	assert_int_equal(links[0]->trace_id.len + links[0]->span_id.len, 0);
	assert_int_equal(links[1]->trace_id.len, 16);
	assert_memory_equal(links[1]->trace_id.data, "trace-of-request", 16);
	assert_int_equal(links[2]->span_id.len, 8);
	assert_memory_equal(links[2]->span_id.data, "spanspan", 8);
	assert_int_equal(of->n_samples, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(of->samples[i]->link_index, (i + 1) % 3);
	otlp__profiles_data__free_unpacked(found, NULL);
	profile_free(profile);
}

/* OTLP's JSON has these bytes as hexadecimal digits. */
static void test_otlp__links_in_json(void **state)
{
	struct profile *profile = build_links();
	size_t size;
	char *text = (char *)build_profile_render(&format_otlp_json, profile, false, &size);

	(void)state;
	assert_null(json_check(text, size));
	assert_non_null(strstr(text, "\"linkTable\":[{},{\"traceId\":"
				     "\"74726163652d6f662d72657175657374\",\"spanId\":"
				     "\"7370616e7370616e\"},"));
	assert_non_null(strstr(text, "\"linkIndex\":2"));
	free(text);
	profile_free(profile);
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
		cmocka_unit_test(test_otlp__goroutines),
		cmocka_unit_test(test_otlp__stacks),
		cmocka_unit_test(test_otlp__a_mapping_has_its_ids),
		cmocka_unit_test(test_otlp__the_kernels_id_is_that_of_its_build),
		cmocka_unit_test(test_otlp__compat),
		cmocka_unit_test(test_otlp__samples_have_their_times),
		cmocka_unit_test(test_otlp__a_window_has_all_its_times),
		cmocka_unit_test(test_otlp__times_of_some_samples_are_left_out),
		cmocka_unit_test(test_otlp__equal_samples_are_one),
		cmocka_unit_test(test_otlp__a_period_is_never_0),
		cmocka_unit_test(test_otlp__a_resource_is_a_program),
		cmocka_unit_test(test_otlp__times_of_creation),
		cmocka_unit_test(test_otlp__a_program_that_runs_itself_again),
		cmocka_unit_test(test_otlp__processes_say_what_they_are),
		cmocka_unit_test(test_otlp__attributes_of_a_process_are_bounded),
		cmocka_unit_test(test_otlp__resources_have_the_users_attributes),
		cmocka_unit_test(test_otlp__what_is_equal_is_one),
		cmocka_unit_test(test_otlp__an_empty_profile_has_no_resource),
		cmocka_unit_test(test_otlp__a_resource_has_the_host),
		cmocka_unit_test(test_otlp__a_resource_has_the_container_of_all_samples),
		cmocka_unit_test(test_otlp__links),
		cmocka_unit_test(test_otlp__links_in_json),
		cmocka_unit_test(test_otlp__json_is_json),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
