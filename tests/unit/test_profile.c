/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "bpf/abi.h"
#include "profile/profile.h"

static void test_profile__strings_are_unique_and_zero_is_empty(void **state)
{
	struct profile *profile = profile_new();

	(void)state;
	assert_int_equal(profile_string(profile, ""), 0);
	assert_int_equal(profile_string(profile, "main"), 1);
	assert_int_equal(profile_string(profile, "main"), 1);
	assert_int_equal(profile_strings(profile), 2);
	assert_string_equal(profile_string_get(profile, 1), "main");
	assert_string_equal(profile_string_get(profile, 99), "");
	profile_free(profile);
}

static void test_profile__objects_are_always_new(void **state)
{
	struct profile *profile = profile_new();
	struct profile_object object = {.start = 0x1000, .kind = KIND_KERNEL};

	(void)state;
	assert_int_equal(profile_object_add(profile, &object), 1);
	assert_int_equal(profile_object_add(profile, &object), 2);
	profile_object_get(profile, 2)->has_functions = true;
	assert_false(profile_object_get(profile, 1)->has_functions);
	assert_true(profile_object_get(profile, 2)->has_functions);
	assert_null(profile_object_get(profile, 0));
	assert_null(profile_object_get(profile, 3));
	assert_int_equal(profile_objects(profile), 2);
	profile_free(profile);
}

static void test_profile__equal_functions_are_one_whatever_their_padding(void **state)
{
	struct profile *profile = profile_new();
	struct profile_function a, b;

	(void)state;
	memset(&a, 0x55, sizeof(a));
	memset(&b, 0xaa, sizeof(b));
	a.name = b.name = 1;
	a.system_name = b.system_name = 2;
	a.file = b.file = 4;
	a.line = b.line = 5;
	a.object = b.object = 3;
	a.start = b.start = 0x1234;
	a.named = b.named = true;
	assert_int_equal(profile_function_add(profile, &a), 1);
	assert_int_equal(profile_function_add(profile, &b), 1);
	b.named = false;
	assert_int_equal(profile_function_add(profile, &b), 2);
	assert_int_equal(profile_functions(profile), 2);
	assert_int_equal(profile_function_get(profile, 1)->start, 0x1234);
	assert_true(profile_function_get(profile, 1)->named);
	assert_false(profile_function_get(profile, 2)->named);
	assert_null(profile_function_get(profile, 0));
	assert_null(profile_function_get(profile, 3));
	profile_free(profile);
}

static void test_profile__locations_get_their_function_later(void **state)
{
	struct profile *profile = profile_new();

	(void)state;
	assert_int_equal(profile_location_add(profile, 1, 0x10), 1);
	assert_int_equal(profile_location_add(profile, 1, 0x11), 2);
	assert_int_equal(profile_location_add(profile, 2, 0x10), 3);
	profile_location_get(profile, 1)->function = 7;
	assert_int_equal(profile_location_add(profile, 1, 0x10), 1);
	assert_int_equal(profile_location_get(profile, 1)->function, 7);
	assert_int_equal(profile_location_get(profile, 3)->object, 2);
	assert_int_equal(profile_location_get(profile, 3)->address, 0x10);
	assert_null(profile_location_get(profile, 0));
	assert_null(profile_location_get(profile, 4));
	assert_int_equal(profile_locations(profile), 3);
	profile_free(profile);
}

static void test_profile__lines_of_a_location_end_with_its_function(void **state)
{
	struct profile *profile = profile_new();
	struct profile_line lines[PROFILE_LINES_MAX], many[PROFILE_LINES_MAX + 5];
	uint32_t id = profile_location_add(profile, 1, 0x1000);

	(void)state;
	assert_int_equal(profile_location_lines(profile, 0, lines), 1);
	assert_int_equal(lines[0].function, 0);
	profile_location_get(profile, id)->function = 9;
	profile_location_get(profile, id)->line = 90;
	assert_int_equal(profile_location_lines(profile, id, lines), 1);
	assert_int_equal(lines[0].function, 9);
	for (uint32_t i = 0; i < PROFILE_LINES_MAX + 5; i++)
		many[i] = (struct profile_line){i + 1, i + 1};
	assert_int_equal(profile_location_set_inlined(profile, id, many, 2), 0);
	assert_int_equal(profile_location_lines(profile, id, lines), 3);
	assert_int_equal(lines[0].function, 1);
	assert_int_equal(lines[1].line, 2);
	assert_int_equal(lines[2].line, 90);
	/* the innermost ones are left out */
	assert_int_equal(profile_location_set_inlined(profile, id, many, PROFILE_LINES_MAX + 5), 0);
	assert_int_equal(profile_location_lines(profile, id, lines), PROFILE_LINES_MAX);
	assert_int_equal(lines[0].function, 7);
	assert_int_equal(lines[PROFILE_LINES_MAX - 1].function, 9);
	profile_free(profile);
}

static void test_profile__stacks_are_unique(void **state)
{
	static const uint32_t locations[PROFILE_STACK_MAX + 1] = {3, 2, 1};
	struct profile *profile = profile_new();
	const uint32_t *found;

	(void)state;
	assert_int_equal(profile_stack_add(profile, locations, 0), 0);
	assert_int_equal(profile_stack_add(profile, locations, 3), 1);
	assert_int_equal(profile_stack_add(profile, locations, 2), 2);
	assert_int_equal(profile_stack_add(profile, locations, 3), 1);
	assert_int_equal(profile_stack_add(profile, locations, PROFILE_STACK_MAX), 3);
	assert_int_equal(profile_stack_add(profile, locations, PROFILE_STACK_MAX + 1),
			 PROFILE_FAILED);
	assert_int_equal(profile_stacks(profile), 3);
	assert_int_equal(profile_stack_get(profile, 1, &found), 3);
	assert_memory_equal(found, locations, 3 * sizeof(*found));
	assert_int_equal(profile_stack_get(profile, 0, &found), 0);
	assert_int_equal(profile_stack_get(profile, 9, &found), 0);
	profile_free(profile);
}

static void test_profile__equal_samples_are_counted(void **state)
{
	struct profile *profile = profile_new();
	struct profile_sample sample = {.pid = 1, .tid = 2, .stack = 3, .cgroup = 4, .count = 1};
	size_t count;

	(void)state;
	assert_int_equal(profile_sample_add(profile, &sample), 0);
	sample.count = 5;
	assert_int_equal(profile_sample_add(profile, &sample), 0);
	sample.reason = REASON_cut_read;
	assert_int_equal(profile_sample_add(profile, &sample), 0);
	count = profile_samples(profile);
	assert_int_equal(count, 2);
	assert_int_equal(profile_sample_get(profile, 0).count, 6);
	assert_int_equal(profile_sample_get(profile, 1).count, 5);
	assert_int_equal(profile_sample_get(profile, 1).cgroup, 4);
	profile_free(profile);
}

/* A span is part of what makes samples equal. */
static void test_profile__links(void **state)
{
	struct profile *profile = profile_new();
	struct profile_link link = {{1}, {2}}, none = {0}, found;
	struct profile_sample sample = {.pid = 1, .cgroup = UINT64_MAX, .count = 1};
	uint32_t first;

	(void)state;
	first = profile_link_add(profile, &link);
	assert_int_not_equal(first, 0);
	assert_int_equal(profile_link_add(profile, &link), first);
	sample.link = first;
	assert_int_equal(profile_sample_add(profile, &sample), 0);
	assert_int_equal(profile_sample_add(profile, &sample), 0);
	link.span[7] = 3;
	sample.link = profile_link_add(profile, &link);
	assert_int_not_equal(sample.link, first);
	assert_int_equal(profile_sample_add(profile, &sample), 0);
	assert_int_equal(profile_samples(profile), 2);
	assert_int_equal(profile_sample_get(profile, 0).count, 2);
	assert_int_equal(profile_sample_get(profile, 0).cgroup, UINT64_MAX);
	found = profile_link_get(profile, profile_sample_get(profile, 1).link);
	assert_memory_equal(&found, &link, sizeof(link));
	found = profile_link_get(profile, 0);
	assert_memory_equal(&found, &none, sizeof(none));
	found = profile_link_get(profile, 9);
	assert_memory_equal(&found, &none, sizeof(none));
	assert_int_equal(profile_forget_samples(profile), 0);
	found = profile_link_get(profile, first);
	assert_memory_equal(&found, &none, sizeof(none));
	profile_free(profile);
}

/* Labels are part of what makes samples equal, and so is the goroutine. */
static void test_profile__labels(void **state)
{
	struct profile *profile = profile_new();
	struct profile_label labels[2] = {{profile_string(profile, "a"), 0}};
	struct profile_sample sample = {.pid = 1, .count = 1};
	const struct profile_label *found;
	uint32_t first;

	(void)state;
	labels[1].key = labels[0].value = profile_string(profile, "b");
	first = profile_labels_add(profile, labels, 2);
	assert_int_not_equal(first, 0);
	assert_int_equal(profile_labels_add(profile, labels, 2), first);
	assert_int_equal(profile_labels_add(profile, labels, 0), 0);
	assert_int_equal(profile_labels_get(profile, first, &found), 2);
	assert_memory_equal(found, labels, sizeof(labels));
	assert_int_equal(profile_labels_get(profile, 0, &found), 0);
	assert_int_equal(profile_labels_get(profile, 9, &found), 0);
	assert_int_equal(profile_sample_add(profile, &sample), 0);
	sample.labels = first;
	assert_int_equal(profile_sample_add(profile, &sample), 0);
	sample.goroutine = 17;
	assert_int_equal(profile_sample_add(profile, &sample), 0);
	assert_int_equal(profile_sample_add(profile, &sample), 0);
	assert_int_equal(profile_samples(profile), 3);
	assert_int_equal(profile_sample_get(profile, 1).labels, first);
	assert_int_equal(profile_sample_get(profile, 1).goroutine, 0);
	assert_int_equal(profile_sample_get(profile, 2).goroutine, 17);
	assert_int_equal(profile_sample_get(profile, 2).count, 2);
	assert_int_equal(profile_forget_samples(profile), 0);
	assert_int_equal(profile_labels_get(profile, first, &found), 0);
	profile_free(profile);
}

/* Beyond the limit no new labels are kept. */
static void test_profile__labels_are_bounded(void **state)
{
	struct profile *profile = profile_new();
	struct profile_label label = {0};

	(void)state;
	for (label.value = 1; label.value <= PROFILE_LABEL_SETS_MAX; label.value++)
		assert_int_not_equal(profile_labels_add(profile, &label, 1), 0);
	assert_int_equal(profile_labels_add(profile, &label, 1), 0);
	label.value = 1;
	assert_int_not_equal(profile_labels_add(profile, &label, 1), 0);
	profile_free(profile);
}

static void test_profile__links_are_bounded(void **state)
{
	struct profile *profile = profile_new();
	struct profile_link link = {{0}, {1}};

	(void)state;
	for (uint32_t i = 0; i < PROFILE_LINKS_MAX; i++) {
		memcpy(link.trace, &i, sizeof(i));
		assert_int_equal(profile_link_add(profile, &link), i + 1);
	}
	link.span[0] = 2;
	assert_int_equal(profile_link_add(profile, &link), 0);
	link.span[0] = 1;
	assert_int_equal(profile_link_add(profile, &link), PROFILE_LINKS_MAX);
	profile_free(profile);
}

static void test_profile__cgroups(void **state)
{
	struct profile *profile = profile_new();
	uint32_t a = profile_string(profile, "/a"), b = profile_string(profile, "/b");
	uint64_t other;

	(void)state;
	assert_int_equal(profile_cgroup_get(profile, 7).id, 7);
	assert_int_equal(profile_cgroup_get(profile, 7).path, 0);
	assert_int_equal(profile_cgroup_add(profile, 0, 0), 0);
	assert_int_equal(profile_cgroup_get(profile, 0).id, 0);
	assert_int_equal(profile_cgroup_add(profile, 7, a), 7);
	assert_int_equal(profile_cgroup_add(profile, 7, a), 7);
	assert_int_equal(profile_cgroup_get(profile, 7).path, a);
	/* another machine's file */
	other = profile_cgroup_add(profile, 7, b);
	assert_int_not_equal(other, 7);
	assert_int_equal(profile_cgroup_add(profile, 7, b), other);
	assert_int_equal(profile_cgroup_get(profile, other).id, 7);
	assert_int_equal(profile_cgroup_get(profile, other).path, b);
	assert_int_equal(profile_cgroup_get(profile, 7).path, a);
	/* a file without paths */
	other = profile_cgroup_add(profile, 7, 0);
	assert_int_equal(profile_cgroup_get(profile, other).id, 7);
	assert_int_equal(profile_cgroup_get(profile, other).path, 0);
	other = profile_cgroup_add(profile, 0, b);
	assert_int_equal(profile_cgroup_get(profile, other).id, 0);
	assert_int_equal(profile_cgroup_get(profile, other).path, b);
	other = profile_cgroup_add(profile, UINT64_MAX, a);
	assert_int_equal(profile_cgroup_get(profile, other).id, UINT64_MAX);
	assert_int_equal(profile_cgroup_get(profile, other).path, a);
	assert_int_equal(profile_forget_samples(profile), 0);
	assert_int_equal(profile_cgroup_get(profile, 7).path, 0);
	profile_free(profile);
}

/* Beyond the limit a cgroup has its id alone, and never the path of another. */
static void test_profile__cgroups_are_bounded(void **state)
{
	struct profile *profile = profile_new();
	uint32_t a = profile_string(profile, "/a"), b = profile_string(profile, "/b");

	(void)state;
	for (uint64_t id = 1; id <= PROFILE_CGROUPS_MAX; id++)
		assert_int_equal(profile_cgroup_add(profile, id, a), id);
	assert_int_equal(profile_cgroup_add(profile, PROFILE_CGROUPS_MAX + 1, a),
			 PROFILE_CGROUPS_MAX + 1);
	assert_int_equal(profile_cgroup_get(profile, PROFILE_CGROUPS_MAX + 1).path, 0);
	assert_int_equal(profile_cgroup_get(profile, PROFILE_CGROUPS_MAX).path, a);
	assert_int_equal(profile_cgroup_add(profile, 1, b), 0);
	assert_int_equal(profile_cgroup_add(profile, 1, a), 1);
	profile_free(profile);
}

/* Beyond the limit a process is not known, and never another one. */
static void test_profile__processes_are_bounded(void **state)
{
	struct profile *profile = profile_new();
	struct profile_process process = {.generation = 1};
	struct profile_sample sample = {.count = 1, .cpu = PROFILE_CPUS_MAX};

	(void)state;
	assert_int_equal(profile_process_get(profile, 0).pid, 0);
	for (uint32_t pid = 1; pid <= PROFILE_PROCESSES_MAX; pid++) {
		process.pid = process.generation = pid;
		assert_int_equal(profile_process_add(profile, &process), pid);
	}
	sample.process = PROFILE_PROCESSES_MAX;
	sample.reason = PROFILE_REASONS_MAX - 1;
	assert_int_equal(profile_sample_add(profile, &sample), 0);
	sample = profile_sample_get(profile, 0);
	assert_int_equal(sample.process, PROFILE_PROCESSES_MAX);
	assert_int_equal(sample.cpu, PROFILE_CPUS_MAX);
	assert_int_equal(sample.reason, PROFILE_REASONS_MAX - 1);
	process.generation = PROFILE_PROCESSES_MAX + 1;
	assert_int_equal(profile_process_add(profile, &process), 0);
	/* a known one gets what it lacks, and keeps what it has */
	process = (struct profile_process){.generation = 7, .created = 5, .executable = 6};
	assert_int_equal(profile_process_add(profile, &process), 7);
	process = (struct profile_process){
		.generation = 7, .created = 8, .executable = 9, .attributes = 3};
	assert_int_equal(profile_process_add(profile, &process), 7);
	/* but what a program says of itself may change */
	process.attributes = 4;
	assert_int_equal(profile_process_add(profile, &process), 7);
	process.attributes = 0;
	assert_int_equal(profile_process_add(profile, &process), 7);
	process = profile_process_get(profile, 7);
	assert_int_equal(process.attributes, 4);
	assert_int_equal(process.pid, 7);
	assert_int_equal(process.created, 5);
	assert_int_equal(process.executable, 6);
	assert_int_equal(profile_forget_samples(profile), 0);
	assert_int_equal(profile_process_get(profile, 7).pid, 0);
	profile_free(profile);
}

static void test_profile__many_of_everything(void **state)
{
	struct profile *profile = profile_new();
	const uint32_t *found;

	(void)state;
	for (uint32_t i = 1; i <= 50000; i++) {
		struct profile_sample sample = {.pid = i, .stack = i, .count = i};

		assert_int_equal(profile_location_add(profile, 1, i), i);
		assert_int_equal(profile_stack_add(profile, &i, 1), i);
		assert_int_equal(profile_sample_add(profile, &sample), 0);
	}
	for (uint32_t i = 1; i <= 50000; i++) {
		assert_int_equal(profile_stack_get(profile, i, &found), 1);
		assert_int_equal(found[0], i);
		assert_int_equal(profile_sample_get(profile, i - 1).count, i);
	}
	assert_int_equal(profile_samples(profile), 50000);
	profile_free(profile);
}

static void test_profile__reasons_are_those_of_the_counters(void **state)
{
	(void)state;
	assert_string_equal(profile_reason(REASON_end_root)->name, "end_root");
	assert_int_equal(profile_reason(REASON_end_no_user)->class, CLASS_END);
	assert_int_equal(profile_reason(REASON_cut_no_rule)->class, CLASS_CUT);
	assert_int_equal(profile_reason(REASON_lost_nested)->class, CLASS_LOST);
	assert_non_null(profile_reason(REASON_COUNT - 1));
	assert_string_equal(profile_reason(REASON_COUNT)->name, "cut_unknown");
	assert_null(profile_reason(REASON_COUNT + 1));
	assert_int_equal(profile_reason_find("cut_table"), REASON_cut_table);
	assert_int_equal(profile_reason_find("cut_of_tomorrow"), REASON_COUNT);
	assert_int_equal(profile_reason_find("guess_of_tomorrow"), REASON_guess_root);
	assert_int_equal(profile_reason_find("end_of_tomorrow"), REASON_end_root);
	assert_int_equal(profile_reason_find(""), REASON_COUNT);
}

/* Equal entries before and after make the tables grow. */
static void test_profile__appended_ones_are_new(void **state)
{
	struct profile *profile = profile_new();
	const uint32_t stack[] = {1, 2};
	const struct profile_sample sample = {.pid = 1, .stack = 1, .count = 2, .base = 3};
	size_t count;

	(void)state;
	assert_int_equal(profile_stack_add(profile, stack, 2), 1);
	assert_int_equal(profile_sample_add(profile, &sample), 0);
	for (uint32_t i = 0; i < 200; i++) {
		assert_int_equal(profile_stack_append(profile, stack, 2), i + 2);
		assert_int_equal(profile_sample_append(profile, &sample), 0);
	}
	assert_int_equal(profile_stack_append(profile, stack, 0), 0);
	assert_int_equal(profile_stack_add(profile, stack, 2), 1);
	assert_int_equal(profile_stack_add(profile, stack, 1), 202);
	assert_int_equal(profile_sample_add(profile, &sample), 0);
	count = profile_samples(profile);
	assert_int_equal(count, 201);
	assert_int_equal(profile_sample_get(profile, 0).count, 4);
	assert_int_equal(profile_sample_get(profile, 0).base, 6);
	assert_int_equal(profile_sample_get(profile, 200).count, 2);
	assert_int_equal(profile_sample_get(profile, 200).base, 3);
	profile_free(profile);
}

static void test_profile__locations_of_one_address(void **state)
{
	struct profile *profile = profile_new();

	(void)state;
	assert_int_equal(profile_location_add(profile, 1, 16), 1);
	assert_int_equal(profile_location_add_variant(profile, 1, 16, 1), 2);
	assert_int_equal(profile_location_add_variant(profile, 1, 16, 1), 2);
	assert_int_equal(profile_location_add(profile, 1, 16), 1);
	profile_free(profile);
}

static void test_profile__an_empty_one(void **state)
{
	struct profile *profile = profile_new();

	(void)state;
	assert_int_equal(profile_samples(profile), 0);
	assert_int_equal(profile_functions(profile), 0);
	assert_int_equal(profile_stacks(profile), 0);
	profile_free(profile);
	profile_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_profile__strings_are_unique_and_zero_is_empty),
		cmocka_unit_test(test_profile__objects_are_always_new),
		cmocka_unit_test(test_profile__equal_functions_are_one_whatever_their_padding),
		cmocka_unit_test(test_profile__locations_get_their_function_later),
		cmocka_unit_test(test_profile__lines_of_a_location_end_with_its_function),
		cmocka_unit_test(test_profile__stacks_are_unique),
		cmocka_unit_test(test_profile__equal_samples_are_counted),
		cmocka_unit_test(test_profile__links),
		cmocka_unit_test(test_profile__labels),
		cmocka_unit_test(test_profile__labels_are_bounded),
		cmocka_unit_test(test_profile__links_are_bounded),
		cmocka_unit_test(test_profile__cgroups),
		cmocka_unit_test(test_profile__cgroups_are_bounded),
		cmocka_unit_test(test_profile__processes_are_bounded),
		cmocka_unit_test(test_profile__many_of_everything),
		cmocka_unit_test(test_profile__reasons_are_those_of_the_counters),
		cmocka_unit_test(test_profile__appended_ones_are_new),
		cmocka_unit_test(test_profile__locations_of_one_address),
		cmocka_unit_test(test_profile__an_empty_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
