/* SPDX-License-Identifier: Apache-2.0 */
/* Which object is the program that a profile is about. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "profile/main_object.h"
#include "profile/profile.h"

static uint32_t add_object(struct profile *profile, const char *name, enum profile_kind kind)
{
	const struct profile_object object = {.name = profile_string(profile, name), .kind = kind};

	return profile_object_add(profile, &object);
}

/* Adds a sample of a process, whose leaf and root are in these objects. */
static void add(struct profile *profile, const char *process, uint32_t pid, uint32_t tid,
		uint64_t count, uint32_t leaf, uint32_t root)
{
	const uint32_t stack[] = {profile_location_add(profile, leaf, 1),
				  profile_location_add(profile, root, 2)};
	const struct profile_sample sample = {.pid = pid,
					      .tid = tid,
					      .process_name = profile_string(profile, process),
					      .stack = profile_stack_add(profile, stack, 2),
					      .count = count};

	assert_int_equal(profile_sample_add(profile, &sample), 0);
}

static void test_main_object__of_the_hottest_process(void **state)
{
	struct profile *profile = profile_new();
	const uint32_t kernel = add_object(profile, "[kernel]", KIND_KERNEL);
	const uint32_t libc = add_object(profile, "/lib/libc.so.6", KIND_NATIVE);
	const uint32_t small = add_object(profile, "/bin/small", KIND_NATIVE);
	const uint32_t large = add_object(profile, "/bin/a-name-that-is-cut-off", KIND_NATIVE);

	(void)state;
	assert_int_equal(profile_main_object(profile), libc); /* no process is known */
	add(profile, "kthreadd", 2, 2, 90, kernel, kernel);
	add(profile, "small", 10, 10, 5, libc, small);
	assert_int_equal(profile_main_object(profile), small);
	add(profile, "a-name-that-is-cut-off", 20, 20, 9, large, libc);
	assert_int_equal(profile_main_object(profile), large);
	profile_free(profile);
}

/* A thread begins in libc, and a script has the name of its own: the main thread decides. */
static void test_main_object__of_a_process_with_another_name(void **state)
{
	struct profile *profile = profile_new();
	const uint32_t libc = add_object(profile, "/lib/libc.so.6", KIND_NATIVE);
	const uint32_t python = add_object(profile, "/bin/python3.11", KIND_NATIVE);

	(void)state;
	add(profile, "script.py", 1, 2, 50, python, libc);
	add(profile, "script.py", 1, 1, 5, libc, python);
	assert_int_equal(profile_main_object(profile), python);
	profile_free(profile);
}

/* The main thread waits for the others, and has no samples. */
static void test_main_object__of_a_process_of_workers(void **state)
{
	struct profile *profile = profile_new();
	const uint32_t kernel = add_object(profile, "[kernel]", KIND_KERNEL);
	const uint32_t libc = add_object(profile, "/lib/libc.so.6", KIND_NATIVE);
	const uint32_t jvm = add_object(profile, "/lib/libjvm.so", KIND_NATIVE);

	(void)state;
	add(profile, "java", 1, 2, 50, jvm, libc);
	add(profile, "java", 1, 3, 5, kernel, jvm);
	assert_int_equal(profile_main_object(profile), libc);
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_main_object__of_the_hottest_process),
		cmocka_unit_test(test_main_object__of_a_process_with_another_name),
		cmocka_unit_test(test_main_object__of_a_process_of_workers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
