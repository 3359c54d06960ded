/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "profile/format/lines.h"
#include "profile/profile.h"

struct rig {
	struct profile *profile;
	uint32_t object, inner, outer; /* functions: inner is inlined into outer */
};

static uint32_t add_function(struct rig *rig, const char *name)
{
	const struct profile_function function = {.name = profile_string(rig->profile, name),
						  .object = rig->object};

	return profile_function_add(rig->profile, &function);
}

static void set_up(struct rig *rig)
{
	struct profile_object object = {0};

	rig->profile = profile_new();
	object.name = profile_string(rig->profile, "/usr/bin/b\na");
	rig->object = profile_object_add(rig->profile, &object);
	rig->inner = add_function(rig, "in\tner");
	rig->outer = add_function(rig, "outer");
}

/* Adds a location of a function with one inlined function. An id may be 0 or unknown. */
static uint32_t add_location(struct rig *rig, uint64_t address, uint32_t function, uint32_t inlined)
{
	const struct profile_line line = {.function = inlined, .line = 3};
	uint32_t id = profile_location_add(rig->profile, rig->object, address);

	profile_location_get(rig->profile, id)->function = function;
	assert_int_equal(profile_location_set_inlined(rig->profile, id, &line, 1), 0);
	return id;
}

static void assert_line(const struct rig *rig, const struct format_line *line, const char *name,
			uint32_t function)
{
	char room[OFFSET_NAME_BYTES];

	assert_string_equal(format_line_name(rig->profile, line, room), name);
	assert_int_equal(format_line_function(rig->profile, line), function);
}

static void test_lines__names_are_raw_and_never_empty(void **state)
{
	struct format_line lines[PROFILE_LINES_MAX];
	struct rig rig;

	(void)state;
	set_up(&rig);
	assert_int_equal(format_location_lines(rig.profile,
					       add_location(&rig, 1, rig.outer, rig.inner), lines),
			 2);
	assert_int_equal(lines[0].depth, 1);
	assert_int_equal(lines[0].line, 3);
	assert_int_equal(lines[1].depth, 0);
	assert_line(&rig, &lines[0], "in\tner", rig.inner);
	assert_line(&rig, &lines[1], "outer", rig.outer);
	format_location_lines(rig.profile, add_location(&rig, 0x10, 0, 99), lines);
	assert_line(&rig, &lines[0], PROFILE_UNKNOWN, 0);
	assert_line(&rig, &lines[1], "b\na+0x10", 0);
	profile_free(rig.profile);
}

static void test_lines__functions_without_a_name(void **state)
{
	struct format_line lines[PROFILE_LINES_MAX];
	struct rig rig;
	uint32_t nameless;

	(void)state;
	set_up(&rig);
	nameless = add_function(&rig, "");
	format_location_lines(rig.profile, add_location(&rig, 0x20, nameless, nameless), lines);
	assert_line(&rig, &lines[0], PROFILE_UNKNOWN, nameless);
	assert_line(&rig, &lines[1], "b\na+0x20", 0);
	profile_free(rig.profile);
}

static uint32_t id_of(void *context, const struct format_line *line)
{
	(void)context;
	return line->location * 10 + line->depth;
}

static void test_lines__walks_begin_at_the_root(void **state)
{
	static const uint32_t expected[] = {20, 21, 10, 11, 0, 0};
	struct format_lines lines;
	struct format_walk walk;
	uint32_t stack[2];
	struct rig rig;

	(void)state;
	set_up(&rig);
	stack[0] = add_location(&rig, 1, rig.outer, rig.inner);
	stack[1] = add_location(&rig, 2, rig.outer, rig.inner);
	assert_int_equal(format_lines_init(&lines, rig.profile, id_of, NULL), 0);
	walk = format_walk_begin(&lines, profile_stack_add(rig.profile, stack, 2));
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_int_equal(format_walk_next(&walk), expected[i]);
	assert_int_equal(format_lines_compare(&lines, 1, 1), 0);
	assert_true(format_lines_compare(&lines, 1, profile_stack_add(rig.profile, stack, 1)) > 0);
	assert_true(format_lines_compare(&lines, profile_stack_add(rig.profile, &stack[1], 1), 1) <
		    0);
	format_lines_release(&lines);
	profile_free(rig.profile);
}

static uint32_t fail_id(void *context, const struct format_line *line)
{
	(void)context;
	(void)line;
	return FORMAT_LINE_FAILED;
}

static void test_lines__an_id_may_fail(void **state)
{
	struct format_lines lines;
	struct rig rig;

	(void)state;
	set_up(&rig);
	add_location(&rig, 1, rig.outer, rig.inner);
	assert_true(format_lines_init(&lines, rig.profile, fail_id, NULL) < 0);
	format_lines_release(&lines);
	profile_free(rig.profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines__names_are_raw_and_never_empty),
		cmocka_unit_test(test_lines__functions_without_a_name),
		cmocka_unit_test(test_lines__walks_begin_at_the_root),
		cmocka_unit_test(test_lines__an_id_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
