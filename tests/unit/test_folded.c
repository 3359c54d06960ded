/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "ipc/messages.h"
#include "tests/unit/build_profile.h"
#include "profile/format/format.h"
#include "profile/profile.h"

static void assert_folded(const struct profile *profile, bool by_thread, const char *expected)
{
	size_t size;
	unsigned char *text = build_profile_render(&format_folded, profile, by_thread, &size);

	assert_non_null(text);
	assert_string_equal((const char *)text, expected);
	assert_int_equal(size, strlen(expected));
	free(text);
}

static void test_folded__a_line_per_stack(void **state)
{
	struct profile *profile = build_profile();

	(void)state;
	assert_folded(profile, false,
		      "app;main;ns::work 3\n"
		      "app;main;ns::work;read_it_[k] 2\n"
		      "evil:?[2J;[cut: no rule];libplain.so.1+0x2234 1\n"
		      "kthreadd;read_it_[k] 4\n");
	profile_free(profile);
}

static void test_folded__threads_are_frames_when_wanted(void **state)
{
	struct profile *profile = build_profile();

	(void)state;
	assert_folded(profile, true,
		      "app;app/100;main;ns::work 3\n"
		      "app;work:er?/101;main;ns::work;read_it_[k] 2\n"
		      "evil:?[2J;evil/200;[cut: no rule];libplain.so.1+0x2234 1\n"
		      "kthreadd;kthreadd/2;read_it_[k] 4\n");
	profile_free(profile);
}

/* The format has no labels: what differs in them alone is one line. */
static void test_folded__goroutines_are_not_shown(void **state)
{
	struct profile *profile = build_profile_of_goroutines();

	(void)state;
	assert_folded(profile, false, "go;main.main 6\n");
	profile_free(profile);
}

static uint32_t add_named(struct profile *profile, uint64_t address, const char *name)
{
	struct profile_function function = {.name = profile_string(profile, name),
					    .start = address};
	uint32_t id = profile_location_add(profile, 0, address);

	profile_location_get(profile, id)->function = profile_function_add(profile, &function);
	return id;
}

static void add_sample(struct profile *profile, uint32_t pid, const uint32_t *stack, size_t count)
{
	struct profile_sample sample = {.pid = pid,
					.process_name = profile_string(profile, "p"),
					.stack = profile_stack_add(profile, stack, count),
					.count = 1};

	assert_int_equal(profile_sample_add(profile, &sample), 0);
}

/* Inlined functions are frames, and are compared as frames. */
static void test_folded__inlined_functions_are_frames(void **state)
{
	struct profile *profile = profile_new();
	uint32_t outer = add_named(profile, 1, "outer"), leaf = add_named(profile, 2, "leaf");
	uint32_t plain = add_named(profile, 3, "outer"), other = add_named(profile, 4, "z");
	const struct profile_line inlined[] = {
		{.function = profile_location_get(profile, leaf)->function, .line = 7},
		{.function = profile_location_get(profile, other)->function},
	};
	uint32_t leaf_plain[] = {leaf, plain};

	(void)state;
	assert_int_equal(profile_location_set_inlined(profile, outer, inlined, 2), 0);
	add_sample(profile, 1, &outer, 1);
	add_sample(profile, 1, leaf_plain, 2);
	add_sample(profile, 1, &plain, 1);
	assert_folded(profile, false, "p;outer 1\np;outer;leaf 1\np;outer;z_[i];leaf_[i] 1\n");
	profile_free(profile);
}

/* Two addresses of one function, two processes of one name. */
static void test_folded__lines_of_equal_text_are_one(void **state)
{
	struct profile *profile = profile_new();
	uint32_t a = add_named(profile, 1, "f"), b = add_named(profile, 2, "f");
	uint32_t first[] = {a, b}, second[] = {b, a};

	(void)state;
	add_sample(profile, 1, first, 2);
	add_sample(profile, 2, second, 2);
	add_sample(profile, 2, first, 2);
	assert_folded(profile, false, "p;f;f 3\n");
	profile_free(profile);
}

static void test_folded__order_is_by_frames_from_the_root(void **state)
{
	struct profile *profile = profile_new();
	uint32_t a = add_named(profile, 1, "a"), ab = add_named(profile, 2, "a b");
	uint32_t c = add_named(profile, 3, "c");
	uint32_t c_ab[] = {c, ab}, c_a[] = {c, a}, ab_c[] = {ab, c};

	(void)state;
	add_sample(profile, 1, ab_c, 2);
	add_sample(profile, 1, c_ab, 2);
	add_sample(profile, 1, c_a, 2);
	add_sample(profile, 1, &a, 1);
	add_sample(profile, 1, NULL, 0);
	assert_folded(profile, false, "p 1\np;a 1\np;a;c 1\np;a b;c 1\np;c;a b 1\n");
	profile_free(profile);
}

static void test_folded__names_that_are_missing(void **state)
{
	struct profile *profile = profile_new();
	uint32_t nowhere = profile_location_add(profile, 0, 0x10);
	struct profile_sample sample = {.stack = profile_stack_add(profile, &nowhere, 1),
					.count = 1};

	(void)state;
	profile_sample_add(profile, &sample);
	assert_folded(profile, false, "[unknown];[unknown]+0x10 1\n");
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_folded__a_line_per_stack),
		cmocka_unit_test(test_folded__goroutines_are_not_shown),
		cmocka_unit_test(test_folded__threads_are_frames_when_wanted),
		cmocka_unit_test(test_folded__inlined_functions_are_frames),
		cmocka_unit_test(test_folded__lines_of_equal_text_are_one),
		cmocka_unit_test(test_folded__order_is_by_frames_from_the_root),
		cmocka_unit_test(test_folded__names_that_are_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
