/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "tests/unit/build_profile.h"
#include "profile/format/tree.h"

struct expected {
	uint32_t level;
	const char *name;
	enum tree_kind kind;
	uint64_t self, total;
};

static void assert_tree(unsigned int flags, const struct expected *expected, size_t count)
{
	struct profile *profile = build_profile();
	struct tree tree;

	assert_int_equal(tree_build(&tree, profile, flags), 0);
	assert_int_equal(tree.count, count + 1);
	assert_int_equal(tree.order[0], 0);
	assert_int_equal(tree.nodes[0].total, 10);
	for (size_t i = 0; i < count; i++) {
		const struct tree_node *node = &tree.nodes[tree.order[i + 1]];
		const struct tree_frame *frame = tree_frame(&tree, node->frame);

		assert_string_equal(tree_text(&tree, frame->name), expected[i].name);
		assert_int_equal(frame->kind, expected[i].kind);
		assert_int_equal(node->level, expected[i].level);
		assert_int_equal(node->self, expected[i].self);
		assert_int_equal(node->total, expected[i].total);
	}
	tree_release(&tree);
	profile_free(profile);
}

static void test_tree__merges_from_the_process_on_the_hottest_first(void **state)
{
	static const struct expected expected[] = {
		{1, "app", TREE_PROCESS, 0, 5},
		{2, "main", TREE_NATIVE, 0, 5},
		{3, "ns::work", TREE_NATIVE, 3, 5},
		{4, "read_it", TREE_KERNEL, 2, 2},
		{1, "kthreadd", TREE_PROCESS, 0, 4},
		{2, "read_it", TREE_KERNEL, 4, 4},
		{1, "evil;?[2J", TREE_PROCESS, 0, 1},
		{2, "[cut: no rule]", TREE_MARKER, 0, 1},
		{3, "libplain.so.1+0x2234", TREE_NATIVE, 1, 1},
	};

	(void)state;
	assert_tree(0, expected, sizeof(expected) / sizeof(expected[0]));
}

static void test_tree__has_threads_above_their_process(void **state)
{
	static const struct expected expected[] = {
		{1, "app", TREE_PROCESS, 0, 5},
		{2, "app/100", TREE_THREAD, 0, 3},
		{3, "main", TREE_NATIVE, 0, 3},
		{4, "ns::work", TREE_NATIVE, 3, 3},
		{2, "work;er?/101", TREE_THREAD, 0, 2},
		{3, "main", TREE_NATIVE, 0, 2},
		{4, "ns::work", TREE_NATIVE, 0, 2},
		{5, "read_it", TREE_KERNEL, 2, 2},
		{1, "kthreadd", TREE_PROCESS, 0, 4},
		{2, "kthreadd/2", TREE_THREAD, 0, 4},
		{3, "read_it", TREE_KERNEL, 4, 4},
		{1, "evil;?[2J", TREE_PROCESS, 0, 1},
		{2, "evil/200", TREE_THREAD, 0, 1},
		{3, "[cut: no rule]", TREE_MARKER, 0, 1},
		{4, "libplain.so.1+0x2234", TREE_NATIVE, 1, 1},
	};

	(void)state;
	assert_tree(TREE_BY_THREAD, expected, sizeof(expected) / sizeof(expected[0]));
}

/* Addresses and processes differ, the shown tree does not. */
static void test_tree__equal_names_are_one_node(void **state)
{
	struct profile *profile = profile_new();
	const struct profile_function function = {.name = profile_string(profile, "f")};
	struct profile_sample sample = {.process_name = profile_string(profile, "p"), .count = 1};
	struct tree tree;

	(void)state;
	for (uint32_t i = 1; i <= 4; i++) {
		uint32_t id = profile_location_add(profile, 0, i);

		profile_location_get(profile, id)->function =
			profile_function_add(profile, &function);
		sample.pid = i;
		sample.stack = profile_stack_add(profile, &id, 1);
		assert_int_equal(profile_sample_add(profile, &sample), 0);
	}
	assert_int_equal(tree_build(&tree, profile, 0), 0);
	assert_int_equal(tree.count, 3);
	assert_int_equal(tree.nodes[2].self, 4);
	assert_true(tree_shade(&tree, tree.nodes[2].frame) < TREE_SHADES);
	tree_release(&tree);
	profile_free(profile);
}

/* A profile in which functions of JavaScript without a name begin at lines 1, 2 and 2. */
static struct profile *build_nameless(void)
{
	static const uint32_t lines[] = {1, 2, 2};
	struct profile *profile = profile_new();
	struct profile_sample sample = {.process_name = profile_string(profile, "p"), .count = 1};
	const struct profile_object object = {.name = profile_string(profile, "[javascript]"),
					      .kind = KIND_SCRIPT};
	const uint32_t script = profile_object_add(profile, &object);

	for (uint32_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		const struct profile_function function = {
			.name = profile_string(profile, "(anonymous)"),
			.file = profile_string(profile, "a.js"),
			.line = lines[i],
			.object = script};
		uint32_t id = profile_location_add(profile, script, i);

		profile_location_get(profile, id)->function =
			profile_function_add(profile, &function);
		sample.stack = profile_stack_add(profile, &id, 1);
		assert_int_equal(profile_sample_add(profile, &sample), 0);
	}
	return profile;
}

static void test_tree__functions_of_a_language_are_told_apart_by_place(void **state)
{
	struct profile *profile = build_nameless();
	struct tree tree;

	(void)state;
	assert_int_equal(tree_build(&tree, profile, 0), 0);
	assert_int_equal(tree.count, 4);
	assert_int_equal(tree.nodes[2].self, 1);
	assert_int_equal(tree.nodes[3].self, 2);
	assert_int_equal(tree_frame(&tree, tree.nodes[3].frame)->line, 2);
	tree_release(&tree);
	/* another version of the script has them elsewhere */
	assert_int_equal(tree_build(&tree, profile, TREE_DIFFERENCE), 0);
	assert_int_equal(tree.count, 3);
	tree_release(&tree);
	profile_free(profile);
}

static void test_tree__siblings_of_one_size_are_in_order_of_their_names(void **state)
{
	struct profile *profile = profile_new();
	static const char *const names[] = {"c", "a", "", "b"};
	static const char *const sorted[] = {"[unknown]", "a", "b", "c"};
	struct tree tree;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		const struct profile_sample sample = {
			.process_name = profile_string(profile, names[i]), .count = 7};

		profile_sample_add(profile, &sample);
	}
	assert_int_equal(tree_build(&tree, profile, 0), 0);
	for (size_t i = 0; i < 4; i++) {
		const struct tree_node *node = &tree.nodes[tree.order[i + 1]];

		assert_string_equal(tree_text(&tree, tree_frame(&tree, node->frame)->name),
				    sorted[i]);
	}
	tree_release(&tree);
	profile_free(profile);
}

static uint32_t add_function(struct profile *profile, const char *name)
{
	const struct profile_function function = {.name = profile_string(profile, name),
						  .file = profile_string(profile, "f.c"),
						  .line = 9};

	return profile_function_add(profile, &function);
}

/* "in" is inlined at lines 1, 2 and 2 of "f", and called once. */
static struct profile *build_lines(void)
{
	static const uint32_t at[] = {1, 2, 2}, counts[] = {3, 2, 2};
	struct profile *profile = profile_new();
	uint32_t stack[2] = {0, profile_location_add(profile, 0, 9)};
	struct profile_sample sample = {.process_name = profile_string(profile, "p")};
	struct profile_line line = {.function = add_function(profile, "in")};

	profile_location_get(profile, stack[1])->function = add_function(profile, "f");
	for (size_t i = 0; i < 3; i++) {
		stack[0] = profile_location_add(profile, 0, i);
		profile_location_get(profile, stack[0])->function = add_function(profile, "f");
		line.line = at[i];
		assert_int_equal(profile_location_set_inlined(profile, stack[0], &line, 1), 0);
		sample.stack = profile_stack_add(profile, stack, 1);
		sample.count = counts[i];
		assert_int_equal(profile_sample_add(profile, &sample), 0);
	}
	stack[0] = profile_location_add(profile, 0, 8);
	profile_location_get(profile, stack[0])->function = line.function;
	sample.stack = profile_stack_add(profile, stack, 2);
	sample.count = 1;
	assert_int_equal(profile_sample_add(profile, &sample), 0);
	return profile;
}

static void test_tree__inlined_functions_are_frames_with_the_hottest_line(void **state)
{
	static const struct {
		const char *name;
		uint32_t level, inlined, line;
		uint64_t self, total;
	} expected[] = {{"p", 1, 0, 0, 0, 8},
			{"f", 2, 0, 9, 0, 8},
			{"in", 3, 1, 2, 7, 7},
			{"in", 3, 0, 9, 1, 1}};
	struct profile *profile = build_lines();
	struct tree tree;

	(void)state;
	assert_int_equal(tree_build(&tree, profile, 0), 0);
	assert_int_equal(tree.count, 5);
	assert_int_equal(tree.levels, 4);
	for (size_t i = 0; i < 4; i++) {
		const struct tree_node *node = &tree.nodes[tree.order[i + 1]];
		const struct tree_frame *frame = tree_frame(&tree, node->frame);

		assert_string_equal(tree_text(&tree, frame->name), expected[i].name);
		assert_int_equal(node->level, expected[i].level);
		assert_int_equal(frame->inlined, expected[i].inlined);
		assert_int_equal(tree.places[node->frame].line, expected[i].line);
		assert_int_equal(node->self, expected[i].self);
		assert_int_equal(node->total, expected[i].total);
	}
	tree_release(&tree);
	profile_free(profile);
}

static void test_tree__a_difference_has_both_counts(void **state)
{
	struct profile *profile = profile_new();
	struct profile_sample sample = {.process_name = profile_string(profile, "both")};
	struct profile_object object = {0};
	uint32_t stack;
	struct tree tree;

	(void)state;
	/* one function of two versions of a program */
	for (unsigned int i = 0; i < 2; i++) {
		object.name = profile_string(profile, i ? "/new/app" : "/old/app");
		stack = profile_location_add(profile, profile_object_add(profile, &object), 1);
		profile_location_get(profile, stack)->function = add_function(profile, "f");
		sample.stack = profile_stack_add(profile, &stack, 1);
		sample.count = i ? 2 : 0;
		sample.base = i ? 0 : 5;
		profile_sample_add(profile, &sample);
	}
	sample = (struct profile_sample){.process_name = profile_string(profile, "old"), .base = 3};
	profile_sample_add(profile, &sample);
	assert_int_equal(tree_build(&tree, profile, TREE_DIFFERENCE), 0);
	assert_int_equal(tree.count, 4);
	assert_int_equal(tree.nodes[0].total, 2);
	assert_int_equal(tree.nodes[0].base_total, 8);
	assert_int_equal(tree.nodes[tree.order[2]].self, 2);
	assert_int_equal(tree.nodes[tree.order[2]].base_self, 5);
	assert_int_equal(tree.nodes[tree.order[3]].self, 0);
	assert_int_equal(tree.nodes[tree.order[3]].base_total, 3);
	assert_true(tree_change(&tree, &tree.nodes[tree.order[1]]) == 1 - 5.0 / 8);
	assert_true(tree.most == 3.0 / 8);
	assert_true(tree_strength(&tree, -tree.most) == 1);
	/* tests/page/page.py has the same value of Graph.changeColour() */
	assert_true(tree_strength(&tree, -tree.most / 2) == 0.75);
	assert_true(tree_strength(&tree, 0) == 0);
	tree_release(&tree);
	profile_free(profile);
}

static void add_version(struct profile *profile, const char *process, uint64_t count, uint64_t base)
{
	const uint32_t at = profile_location_add(profile, 0, 1);
	const struct profile_sample sample = {.process_name = profile_string(profile, process),
					      .stack = profile_stack_add(profile, &at, 1),
					      .count = count,
					      .base = base};

	profile_location_get(profile, at)->function = add_function(profile, "f");
	assert_int_equal(profile_sample_add(profile, &sample), 0);
}

/* Versions of a program in files of their own names are one process: no frame changes. */
static void test_tree__a_difference_matches_the_only_process(void **state)
{
	struct profile *profile = profile_new();
	struct tree tree;

	(void)state;
	add_version(profile, "app-v1", 0, 4);
	add_version(profile, "app-v2", 8, 0);
	assert_int_equal(tree_build(&tree, profile, TREE_DIFFERENCE), 0);
	assert_int_equal(tree.count, 3);
	assert_string_equal(
		tree_text(&tree, tree_frame(&tree, tree.nodes[tree.order[1]].frame)->name),
		"app-v1 -> app-v2");
	for (size_t i = 0; i < tree.count; i++)
		assert_true(tree_change(&tree, &tree.nodes[i]) == 0);
	tree_release(&tree);
	add_version(profile, "sh", 3, 3); /* what both sides have is no version */
	assert_int_equal(tree_build(&tree, profile, TREE_DIFFERENCE), 0);
	assert_int_equal(tree.count, 5);
	tree_release(&tree);
	add_version(profile, "early", 1, 0); /* one of nine samples: not the program yet */
	assert_int_equal(tree_build(&tree, profile, TREE_DIFFERENCE), 0);
	assert_int_equal(tree.count, 7);
	tree_release(&tree);
	add_version(profile, "other", 4, 0); /* of two new names, none is the version */
	assert_int_equal(tree_build(&tree, profile, TREE_DIFFERENCE), 0);
	assert_int_equal(tree.count, 11);
	tree_release(&tree);
	profile_free(profile);
}

static const struct tree_place *place_of_node(const struct tree *tree, size_t at)
{
	return &tree->places[tree->nodes[tree->order[at]].frame];
}

/* Adds a sample of a function in an object; file NULL: the source is not known. */
static void add_in(struct profile *profile, const char *path, const char *file, uint64_t count)
{
	const struct profile_object object = {.name = profile_string(profile, path)};
	struct profile_function function = {.name = profile_string(profile, "f"), .line = 9};
	struct profile_sample sample = {.process_name = profile_string(profile, "p"),
					.count = count};
	uint32_t at = profile_location_add(profile, profile_object_add(profile, &object), 1);

	if (file)
		function.file = profile_string(profile, file);
	profile_location_get(profile, at)->function = profile_function_add(profile, &function);
	sample.stack = profile_stack_add(profile, &at, 1);
	assert_int_equal(profile_sample_add(profile, &sample), 0);
}

/* A frame of a difference is in several objects: object, file and line are of one place. */
static void test_tree__the_hottest_place_decides_the_object(void **state)
{
	struct profile *profile = profile_new();
	struct tree tree;

	(void)state;
	add_in(profile, "/hot/app", "hot.c", 5);
	add_in(profile, "/cold/app", "cold.c", 2);
	assert_int_equal(tree_build(&tree, profile, TREE_DIFFERENCE), 0);
	assert_int_equal(tree.count, 3);
	assert_string_equal(tree_text(&tree, place_of_node(&tree, 2)->object), "/hot/app");
	assert_string_equal(tree_text(&tree, place_of_node(&tree, 2)->file), "hot.c");
	tree_release(&tree);
	profile_free(profile);
}

static void test_tree__a_place_without_a_source_counts_too(void **state)
{
	struct profile *profile = profile_new();
	struct tree tree;

	(void)state;
	add_in(profile, "/hot/app", NULL, 5);
	add_in(profile, "/cold/app", "cold.c", 2);
	assert_int_equal(tree_build(&tree, profile, TREE_DIFFERENCE), 0);
	assert_string_equal(tree_text(&tree, place_of_node(&tree, 2)->object), "/hot/app");
	assert_int_equal(place_of_node(&tree, 2)->file, 0);
	assert_int_equal(place_of_node(&tree, 2)->line, 0);
	tree_release(&tree);
	profile_free(profile);
}

/* Line 1 calls itself twice in 2 samples, and line 2 is in 3 samples. */
static void test_tree__a_recursive_stack_counts_a_place_once(void **state)
{
	struct profile *profile = profile_new();
	struct profile_sample sample = {.process_name = profile_string(profile, "p")};
	uint32_t function = add_function(profile, "f"), stack[3];
	struct tree tree;

	(void)state;
	for (uint32_t line = 1; line <= 2; line++) {
		uint32_t id = profile_location_add(profile, 0, line);

		profile_location_get(profile, id)->function = function;
		profile_location_get(profile, id)->line = line;
		stack[0] = stack[1] = stack[2] = id;
		sample.stack = profile_stack_add(profile, stack, line == 1 ? 3 : 1);
		sample.count = line + 1;
		assert_int_equal(profile_sample_add(profile, &sample), 0);
	}
	assert_int_equal(tree_build(&tree, profile, 0), 0);
	assert_int_equal(place_of_node(&tree, 2)->line, 2);
	tree_release(&tree);
	profile_free(profile);
}

static void test_tree__of_nothing_is_the_root(void **state)
{
	struct profile *profile = profile_new();
	struct tree tree;

	(void)state;
	assert_int_equal(tree_build(&tree, profile, TREE_BY_THREAD), 0);
	assert_int_equal(tree.count, 1);
	assert_int_equal(tree.nodes[tree.order[0]].total, 0);
	tree_release(&tree);
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree__merges_from_the_process_on_the_hottest_first),
		cmocka_unit_test(test_tree__has_threads_above_their_process),
		cmocka_unit_test(test_tree__equal_names_are_one_node),
		cmocka_unit_test(test_tree__functions_of_a_language_are_told_apart_by_place),
		cmocka_unit_test(test_tree__siblings_of_one_size_are_in_order_of_their_names),
		cmocka_unit_test(test_tree__inlined_functions_are_frames_with_the_hottest_line),
		cmocka_unit_test(test_tree__a_difference_has_both_counts),
		cmocka_unit_test(test_tree__a_difference_matches_the_only_process),
		cmocka_unit_test(test_tree__the_hottest_place_decides_the_object),
		cmocka_unit_test(test_tree__a_place_without_a_source_counts_too),
		cmocka_unit_test(test_tree__a_recursive_stack_counts_a_place_once),
		cmocka_unit_test(test_tree__of_nothing_is_the_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
